"""Group commit: the one way into the event table. Open this when a move is slow to store, or an outcome unknown."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from time import perf_counter
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import structlog

from darbar_kit.database import CONNECT_SECONDS_MAX, SESSION_LIMITS
from darbar_table.metrics import Metrics
from darbar_table.store.store import AWAY

BATCH_APPENDS_MAX = 200
# A second connection helps only when the first has more to do than it gets done; before that it costs a batch's worth.
APPENDS_WAITING_FOR_ANOTHER = 50
PAUSE_SECONDS_MIN = 0.05
PAUSE_SECONDS_MAX = 1.0
APPEND_SECONDS_MAX = 10.0

log = structlog.get_logger()

# What a row itself can be the cause of: wrong data, broken constraints, limits of the program. Any other error says
# that nothing was stored and nothing about the rows: they are sent again.
IMPOSSIBLE_STATES = ("22", "23", "54")
# Anything may have happened to what was under way: the connection is gone, or the server went down.
UNKNOWN_STATES = ("08", "57P")
CLAIM_CONSTRAINT = "seat_claim_pkey"


class Outcome(Enum):
    """How an append ended. The first four are final; the last two are the writer's own business."""

    STORED = "stored"
    FOREIGN_VERSION = "foreign_version"  # somebody else stored this version: the table must be read again
    SEATED_ELSEWHERE = "seated_elsewhere"  # an account that was to take a seat has one at another table
    IMPOSSIBLE = "impossible"  # the database can't take this row: only this table is frozen
    LATER = "later"  # nothing was stored, through no fault of the rows
    UNKNOWN = "unknown"  # it may have been stored: look before anybody is answered


class Row(NamedTuple):
    """One event as stored."""

    version: int
    kind: str
    body: str
    at: datetime
    chain: bytes


class Beside(NamedTuple):
    """What changes with the events, in the same statement: milestones (number, message), accounts whose claims begin
    and end, and whether the table opens (with its game) or closes."""

    milestones: Sequence[tuple[int, str]] = ()
    claimed: Sequence[str] = ()
    freed: Sequence[str] = ()
    opened: str | None = None
    closed: bool = False


MOVES_ONLY = Beside()


class Append:
    """The events of one command of one table, what changes with them, and who waits for the outcome."""

    __slots__ = ("beside", "done", "rows", "shard", "table_id")

    def __init__(
        self,
        table_id: UUID,
        rows: list[Row],
        *,
        shard: int,
        beside: Beside = MOVES_ONLY,
        done: Callable[[Outcome], None],
    ) -> None:
        self.table_id = table_id
        self.rows = rows
        self.shard = shard
        self.beside = beside
        self.done = done


class FenceLost(Exception):
    """This process has been declared dead: it stores nothing any more."""


