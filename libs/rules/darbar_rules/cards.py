"""Cards as text, as numbers and as bit masks, and which card beats which. Open this about ranks, suits or card names.

A card is a number: suit * 13 + rank, suits in the order C D H S, ranks from 2 up to the ace. A hand is an int with
bit `card` set for each card in it. The second deck's copy of a card is that number + 52, written `AH#2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

SUITS: Final = "CDHS"
RANKS: Final = "23456789TJQKA"
CARDS_IN_DECK: Final = 52
CARDS_IN_SUIT: Final = 13
DECKS_MAX: Final = 2

TEXTS: Final[tuple[str, ...]] = tuple(
    rank + suit + copy for copy in ("", "#2") for suit in SUITS for rank in RANKS
)  # by number; the second deck follows the first
IDS: Final[Mapping[str, int]] = {text: card for card, text in enumerate(TEXTS[:CARDS_IN_DECK])}
IDS_TWO_DECKS: Final[Mapping[str, int]] = {text: card for card, text in enumerate(TEXTS)}
PackedHands = tuple[bytes, ...]  # a hand a seat, a byte a card, in the order in which they were dealt
PACKED: Final[tuple[bytes, ...]] = tuple(bytes((card,)) for card in range(len(TEXTS)))
BITS: Final[tuple[int, ...]] = tuple(1 << card for card in range(len(TEXTS)))
SUIT_OF: Final[tuple[int, ...]] = tuple(card % CARDS_IN_DECK // CARDS_IN_SUIT for card in range(len(TEXTS)))
RANK_OF: Final[tuple[int, ...]] = tuple(card % CARDS_IN_SUIT for card in range(len(TEXTS)))
ONE_SUIT: Final = (1 << CARDS_IN_SUIT) - 1  # the clubs of a hand; those of another suit lie thirteen bits higher each
SUIT_MASKS: Final[tuple[int, ...]] = tuple(ONE_SUIT << (suit * CARDS_IN_SUIT) for suit in range(len(SUITS)))
WHOLE_DECK: Final = (1 << CARDS_IN_DECK) - 1

ACE: Final = RANKS.index("A")
HONOUR_RANKS: Final = "AKQJ"


def mask_of_ranks(ranks: str) -> int:
    """All cards of one deck that have one of these ranks."""
    return mask_of(suit * CARDS_IN_SUIT + RANKS.index(rank) for suit in range(len(SUITS)) for rank in ranks)


def mask_of(cards: Iterable[int]) -> int:
    mask = 0
    for card in cards:
        mask |= 1 << card
    return mask


def cards_of(mask: int) -> Iterator[int]:
    """The cards of a hand, from the lowest number up."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def packed(hands: Iterable[Iterable[str]]) -> PackedHands:
    """Hands as a state keeps them. Raises KeyError for what is no card."""
    return tuple([bytes([IDS_TWO_DECKS[text] for text in hand]) for hand in hands])


def unpacked(hands: PackedHands) -> tuple[tuple[str, ...], ...]:
    """Hands as they are told."""
    return tuple([tuple([TEXTS[card] for card in hand]) for hand in hands])


def shared(hands: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """The same hands in texts that are in memory once for all tables: those of a log that was read are new ones."""
    return unpacked(packed(hands))


def mask_of_texts(texts: Iterable[str]) -> int:
    """The hand that is written so; KeyError for what is no card of one deck."""
    return mask_of(IDS[text] for text in texts)


def texts_of(mask: int) -> tuple[str, ...]:
    """The cards of a one-deck hand, suit by suit, each from the lowest up."""
    return (
        _CLUBS[mask & ONE_SUIT]
        + _DIAMONDS[mask >> 13 & ONE_SUIT]
        + _HEARTS[mask >> 26 & ONE_SUIT]
        + _SPADES[mask >> 39 & ONE_SUIT]
    )


def _holdings(suit: int) -> tuple[tuple[str, ...], ...]:
    """All that a hand can hold of a suit, by its thirteen bits."""
    found: list[tuple[str, ...]] = [()]
    for text in TEXTS[suit * CARDS_IN_SUIT : (suit + 1) * CARDS_IN_SUIT]:
        found += [(*held, text) for held in found]
    return tuple(found)


_CLUBS, _DIAMONDS, _HEARTS, _SPADES = map(_holdings, range(len(SUITS)))


def lowest(mask: int) -> int:
    """The lowest-ranked card of a one-deck hand, clubs before diamonds, hearts, spades (GEN-5)."""
    lows = [(held & -held).bit_length() - 1 for suit in SUIT_MASKS if (held := mask & suit)]
    return min(lows, key=lambda card: (RANK_OF[card], card))


def longest_suit(mask: int) -> int:
    """The suit of which a hand holds most cards; of equally long ones the first of C, D, H, S."""
    return max(range(len(SUITS)), key=lambda suit: ((mask & SUIT_MASKS[suit]).bit_count(), -suit))


def beats(card: int, best: int, trump: int | None) -> bool:
    """Whether a card of one deck takes the lead of a trick from its best card so far (GEN-3).

    `trump` is the suit that gives `card` trump power, None when it has none. A trick's first card is its first best
    one, so the best card always follows suit or is a trump with power: comparing with it alone is enough.
    """
    if SUIT_OF[card] == SUIT_OF[best]:
        return card > best
    return SUIT_OF[card] == trump
