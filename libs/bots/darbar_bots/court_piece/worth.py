"""What winning a trick is worth, in tricks collected. Open this when a bot fights for the wrong pile (CP-8..14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from darbar_bots.court_piece.known import Known
from darbar_rules.games.court_piece.piles import TRICKS_TO_WIN

WON_ROUND: Final = 4.0
BEYOND_WON: Final = 0.3
SAVED_FROM_SWEEP: Final = 2.0
# How likely another seat wins the trick after one it has won.
OTHERS_WIN_AGAIN: Final = 0.25
# No pile is picked up before the trump is known: what a lead won before that is worth of a later one.
BEFORE_TRUMP: Final = 0.04


@dataclass(frozen=True, slots=True)
class Stakes:
    """What a trick is worth to this seat's team, by its winner."""

    known: Known

    def of_win(self, winner: int, card: int | None, wins_again: float = OTHERS_WIN_AGAIN) -> float:
        """`card` wins it (None: not known which); `wins_again`: the chance that this seat wins the next one too."""
        known = self.known
        lying = known.pile + 1
        if known.tricks_left == 1:
            return self._picked_up(winner, lying)
        if self._picks_up(winner, card):
            return self._picked_up(winner, lying) + wins_again * self._picked_up(winner, 1) / 2
        # Tricks to be won between this one and the one that picks up; the last one needs no minimum (CP-11).
        missing = min(max(known.pile_needed - lying - 1, 0), known.tricks_left - 2)
        value = wins_again ** (1 + missing) * self._picked_up(winner, lying + 1 + missing)
        return value if known.trump is not None or known.tricks_left == 2 else value * BEFORE_TRUMP

    def _picks_up(self, winner: int, card: int | None) -> bool:
        known = self.known
        if card is not None and not known.may_pick_up(card):
            return False
        return known.trump is not None and winner == known.streak and known.pile + 1 >= known.pile_needed

    def _picked_up(self, winner: int, tricks: int) -> float:
        ours, theirs = self.known.ours, self.known.theirs
        before = standing(ours, theirs)
        if self.known.with_us(winner):
            return standing(ours + tricks, theirs) - before
        return standing(ours, theirs + tricks) - before


def standing(ours: int, theirs: int) -> float:
    """How good it is to have collected so many tricks while the others have so many."""
    value = _towards_seven(ours) - _towards_seven(theirs)
    if ours >= TRICKS_TO_WIN and theirs == 0:
        return value + SAVED_FROM_SWEEP
    if theirs >= TRICKS_TO_WIN and ours == 0:
        return value - SAVED_FROM_SWEEP
    return value


def _towards_seven(tricks: int) -> float:
    if tricks < TRICKS_TO_WIN:
        return tricks
    return TRICKS_TO_WIN + WON_ROUND + (tricks - TRICKS_TO_WIN) * BEYOND_WON
