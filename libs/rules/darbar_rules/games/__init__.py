"""THE REGISTRY: every game that can be played, one line a game. Open this to add one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from darbar_rules.game import AnyGame
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.registry import Registry

BY_NAME: Final = Registry(
    COURT_PIECE,
    KING_20,
    KING_SHORT,
    KING_LONG,
    KINGS_AND_REBELS,
)
ALL: Final[Collection[AnyGame]] = BY_NAME.values()
