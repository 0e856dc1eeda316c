"""docs/rules/court_piece.md tells of every option that a table has, with its values and its default."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.testing import option_values

DOCUMENT = Path(__file__).parents[3] / "docs" / "rules" / "court_piece.md"
ROW = re.compile(r"^\| `(\w+)` \| (.+) \| (.+) \|$", re.MULTILINE)


def words(values: tuple[Any, ...]) -> str:
    """The values of an option as the document should write them."""
    if values == (False, True):
        return "off, on"
    if all(type(value) is int for value in values):
        return f"{min(values)} to {max(values)}"
    if values[0] is None:
        return "none, a rank, or a card"
    return ", ".join(f"`{value}`" for value in values)


def test_the_document_lists_every_option_with_its_values_and_default() -> None:
    table = DOCUMENT.read_text().split("## Table options")[1]
    rows = {name: (values.split(";")[0], default.strip("`")) for name, values, default in ROW.findall(table)}
    spoken = {False: "off", None: "none"}
    assert rows == {
        name: (words(values), str(spoken.get(values[0], values[0])))
        for name, values in option_values(COURT_PIECE).items()
    }
