"""What players decide and what has happened, as it is sent and stored. Open this to see what a log can hold.

Stored events are for ever: a new field gets a default, a new meaning a new kind. Cards are text, seats and teams
numbers (team 0 is seats 0 and 2); a suit is one of "C", "D", "H", "S".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from darbar_rules.decisions import PlayCard as PlayCard  # one of this game's decisions, told on from here
from darbar_rules.values import made_quickly

Hands = tuple[tuple[str, ...], ...]  # one a seat, in the order in which the cards were dealt

OneSided = Literal["honours", "aces", "long_suit", "trumps"]
ShownHow = Literal["asked", "shown", "due"]
Outcome = Literal["win", "court", "goon_court", "four_points", "six_points"]


@dataclass(frozen=True, slots=True)
class ChooseTrump:
    """The caller's decision: `card` of his five to lie face down (hidden trump), or a `suit` (open trump)."""

    card: str | None = None
    suit: str | None = None


@dataclass(frozen=True, slots=True)
class AskTrump:
    """A seat that cannot follow suit wants to see the hidden trump before it plays (CP-16)."""


@dataclass(frozen=True, slots=True)
class ShowTrump:
    """The caller shows the hidden trump himself (CP-17)."""


Decision = ChooseTrump | PlayCard | AskTrump | ShowTrump


@dataclass(frozen=True, slots=True)
class DealTry:
    """One shuffle that was looked at, and what made it one-sided. The last one of a stage is the one that stood."""

    stage: int  # 1: before the call, 2: after it
    attempt: int  # the shuffle's number in this round, from 0
    one_sided: tuple[OneSided, ...] = ()


@dataclass(frozen=True, slots=True)
class RoundDealt:
    round: int
    caller: int  # with Kaat: the seat that would call, and leads
    hands: Hands  # what each seat holds now: five cards, with Kaat thirteen
    rest: Hands  # what each seat will get after the call if nothing is dealt again
    filtered: bool
    tries: tuple[DealTry, ...]
    to_act: int
    turn: int


@dataclass(frozen=True, slots=True)
class TrumpChosen:
    seat: int
    suit: str
    hands: Hands  # all thirteen cards of each seat, the face-down one included
    tries: tuple[DealTry, ...]
    to_act: int
    turn: int
    card: str | None = None  # face down; none with open trump


@dataclass(frozen=True, slots=True)
class TrumpShown:
    seat: int  # who asked for it or showed it
    how: ShownHow  # "due": by the rules, at trick 13 (CP-23)
    card: str  # goes back to the caller's hand
    suit: str
    must_play_trump: bool  # binds this seat's next card, if it holds a trump
    to_act: int
    turn: int


@made_quickly
@dataclass(frozen=True, slots=True)
class TrickTaken:
    winner: int
    picked_up: int  # tricks that the winner took from the middle: all that lay there, or 0
    pile: int  # tricks that lie in the middle now
    collected: tuple[int, int]  # tricks of each team
    streak: int | None = None  # the seat whose win counts as the first of two in a row


@made_quickly
@dataclass(frozen=True, slots=True)
class CardPlayed:
    seat: int
    card: str
    winning: int  # the seat to which the trick goes as it lies now
    turn: int  # number of the decision that is due next
    to_act: int | None = None  # None: the round is over
    face_down: bool = False
    trump: str | None = None  # the suit that this card made trump (Kaat)
    trick: TrickTaken | None = None  # when this was its last card


@dataclass(frozen=True, slots=True)
class DealRecord:
    """How the cards of a round came to the seats: everything that a proof of the deal has to explain."""

    caller: int
    hands: Hands
    filtered: bool
    tries: tuple[DealTry, ...]
    trump: str | None = None  # what the caller chose; none with Kaat, and before the call
    indicator: str | None = None  # his face-down card


@dataclass(frozen=True, slots=True)
class RoundEnded:
    round: int
    outcome: Outcome
    winners: tuple[int, ...]
    points: tuple[int, int]  # by team, of this round
    totals: tuple[int, int]
    collected: tuple[int, int]
    next_caller: int
    game_over: bool
    deal: DealRecord
    trump: str  # the round's trump suit, with Kaat too
    trump_seat: int  # who fixed it
    face_down: tuple[str, ...] = ()  # what the caller threw away unseen
    places: tuple[int, ...] = ()  # by seat, when the game is over


Event = RoundDealt | TrumpChosen | TrumpShown | CardPlayed | RoundEnded

EVENTS: Final[Mapping[str, type[Event]]] = {
    "round_dealt": RoundDealt,
    "trump_chosen": TrumpChosen,
    "trump_shown": TrumpShown,
    "card_played": CardPlayed,
    "round_ended": RoundEnded,
}
DECISIONS: Final[Mapping[str, type[Decision]]] = {
    "choose_trump": ChooseTrump,
    "play_card": PlayCard,
    "ask_trump": AskTrump,
    "show_trump": ShowTrump,
}
