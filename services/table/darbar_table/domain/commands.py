"""What a table can be told: by players, clocks, bots, the wallet, and the sockets' coming and going."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from darbar_contracts.tables import CreateTable, Person
from darbar_contracts.wallet import WalletAnswer
from darbar_table.domain import events
from darbar_table.domain.evolve import evolve
from darbar_table.domain.state import Table
from darbar_table.settings import Settings

ClockKind = Literal["count_in", "seeds", "turn"]


class Create(msgspec.Struct, frozen=True):
    """The first command of a table. `balance_coins` is what the wallet answered just before about its host."""

    request: CreateTable
    balance_coins: int


class Act(msgspec.Struct, frozen=True):
    """A seated or would-be player's frame. `digest` tells two bodies with one id apart; `decision` is the rules' own.

    `balance_coins` is what the wallet answered just before, for frames that need coins.
    """

    person: Person
    frame: Any
    digest: int
    decision: Any = None
    balance_coins: int = 0


class ClockRang(msgspec.Struct, frozen=True):
    """A time is up. `mark` is what it was set for; a late one finds another mark and does nothing."""

    kind: ClockKind
    mark: tuple[int, int]


class BotDecided(msgspec.Struct, frozen=True):
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


class KeepExpired(msgspec.Struct, frozen=True):
    """The time for which an absent player's seat is kept is over; `since` says whose sitting was meant."""

    seat: int
    since: int


class LeaveAlone(msgspec.Struct, frozen=True):
    """The lobby brings an account that sits here alone to another table."""

    account_id: str


Command = Create | Act | ClockRang | BotDecided | WalletAnswered | Connected | Disconnected | KeepExpired | LeaveAlone


class Context(msgspec.Struct, frozen=True):
    """What decide may not make itself: the settings, and fresh random seeds in hex."""

    settings: Settings
    fresh_seed: Callable[[], str]


class Draft:
    """Events being decided, and the state they lead to; nothing is visible before it is stored."""

    __slots__ = ("context", "events", "states", "table")

    def __init__(self, table: Table, context: Context) -> None:
        self.table = table
        self.context = context
        self.events: list[events.Event] = []
        self.states: list[Table] = []

    @property
    def keeps_clock(self) -> bool:
        """Whether the same seat decides on, with the clock it had (CP-16)."""
        event = self.events[-1]
        if not isinstance(event, events.Played) or event.seat is None:
            return False
        rules = self.table.rules
        if rules.kind_of(event.event) not in rules.same_clock_after:
            return False
        return rules.turn(self.table.state).seats == (event.seat,)

    def add(self, event: events.Event) -> None:
        """One more event; `table` is the state after it, `states` those after each."""
        self.table = evolve(self.table, event)
        self.events.append(event)
        self.states.append(self.table)
