"""What lobby and table tell each other, and the milestones of a table. Open this for the directory."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias
from uuid import UUID

import msgspec

# An object whose fields depend on what it is about: a game's options, what an event shows.
JsonObject: TypeAlias = dict[str, Any]
Visibility = Literal["public", "private"]
BotLevel = Literal["easy", "normal", "strong"]

# Why a game has ended that was played to its end: no other one counts.
PLAYED = "played"
# Tables are spread over so many shards.
SHARDS = 1024
# The wallet takes no higher stake.
BET_COINS_STAKED_MAX = 1_000_000


class TableTerms(msgspec.Struct, frozen=True, gc=False):
    """What is agreed when a table is opened, and holds until it is closed. `options` has every option of the game; the
    host may change some of them, and `seats` with them, until the first count-in (TL-1)."""

    game: str
    options: JsonObject
    seats: int
    bet_coins: int
    turn_seconds: int
    visibility: Visibility
    bot_level: BotLevel


class TermsLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a table may agree on: one setting of all services, DARBAR_TERMS_<FIELD>, told in the catalogue."""

    bet_coins_min: int = 25
    bet_coins_max: int = 1000
    turn_seconds_min: int = 5
    turn_seconds_max: int = 30

    def __post_init__(self) -> None:
        if not 1 <= self.bet_coins_min <= self.bet_coins_max <= BET_COINS_STAKED_MAX:
            raise ValueError(f"bets go from 1 to {BET_COINS_STAKED_MAX} coins, the lowest first")
        if not 1 <= self.turn_seconds_min <= self.turn_seconds_max:
            raise ValueError("a turn has at least a second, the shortest first")

    def problems(self, *, bet_coins: int, turn_seconds: int) -> dict[str, str]:
        """What is not offered, a sentence for each field."""
        found: dict[str, str] = {}
        if not self.bet_coins_min <= bet_coins <= self.bet_coins_max:
            found["bet_coins"] = f"must be {self.bet_coins_min} to {self.bet_coins_max}."
        if not self.turn_seconds_min <= turn_seconds <= self.turn_seconds_max:
            found["turn_seconds"] = f"must be {self.turn_seconds_min} to {self.turn_seconds_max}."
        return found


class WhereRequest(msgspec.Struct, frozen=True):
    """Which process owns a table (or would own a new one with this id)?"""

    table_id: str


class WhereAnswer(msgspec.Struct, frozen=True):
    """`process_id` None: nobody owns its shard just now; ask again."""

    process_id: str | None


class ProcessRetired(msgspec.Struct, frozen=True):
    """A table process has stopped and left its shards: the others need not wait for their next look."""

    process_id: str


def shard_of(table_id: UUID, shards: int = SHARDS) -> int:
    """The shard of a table, for ever."""
    return int.from_bytes(hashlib.sha256(table_id.bytes).digest()[:2], "big") % shards


class ShardsServed(msgspec.Struct, frozen=True):
    """Where tables are spread over several databases, each second of each: which of its shards which process owns."""

    process_id: str
    owners: dict[str, tuple[int, ...]]


class ShardsHanded(msgspec.Struct, frozen=True):
    """A table process has given these to another one, and tells it. Repeating it changes nothing."""

    shards: tuple[int, ...]


class ShardsTaken(msgspec.Struct, frozen=True):
    """The tables of these shards are served by who answers."""


class Person(msgspec.Struct, frozen=True, gc=False):
    """A player as the services know them. Strangers are told `handle_of` the account in place of its id."""

    account_id: str
    name: str
    avatar: str


def handle_of(account_id: str) -> str:
    """What names an account to strangers, the same one everywhere; made of the id's 32 hexadecimal digits. An id is too
    random to be found from it, and without the id nobody finds an alias from it."""
    return hashlib.sha256(bytes.fromhex(account_id)).hexdigest()[:20]


def alias_of(table_id: str, account_id: str) -> str:
    """What stands for an account in the log of a table that others read: the same one there always, another one at
    every other table. An id is too random to be found from it; who knows the id knows the alias."""
    return hashlib.sha256(b"darbar account" + UUID(table_id).bytes + account_id.encode()).hexdigest()


def table_socket_path(table_id: str, process_id: str | None = None) -> str:
    """Where a table's socket is: at this process, or at any."""
    return f"/play/{f'at/{process_id}/' if process_id else ''}tables/{table_id}/socket"


class CreateTable(msgspec.Struct, frozen=True):
    """Open a table with its host in seat 0. Repeating it with the same id and body gets the same answer."""

    table_id: str
    terms: TableTerms
    host: Person


class TableLook(msgspec.Struct, frozen=True):
    """The outside of a table, as its owner tells it to the lobby, which shows accounts to nobody.

    `keeps_out`: the account that was asked for can't sit down there for a while (TL-8, TL-13).
    """

    table_id: str
    terms: TableTerms
    phase: str
    seats: tuple[Person | None, ...]
    bots: tuple[int, ...]
    round: int
    version: int
    process_id: str
    keeps_out: bool = False


