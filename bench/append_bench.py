"""Events a second through the writer, beside its own statement without it. Open this about the append row.

    python -m bench.append_bench [--seconds 5] [--turns 3]

200 tables wait, each with one event of 150 bytes in flight, as in the service. The reference is the append statement
of queries.sql, prepared, on as many connections, with batches of 200 each, made beforehand: it has twice as many events
under way. Beside the row is the statement with 200 in all: in two batches of 100 on two connections, and in one of 200
on one.
"""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import msgspec
from bench import stack
from bench.event_store_row import beside_eventsourcing, eventsourcing
from bench.machine import Meter
from bench.program import main
from bench.rows import Row, made

from darbar_kit.database import queries
from darbar_kit.service import settle
from darbar_table.metrics import Metrics
from darbar_table.settings import Settings
from darbar_table.store.writer import Append, Outcome, Writer
from darbar_table.store.writer import Row as EventRow

WAITING = 200
BODY_BYTES = 150
CHAIN = bytes(range(32))
PROCESS = "bench"
WARM_SECONDS = 1.0
DEFAULTS = {field.name: field.default for field in msgspec.structs.fields(Settings)}
CONNECTIONS: int = DEFAULTS["writer_connections"]


def body() -> str:
    """A card as it is stored, filled up to the size."""
    stored = '{"seat":2,"by":"player","event":{"seat":2,"card":"JC","winning":2,"turn":9},"id":"%s"}'
    return stored % ("x" * (BODY_BYTES - len(stored) + 2))


def columns(tables: list[UUID], version: int) -> tuple[list[Any], ...]:
    """One event for each table, as the statement takes them."""
    batch = len(tables)
    same = (["card_played"] * batch, [body()] * batch, [datetime.now(UTC)] * batch, [CHAIN] * batch)
    return (tables, [version] * batch, *same)


async def register(connection: asyncpg.Connection[Any]) -> None:
    """The process that stores; it is leaving, so that no shards are handed to it."""
    statements = queries("darbar_table.store")
    await connection.execute(statements["register"], PROCESS, 1e6, "bench")
    await connection.execute(statements["begin_leaving"], PROCESS)


