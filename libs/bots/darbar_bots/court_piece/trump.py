"""Which suit becomes trump, and when it is shown. Open this about calling, asking, showing and cutting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from darbar_bots.court_piece.chances import Chances
from darbar_bots.court_piece.known import Known
from darbar_bots.court_piece.play import Choice, Position
from darbar_rules.cards import RANK_OF, RANKS, SUIT_MASKS, SUITS, cards_of

# Length wins more tricks with trumps than honours do.
HONOURS: Final[Mapping[int, float]] = {
    RANKS.index("A"): 0.9,
    RANKS.index("K"): 0.6,
    RANKS.index("Q"): 0.4,
    RANKS.index("J"): 0.2,
}
# What the suit that a cut makes trump is worth for the rest of the round, against an average holding.
CUT_STRENGTH: Final = 0.5
CUT_STRENGTH_PAR: Final = 3.5
# Piles are picked up only once the trump is shown, and the caller's side has more of it.
SHOWN_FOR_CALLER: Final = 0.6


def suit_to_call(hand: int) -> int:
    """The suit to make trump, from the caller's first five cards."""
    return max(range(len(SUITS)), key=lambda suit: (strength(hand, suit), suit))


def card_to_hide(hand: int) -> int:
    """The card to lay face down: the lowest of the suit, since it is out of play until the trump is shown."""
    held = hand & SUIT_MASKS[suit_to_call(hand)]
    return (held & -held).bit_length() - 1


def strength(hand: int, suit: int) -> float:
    """How good a trump suit this is for this hand: its length, and a part of a card for each honour."""
    held = hand & SUIT_MASKS[suit]
    return held.bit_count() + sum(HONOURS.get(RANK_OF[card], 0.0) for card in cards_of(held))


def best_cut(known: Known) -> Choice:
    """The best card of a seat whose card becomes the trump suit: for this trick, and for the round."""
    choices = []
    for suit, cards in enumerate(SUIT_MASKS):
        if known.legal & cards:
            choice = Position(known.once_shown(suit)).best(known.legal & cards)
            for_round = CUT_STRENGTH * (strength(known.hand, suit) - CUT_STRENGTH_PAR)
            choices.append(Choice(choice.card, choice.value + for_round))
    return max(choices, key=lambda choice: choice.value)


def value_of_asking(known: Known) -> float:
    """What seeing the hidden trump is worth to a seat that does not know it: the mean over the suits it may be."""
    likely = _likely_trumps(known)
    value = sum(chance * _best_after_showing(known, suit).value for suit, chance in likely.items())
    assert known.caller is not None
    return value + (SHOWN_FOR_CALLER if known.with_us(known.caller) else -SHOWN_FOR_CALLER)


def value_of_showing(known: Known, *, must_play_trump: bool) -> float:
    """What showing the own hidden trump is worth to the caller."""
    assert known.hidden_trump is not None
    if known.led is not None or must_play_trump:
        return _best_after_showing(known, known.hidden_trump).value + SHOWN_FOR_CALLER
    shown = known.once_shown(known.hidden_trump)
    return Position(shown).best(shown.hand).value + SHOWN_FOR_CALLER


def _best_after_showing(known: Known, suit: int) -> Choice:
    """A trump if there is one, any card else (CP-18)."""
    shown = known.once_shown(suit)
    return Position(shown).best(shown.hand & SUIT_MASKS[suit] or shown.hand)


def _likely_trumps(known: Known) -> Mapping[int, float]:
    """The suits that the caller may have hidden: he chose one that he has many cards of."""
    chances = Chances(known)
    assert known.caller is not None
    weights = {suit: chances.expected(known.caller, suit) ** 2 for suit in range(len(SUITS))}
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(weights, 1 / len(weights))
    return {suit: weight / total for suit, weight in weights.items() if weight}