class LookRequest(msgspec.Struct, frozen=True):
    """Ask the owner for a TableLook, for somebody who might sit down there."""

    table_id: str
    account_id: str | None = None


class LeaveAloneRequest(msgspec.Struct, frozen=True):
    """Free the seat of an account that sits alone at a table where nothing has begun: it goes to another one."""

    table_id: str
    account_id: str


class LeaveAloneAnswer(msgspec.Struct, frozen=True):
    """`left`: the account sits there no more, and may sit elsewhere. False: it has company, or a count-in or a game has
    begun, and it stays."""

    left: bool


# Kept in a table's log for ever: one line that is not empty.
OperatorText: TypeAlias = Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[^\x00-\x1f\x7f]+\Z")]
OperatorAction = Literal["resume", "void"]


class OperateTable(msgspec.Struct, frozen=True):
    """An operator lets a table go on that a fault of ours has stopped, or ends it: its stakes go back (TL-24).

    Repeating it gets the same answer.
    """

    table_id: str
    action: OperatorAction
    operator: OperatorText
    reason: OperatorText


class TableOperated(msgspec.Struct, frozen=True):
    """It is stored. A voided table closes when the wallet has given its stakes back."""

    table_id: str
    action: OperatorAction


class MilestoneEvent(msgspec.Struct, frozen=True, tag_field="kind"):
    """What happened, as far as other services keep it."""


class TableCreated(MilestoneEvent, frozen=True, tag="table_created"):
    """Always the first; its host sits in seat 0."""

    terms: TableTerms
    host_account_id: str


class SeatTaken(MilestoneEvent, frozen=True, tag="seat_taken"):
    """`account_id` None: by a bot."""

    seat: int
    account_id: str | None


class SeatFreed(MilestoneEvent, frozen=True, tag="seat_freed"):
    """`account_id` None: a bot was sent away. `quit`: it counts as one on the player's profile, for this `game`."""

    seat: int
    account_id: str | None = None
    quit: bool = False
    reason: str = ""
    game: int = 0


class SeatsSwapped(MilestoneEvent, frozen=True, tag="seats_swapped"):
    """The holders of two seats have changed places (TL-5)."""

    seats: tuple[int, int]


class TermsChanged(MilestoneEvent, frozen=True, tag="terms_changed"):
    """The host has changed options; whoever was in a seat that is no more has left it before."""

    terms: TableTerms


class RoundStarted(MilestoneEvent, frozen=True, tag="round_started"):
    """`accounts`: who holds each seat, None for a bot."""

    game: int
    round: int
    accounts: tuple[str | None, ...]


class RoundEnded(MilestoneEvent, frozen=True, tag="round_ended"):
    """`accounts`: who holds each seat, None for a bot; `points`: what each seat won in this round. `counted`: it counts
    for statistics (TL-28)."""

    game: int
    round: int
    accounts: tuple[str | None, ...]
    points: tuple[int, ...]
    counted: bool = False


class GameEnded(MilestoneEvent, frozen=True, tag="game_ended"):
    """`places` and `totals` of each seat; a game whose `reason` is not "played" counts for nothing and has none.
    `accounts`: who holds each seat, None for a bot."""

    game: int
    places: tuple[int, ...]
    totals: tuple[int, ...]
    reason: str = PLAYED
    accounts: tuple[str | None, ...] = ()


class TableClosed(MilestoneEvent, frozen=True, tag="table_closed"):
    """Always the last."""

    reason: str


AnyMilestoneEvent = (
    TableCreated
    | SeatTaken
    | SeatFreed
    | SeatsSwapped
    | TermsChanged
    | RoundStarted
    | RoundEnded
    | GameEnded
    | TableClosed
)


class Milestone(msgspec.Struct, frozen=True):
    """One step of a table that other services keep. `number` is 1, 2, 3 ... in its table.

    A consumer applies only the last number + 1, drops smaller ones, and asks for what it misses.
    `free_seats` is always the number after this step. `version` and `chain` (in hex) are those of its event: a log that
    lacks its end is found by them. Milestones of older processes have neither.
    """

    generation: int
    table_id: str
    number: int
    at: datetime
    free_seats: int
    event: AnyMilestoneEvent
    version: int = 0
    chain: str = ""

    @property
    def kind(self) -> str:
        """The event's name on the wire."""
        return str(self.event.__struct_config__.tag)


class MilestonesRequest(msgspec.Struct, frozen=True):
    """The milestones of a table after a number, from the store (at most MILESTONES_ANSWERED_MAX)."""

    table_id: str
    after: int


class MilestonesAnswer(msgspec.Struct, frozen=True):
    """In their order; `more` says that another question is needed."""

    milestones: tuple[Milestone, ...]
    more: bool = False


MILESTONES_ANSWERED_MAX = 500
