"""What a Kings and Rebels table can choose. Open this to add or bound an option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from darbar_rules.cards import DECKS_MAX
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


@dataclass(frozen=True, slots=True)
class KingsAndRebelsOptions:
    """Chosen when the table is made. A number that is None follows from the seats and decks."""

    seats: int = option(
        5,
        "How many play: up to 8 with one deck, up to 12 with two.",
        minimum=SEATS_MIN,
        maximum=SEATS_MAX[DECKS_MAX],
    )
    decks: int = option(
        1, "One or two decks; with two every card is there twice.", minimum=1, maximum=DECKS_MAX, written="1 or 2"
    )
    minimum_bid: int | None = option(
        None,
        "The least that may be bid, a multiple of 5; 150 for each deck when nothing is said.",
        minimum=BID_STEP,
        maximum=POINTS_IN_DECK * DECKS_MAX,
        step=BID_STEP,
        written="a multiple of 5 from 5 to 250, with two decks to 500",
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
