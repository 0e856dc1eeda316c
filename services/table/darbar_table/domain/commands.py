"""What a table can be told: by players, timers, bots, the wallet, operators, and the sockets' coming and going."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeAlias

import msgspec

from darbar_contracts import frames
from darbar_contracts.tables import CreateTable, OperatorAction, Person
from darbar_contracts.wallet import WalletAnswer
from darbar_table.domain import events
from darbar_table.domain.evolve import evolve
from darbar_table.domain.state import Table
from darbar_table.domain.timers import Timer, goes_on
from darbar_table.settings import Settings

SeatFrame: TypeAlias = (
    frames.Sit
    | frames.StartNow
    | frames.Ready
    | frames.Deal
    | frames.Leave
    | frames.ImBack
    | frames.SendBotAway
    | frames.SendPlayerAway
    | frames.AskVote
    | frames.AnswerVote
    | frames.ChangeOptions
    | frames.SeedCommit
    | frames.SeedOpen
)


class Create(msgspec.Struct, frozen=True):
    """The first command of a table. `balance_coins` is what the wallet answered just before about its host."""

    request: CreateTable
    balance_coins: int


class Act(msgspec.Struct, frozen=True, gc=False):
    """A frame about the table around the cards, of who sits there or would. `digest` tells bodies with one id apart,
    `balance_coins` is what the wallet answered just before, for frames that need coins.
    """

    person: Person
    frame: SeatFrame
    digest: int
    balance_coins: int = 0

    @property
    def id(self) -> str:
        return self.frame.id


class Decide(msgspec.Struct, frozen=True, gc=False):
    """A player's decision, for the game (None: any), round and turn that it names. `kind` is its name on the wire."""

    person: Person
    id: str
    digest: int
    round: int
    turn: int
    kind: str
    decision: Any
    game: int | None = None


class TimerRang(msgspec.Struct, frozen=True, gc=False):
    """A time is up. A late one finds that the table waits for another, and does nothing."""

    timer: Timer


class BotDecided(msgspec.Struct, frozen=True, gc=False):
    """A bot's answer for a seat; `decision` None: it gave none in time, the fallback decides."""

    seat: int
    round: int
    turn: int
    decision: Any


class WalletAnswered(msgspec.Struct, frozen=True):
    """The wallet's answer to what was asked with this key."""

    key: str
    answer: WalletAnswer


class Connected(msgspec.Struct, frozen=True):
    """An account has a socket at this table."""

    account_id: str


class Disconnected(msgspec.Struct, frozen=True):
    """An account has had no socket for longer than the grace."""

    account_id: str


class OperatorAct(msgspec.Struct, frozen=True):
    """An operator resumes a table that a fault has stopped, or voids it; also told to a table that is stopped."""

    action: OperatorAction
    operator: str
    why: str


class LeaveAlone(msgspec.Struct, frozen=True):
    """The lobby brings an account that sits here alone to another table."""

    account_id: str


FromOutside: TypeAlias = Create | Act | Decide | LeaveAlone | OperatorAct
Command: TypeAlias = FromOutside | TimerRang | BotDecided | WalletAnswered | Connected | Disconnected


class Context(msgspec.Struct, frozen=True):
    """What decide may not make itself: the settings, the time, and fresh random seeds in hex."""

    settings: Settings
    fresh_seed: Callable[[], str]
    now: Callable[[], datetime]


class Draft:
    """Events being decided, and the state they lead to; nothing is visible before it is stored."""

    __slots__ = ("context", "events", "states", "table")

    def __init__(self, table: Table, context: Context) -> None:
        self.table = table
        self.context = context
        self.events: list[events.TableEvent] = []
        self.states: list[Table] = []

    @property
    def is_one_move(self) -> bool:
        """Whether a decision in the game is all that happened, as with most cards."""
        return len(self.events) == 1 and type(self.events[0]) is events.Played

    @property
    def keeps_clock(self) -> bool:
        """Whether the same seat decides on, with the time it had (CP-16)."""
        return goes_on(self.events[-1], self.table)

    def add(self, event: events.TableEvent) -> None:
        """One more event; `table` is the state after it, `states` those after each."""
        self.table = evolve(self.table, event)
        self.events.append(event)
        self.states.append(self.table)
