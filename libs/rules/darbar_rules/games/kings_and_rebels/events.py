"""What players decide and what has happened, as it is sent and stored. Open this to see what a log can hold.

Stored events are for ever: a new field gets a default, a new meaning a new kind. Cards are text, seats numbers, a suit
one of "C", "D", "H", "S". Tuples with one number a seat begin with seat 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from darbar_rules.decisions import PlayCard as PlayCard  # one of this game's decisions, told on from here
from darbar_rules.values import made_quickly

Hands = tuple[tuple[str, ...], ...]  # one a seat, in the order in which the cards were dealt


@dataclass(frozen=True, slots=True)
class Convert:
    """A play that makes a Rebel of a King: the `ordinal`th time that this card is played in the round (KR-14)."""

    card: str
    ordinal: int = 1


@dataclass(frozen=True, slots=True)
class Bid:
    """An offer to take so many points with the Rebels: any whole number that is legal."""

    points: int


@dataclass(frozen=True, slots=True)
class PassBid:
    """No bid in this auction any more; may be said at any moment of it (KR-8)."""


@dataclass(frozen=True, slots=True)
class NameConverts:
    """The leader's trump suit and convert cards, all at once (KR-11)."""

    trump: str
    converts: tuple[Convert, ...]


Decision = PlayCard | Bid | PassBid | NameConverts


@dataclass(frozen=True, slots=True)
class RoundDealt:
    round: int
    dealer: int  # who bids last; the next seat bids first
    hands: Hands
    turn: int
    to_act: int
    attempt: int = 0  # deals of this round that were passed out
    must_bid: bool = False  # the first bidder may not pass before there is a bid (KR-10)


@dataclass(frozen=True, slots=True)
class BidMade:
    seat: int
    points: int
    turn: int
    to_act: int
    leader: int | None = None  # the Rebel Leader: the auction is over
    forced: bool = False  # the last seat named no bid, and leads at the minimum (KR-9)


@dataclass(frozen=True, slots=True)
class BidPassed:
    seat: int
    turn: int  # stays the same when another seat was on turn, and still is
    to_act: int | None = None  # None: passed out, cards are dealt anew at once (KR-10)
    leader: int | None = None  # the Rebel Leader: the auction is over


@dataclass(frozen=True, slots=True)
class ConvertsNamed:
    seat: int
    trump: str
    converts: tuple[Convert, ...]
    turn: int
    to_act: int


@made_quickly
@dataclass(frozen=True, slots=True)
class TrickTaken:
    winner: int
    captured: tuple[int, ...]  # points of each seat in this round


@made_quickly
@dataclass(frozen=True, slots=True)
class CardPlayed:
    seat: int
    card: str
    winning: int  # the seat to which the trick goes as it lies now
    turn: int  # number of the decision that is due next
    to_act: int | None = None  # None: the round is over
    trick: TrickTaken | None = None  # when this was its last card
    converted: Convert | None = None  # this play made a Rebel of a King
    spent: Convert | None = None  # it was named, but a Rebel played it: nothing changes (KR-15)


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a convert card: who played it, and whether that made a Rebel of a King."""

    card: str
    ordinal: int
    seat: int
    joined: bool


@dataclass(frozen=True, slots=True)
class DealRecord:
    """How the cards of a round came to the seats: everything that a proof of the deal has to explain."""

    dealer: int
    attempt: int
    hands: Hands


@dataclass(frozen=True, slots=True)
class RoundEnded:
    round: int
    leader: int
    bid: int
    trump: str
    rebels: tuple[int, ...]  # in the order in which they joined, the leader first
    converts: tuple[Fate, ...]  # in the order in which they were played
    captured: tuple[int, ...]  # points of each seat's tricks
    red_points: int
    success: bool  # the Rebels have their bid
    winners: tuple[int, ...]
    points: tuple[int, ...]  # what each seat scores
    totals: tuple[int, ...]
    game_over: bool
    deal: DealRecord
    places: tuple[int, ...] = ()  # when the game is over


Event = RoundDealt | BidMade | BidPassed | ConvertsNamed | CardPlayed | RoundEnded

EVENTS: Final[Mapping[str, type[Event]]] = {
    "round_dealt": RoundDealt,
    "bid_made": BidMade,
    "bid_passed": BidPassed,
    "converts_named": ConvertsNamed,
    "card_played": CardPlayed,
    "round_ended": RoundEnded,
}
DECISIONS: Final[Mapping[str, type[Decision]]] = {
    "play_card": PlayCard,
    "bid": Bid,
    "pass_bid": PassBid,
    "name_converts": NameConverts,
}
OUT_OF_TURN: Final = frozenset({"pass_bid"})
