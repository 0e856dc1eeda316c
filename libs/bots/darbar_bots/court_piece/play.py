"""Which card is best, and what it brings. Open this when a bot plays a card that people find stupid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from darbar_bots.court_piece.chances import Chances
from darbar_bots.court_piece.known import Known
from darbar_bots.court_piece.worth import OTHERS_WIN_AGAIN, Stakes
from darbar_rules.cards import RANK_OF, SUIT_OF, beats, cards_of

# Winners are worth most late, when several in a row take a pile: what is spent early must bring as much. Any trump, and
# any high card a little, is worth keeping too. (These and the other weights were found by playing many rounds.)
KEEP_WINNER: Final = 3.0
KEEP_TRUMP: Final = 1.0
KEEP_RANK: Final = 0.05
# A trick that the partner holds as surely as this is not taken from him.
SURE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Choice:
    """A card and what is expected from playing it, in tricks collected."""

    card: int
    value: float


class Position:
    """One seat's turn to play a card: what each card would bring."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._chances = Chances(known)
        self._holds = {card: self._chances.holds_when_led(card) for card in cards_of(known.hand)}
        self._stakes = Stakes(known)

    def best(self, cards: int) -> Choice:
        """The best of these cards; of equally good ones the lowest."""
        choices = [Choice(card, self.value(card)) for card in cards_of(self._without_overtaking(cards))]
        return max(choices, key=lambda choice: (choice.value, -RANK_OF[choice.card]))

    def value(self, card: int) -> float:
        """What the trick is likely to bring when this card is played, less what the card would bring later."""
        return self._trick(card) - self._kept(card)

    def _trick(self, card: int) -> float:
        known = self._known
        led = SUIT_OF[card] if known.led is None else known.led
        winner, best = known.seat, card
        if known.winning is not None and known.best is not None and not beats(card, known.best, known.trump):
            winner, best = known.winning, known.best
        value = 0.0
        for seat, chance in self._chances.winners(best, winner, led=led).items():
            wins_again = self._wins_again(card) if seat == known.seat else OTHERS_WIN_AGAIN
            value += chance * self._stakes.of_win(seat, best if seat == winner else None, wins_again)
        return value

    def _without_overtaking(self, cards: int) -> int:
        """A trick that is surely the partner's is left to him, unless taking it picks up the pile."""
        known = self._known
        if known.winning != known.partner or known.best is None or known.led is None or known.streak == known.seat:
            return cards
        sure = self._chances.winners(known.best, known.partner, led=known.led)[known.partner] >= SURE
        under = sum(1 << card for card in cards_of(cards) if not beats(card, known.best, known.trump))
        return under or cards if sure else cards

    def _kept(self, card: int) -> float:
        known = self._known
        if known.tricks_left == 1:
            return 0.0
        worth = KEEP_WINNER * self._holds[card] + KEEP_RANK * RANK_OF[card]
        return worth + KEEP_TRUMP if SUIT_OF[card] in (known.trump, known.hidden_trump) else worth

    def _wins_again(self, card: int) -> float:
        """How likely this seat takes the next trick with its pile, by its best lead once this card is gone."""
        return max(
            (holds for other, holds in self._holds.items() if other != card and self._known.may_pick_up(other)),
            default=0.0,
        )
