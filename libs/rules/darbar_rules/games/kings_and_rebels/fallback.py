"""What is decided for a seat whose time is up, from its view alone. Open this about timeouts (GEN-5, KR-10, KR-26)."""

from __future__ import annotations

from darbar_rules.cards import CARDS_IN_DECK, CARDS_IN_SUIT, IDS_TWO_DECKS, RANK_OF, SUIT_OF, SUITS, TEXTS, cards_of
from darbar_rules.games.kings_and_rebels.events import Bid, Convert, Decision, NameConverts, PassBid, PlayCard
from darbar_rules.games.kings_and_rebels.options import setup_of
from darbar_rules.games.kings_and_rebels.pack import POINTS, SUIT_MASKS, mask_of_hand
from darbar_rules.games.kings_and_rebels.view import KingsAndRebelsView

# Where the convert card is looked for when the leader has every card of the trump suit.
OTHER_SUITS = "SHDC"


def fallback(view: KingsAndRebelsView) -> Decision:
    """A pass, for who may not pass the minimum; the longest suit and one convert card; the lowest legal card."""
    if view.phase == "bidding":
        return PassBid() if view.legal.also else Bid(view.minimum_bid)
    if view.phase == "naming":
        hand = mask_of_hand(view.hand)
        trump = longest_suit(hand)
        return NameConverts(SUITS[trump], (Convert(highest_not_held(view, hand, trump)),))
    return PlayCard(lowest(view))


def longest_suit(hand: int) -> int:
    """Of equally long ones the one with more points, then the first of C, D, H, S."""

    def worth(suit: int) -> tuple[int, int, int]:
        held = hand & SUIT_MASKS[suit]
        return held.bit_count(), sum(POINTS[card] for card in cards_of(held)), -suit

    return max(range(len(SUITS)), key=worth)


def highest_not_held(view: KingsAndRebelsView, hand: int, trump: int) -> str:
    """The highest card in use of the trump suit that is not in this hand; then of the others."""
    setup = setup_of(view.options)
    held = {card % CARDS_IN_DECK for card in cards_of(hand)}
    others = [SUITS.index(suit) for suit in OTHER_SUITS if SUITS.index(suit) != trump]
    return next(
        TEXTS[face]
        for suit in (trump, *others)
        for face in reversed(range(suit * CARDS_IN_SUIT, (suit + 1) * CARDS_IN_SUIT))
        if face not in held and setup.copies[face]
    )


def lowest(view: KingsAndRebelsView) -> str:
    """The lowest-ranked legal card, clubs before diamonds, hearts, spades."""
    ranks = setup_of(view.options).ranks

    def order(text: str) -> tuple[int, int, int, int]:
        card = IDS_TWO_DECKS[text]
        return ranks[card], SUIT_OF[card], RANK_OF[card], card

    return min(view.legal.play, key=order)
