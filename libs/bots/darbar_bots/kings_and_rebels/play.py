"""Which card is best, and what it brings. Open this when a bot plays a card that people find stupid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from darbar_bots.kings_and_rebels.chances import Chances
from darbar_bots.kings_and_rebels.known import Known, points_of
from darbar_bots.kings_and_rebels.sides import sides
from darbar_rules.cards import cards_of
from darbar_rules.games.kings_and_rebels.pack import POINTS

# What a card is worth later: a likely winner takes a part of an average trick, and brings home its own points. (These
# weights were found by playing many rounds.)
KEEP_WINNER: Final = 0.8
KEEP_POINTS: Final = 0.5
KEEP_TRUMP: Final = 5.0
KEEP_RANK: Final = 0.1
# Who plays later gives points to a partner's trick rather than to an enemy's, by so much.
FEEDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Choice:
    """A card and what is expected from playing it, in points."""

    card: int
    value: float


class Position:
    """One seat's turn to play a card: what each card would bring."""

    def __init__(self, known: Known, *, saves: bool = True) -> None:
        """A beginner saves nothing: only the trick that lies there counts."""
        self._known = known
        self._saves = saves
        self._sides = sides(known)
        self._chances = Chances(known, self._sides)
        self._mean = points_of(known.unseen) / max(known.unseen.bit_count(), 1)  # of a card of the others

    def best(self, cards: int) -> Choice:
        """The best of these cards; of equally good ones the lowest."""
        choices = [Choice(card, self.value(card)) for card in cards_of(cards)]
        return max(choices, key=lambda choice: (choice.value, -self._known.setup.ranks[choice.card], -choice.card))

    def value(self, card: int) -> float:
        """What the trick is likely to bring when this card is played, less what the card would bring later."""
        return self._trick(card) - self._kept(card)

    def _trick(self, card: int) -> float:
        known = self._known
        led = known.suits[card] if known.led is None else known.led
        winner, best = known.seat, card
        if known.winning is not None and known.best is not None and not known.beats(card, known.best):
            winner, best = known.winning, known.best
        lying = known.points + POINTS[card]
        value = 0.0
        for seat, chance in self._chances.winners(best, winner, led=led).items():
            value += chance * self._sides[seat] * (lying + self._given(seat))
        return value

    def _given(self, winner: int) -> float:
        """Points that the later seats are likely to add to a trick of this winner."""
        later = self._known.later
        return sum(self._mean * (1 + FEEDS * self._sides[seat] * self._sides[winner]) for seat in later)

    def _kept(self, card: int) -> float:
        known = self._known
        if not self._saves or known.tricks_left == 1:
            return 0.0
        holds = self._chances.holds_when_led(card)
        trick = self._mean * (known.setup.seats - 1)
        worth = KEEP_WINNER * holds * trick + KEEP_POINTS * POINTS[card] * (2 * holds - 1)
        worth += KEEP_RANK * known.setup.ranks[card]
        return worth + KEEP_TRUMP if known.suits[card] == known.trump else worth
