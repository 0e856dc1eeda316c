"""What each contract counts and scores, and what it forbids. Open this about values and duties (K20-1, K32-3, K32-4).

A contract is made for a table: its options are in it already, so that nothing else has to ask for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from darbar_rules.cards import BITS, IDS, RANKS, SUIT_MASKS, SUITS, WHOLE_DECK, mask_of_ranks
from darbar_rules.games.king.options import SEATS, HeartsBrokenBy, King20Options, KingLongOptions, KingShortOptions

HeartsLed = Literal["free", "after_discard", "after_played", "never"]

TRUMP: Final = "trump"

HEART_SUIT: Final = SUITS.index("H")
HEARTS: Final = SUIT_MASKS[HEART_SUIT]
KINGS_AND_JACKS: Final = mask_of_ranks("KJ")
QUEENS: Final = mask_of_ranks("Q")
KING_OF_HEARTS: Final = BITS[IDS["KH"]]
DECK_52: Final = WHOLE_DECK
DECK_32: Final = mask_of_ranks(RANKS[RANKS.index("7") :])
LAST_TRICKS: Final = 2

_LED: Final[Mapping[HeartsBrokenBy, HeartsLed]] = {
    "discard": "after_discard",
    "played": "after_played",
    "never": "never",
}


@dataclass(frozen=True, slots=True)
class Contract:
    """One contract as it is played at a table."""

    name: str
    positive: bool
    trick_points: tuple[int, ...]  # for winning each trick, by its number from 0
    card_points: tuple[tuple[int, int], ...] = ()  # cards as a mask, and what each of them brings besides
    counted_cards: int = 0  # what the score sheet counts: these cards,
    counted_from: int = 0  # or without any, the tricks from this number on
    stops_after: int = 0  # the deal is over once so many are counted; 0: it is played to its end
    overtrump: bool = False  # who cannot follow goes over the highest trump lying, if able
    due_when_void: int = 0  # who cannot follow plays one of these, if able
    due_under_best: int = 0  # who follows plays one of these below the best card lying, if able
    hearts_led: HeartsLed = "free"  # never: but by a hand of hearts only
    king_of_hearts_first: bool = False  # the king of hearts is played as soon as it may be

    def total(self, deck: int) -> int:
        """What a whole deal sums to over all seats."""
        return sum(self.trick_points) + sum((cards & deck).bit_count() * points for cards, points in self.card_points)


def contracts_20(options: King20Options) -> tuple[Contract, ...]:
    """The contracts of King in 20 hands, as its score sheet lists them."""
    led = _LED[options.hearts_broken_by]
    tricks = DECK_52.bit_count() // SEATS
    trump = replace(_of_tricks(TRUMP, 50, tricks), overtrump=options.must_overtrump)
    hearts = _of_cards("no_hearts", HEARTS, -30, DECK_52)
    boys = _of_cards("no_boys", KINGS_AND_JACKS, -60, DECK_52)
    girls = _of_cards("no_girls", QUEENS, -100, DECK_52)
    king = _of_cards("no_king_of_hearts", KING_OF_HEARTS, -320, DECK_52)
    due_for_king = HEARTS if options.heart_forced_in_king_of_hearts else KING_OF_HEARTS
    under = options.must_underplay
    made = (
        trump,
        _of_tricks("no_tricks", -50, tricks),
        replace(hearts, due_when_void=HEARTS, hearts_led=led),
        replace(boys, due_when_void=KINGS_AND_JACKS, due_under_best=KINGS_AND_JACKS if under else 0),
        replace(girls, due_when_void=QUEENS, due_under_best=QUEENS if under else 0),
        replace(king, due_when_void=due_for_king, hearts_led=led),
        _of_last_tricks("no_last_two", -180, tricks),
    )
    return made if options.early_stop else tuple(replace(contract, stops_after=0) for contract in made)


def contracts_32(options: KingShortOptions | KingLongOptions) -> tuple[Contract, ...]:
    """The fourteen contracts of King with 32 cards in the order of the list, the negative ones first."""
    made = (
        *_seven("no_", -1, "nothing", restricted=True),
        *_seven("take_", 1, "take_everything", restricted=options.positive_restrictions),
    )
    return made if options.early_stop else tuple(replace(contract, stops_after=0) for contract in made)


def _seven(prefix: str, sign: int, everything: str, *, restricted: bool) -> tuple[Contract, ...]:
    tricks = DECK_32.bit_count() // SEATS
    led: HeartsLed = "never" if restricted else "free"
    last = _of_last_tricks(prefix + "last_two", sign * 80, tricks)
    return (
        _of_tricks(prefix + "tricks", sign * 20, tricks),
        replace(_of_cards(prefix + "hearts", HEARTS, sign * 20, DECK_32), hearts_led=led),
        _of_cards(prefix + "kings_or_jacks", KINGS_AND_JACKS, sign * 20, DECK_32),
        _of_cards(prefix + "queens", QUEENS, sign * 40, DECK_32),
        replace(
            _of_cards(prefix + "king_of_hearts", KING_OF_HEARTS, sign * 160, DECK_32),
            hearts_led=led,
            king_of_hearts_first=restricted,
        ),
        last,
        Contract(
            everything,
            positive=sign > 0,
            trick_points=tuple(sign * 20 + points for points in last.trick_points),
            card_points=(
                (HEARTS, sign * 20),
                (KINGS_AND_JACKS, sign * 20),
                (QUEENS, sign * 40),
                (KING_OF_HEARTS, sign * 160),
            ),
            hearts_led=led,
            king_of_hearts_first=restricted,
        ),
    )


def _of_tricks(name: str, points: int, tricks: int) -> Contract:
    return Contract(name, positive=points > 0, trick_points=(points,) * tricks)


def _of_last_tricks(name: str, points: int, tricks: int) -> Contract:
    first = tricks - LAST_TRICKS
    return Contract(name, positive=points > 0, trick_points=(0,) * first + (points,) * LAST_TRICKS, counted_from=first)


def _of_cards(name: str, cards: int, points: int, deck: int) -> Contract:
    counted = cards & deck
    return Contract(
        name,
        positive=points > 0,
        trick_points=(0,) * (deck.bit_count() // SEATS),
        card_points=((counted, points),),
        counted_cards=counted,
        stops_after=counted.bit_count(),
    )


def deck_of(mask: int) -> tuple[int, ...]:
    """The cards of a deck from the lowest number up: what a permutation is dealt from."""
    return tuple(card for card in range(WHOLE_DECK.bit_length()) if mask >> card & 1)
