"""How to play, as the API tells it: the pages of docs/rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from darbar_lobby.handlers.catalogue import Games, GameUnknown
from darbar_rules.games import ALL

DOCS = Path(__file__).parents[3] / "docs" / "rules"


def test_every_game_has_a_page_for_players() -> None:
    games = Games(ALL, rules_folder=str(DOCS))
    for game in ALL:
        assert games.page(game.name).startswith("# ")


@pytest.mark.parametrize("name", ["poker", "../../README", ""])
def test_nothing_else_is_read(name: str) -> None:
    with pytest.raises(GameUnknown):
        Games(ALL, rules_folder=str(DOCS)).page(name)


def test_without_a_folder_there_are_no_pages() -> None:
    with pytest.raises(GameUnknown):
        Games(ALL).page("court_piece")
