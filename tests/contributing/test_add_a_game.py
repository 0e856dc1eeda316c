"""What CONTRIBUTING says of a new game is what is done for one in test_every_page.py."""

from __future__ import annotations

import re

from guide import ROOT
from thirteen_tricks import GAMES, REGISTRY


def test_contributing_asks_for_no_more_than_this() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("### A game\n")[2].partition("\n### ")[0]
    steps = re.findall(r"^\d\. (.*?)(?=^\d\. |\n\n)", section, re.MULTILINE | re.DOTALL)
    named = [re.findall(r"`([^`]+)`", step)[0] for step in steps]
    written = ["python libs/rules/tests/golden/write.py <game>", "make documents"]
    assert named == ["docs/rules/<game>.md", f"{GAMES}/", REGISTRY, *written]
