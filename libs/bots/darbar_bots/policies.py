"""THE REGISTRY: which policy plays which game at which level. Open this to add one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from darbar_bots import court_piece, king, kings_and_rebels
from darbar_bots.policy import Policy

# The strong level is to search; until a game has a search, it plays its best rule policy.
POLICIES: Final[Mapping[tuple[str, str], Policy]] = {
    ("court_piece", "easy"): court_piece.NOVICE,
    ("court_piece", "normal"): court_piece.REGULAR,
    ("court_piece", "strong"): court_piece.REGULAR,
    ("king_20", "easy"): king.NOVICE,
    ("king_20", "normal"): king.REGULAR,
    ("king_20", "strong"): king.REGULAR,
    ("king_short", "easy"): king.NOVICE,
    ("king_short", "normal"): king.REGULAR,
    ("king_short", "strong"): king.REGULAR,
    ("king_long", "easy"): king.NOVICE,
    ("king_long", "normal"): king.REGULAR,
    ("king_long", "strong"): king.REGULAR,
    ("kings_and_rebels", "easy"): kings_and_rebels.NOVICE,
    ("kings_and_rebels", "normal"): kings_and_rebels.REGULAR,
    ("kings_and_rebels", "strong"): kings_and_rebels.REGULAR,
}


class NoPolicy(Exception):
    """Nobody has written a bot for this game and level."""


def decide(game: str, level: str, view: Any) -> Any:
    """What a bot of this level decides for the seat of this view. Raises NoPolicy."""
    return find(game, level).decide(view)


def find(game: str, level: str) -> Policy:
    """The policy of this game and level. Raises NoPolicy."""
    policy = POLICIES.get((game, level))
    if policy is None:
        raise NoPolicy(f"no policy plays {game} at level {level}")
    return policy
