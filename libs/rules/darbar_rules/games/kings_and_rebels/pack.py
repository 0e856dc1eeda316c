"""The cards of one or two decks: their points, which are left out, how a hand is written. Open this about KR-2, KR-3.

A *face* is a card of one deck, 0..51; the second deck's copy of it has the same face. A hand is a mask of up to 104
bits. Copies are equal for every rule: they only tell apart what lies where.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from darbar_rules.cards import (
    CARDS_IN_DECK,
    CARDS_IN_SUIT,
    IDS,
    IDS_TWO_DECKS,
    RANK_OF,
    RANKS,
    SUIT_OF,
    SUITS,
    TEXTS,
    WHOLE_DECK,
    cards_of,
)
from darbar_rules.cards import texts_of as texts_of_one_deck

THREE_OF_SPADES: Final = IDS["3S"]
THREE_OF_SPADES_POINTS: Final = 30
RANK_POINTS: Final = {"A": 10, "K": 10, "Q": 10, "J": 10, "T": 10, "5": 5}

SECOND_COPY: Final = "#2"


def _points(face: int) -> int:
    return THREE_OF_SPADES_POINTS if face == THREE_OF_SPADES else RANK_POINTS.get(RANKS[face % CARDS_IN_SUIT], 0)


FACES: Final[tuple[int, ...]] = tuple(card % CARDS_IN_DECK for card in range(len(TEXTS)))
POINTS: Final[tuple[int, ...]] = tuple(_points(face) for face in FACES)
SUIT_MASKS: Final[tuple[int, ...]] = tuple(
    sum(1 << card for card in range(len(TEXTS)) if SUIT_OF[card] == suit) for suit in range(len(SUITS))
)
COPIES: Final[tuple[int, ...]] = tuple(1 << face | 1 << face + CARDS_IN_DECK for face in range(CARDS_IN_DECK))


def removed_cards(decks: int, seats: int) -> tuple[int, ...]:
    """What is left out so that the hands are equal: the lowest cards without points, suits in the order C, D, H, S.

    Of two copies both go, the second one first: a copy that is left alone is written without its "#2" (KR-2).
    """
    worthless = [card for card in range(CARDS_IN_DECK * decks) if not POINTS[card]]
    worthless.sort(key=lambda card: (RANK_OF[card], SUIT_OF[card], -card))
    return tuple(worthless[: CARDS_IN_DECK * decks % seats])


def held_as(hand: int, text: str) -> int | None:
    """The card of this hand that a text means, None when it holds none: "AH" is either copy, "AH#2" that one."""
    card = IDS_TWO_DECKS[text]
    for copy in (card, card + CARDS_IN_DECK):
        if hand >> copy & 1:
            return copy
    return None


def mask_of_hand(texts: tuple[str, ...]) -> int:
    mask = 0
    for text in texts:
        mask |= 1 << IDS_TWO_DECKS[text]
    return mask


def texts_of(mask: int) -> tuple[str, ...]:
    """The cards of a hand, suit by suit, each from the lowest up."""
    if mask <= WHOLE_DECK:
        return texts_of_one_deck(mask)
    clubs, diamonds, hearts, spades = SUIT_MASKS
    return (
        _texts_of_one_suit(mask & clubs)
        + _texts_of_one_suit(mask & diamonds)
        + _texts_of_one_suit(mask & hearts)
        + _texts_of_one_suit(mask & spades)
    )


# There are too many to hold them all: they come and go.
@lru_cache(maxsize=len(SUITS) << CARDS_IN_SUIT)
def _texts_of_one_suit(mask: int) -> tuple[str, ...]:
    return tuple(TEXTS[card] for card in sorted(cards_of(mask), key=lambda card: (FACES[card], card)))
