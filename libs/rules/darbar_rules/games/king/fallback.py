"""What is decided for a seat whose time is up, from its view alone. Open this about timeouts (GEN-5, K20-8, K32-17)."""

from __future__ import annotations

from typing import Final

from darbar_rules.cards import RANK_OF, SUIT_MASKS, SUITS, TEXTS, lowest, mask_of_texts
from darbar_rules.games.king.contracts import TRUMP
from darbar_rules.games.king.declaring import TRUMP_MARK
from darbar_rules.games.king.events import Decision, Declare, PlayCard
from darbar_rules.games.king.view import KingView

# Of King in 20 hands: the contract that is likely to cost least comes first.
NEGATIVES_IN_ORDER: Final = (
    "no_last_two",
    "no_tricks",
    "no_girls",
    "no_boys",
    "no_hearts",
    "no_king_of_hearts",
)


def fallback_20(view: KingView) -> Decision:
    """The lowest legal card; trump in the longest suit while one is left, then the first free negative contract."""
    if view.phase != "declaring":
        return _lowest_card(view)
    if any(name.startswith(TRUMP_MARK) for name in view.legal.name):
        return Declare(TRUMP, SUITS[trump_suit(mask_of_texts(view.hand))])
    return Declare(next(name for name in NEGATIVES_IN_ORDER if name in view.legal.name))


def fallback_32(view: KingView) -> Decision:
    """The lowest legal card; the first contract of the list that is left."""
    return Declare(view.legal.name[0]) if view.phase == "declaring" else _lowest_card(view)


def trump_suit(hand: int) -> int:
    """The longest suit; of equally long ones the one with the highest card, then the first of C, D, H, S."""

    def worth(suit: int) -> tuple[int, int, int]:
        held = hand & SUIT_MASKS[suit]
        return held.bit_count(), RANK_OF[held.bit_length() - 1], -suit

    return max((suit for suit in range(len(SUITS)) if hand & SUIT_MASKS[suit]), key=worth)


def _lowest_card(view: KingView) -> PlayCard:
    return PlayCard(TEXTS[lowest(mask_of_texts(view.legal.play))])
