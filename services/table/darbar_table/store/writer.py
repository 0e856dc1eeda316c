"""Group commit: the one way into the event table. Open this when a move is slow to store, or an outcome unknown."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from time import perf_counter
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import structlog

from darbar_kit.database import CONNECT_SECONDS_MAX, SESSION_LIMITS
from darbar_table.metrics import Metrics

BATCH_APPENDS_MAX = 200
PAUSE_SECONDS_MIN = 0.05
PAUSE_SECONDS_MAX = 1.0
APPEND_SECONDS_MAX = 10.0

log = structlog.get_logger()

# SQL states of faults that are not in the rows: nothing was stored, the same rows may be sent again.
TRANSIENT_STATES = ("40", "53", "55", "57014")
# Anything may have happened to what was under way: the connection is gone, or the server went down.
UNKNOWN_STATES = ("08", "57P")
UNKNOWN_ERRORS = (OSError, TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError)


class Outcome(Enum):
    """How an append ended. The first three are final; the last two are the writer's own business."""

    STORED = "stored"
    FOREIGN_VERSION = "foreign_version"  # somebody else stored this version: the table must be read again
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


class Append:
    """The events of one command of one table, with its milestones (number, message) and who waits for the outcome."""

    __slots__ = ("done", "outbox", "rows", "shard", "table_id")

    def __init__(
        self,
        table_id: UUID,
        rows: list[Row],
        *,
        shard: int,
        outbox: list[tuple[int, str]],
        done: Callable[[Outcome], None],
    ) -> None:
        self.table_id = table_id
        self.rows = rows
        self.shard = shard
        self.outbox = outbox
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
        self._work = asyncio.Event()
        self._in_work = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def offer(self, append: Append) -> None:
        """Store these rows as soon as a connection is free. A table has one append in flight at most."""
        self._waiting.append(append)
        self._idle.clear()
        self._work.set()

    async def drained(self) -> None:
        """Everything offered has its outcome."""
        await self._idle.wait()

    async def run(self) -> None:
        """One lane for each connection."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(self._connections):
                tasks.create_task(self._lane())

    async def _lane(self) -> None:
        lane = Lane(self._database_url, self._queries, self._process_id)
        try:
            while True:
                while not self._waiting:
                    self._work.clear()
                    await self._work.wait()
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
            outcome = await self._try(lane, group)
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

    async def _try(self, lane: Lane, group: list[Append]) -> Outcome:
        """One append. Raises FenceLost when this process has been declared dead."""
        try:
            await lane.append(group)
        except asyncpg.UniqueViolationError:
            return Outcome.FOREIGN_VERSION
        except asyncpg.PostgresError as error:
            state = error.sqlstate or "08"
            if state.startswith((*TRANSIENT_STATES, *UNKNOWN_STATES)):
                log.warning("append_delayed", sqlstate=state, appends=len(group))
                return Outcome.UNKNOWN if state.startswith(UNKNOWN_STATES) else Outcome.LATER
            log.error("append_impossible", error=str(error), tables=[str(item.table_id) for item in group])
            return Outcome.IMPOSSIBLE
        except ValueError as error:
            # The driver could not encode a value: nothing was sent.
            log.error("append_impossible", error=str(error), tables=[str(item.table_id) for item in group])
            return Outcome.IMPOSSIBLE
        except UNKNOWN_ERRORS as error:
            log.warning("append_outcome_unknown", error=type(error).__name__, appends=len(group))
            return Outcome.UNKNOWN
        return Outcome.STORED

    async def _stored_of(self, lane: Lane, group: list[Append]) -> list[Append]:
        """Which of a group with an unknown outcome is stored; waits for the database as long as it takes."""
        pause = PAUSE_SECONDS_MIN
        while True:
            self.metrics.unknown_outcomes.inc()
            try:
                chains = await lane.last_chains(group)
            except (*UNKNOWN_ERRORS, asyncpg.PostgresError) as error:
                log.warning("append_database_away", error=type(error).__name__)
                await asyncio.sleep(pause)
                pause = min(pause * 2, PAUSE_SECONDS_MAX)
            else:
                return [append for append in group if chains.get(append.table_id) == append.rows[-1].chain]


def _finish(appends: list[Append], outcome: Outcome) -> None:
    for append in appends:
        append.done(outcome)


class Lane:
    """One connection with the prepared append statement; opened on demand, opened again after a fault."""

    def __init__(self, database_url: str, queries: Mapping[str, str], process_id: str) -> None:
        self._database_url = database_url
        self._queries = queries
        self._process_id = process_id
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None
        self._statement: Any = None

    async def append(self, group: list[Append]) -> None:
        """Store every row of the group or none."""
        if self._connection is None or self._connection.is_closed():
            await self._open()
        rows = [row for append in group for row in append.rows]
        told = [(append.table_id, append.shard, *note) for append in group for note in append.outbox]
        stored = await self._statement.fetchval(
            self._process_id,
            [append.table_id for append in group for _ in append.rows],
            [row.version for row in rows],
            [row.kind for row in rows],
            [row.body for row in rows],
            [row.at for row in rows],
            [row.chain for row in rows],
            [note[0] for note in told],
            [note[2] for note in told],
            [note[1] for note in told],
            [note[3] for note in told],
            timeout=APPEND_SECONDS_MAX,
        )
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
        self._statement = await self._connection.prepare(self._queries["append"])
