"""What a Kings and Rebels table can choose, and what that comes to: pack, numbers, rank of each card (KR-17)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal

from darbar_rules.cards import CARDS_IN_DECK, DECKS_MAX, IDS, IDS_TWO_DECKS, RANK_OF, RANKS, SUIT_OF, SUITS, TEXTS
from darbar_rules.games.kings_and_rebels.pack import FACES, SUIT_MASKS, THREE_OF_SPADES, removed_cards
from darbar_rules.options import OptionInvalid, check_each, option

ConvertCards = Literal["secret", "public"]

POINTS_IN_DECK: Final = 250
BID_STEP: Final = 5
SEATS_MIN: Final = 4
SEATS_MAX: Final[Mapping[int, int]] = {1: 8, 2: 12}  # by decks (KR-1)
MINIMUM_BID_A_DECK: Final = 150  # unless the host says otherwise (KR-6)
ROUNDS_MAX: Final = 24
# Of the others at least one stays a King, and the leader is a Rebel anyway (KR-13).
SEATS_NEVER_CONVERTED: Final = 2
TABLES_KEPT: Final = 256


@dataclass(frozen=True, slots=True)
class KingsAndRebelsOptions:
    """Chosen when the table is made. A number that is None follows from the seats and decks."""

    seats: int = option(
        5,
        "How many play: up to 8 with one deck, up to 12 with two.",
        minimum=SEATS_MIN,
        maximum=SEATS_MAX[DECKS_MAX],
        changeable=True,
    )
    decks: int = option(
        1,
        "One or two decks; with two every card is there twice.",
        minimum=1,
        maximum=DECKS_MAX,
        written="1 or 2",
        changeable=True,
    )
    minimum_bid: int | None = option(
        None,
        "The least that may be bid, a multiple of 5; 150 for each deck when nothing is said.",
        minimum=BID_STEP,
        maximum=POINTS_IN_DECK * DECKS_MAX,
        step=BID_STEP,
        written="a multiple of 5 from 5 to 250, with two decks to 500",
        changeable=True,
    )
    bid_multiples_of_5: bool = option(False, "Only multiples of 5 may be bid.")
    last_seat_must_bid: bool = option(
        True, "The last seat that has not passed leads the Rebels, at the minimum if it bids nothing."
    )
    convert_cards: ConvertCards = option(
        "secret", "Whether everybody is told which cards convert, or only the leader of the Rebels knows."
    )
    convert_cards_max: int | None = option(
        None,
        "How many cards may convert; two fewer than seats when nothing is said.",
        minimum=1,
        maximum=SEATS_MAX[DECKS_MAX] - SEATS_NEVER_CONVERTED,
        written="a whole number from 1 to two fewer than seats",
    )
    three_of_spades_top_trump: bool = option(False, "The three of spades belongs to the trumps and beats them all.")
    later_equal_card_wins: bool = option(False, "With two decks, the later of two equal cards wins, not the earlier.")
    rounds: int | None = option(
        None, "How many rounds make a game; as many as seats when nothing is said.", minimum=1, maximum=ROUNDS_MAX
    )


def check(options: KingsAndRebelsOptions) -> None:
    """Raise OptionInvalid for the first option that is not offered."""
    check_each(options)
    if options.seats > SEATS_MAX[options.decks]:
        raise OptionInvalid("seats", f"must be at most {SEATS_MAX[options.decks]} with one deck.")
    points = POINTS_IN_DECK * options.decks
    if options.minimum_bid is not None and options.minimum_bid > points:
        raise OptionInvalid("minimum_bid", f"must be at most {points}, all points of the deck.")
    converts_max = options.seats - SEATS_NEVER_CONVERTED
    if options.convert_cards_max is not None and options.convert_cards_max > converts_max:
        raise OptionInvalid("convert_cards_max", f"must be at most {converts_max}, two fewer than seats.")


@dataclass(frozen=True)
class Setup:
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
    def ids(self) -> Mapping[str, int]:
        """The number of each card, also of those that are left out."""
        return IDS if self.options.decks == 1 else IDS_TWO_DECKS

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
def setup_of(options: KingsAndRebelsOptions) -> Setup:
    """The same object for equal options, so that what follows from them is made once."""
    return Setup(options)


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
