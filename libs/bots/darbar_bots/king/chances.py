"""How likely others hold cards, go over one, or throw one that counts. Open this when a bot misjudges its cards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from darbar_bots.king.known import Known
from darbar_bots.voids import misses
from darbar_rules.cards import SUIT_MASKS, SUIT_OF

# How often a seat takes a trick that nobody wants, though it has lower cards: to be rid of a high one.
TAKES_FREELY: Final = 0.2


class Chances:
    """What is likely in one position. Each unseen card is with each seat that can hold it, by its number of cards."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._misses = misses(known.others(), known.counts, known.voids)

    def holds(self, seat: int, card: int) -> float:
        """That this seat holds an unseen card."""
        return 0.0 if self._known.cannot[seat] >> card & 1 else 1 - self._misses[seat][SUIT_OF[card]]

    def holds_none(self, seat: int, suit: int, cards: int) -> float:
        """That this seat holds none of these cards of a suit."""
        possible = cards & self._known.unseen & SUIT_MASKS[suit] & ~self._known.cannot[seat]
        none: float = self._misses[seat][suit] ** possible.bit_count()
        return none

    def beats(self, seat: int, card: int, *, led: int) -> float:
        """That this seat can beat the best card of a trick of the suit `led`."""
        suit, trump = SUIT_OF[card], self._known.trump
        higher = SUIT_MASKS[suit] & -(2 << card)
        if suit != led:  # A trump lies best.
            return self.holds_none(seat, led, SUIT_MASKS[led]) * (1 - self.holds_none(seat, suit, higher))
        follows = 1 - self.holds_none(seat, led, higher)
        if trump is None or trump == led:
            return follows
        return follows + self.holds_none(seat, led, SUIT_MASKS[led]) * (
            1 - self.holds_none(seat, trump, SUIT_MASKS[trump])
        )

    def goes_over(self, seat: int, card: int) -> float:
        """That this seat beats a card of the suit led though nobody wants the trick: it has to, or takes it early."""
        suit = SUIT_OF[card]
        can = 1 - self.holds_none(seat, suit, SUIT_MASKS[suit] & -(2 << card))
        has_to = self.holds_none(seat, suit, SUIT_MASKS[suit] & ((1 << card) - 1))
        return can * (has_to + (1 - has_to) * TAKES_FREELY)

    def is_void(self, seat: int, suit: int) -> float:
        return self.holds_none(seat, suit, SUIT_MASKS[suit])

    def stays_best(self, card: int, seats: tuple[int, ...], *, wanted: bool, led: int) -> float:
        """That none of these seats goes over the card: everybody tries to, or only who must."""
        chance = 1.0
        for seat in seats:
            chance *= 1 - (self.beats(seat, card, led=led) if wanted else self.goes_over(seat, card))
        return chance

    def thrown(self, seat: int, worth: Mapping[int, float]) -> float:
        """What a seat is likely to throw away, of cards in the order in which it would: worth by card."""
        expected, left = 0.0, 1.0
        for card, points in worth.items():
            holds = self.holds(seat, card)
            expected += left * holds * points
            left *= 1 - holds
        return expected
