"""What a Kings and Rebels table can choose. Open this to add or bound an option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from darbar_rules.cards import DECKS_MAX
from darbar_rules.game import OptionInvalid

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

    seats: int = 5
    decks: int = 1
    minimum_bid: int | None = None  # 150 for each deck
    bid_multiples_of_5: bool = False
    last_seat_must_bid: bool = True
    convert_cards: ConvertCards = "secret"
    convert_cards_max: int | None = None  # two fewer than seats
    three_of_spades_top_trump: bool = False
    later_equal_card_wins: bool = False
    rounds: int | None = None  # as many as seats


VALUES: Final[Mapping[str, tuple[Any, ...]]] = {
    "seats": (5, 4, 6, 7, 8, 9, 10, 11, 12),
    "decks": (1, 2),
    "minimum_bid": (None, *range(BID_STEP, POINTS_IN_DECK * DECKS_MAX + 1, BID_STEP)),
    "bid_multiples_of_5": (False, True),
    "last_seat_must_bid": (True, False),
    "convert_cards": ("secret", "public"),
    "convert_cards_max": (None, *range(1, SEATS_MAX[DECKS_MAX] - SEATS_NEVER_CONVERTED + 1)),
    "three_of_spades_top_trump": (False, True),
    "later_equal_card_wins": (False, True),
    "rounds": (None, *range(1, ROUNDS_MAX + 1)),
}


def check(options: KingsAndRebelsOptions) -> None:
    """Raise OptionInvalid for the first option that is not offered."""
    for name, values in VALUES.items():
        value = getattr(options, name)
        # 1 equals True, but it is not what was offered.
        if not any(type(value) is type(offered) and value == offered for offered in values):
            raise OptionInvalid(name, _SENTENCES.get(name, _ON_OR_OFF))
    if options.seats > SEATS_MAX[options.decks]:
        raise OptionInvalid("seats", f"must be at most {SEATS_MAX[options.decks]} with one deck.")
    points = POINTS_IN_DECK * options.decks
    if options.minimum_bid is not None and options.minimum_bid > points:
        raise OptionInvalid("minimum_bid", f"must be at most {points}, all points of the deck.")
    converts_max = options.seats - SEATS_NEVER_CONVERTED
    if options.convert_cards_max is not None and options.convert_cards_max > converts_max:
        raise OptionInvalid("convert_cards_max", f"must be at most {converts_max}, two fewer than seats.")


_ON_OR_OFF: Final = "must be on or off."
_SENTENCES: Final[Mapping[str, str]] = {
    "seats": "must be a whole number from 4 to 12.",
    "decks": "must be 1 or 2.",
    "minimum_bid": "must be a multiple of 5 from 5 to 250, with two decks to 500.",
    "convert_cards": "must be secret or public.",
    "convert_cards_max": "must be a whole number from 1 to two fewer than seats.",
    "rounds": "must be a whole number from 1 to 24.",
}


# What each option changes, for whoever makes a table.
EXPLAINED: Final[Mapping[str, str]] = {
    "seats": "How many play: up to 8 with one deck, up to 12 with two.",
    "decks": "One or two decks; with two every card is there twice.",
    "minimum_bid": "The least that may be bid, a multiple of 5; 150 for each deck when nothing is said.",
    "bid_multiples_of_5": "Only multiples of 5 may be bid.",
    "last_seat_must_bid": "The last seat that has not passed leads the Rebels, at the minimum if it bids nothing.",
    "convert_cards": "Whether everybody is told which cards convert, or only the leader of the Rebels knows.",
    "convert_cards_max": "How many cards may convert; two fewer than seats when nothing is said.",
    "three_of_spades_top_trump": "The three of spades belongs to the trumps and beats them all.",
    "later_equal_card_wins": "With two decks, the later of two equal cards wins, not the earlier.",
    "rounds": "How many rounds make a game; as many as seats when nothing is said.",
}
