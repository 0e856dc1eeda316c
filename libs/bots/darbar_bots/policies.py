"""THE REGISTRY: which policy plays which game at which level. Open this to add one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from darbar_bots import court_piece, king, kings_and_rebels
from darbar_bots.policy import Policy, check_turn
from darbar_rules.game import AnyGame
from darbar_rules.games import BY_NAME

LEVELS: Final = ("easy", "normal", "strong")


class NoPolicy(Exception):
    """There is no such game, or no such level."""


@dataclass(frozen=True, slots=True)
class Levels:
    """A game's policies. The strong one searches; where a game has no search, it is its best rule policy."""

    easy: Policy
    normal: Policy
    strong: Policy


KING: Final = Levels(king.NOVICE, king.REGULAR, king.REGULAR)
POLICIES: Final[Mapping[str, Levels]] = {
    "court_piece": Levels(court_piece.NOVICE, court_piece.REGULAR, court_piece.STRONG),
    "king_20": KING,
    "king_short": KING,
    "king_long": KING,
    "kings_and_rebels": Levels(kings_and_rebels.NOVICE, kings_and_rebels.REGULAR, kings_and_rebels.REGULAR),
}


class ClockPolicy:
    """Plays what the clock would: the bot of a game for which nobody has written one."""

    def __init__(self, game: AnyGame) -> None:
        self._game = game

    def decide(self, view: Any) -> Any:
        check_turn(view)
        return self._game.fallback(view)


def decide(game: str, level: str, view: Any) -> Any:
    """What a bot of this level decides for the seat of this view. Raises NoPolicy and ViewInvalid."""
    return find(game, level).decide(view)


def find(game: str, level: str) -> Policy:
    """The policy of this game and level. Raises NoPolicy."""
    if game not in BY_NAME or level not in LEVELS:
        raise NoPolicy(f"no policy plays {game} at level {level}")
    policy: Policy = getattr(POLICIES[game], level) if game in POLICIES else ClockPolicy(BY_NAME[game])
    return policy
