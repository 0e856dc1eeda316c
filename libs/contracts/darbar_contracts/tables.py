"""What lobby and table tell each other, and the milestones of a table. Open this for the directory."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

Visibility = Literal["public", "private"]
BotLevel = Literal["easy", "normal", "strong"]
MilestoneKind = Literal[
    "table_created",
    "seat_taken",
    "seat_freed",
    "round_started",
    "round_ended",
    "game_ended",
    "table_closed",
]


class WhereRequest(msgspec.Struct, frozen=True):
    """Which process owns a table (or would own a new one with this id)?"""

    table_id: str


class WhereAnswer(msgspec.Struct, frozen=True):
    """`process_id` None: nobody owns its shard just now; ask again."""

    process_id: str | None


class Person(msgspec.Struct, frozen=True):
    """A player as the table shows them."""

    account_id: str
    name: str
    avatar: str


class CreateTable(msgspec.Struct, frozen=True):
    """Open a table with its host in seat 0. Repeating it with the same id and body gets the same answer."""

    table_id: str
    game: str
    options: dict[str, Any]
    seats: int | None
    bet_coins: int
    turn_seconds: int
    visibility: Visibility
    bot_level: BotLevel
    host: Person


class TableLook(msgspec.Struct, frozen=True):
    """What anybody with the code may know of a table."""

    table_id: str
    game: str
    options: dict[str, Any]
    bet_coins: int
    turn_seconds: int
    visibility: Visibility
    phase: str
    seats: tuple[Person | None, ...]
    bots: tuple[int, ...]
    round: int
    version: int
    process_id: str


class LookRequest(msgspec.Struct, frozen=True):
    """Ask the owner for a TableLook."""

    table_id: str


class Milestone(msgspec.Struct, frozen=True):
    """One step of a table that other services keep. `number` is 1, 2, 3 ... in its table.

    A consumer applies only the last number + 1, drops smaller ones, and asks for what it misses.
    `free_seats` is always the number after this step.
    """

    generation: int
    table_id: str
    number: int
    kind: MilestoneKind
    at: datetime
    free_seats: int
    body: dict[str, Any] = {}


class MilestonesRequest(msgspec.Struct, frozen=True):
    """The milestones of a table after a number, from the store (at most MILESTONES_ANSWERED_MAX)."""

    table_id: str
    after: int


class MilestonesAnswer(msgspec.Struct, frozen=True):
    """In their order; `more` says that another question is needed."""

    milestones: tuple[Milestone, ...]
    more: bool = False


MILESTONES_ANSWERED_MAX = 500
