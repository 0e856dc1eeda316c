"""Which card is best, and what it brings. Open this when a bot plays a card that people find stupid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from darbar_bots.king.chances import Chances
from darbar_bots.king.known import Known
from darbar_rules.cards import RANK_OF, SUIT_MASKS, SUIT_OF, WHOLE_DECK, beats, cards_of
from darbar_rules.games.king.contracts import KING_OF_HEARTS, Contract

# What others take counts against this seat, a part of it each: a deal sums to a fixed number.
OTHERS_SHARE: Final = 0.3
# A card that follows or is led later costs or brings less than the same card now, because it may yet be thrown away.
LATER: Final = 0.8
# Each lower card of its suit in hand makes it less likely that a card has to win a trick that nobody wants.
GUARDED: Final = 0.7
# Out of a short suit, so that cards can be thrown away soon: what that saves, in tricks, for a suit of one card.
SHORTENS: Final = 0.3


@dataclass(frozen=True, slots=True)
class Choice:
    """A card and what is expected from playing it, in points."""

    card: int
    value: float


@lru_cache(maxsize=256)
def worth_of(contract: Contract) -> Mapping[int, int]:
    """What each card brings whoever takes it, of those that bring something; the most first."""
    worth = {
        card: sum(points for cards, points in contract.card_points if cards >> card & 1)
        for card in range(WHOLE_DECK.bit_length())
    }
    return dict(sorted(((card, points) for card, points in worth.items() if points), key=lambda pair: -abs(pair[1])))


class Position:
    """One seat's turn to play a card: what each card would bring."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._chances = Chances(known)
        self._worth = worth_of(known.contract)
        self._out = {card: points for card, points in self._worth.items() if known.unseen >> card & 1}
        self._per_trick = self._left() / known.tricks_left

    def best(self, cards: int) -> Choice:
        """The best of these cards; of equally good ones the lowest."""
        choices = [Choice(card, self.value(card)) for card in cards_of(cards)]
        return max(choices, key=lambda choice: (choice.value, -RANK_OF[choice.card]))

    def value(self, card: int) -> float:
        """What the trick is likely to bring when this card is played, less what the card would bring later."""
        return self._trick(card) - self._kept(card)

    def keeping(self) -> float:
        """What the whole hand would bring if it could all be kept, in points."""
        return sum(self._kept(card) for card in cards_of(self._known.hand))

    def winners(self) -> float:
        """How many of the hand's cards are likely to win a trick when they are led."""
        return sum(self._wins_later(card) for card in cards_of(self._known.hand))

    def _trick(self, card: int) -> float:
        known = self._known
        led = SUIT_OF[card] if known.led is None else known.led
        best, wins = known.best, 0.0
        if best is None or beats(card, best, known.trump):
            best = card
            wins = self._chances.stays_best(card, known.later, wanted=known.contract.positive, led=led)
        points = known.contract.trick_points[known.number] + self._worth.get(card, 0)
        points += sum(self._worth.get(lying, 0) for lying in cards_of(known.trick))
        expected = points + sum(self._added(seat, led, best) for seat in known.later)
        return expected * (wins - (1 - wins) * OTHERS_SHARE)

    def _added(self, seat: int, led: int, best: int) -> float:
        """What a later seat is likely to put into the trick, of the cards that count."""
        if not self._out:
            return 0.0
        void = self._chances.is_void(seat, led)
        following = {card: points for card, points in self._out.items() if SUIT_OF[card] == led}
        if self._known.contract.positive:
            forced = void * self._chances.thrown(seat, self._forced())
            return forced + sum(self._chances.holds(seat, card) * points for card, points in following.items()) / 2
        slipped = {card: points for card, points in following.items() if card < best}
        others = {card: points for card, points in self._out.items() if SUIT_OF[card] != led}
        return self._chances.thrown(seat, slipped) + void * self._chances.thrown(seat, others)

    def _forced(self) -> Mapping[int, int]:
        """The card that somebody who cannot follow suit has to give away, though everybody wants it."""
        if not self._known.contract.king_of_hearts_first:
            return {}
        return {card: points for card, points in self._out.items() if KING_OF_HEARTS >> card & 1}

    def _kept(self, card: int) -> float:
        """What a card would bring if it were kept."""
        known = self._known
        if known.tricks_left == 1:
            return 0.0
        suit = SUIT_OF[card]
        wins = self._wins_later(card)
        lower = (known.hand & SUIT_MASKS[suit] & ((1 << card) - 1)).bit_count()
        if known.contract.positive:
            return LATER * wins * self._per_trick
        shortens = SHORTENS * self._per_trick / (known.hand & SUIT_MASKS[suit]).bit_count()
        return shortens + wins * GUARDED**lower * (LATER * self._per_trick + self._worth.get(card, 0))

    def _wins_later(self, card: int) -> float:
        known = self._known
        return self._chances.stays_best(card, known.others(), wanted=known.contract.positive, led=SUIT_OF[card])

    def _left(self) -> float:
        """The points that are still to be taken in this deal."""
        known = self._known
        held = sum(points for card, points in self._worth.items() if (known.hand | known.trick) >> card & 1)
        return sum(known.contract.trick_points[known.number :]) + sum(self._out.values()) + held
