"""Who picks up the tricks lying in the middle, and when that ends a round. Open this about pick-ups (CP-8..14)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from darbar_rules.cards import ACE, RANK_OF
from darbar_rules.games.court_piece.events import TrickTaken
from darbar_rules.games.court_piece.options import CourtPieceOptions, PileSizes
from darbar_rules.games.court_piece.state import TRICKS_IN_ROUND, Middle

TRICKS_TO_WIN: Final = 7

# Tricks that the first pick-up of a round needs, and each later one.
_MINIMUMS: Final[Mapping[PileSizes, tuple[int, int]]] = {"3-2-2": (3, 2), "5-3-3": (5, 3)}


def pile_needed(options: CourtPieceOptions, collected: tuple[int, int]) -> int:
    """The fewest tricks that must lie in the middle for the next pick-up."""
    first, later = _MINIMUMS[options.piles]
    return later if any(collected) else first


def trick_taken(options: CourtPieceOptions, middle: Middle, winner: int, card: int, *, win_counts: bool) -> TrickTaken:
    """What comes of a trick that `winner` has won with `card`.

    `win_counts`: it may be the first of two wins in a row. It may not while the trump is hidden or does not exist.
    """
    pile = middle.pile + 1
    last = middle.tricks_finished + 1 == TRICKS_IN_ROUND
    if last or _picks_up(options, middle, winner, card):
        collected = _added(middle.collected, winner % 2, pile)
        return TrickTaken(winner, pile, 0, collected, winner)
    return TrickTaken(winner, 0, pile, middle.collected, winner if win_counts else None)


def ends_round(taken: TrickTaken, tricks: int) -> bool:
    """Whether no card is played after this: a team has seven tricks and the other has at least one (CP-13)."""
    return tricks == TRICKS_IN_ROUND or (max(taken.collected) >= TRICKS_TO_WIN and min(taken.collected) >= 1)


def _picks_up(options: CourtPieceOptions, middle: Middle, winner: int, card: int) -> bool:
    if options.ace_cannot_win_pile and RANK_OF[card] == ACE:
        return False
    return winner == middle.streak and middle.pile + 1 >= pile_needed(options, middle.collected)


def _added(collected: tuple[int, int], team: int, tricks: int) -> tuple[int, int]:
    return (collected[0] + tricks, collected[1]) if team == 0 else (collected[0], collected[1] + tricks)
