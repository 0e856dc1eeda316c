"""How likely others hold a card, beat one, win a trick. Open this when a bot over- or underestimates its cards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from darbar_bots.court_piece.known import Known
from darbar_bots.voids import misses
from darbar_rules.cards import SUIT_MASKS, SUIT_OF

# While the trump is hidden, whoever cannot follow may ask for it: how often that takes the trick.
ASKED_AND_WON: Final = 0.2
# A later seat that beats a card has been beaten in turn by the one after it.
BEATEN_AGAIN: Final = 0.7


class Chances:
    """What is likely in one position. Each unseen card is with each seat that can hold it, by its number of cards."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._misses = misses(known.others(), known.counts, known.voids)

    def holds_none(self, seat: int, suit: int, cards: int) -> float:
        """That this seat holds none of these cards of a suit."""
        miss: float = self._misses[seat][suit] ** (cards & self._known.unseen & SUIT_MASKS[suit]).bit_count()
        return miss

    def expected(self, seat: int, suit: int) -> float:
        """How many cards of a suit this seat is likely to hold."""
        return (1 - self._misses[seat][suit]) * (self._known.unseen & SUIT_MASKS[suit]).bit_count()

    def beats(self, seat: int, card: int, *, led: int) -> float:
        """That this seat can beat a card that lies best in a trick of the suit `led`."""
        suit = SUIT_OF[card]
        higher = SUIT_MASKS[suit] & -(2 << card)
        if suit != led:  # A trump lies best.
            return self.holds_none(seat, led, SUIT_MASKS[led]) * (1 - self.holds_none(seat, suit, higher))
        follows_higher = 1 - self.holds_none(seat, led, higher)
        if self._known.trump == led:
            return follows_higher
        return follows_higher + self.holds_none(seat, led, SUIT_MASKS[led]) * self._cuts(seat)

    def winners(self, card: int, winner: int, *, led: int) -> Mapping[int, float]:
        """Who wins the trick and how likely, when `card` of the seat `winner` lies best and the others play on."""
        likely = {winner: 1.0}
        for seat in self._known.later:
            beats = self.beats(seat, card, led=led)
            for holder in tuple(likely):
                if (holder - seat) % 2:
                    moved = likely[holder] * beats * (1 if holder == winner else BEATEN_AGAIN)
                    likely[holder] -= moved
                    likely[seat] = likely.get(seat, 0.0) + moved
        return likely

    def holds_when_led(self, card: int) -> float:
        """That no opponent can beat this card when it is led."""
        chance = 1.0
        for seat in self._known.others():
            if not self._known.with_us(seat):
                chance *= 1 - self.beats(seat, card, led=SUIT_OF[card])
        return chance

    def _cuts(self, seat: int) -> float:
        """That a seat which cannot follow takes the trick with a trump."""
        trump = self._known.trump
        if trump is not None:
            return 1 - self.holds_none(seat, trump, SUIT_MASKS[trump])
        return 1.0 if self._known.mode == "kaat" else ASKED_AND_WON