class Crowd:
    """Tables that append one event after the other."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._body = body()
        self._stopped = False
        self.stored = 0

    def begin(self) -> None:
        for _ in range(WAITING):
            self._offer(uuid4(), 1)

    def stop(self) -> None:
        self._stopped = True

    def _offer(self, table_id: UUID, version: int) -> None:
        def done(outcome: Outcome) -> None:
            assert outcome is Outcome.STORED
            self.stored += 1
            if not self._stopped:
                self._offer(table_id, version + 1)

        row = EventRow(version, "card_played", self._body, datetime.now(UTC), CHAIN)
        self._writer.offer(Append(table_id, [row], shard=1, done=done))


class Figures(msgspec.Struct, frozen=True):
    """Of one window."""

    events_a_second: float
    batch: float
    own_core: float
    postgres_core: float


async def through_writer(url: str, *, seconds: float, postgres: int) -> Figures:
    """The writer, with 200 tables waiting."""
    metrics = Metrics()
    writer = Writer(url, queries("darbar_table.store"), process_id=PROCESS, connections=CONNECTIONS, metrics=metrics)
    running = asyncio.create_task(writer.run())
    crowd = Crowd(writer)
    crowd.begin()
    await asyncio.sleep(WARM_SECONDS)
    before, batches = crowd.stored, _batches(metrics)
    clock = Clock(postgres)
    await asyncio.sleep(seconds)
    events, taken = crowd.stored - before, _batches(metrics) - batches
    figures = clock.figures(events, batches=taken)
    crowd.stop()
    await writer.drained(seconds_max=seconds)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return figures


def _batches(metrics: Metrics) -> int:
    return int(metrics.registry.get_sample_value("table_append_events_count") or 0)


async def raw(url: str, *, seconds: float, batch: int, connections: int, postgres: int) -> Figures:
    """The statement alone, everything but the versions made beforehand."""
    statement = queries("darbar_table.store")["append_moves"]
    counts = [0] * connections
    end = asyncio.Event()

    async def lane(number: int) -> None:
        connection = await asyncpg.connect(url)
        prepared = await connection.prepare(statement)
        tables = [uuid4() for _ in range(batch)]
        version = 0
        while not end.is_set():
            version += 1
            stored = await prepared.fetchval(PROCESS, *columns(tables, version))
            assert stored == batch
            counts[number] += batch
        await connection.close()

    lanes = [asyncio.create_task(lane(number)) for number in range(connections)]
    await asyncio.sleep(WARM_SECONDS)
    before = sum(counts)
    clock = Clock(postgres)
    await asyncio.sleep(seconds)
    events = sum(counts) - before
    figures = clock.figures(events, batches=max(1, events // batch))
    end.set()
    await asyncio.gather(*lanes)
    return figures


class Clock:
    """Wall time, our own CPU and that of PostgreSQL, from its making on."""

    def __init__(self, postgres: int) -> None:
        self._meter = Meter({"postgres": postgres})
        self._meter.start()
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def figures(self, events: int, *, batches: int) -> Figures:
        seconds, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        postgres_core = self._meter.stop()["postgres"]
        return Figures(events / seconds, events / max(1, batches), cpu / seconds, postgres_core)


async def bench(*, seconds: float, turns: int) -> list[Row]:
    """Both in turns on one server, in a process whose collector is set as a service's."""
    settle()
    async with stack.servers() as servers:
        urls = await servers.database("table", "tables")
        connection = await asyncpg.connect(urls.service_url)
        await register(connection)
        await connection.close()
        postgres = servers.pids["postgres"]
        writers: list[Figures] = []
        raws: dict[str, list[Figures]] = {}
        for _ in range(turns):
            writers.append(await through_writer(urls.service_url, seconds=seconds, postgres=postgres))
            _say("writer", writers[-1])
            for name, batch, connections in (
                ("raw", WAITING, CONNECTIONS),
                ("raw_two_halves", WAITING // 2, 2),
                ("raw_one_connection", WAITING, 1),
            ):
                figures = await raw(
                    urls.service_url, seconds=seconds, batch=batch, connections=connections, postgres=postgres
                )
                raws.setdefault(name, []).append(figures)
                _say(name, figures)
        ours = row(writers, raws)
        async with eventsourcing(servers, "append") as measure:
            theirs = await measure()
    return [ours, beside_eventsourcing("append_eventsourcing", ours, [theirs])]


def _say(name: str, figures: Figures) -> None:
    print(
        f"{name}: {figures.events_a_second:,.0f} events/s in batches of {figures.batch:.0f}"
        f" | cores: own {figures.own_core:.2f}, postgres {figures.postgres_core:.2f}",
        flush=True,
    )


def row(writers: list[Figures], raws: dict[str, list[Figures]]) -> Row:
    """The means of all turns."""

    def mean(windows: list[Figures], figure: str) -> float:
        values: list[float] = [getattr(window, figure) for window in windows]
        return sum(values) / len(values)

    return made(
        "append",
        "events/s through the writer",
        value=mean(writers, "events_a_second"),
        reference="the statement alone",
        reference_value=mean(raws["raw"], "events_a_second"),
        beside={
            "connections": CONNECTIONS,
            "batch": mean(writers, "batch"),
            "writer_core": mean(writers, "own_core"),
            "postgres_core": mean(writers, "postgres_core"),
            "raw_core": mean(raws["raw"], "own_core"),
            "raw_postgres_core": mean(raws["raw"], "postgres_core"),
            "raw_two_halves": mean(raws["raw_two_halves"], "events_a_second"),
            "raw_one_connection": mean(raws["raw_one_connection"], "events_a_second"),
        },
    )


if __name__ == "__main__":
    sys.exit(main(bench, __doc__, seconds=5.0, turns=3))
