"""What a table's options come to: its pack, its numbers, the suit and rank of each card. Open this about KR-17."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
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


@dataclass(frozen=True)
class Terms:
    """Fixed for a whole game: the options say everything, all else follows from them."""

    options: KingsAndRebelsOptions

    @cached_property
    def seats(self) -> int:
        return self.options.seats

    @cached_property
    def rounds(self) -> int:
        return self.options.rounds or self.seats

    @cached_property
    def total(self) -> int:
        """Points of the whole pack."""
        return POINTS_IN_DECK * self.options.decks

    @cached_property
    def minimum(self) -> int:
        """The least that may be bid."""
        return self.options.minimum_bid or MINIMUM_BID_A_DECK * self.options.decks

    @cached_property
    def converts_max(self) -> int:
        return self.options.convert_cards_max or self.seats - SEATS_NEVER_CONVERTED

    @cached_property
    def removed(self) -> tuple[str, ...]:
        return tuple(TEXTS[card] for card in removed_cards(self.options.decks, self.seats))

    @cached_property
    def deck(self) -> tuple[int, ...]:
        """The cards in use, from the lowest number up."""
        removed = removed_cards(self.options.decks, self.seats)
        return tuple(card for card in range(CARDS_IN_DECK * self.options.decks) if card not in removed)

    @cached_property
    def held(self) -> int:
        """Cards of each seat."""
        return len(self.deck) // self.seats

    @cached_property
    def copies(self) -> tuple[int, ...]:
        """Of each face, so many are in use."""
        faces = [FACES[card] for card in self.deck]
        return tuple(faces.count(face) for face in range(CARDS_IN_DECK))

    @cached_property
    def suits(self) -> tuple[tuple[int, ...], ...]:
        """By trump suit: to which suit each card belongs."""
        return suits_of(top=self.options.three_of_spades_top_trump)

    @cached_property
    def masks(self) -> tuple[tuple[int, ...], ...]:
        """By trump suit: the cards of each suit."""
        return masks_of(top=self.options.three_of_spades_top_trump)

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        return ranks_of(top=self.options.three_of_spades_top_trump)


@lru_cache(maxsize=TABLES_KEPT)
def terms_of(options: KingsAndRebelsOptions) -> Terms:
    """The same object for equal options, so that what follows from them is made once."""
    return Terms(options)


@lru_cache(maxsize=2)
def ranks_of(*, top: bool) -> tuple[int, ...]:
    """The rank of each card; the three of spades may be the highest trump, and otherwise is a three (KR-17)."""
    return tuple(len(RANKS) if top and FACES[card] == THREE_OF_SPADES else RANK_OF[card] for card in range(len(TEXTS)))


@lru_cache(maxsize=2)
def suits_of(*, top: bool) -> tuple[tuple[int, ...], ...]:
    """By trump suit the suit of each card: the three of spades may belong to the trumps."""
    return tuple(
        tuple(trump if top and FACES[card] == THREE_OF_SPADES else SUIT_OF[card] for card in range(len(TEXTS)))
        for trump in range(len(SUITS))
    )


@lru_cache(maxsize=2)
def masks_of(*, top: bool) -> tuple[tuple[int, ...], ...]:
    """By trump suit the cards of each suit."""
    if not top:
        return (SUIT_MASKS,) * len(SUITS)
    return tuple(
        tuple(sum(1 << card for card in range(len(TEXTS)) if suits[card] == suit) for suit in range(len(SUITS)))
        for suits in suits_of(top=top)
    )
