"""THE REGISTRY: every game that can be played, one line a game. Open this to add one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

from darbar_rules.game import AnyGame
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS

_GAMES: Final[tuple[AnyGame, ...]] = (
    COURT_PIECE,
    KING_20,
    KING_SHORT,
    KING_LONG,
    KINGS_AND_REBELS,
)
_REGISTRY: Final = {game.name: game for game in _GAMES}

BY_NAME: Final[Mapping[str, AnyGame]] = MappingProxyType(_REGISTRY)
ALL: Final[Collection[AnyGame]] = BY_NAME.values()


@contextmanager
def registered(game: AnyGame) -> Iterator[None]:
    """One game more for as long as a test lasts. What is built from the registry must be built meanwhile."""
    if game.name in _REGISTRY:
        raise ValueError(f"there is a game {game.name} already")
    _REGISTRY[game.name] = game
    try:
        yield
    finally:
        del _REGISTRY[game.name]
