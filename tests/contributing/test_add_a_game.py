"""What CONTRIBUTING says of a new game, done in a copy of the repository: it passes every law, and is played.

The game is the plain one that the laws' own tests use, under another name: `thirteen_tricks`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from guide import ROOT, RUN_SECONDS_MAX, Copy

pytestmark = pytest.mark.timeout(RUN_SECONDS_MAX)

NAME = "thirteen_tricks"
SAMPLE = ROOT / "libs/rules/tests/plain_tricks"
GAMES = "libs/rules/darbar_rules/games"
REGISTRY = f"{GAMES}/__init__.py"
PAGE = "docs/rules/thirteen_tricks.md"
LAWS_MIN = 20
LAWS = (
    "libs/rules/tests/test_laws.py",
    "libs/rules/tests/test_laws_of_hidden_information.py",
    "libs/rules/tests/test_golden_logs.py",
    "services/table/tests/test_table_non_interference.py",
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    made = Copy(tmp_path_factory.mktemp("add-a-game"))
    (made.folder / PAGE).write_text("# Thirteen tricks\n\nFour people play thirteen tricks, and no suit is trump.\n")
    for path in SAMPLE.glob("*.py"):
        write(made.folder / GAMES / NAME / path.name, renamed(path.read_text()))
    registry = (made.folder / REGISTRY).read_text()
    assert registry.count("\n    KINGS_AND_REBELS,\n") == 1
    registry = registry.replace("\n    KINGS_AND_REBELS,\n", "\n    KINGS_AND_REBELS,\n    THIRTEEN_TRICKS,\n")
    line = f"from darbar_rules.games.{NAME}.game import THIRTEEN_TRICKS\n"
    (made.folder / REGISTRY).write_text(
        registry.replace("from darbar_rules.registry", f"{line}from darbar_rules.registry")
    )
    made.run("libs/rules/tests/golden/write.py", NAME)
    made.run("tests/repository/write_documents.py")
    made.track()
    return made


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def renamed(text: str) -> str:
    text = text.replace("from plain_tricks.", f"from darbar_rules.games.{NAME}.")
    return (
        text.replace("plain_tricks", NAME)
        .replace("PLAIN_TRICKS", NAME.upper())
        .replace("Plain tricks", "Thirteen tricks")
    )


def test_contributing_asks_for_no_more_than_this() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("### A game\n")[2].partition("\n### ")[0]
    steps = re.findall(r"^\d\. (.*?)(?=^\d\. |\n\n)", section, re.MULTILINE | re.DOTALL)
    named = [re.findall(r"`([^`]+)`", step)[0] for step in steps]
    written = ["python libs/rules/tests/golden/write.py <game>", "make documents"]
    assert named == ["docs/rules/<game>.md", f"{GAMES}/", REGISTRY, *written]


def test_the_game_passes_every_law_of_the_rules_and_of_the_table(copy: Copy) -> None:
    said = copy.run("-m", "pytest", "-p", "no:cacheprovider", "-v", "-k", NAME, *LAWS)
    found = re.search(r"(\d+) passed", said)
    assert found is not None
    assert int(found[1]) >= LAWS_MIN


def test_the_repository_with_the_game_passes_every_check(copy: Copy) -> None:
    copy.run("-m", "pytest", "-p", "no:cacheprovider", "-k", "not planted", "tests/repository")


def test_the_game_is_played_to_its_end_over_real_sockets_and_proven(copy: Copy) -> None:
    said = copy.run("-m", "darbar_client.demo", "--game", NAME, "--url", "", "--seed", "1")
    assert "Thirteen tricks" in said
    assert said.count("  true ") == 4
