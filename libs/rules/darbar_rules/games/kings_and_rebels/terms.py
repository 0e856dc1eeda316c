"""What a table's options come to: its pack, its numbers, the suit and rank of each card. Open this about KR-17."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from darbar_rules.cards import CARDS_IN_DECK, RANK_OF, RANKS, SUIT_OF, SUITS, TEXTS
from darbar_rules.games.kings_and_rebels.options import (
    MINIMUM_BID_A_DECK,
    POINTS_IN_DECK,
    SEATS_NEVER_CONVERTED,
    KingsAndRebelsOptions,
)
from darbar_rules.games.kings_and_rebels.pack import FACES, SUIT_MASKS, THREE_OF_SPADES, removed_cards

TABLES_KEPT: Final = 256


@dataclass(frozen=True, slots=True)
class Terms:
    """Fixed for a whole game. The tables of `suits` and `masks` are by trump suit first."""

    options: KingsAndRebelsOptions
    seats: int
    rounds: int
    total: int  # points of the whole pack
    minimum: int  # of a bid
    converts_max: int
    removed: tuple[str, ...]
    held: int  # cards of each seat
    deck: tuple[int, ...] = field(repr=False)  # the cards in use, from the lowest number up
    copies: tuple[int, ...] = field(repr=False)  # of each face
    suits: tuple[tuple[int, ...], ...] = field(repr=False)  # to which suit each card belongs
    masks: tuple[tuple[int, ...], ...] = field(repr=False)  # the cards of each suit
    ranks: tuple[int, ...] = field(repr=False)


@lru_cache(maxsize=TABLES_KEPT)
def terms_of(options: KingsAndRebelsOptions) -> Terms:
    seats, decks = options.seats, options.decks
    removed = removed_cards(decks, seats)
    deck = tuple(card for card in range(CARDS_IN_DECK * decks) if card not in removed)
    faces = [FACES[card] for card in deck]
    top = options.three_of_spades_top_trump
    return Terms(
        options=options,
        seats=seats,
        rounds=options.rounds or seats,
        total=POINTS_IN_DECK * decks,
        minimum=options.minimum_bid or MINIMUM_BID_A_DECK * decks,
        converts_max=options.convert_cards_max or seats - SEATS_NEVER_CONVERTED,
        removed=tuple(TEXTS[card] for card in removed),
        held=len(deck) // seats,
        deck=deck,
        copies=tuple(faces.count(face) for face in range(CARDS_IN_DECK)),
        suits=tuple(_suits(trump, top=top) for trump in range(len(SUITS))),
        masks=tuple(_masks(trump, top=top) for trump in range(len(SUITS))),
        ranks=ranks_of(top=top),
    )


def ranks_of(*, top: bool) -> tuple[int, ...]:
    """The rank of each card; the three of spades may be the highest trump, and otherwise is a three (KR-17)."""
    return tuple(len(RANKS) if top and FACES[card] == THREE_OF_SPADES else RANK_OF[card] for card in range(len(TEXTS)))


def _suits(trump: int, *, top: bool) -> tuple[int, ...]:
    return tuple(trump if top and FACES[card] == THREE_OF_SPADES else SUIT_OF[card] for card in range(len(TEXTS)))


def _masks(trump: int, *, top: bool) -> tuple[int, ...]:
    if not top:
        return SUIT_MASKS
    suits = _suits(trump, top=top)
    return tuple(sum(1 << card for card in range(len(TEXTS)) if suits[card] == suit) for suit in range(len(SUITS)))
