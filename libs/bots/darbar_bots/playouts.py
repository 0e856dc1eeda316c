"""What the playouts of all games share: cards as bits, ordered by rank, and lots. Open this about the kernels' cards.

In a playout card `rank * 4 + suit` is that bit of an int, so that the lowest bit of a hand is its lowest rank, whatever
the suit, and of two bits of one suit the higher one beats the other. Everything fits into 64 bits with a sign, so that
compiled code has the machine's own numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from darbar_rules.cards import CARDS_IN_DECK, RANK_OF, SUIT_OF, cards_of

if TYPE_CHECKING:
    from mypy_extensions import i64

CLUBS: Final = 0x1111111111111
DIAMONDS: Final = 0x2222222222222
HEARTS: Final = 0x4444444444444
SPADES: Final = 0x8888888888888
SUIT_BITS: Final = (CLUBS, DIAMONDS, HEARTS, SPADES)
BIT_OF: Final = tuple(1 << RANK_OF[card] * 4 + SUIT_OF[card] for card in range(CARDS_IN_DECK))
LOT_BITS: Final = 32


def bits_of(mask: int) -> int:
    """A hand as playouts have it, from one as the rules have it."""
    bits = 0
    for card in cards_of(mask):
        bits |= BIT_OF[card]
    return bits


def suit_of(card: i64) -> i64:
    """The whole suit of this card."""
    if card & CLUBS:
        return CLUBS
    if card & DIAMONDS:
        return DIAMONDS
    return HEARTS if card & HEARTS else SPADES


def highest(cards: i64) -> i64:
    """The highest of these cards, of which there is one at least."""
    lower = cards & cards - 1
    while lower:
        cards = lower
        lower = cards & cards - 1
    return cards


def any_of(cards: i64, lot: i64) -> i64:
    """One of these cards, each as likely as another one."""
    count: i64 = 0
    left = cards
    while left:
        left &= left - 1
        count += 1
    skipped = lot * count >> LOT_BITS
    while skipped:
        cards &= cards - 1
        skipped -= 1
    return cards & -cards


def next_lot(lot: i64) -> i64:
    """The lot after this one: from 1 to 2**32 - 1, each once before the first comes again (Marsaglia's xorshift)."""
    lot ^= lot << 13 & 0xFFFFFFFF
    lot ^= lot >> 17
    return lot ^ (lot << 5 & 0xFFFFFFFF)
