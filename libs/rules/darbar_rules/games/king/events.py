"""What players decide and what has happened, as it is sent and stored. Open this to see what a log can hold.

Stored events are for ever: a new field gets a default, a new meaning a new kind. Cards are text, seats numbers, a suit
one of "C", "D", "H", "S". Tuples with one number a seat begin with seat 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from darbar_rules.decisions import PlayCard as PlayCard  # one of these games' decisions, told on from here
from darbar_rules.values import made_quickly

Hands = tuple[tuple[str, ...], ...]  # one a seat, in the order in which the cards were dealt


@dataclass(frozen=True, slots=True)
class Declare:
    """The declarer's decision: one of the contracts that are left to him, and for `trump` the `suit`."""

    contract: str
    suit: str | None = None


Decision = PlayCard | Declare


@dataclass(frozen=True, slots=True)
class RoundDealt:
    round: int
    leader: int  # of the first trick
    hands: Hands
    turn: int
    declarer: int | None = None  # none in the short game
    contract: str | None = None  # in the short game, which says it beforehand
    blind: bool = False  # nobody sees cards until the contract is declared
    to_act: int | None = None  # none when the declarer has no choice: `declared` follows at once


@dataclass(frozen=True, slots=True)
class Declared:
    seat: int
    contract: str
    turn: int
    to_act: int
    suit: str | None = None  # the trump
    forced: bool = False  # the last contract left: declared without a decision


@made_quickly
@dataclass(frozen=True, slots=True)
class TrickTaken:
    winner: int
    counts: tuple[int, ...]  # of each seat in this deal: tricks or cards, whatever the contract counts
    points: tuple[int, ...]  # of each seat in this deal
    hearts_broken: bool = False  # the ban on leading hearts is lifted


@made_quickly
@dataclass(frozen=True, slots=True)
class CardPlayed:
    seat: int
    card: str
    winning: int  # the seat to which the trick goes as it lies now
    turn: int  # number of the decision that is due next
    to_act: int | None = None  # None: the deal is over
    trick: TrickTaken | None = None  # when this was its last card


@dataclass(frozen=True, slots=True)
class DealRecord:
    """How the cards of a deal came to the seats: everything that a proof of it has to explain."""

    leader: int
    hands: Hands
    declarer: int | None = None


@dataclass(frozen=True, slots=True)
class RoundEnded:
    round: int
    contract: str
    counts: tuple[int, ...]
    points: tuple[int, ...]
    totals: tuple[int, ...]
    game_over: bool
    deal: DealRecord
    suit: str | None = None
    stopped_early: bool = False  # cards were left that could not change the score
    places: tuple[int, ...] = ()  # when the game is over
    positive: tuple[bool, ...] = ()  # who has a total above 0, when the game is over


Event = RoundDealt | Declared | CardPlayed | RoundEnded

# The short game announces its contracts: nobody declares.
EVENTS_SHORT: Final[Mapping[str, type[Event]]] = {
    "round_dealt": RoundDealt,
    "card_played": CardPlayed,
    "round_ended": RoundEnded,
}
EVENTS: Final[Mapping[str, type[Event]]] = {**EVENTS_SHORT, "declared": Declared}
DECISIONS_SHORT: Final[Mapping[str, type[Decision]]] = {"play_card": PlayCard}
DECISIONS: Final[Mapping[str, type[Decision]]] = {**DECISIONS_SHORT, "declare": Declare}
