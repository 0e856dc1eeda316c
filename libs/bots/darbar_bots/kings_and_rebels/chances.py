"""How likely others hold a card, beat one, win a trick. Open this when a bot over- or underestimates its cards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from darbar_bots.kings_and_rebels.known import Known
from darbar_bots.voids import misses

# A seat that can beat the best card does so this often, from a partner and from an enemy.
TAKES_FROM_PARTNER: Final = 0.4
TAKES_FROM_ENEMY: Final = 0.9


class Chances:
    """What is likely in one position. Each unseen card is with each seat that can hold it, by its number of cards."""

    def __init__(self, known: Known, sides: tuple[float, ...]) -> None:
        self._known = known
        self._sides = sides
        self._misses = misses(known.others(), known.counts, known.voids)

    def holds_none(self, seat: int, suit: int, cards: int) -> float:
        """That this seat holds none of these cards of a suit."""
        none: float = self._misses[seat][suit] ** (cards & self._known.unseen & self._known.masks[suit]).bit_count()
        return none

    def beats(self, seat: int, card: int, *, led: int) -> float:
        """That this seat can beat a card that lies best in a trick of the suit `led`."""
        known = self._known
        suit, trump = known.suits[card], known.trump
        higher = known.higher(card)
        if suit != led:  # A trump lies best.
            return self.holds_none(seat, led, known.masks[led]) * (1 - self.holds_none(seat, suit, higher))
        follows_higher = 1 - self.holds_none(seat, led, higher)
        if trump == led:
            return follows_higher
        void = self.holds_none(seat, led, known.masks[led])
        return follows_higher + void * (1 - self.holds_none(seat, trump, known.masks[trump]))

    def winners(self, card: int, winner: int, *, led: int) -> Mapping[int, float]:
        """Who wins the trick and how likely, when `card` of the seat `winner` lies best and the others play on."""
        likely = {winner: 1.0}
        for seat in self._known.later:
            beats = self.beats(seat, card, led=led)
            if not beats:
                continue
            for holder in tuple(likely):
                agree = (1 + self._sides[holder] * self._sides[seat]) / 2
                takes = agree * TAKES_FROM_PARTNER + (1 - agree) * TAKES_FROM_ENEMY
                moved = likely[holder] * beats * takes
                likely[holder] -= moved
                likely[seat] = likely.get(seat, 0.0) + moved
        return likely

    def holds_when_led(self, card: int) -> float:
        """That no enemy can beat this card when it is led."""
        chance = 1.0
        for seat in self._known.others():
            enemy = (1 - self._sides[seat]) / 2
            chance *= 1 - enemy * self.beats(seat, card, led=self._known.suits[card])
        return chance