class Writer:
    """Batches whatever waited while the last batch committed. `run` ends only by FenceLost or when cancelled."""

    def __init__(
        self,
        database_url: str,
        queries: Mapping[str, str],
        *,
        process_id: str,
        connections: int,
        metrics: Metrics,
    ) -> None:
        self._database_url = database_url
        self._queries = queries
        self._process_id = process_id
        self._connections = connections
        self.metrics = metrics
        self._waiting: deque[Append] = deque()
        self._published: list[tuple[UUID, int]] = []
        self._work = [asyncio.Event() for _ in range(connections)]
        self._in_work = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def offer(self, append: Append) -> None:
        """Store these rows as soon as a connection is free. A table has one append in flight at most."""
        self._waiting.append(append)
        self._idle.clear()
        self._work[min(len(self._waiting) // APPENDS_WAITING_FOR_ANOTHER, self._connections - 1)].set()

    def forget(self, published: Iterable[tuple[UUID, int]]) -> None:
        """These milestones (table, number) have been published: the next append deletes them."""
        self._published += published

    def take_published(self) -> list[tuple[UUID, int]]:
        """What is to be deleted; whoever takes it sees to that. Deleting is for tidiness: a row may be sent twice."""
        published, self._published = self._published, []
        return published

    async def drained(self, *, seconds_max: float) -> bool:
        """Everything offered has its outcome; False: not so within the time."""
        try:
            await asyncio.wait_for(self._idle.wait(), seconds_max)
        except TimeoutError:
            return False
        return True

    async def run(self) -> None:
        """One lane for each connection."""
        async with asyncio.TaskGroup() as tasks:
            for number in range(self._connections):
                tasks.create_task(self._lane(number))

    async def _lane(self, number: int) -> None:
        lane = Lane(self._database_url, self._queries, self._process_id)
        work, waiting_min = self._work[number], max(1, number * APPENDS_WAITING_FOR_ANOTHER)
        try:
            while True:
                while len(self._waiting) < waiting_min:
                    work.clear()
                    await work.wait()
                count = min(len(self._waiting), BATCH_APPENDS_MAX)
                batch = [self._waiting.popleft() for _ in range(count)]
                self._in_work += 1
                try:
                    await self._store(lane, batch)
                finally:
                    self._in_work -= 1
                    if not self._in_work and not self._waiting:
                        self._idle.set()
        finally:
            await lane.close()

    async def _store(self, lane: Lane, batch: list[Append]) -> None:
        """Ends when every append of the batch has its outcome. A bad row makes the rest go one table at a time."""
        started = perf_counter()
        rest, alone, pause = batch, False, 0.0
        while rest:
            group = rest[:1] if alone else rest
            # Only where the longer statement is needed anyway; `Outbox` sees to the rest.
            published = self.take_published() if any(append.beside is not MOVES_ONLY for append in group) else []
            outcome = await self._try(lane, group, published)
            if outcome is not Outcome.STORED:
                self.forget(published)
            if outcome in (Outcome.LATER, Outcome.UNKNOWN):
                done = await self._stored_of(lane, group) if outcome is Outcome.UNKNOWN else []
                _finish(done, Outcome.STORED)
                rest = [append for append in rest if append not in done]
                await asyncio.sleep(pause)
                pause = min(max(pause * 2, PAUSE_SECONDS_MIN), PAUSE_SECONDS_MAX)
            elif outcome is Outcome.STORED or len(group) == 1:
                _finish(group, outcome)
                rest = rest[len(group) :]
            else:
                alone = True
        self.metrics.append_seconds.observe(perf_counter() - started)
        self.metrics.append_events.observe(sum(len(append.rows) for append in batch))

    async def _try(self, lane: Lane, group: list[Append], published: list[tuple[UUID, int]]) -> Outcome:
        """One append. Raises FenceLost when this process has been declared dead."""
        try:
            await lane.append(group, published)
        except FenceLost:
            raise
        except asyncpg.UniqueViolationError as error:
            claimed = error.constraint_name == CLAIM_CONSTRAINT
            return Outcome.SEATED_ELSEWHERE if claimed else Outcome.FOREIGN_VERSION
        except asyncpg.PostgresError as error:
            return _outcome_of(error, group)
        except ValueError as error:
            # The driver could not encode a value: nothing was sent.
            _log_impossible(group, error=type(error).__name__)
            return Outcome.IMPOSSIBLE
        except Exception as error:
            # Whatever the driver calls a lost connection; were it a fault of ours, nothing is lost by looking.
            log.warning(
                "append_outcome_unknown",
                error=type(error).__name__,
                appends=len(group),
                exc_info=not isinstance(error, AWAY),
            )
            return Outcome.UNKNOWN
        return Outcome.STORED

    async def _stored_of(self, lane: Lane, group: list[Append]) -> list[Append]:
        """Which of a group with an unknown outcome is stored; waits for the database as long as it takes."""
        pause = PAUSE_SECONDS_MIN
        while True:
            self.metrics.unknown_outcomes.inc()
            try:
                chains = await lane.last_chains(group)
            except FenceLost:
                raise
            except Exception as error:  # noqa: BLE001  # Nobody is answered before this is known, however long it takes.
                log.warning("append_database_away", error=type(error).__name__)
                await asyncio.sleep(pause)
                pause = min(pause * 2, PAUSE_SECONDS_MAX)
            else:
                return [append for append in group if chains.get(append.table_id) == append.rows[-1].chain]


def _outcome_of(error: asyncpg.PostgresError, group: list[Append]) -> Outcome:
    state = error.sqlstate or "08"
    if state.startswith(IMPOSSIBLE_STATES):
        _log_impossible(group, error=type(error).__name__, sqlstate=state)
        return Outcome.IMPOSSIBLE
    log.warning("append_delayed", error=type(error).__name__, sqlstate=state, appends=len(group))
    return Outcome.UNKNOWN if state.startswith(UNKNOWN_STATES) else Outcome.LATER


def _log_impossible(group: list[Append], **why: str) -> None:
    """Never the driver's own words: its details hold the row, and the row may hold cards and seeds."""
    log.error("append_impossible", **why, tables=[str(append.table_id) for append in group])


def _finish(appends: list[Append], outcome: Outcome) -> None:
    for append in appends:
        append.done(outcome)


class Lane:
    """One connection with the prepared append statements; opened on demand, opened again after a fault."""

    def __init__(self, database_url: str, queries: Mapping[str, str], process_id: str) -> None:
        self._database_url = database_url
        self._queries = queries
        self._process_id = process_id
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None
        self._append_moves: Any = None
        self._append: Any = None

    async def append(self, group: list[Append], published: list[tuple[UUID, int]]) -> None:
        """Store every row of the group, and what changes with them, or nothing."""
        if self._connection is None or self._connection.is_closed():
            await self._open()
        beside = [append for append in group if append.beside is not MOVES_ONLY]
        rows = [row for append in group for row in append.rows]
        columns = (
            self._process_id,
            [append.table_id for append in group for _ in append.rows],
            [row.version for row in rows],
            [row.kind for row in rows],
            [row.body for row in rows],
            [row.at for row in rows],
            [row.chain for row in rows],
        )
        if beside:
            more = (*_columns_beside(beside), *_two_columns(published))
            stored = await self._append.fetchval(*columns, *more, timeout=APPEND_SECONDS_MAX)
        else:
            stored = await self._append_moves.fetchval(*columns, timeout=APPEND_SECONDS_MAX)
        if stored == 0:
            raise FenceLost(self._process_id)

    async def last_chains(self, group: list[Append]) -> dict[UUID, bytes]:
        """On a new connection: wait for what may still be under way, then the chain at the last version of each."""
        await self.close()
        await self._open()
        assert self._connection is not None
        if await self._connection.fetchval(self._queries["lock_own_row"], self._process_id) is None:
            raise FenceLost(self._process_id)
        found = await self._connection.fetch(
            self._queries["chains_at"],
            [append.table_id for append in group],
            [append.rows[-1].version for append in group],
        )
        return {UUID(str(row["table_id"])): row["chain"] for row in found}

    async def close(self) -> None:
        """Drop the connection without waiting for anybody."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _open(self) -> None:
        await self.close()
        self._connection = await asyncpg.connect(
            self._database_url,
            timeout=CONNECT_SECONDS_MAX,
            command_timeout=APPEND_SECONDS_MAX,
            server_settings={"timezone": "UTC", **SESSION_LIMITS},
        )
        self._append_moves = await self._connection.prepare(self._queries["append_moves"])
        self._append = await self._connection.prepare(self._queries["append"])


def _columns_beside(appends: list[Append]) -> tuple[list[Any], ...]:
    """In the order of the statement's parameters, a list a column."""
    told = [(append.table_id, append.shard, *told) for append in appends for told in append.beside.milestones]
    opened = [append for append in appends if append.beside.opened is not None]
    claimed = [(account_id, append.table_id) for append in appends for account_id in append.beside.claimed]
    freed = [(account_id, append.table_id) for append in appends for account_id in append.beside.freed]
    return (
        [note[0] for note in told],
        [note[2] for note in told],
        [note[1] for note in told],
        [note[3] for note in told],
        [append.table_id for append in opened],
        [append.shard for append in opened],
        [append.beside.opened for append in opened],
        [append.table_id for append in appends if append.beside.closed],
        *_two_columns(claimed),
        *_two_columns(freed),
    )


def _two_columns(pairs: list[Any]) -> tuple[list[Any], list[Any]]:
    return [first for first, _ in pairs], [second for _, second in pairs]
