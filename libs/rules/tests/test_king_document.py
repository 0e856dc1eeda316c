"""The pages of docs/rules about King tell of every option and every contract of its games."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from darbar_rules.game import AnyGame
from darbar_rules.games.king.contracts import DECK_32, DECK_52, Contract
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.testing import at_least, option_values

FOLDER = Path(__file__).parents[3] / "docs" / "rules"
OPTION = re.compile(r"^\| `(\w+)` \| (.+) \| (.+) \|$", re.MULTILINE)
CONTRACT = re.compile(r"^\|(?: \d+ \|)? `(\w+)` \| .* \|(?: ([+-]\d+))? \| ([+-]\d+) \|$", re.MULTILINE)


def words(values: tuple[Any, ...]) -> str:
    """The values of an option as the page should write them."""
    return ", ".join({True: "on", False: "off"}.get(value, f"`{value}`") for value in values)


@pytest.mark.parametrize("game", [KING_20, KING_SHORT, KING_LONG], ids=lambda game: game.name)
def test_the_page_of_a_king_game_lists_every_option_with_its_values_and_default(game: AnyGame) -> None:
    table = (FOLDER / f"{game.name}.md").read_text().split("## Table options")[1]
    rows = {name: (values, default) for name, values, default in OPTION.findall(table)}
    assert rows == {name: (words(values), words(values[:1])) for name, values in option_values(game).items()}


@pytest.mark.parametrize(("game", "deck"), [(KING_20, DECK_52), (KING_SHORT, DECK_32)])
def test_the_page_lists_every_contract_with_its_value(game: AnyGame, deck: int) -> None:
    page = (FOLDER / f"{game.name}.md").read_text()
    contracts: dict[str, Contract] = game.new(game.options_type(), 4).form.contracts
    rows = {name: (each, total) for name, each, total in CONTRACT.findall(page)}
    assert len(rows) == 7
    for name, contract in at_least(7, ((name, contracts[name]) for name in rows)):
        assert rows[name][1] == f"{contract.total(deck):+}"
        each = contract.card_points[0][1] if contract.card_points else contract.trick_points[-1]
        assert rows[name][0] in ("", f"{each:+}")
    for name in set(contracts) - set(rows):
        assert f"`{name}`" in page
