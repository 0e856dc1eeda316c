"""The one way into the event table: many tables in one commit. Open this when a move is slow to store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from time import perf_counter
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import structlog
from asyncpg.prepared_stmt import PreparedStatement

from darbar_kit.database import DatabaseAway, FenceLost, GroupCommit, connect, translated
from darbar_table.metrics import Metrics

BATCH_APPENDS_MAX = 200
# A table has one append in flight at most, so this is how many tables a process may hold.
APPENDS_WAITING_MAX = 1_000_000
# A second connection helps only when the first has more to do than it gets done; before that it costs a batch's worth.
APPENDS_WAITING_FOR_ANOTHER = 50
APPEND_SECONDS_MAX = 10.0
# What a row itself can be the cause of: wrong data, broken constraints, limits of the program. Any other error says
# that nothing was stored and nothing about the rows: they are sent again.
IMPOSSIBLE_STATES = ("22", "23", "54")
CLAIM_CONSTRAINT = "seat_claim_pkey"

log = structlog.get_logger()


class Outcome(Enum):
    """How an append ended."""

    STORED = "stored"
    FOREIGN_VERSION = "foreign_version"  # somebody else stored this version: the table must be read again
    SEATED_ELSEWHERE = "seated_elsewhere"  # an account that was to take a seat has one at another table
    IMPOSSIBLE = "impossible"  # the database can't take this row: only this table is frozen


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
        self._published: list[tuple[UUID, int]] = []
        self._queue: GroupCommit[Append] = GroupCommit(batch_max=BATCH_APPENDS_MAX, waiting_max=APPENDS_WAITING_MAX)
        self.metrics = metrics

    @property
    def is_stuck(self) -> bool:
        """Whether moves wait that the database doesn't store."""
        return self._queue.is_stuck

    def offer(self, append: Append) -> None:
        """Store these rows as soon as a connection is free."""
        taken = self._queue.offer(append)
        assert taken

    def forget(self, published: Iterable[tuple[UUID, int]]) -> None:
        """These milestones (table, number) have been published: the next append deletes them."""
        self._published += published

    def take_published(self) -> list[tuple[UUID, int]]:
        """What is to be deleted; whoever takes it sees to that. Deleting is for tidiness: a row may be sent twice."""
        published, self._published = self._published, []
        return published

    async def drained(self, *, seconds_max: float) -> bool:
        """Everything offered has its outcome; False: not so within the time."""
        return await self._queue.drained(seconds_max)

    async def run(self) -> None:
        """One lane for each connection."""
        async with asyncio.TaskGroup() as tasks:
            for number in range(self._connections):
                tasks.create_task(self._run_lane(waiting_min=max(1, number * APPENDS_WAITING_FOR_ANOTHER)))

    async def _run_lane(self, *, waiting_min: int) -> None:
        lane = Lane(self, self._database_url, self._queries, process_id=self._process_id)
        try:
            await self._queue.run(lane, waiting_min=waiting_min)
        finally:
            lane.close()


class Lane:
    """One connection with the prepared append statements; opened on demand, opened again after a fault."""

    def __init__(self, writer: Writer, database_url: str, queries: Mapping[str, str], *, process_id: str) -> None:
        self._writer = writer
        self._database_url = database_url
        self._queries = queries
        self._process_id = process_id
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None
        self._statements: dict[str, PreparedStatement[asyncpg.Record]] = {}

    async def store(self, batch: Sequence[Append]) -> None:
        """Every row of the batch, and what changes with them, or nothing."""
        started = perf_counter()
        beside = [append for append in batch if append.beside is not MOVES_ONLY]
        # Only where the longer statement is needed anyway; `Outbox` sees to the rest.
        published = self._writer.take_published() if beside else []
        try:
            stored = await self._append(batch, beside, published)
        except BaseException:
            self._writer.forget(published)
            raise
        if stored == 0:
            raise FenceLost(self._process_id)
        metrics = self._writer.metrics
        metrics.append_seconds.observe(perf_counter() - started)
        metrics.append_events.observe(stored)
        for append in batch:
            append.done(Outcome.STORED)

    async def unstored(self, batch: Sequence[Append]) -> Sequence[Append]:
        """On a new connection: wait for what may still be under way, then look at the last version of each."""
        self._writer.metrics.unknown_outcomes.inc()
        self.close()
        connection = await self._connected()
        with translated():
            locked = await connection.fetchval(self._queries["lock_own_row"], self._process_id)
            found = await connection.fetch(
                self._queries["chains_at"],
                [append.table_id for append in batch],
                [append.rows[-1].version for append in batch],
            )
        if locked is None:
            raise FenceLost(self._process_id)
        chains = {UUID(str(row["table_id"])): row["chain"] for row in found}
        rest = []
        for append in batch:
            if chains.get(append.table_id) == append.rows[-1].chain:
                append.done(Outcome.STORED)
            else:
                rest.append(append)
        return rest

    def refuse(self, append: Append, error: Exception) -> None:
        """Never with the driver's own words: its details hold the row, and the row may hold cards and seeds."""
        if isinstance(error, asyncpg.UniqueViolationError):
            claimed = error.constraint_name == CLAIM_CONSTRAINT
            append.done(Outcome.SEATED_ELSEWHERE if claimed else Outcome.FOREIGN_VERSION)
            return
        log.error("append_impossible", table_id=str(append.table_id), error=type(error).__name__)
        append.done(Outcome.IMPOSSIBLE)

    def give_up(self, append: Append) -> None:
        """Never: an append waits as long as its process has its row."""
        raise AssertionError(append.table_id)

    def close(self) -> None:
        """Drop the connection without waiting for anybody."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None
            self._statements.clear()

    async def _append(self, batch: Sequence[Append], beside: list[Append], published: list[tuple[UUID, int]]) -> int:
        table_ids = [append.table_id for append in batch for _ in append.rows]
        columns = (self._process_id, table_ids, *zip(*[row for append in batch for row in append.rows], strict=True))
        more = (*_columns_beside(beside), *_two_columns(published)) if beside else ()
        statement = await self._statement("append" if beside else "append_moves")
        try:
            with translated():
                stored: int = await statement.fetchval(*columns, *more, timeout=APPEND_SECONDS_MAX)
        except asyncpg.PostgresError as error:
            if (error.sqlstate or "").startswith(IMPOSSIBLE_STATES):
                raise
            log.error("append_refused", error=type(error).__name__, sqlstate=error.sqlstate)
            raise DatabaseAway(type(error).__name__, maybe_done=False) from error
        return stored

    async def _statement(self, name: str) -> PreparedStatement[asyncpg.Record]:
        connection = await self._connected()
        if name not in self._statements:
            with translated(maybe_done=False):
                self._statements[name] = await connection.prepare(self._queries[name])
        return self._statements[name]

    async def _connected(self) -> asyncpg.Connection[asyncpg.Record]:
        if self._connection is None or self._connection.is_closed():
            self.close()
            self._connection = await connect(self._database_url, command_seconds_max=APPEND_SECONDS_MAX)
        return self._connection


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
