"""Events decoded and evolved a second when tables are loaded. Open this about the rebuild rows.

    python -m bench.rebuild_bench [--tables 500] [--events 200] [--turns 9]

Real logs of Court Piece with a hidden trump, four players' commands with their ids, are stored; then all shards are
loaded, as a running process does with those of a dead one. The reference only reads and decodes, in the same groups.
These and the library eventsourcing take turns; of each the middle turn counts.
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from datetime import UTC, datetime
from statistics import median
from typing import Any
from uuid import uuid4

import asyncpg
from bench import stack
from bench.event_store_row import Measure, beside_eventsourcing, eventsourcing
from bench.logs import GAME, SETTINGS, Script, StoredRow, plant, stored
from bench.program import main
from bench.rows import Row, made

from darbar_kit.database import Database, queries
from darbar_kit.service import settle
from darbar_table.engine.loading import Loaded, replayed
from darbar_table.shards.placement import SHARDS
from darbar_table.store.codec import Codecs
from darbar_table.store.replay import decode
from darbar_table.store.store import Store

LOGS = 50  # so many different ones; the others are copies with another table's id


def logs(count: int) -> list[list[StoredRow]]:
    """Different logs of so many events each, as they are stored."""
    return [stored(Script().play(count)) for _ in range(LOGS)]


async def store_logs(connection: asyncpg.Connection[Any], *, tables: int, length: int) -> None:
    """Put them into the database."""
    at = datetime.now(UTC)
    different = logs(length)
    for number in range(tables):
        await plant(connection, uuid4(), different[number % LOGS], at)
    await connection.execute("ANALYZE")


async def load(store: Store, codecs: Codecs) -> list[Loaded]:
    """Every open table, as a new owner reads it."""
    tables = await store.open_tables(range(SHARDS))
    return [replayed(table, rows, codecs, SETTINGS) async for table, rows in store.logs(tables)]


async def rebuild(store: Store, theirs: Measure, *, tables: int, turns: int, length: int) -> list[Row]:
    """Load, decode and let the others load in turns, then weigh what is held."""
    codecs = Codecs()
    await load(store, codecs)  # Once for the caches.
    loading: list[float] = []
    decoding: list[float] = []
    others: list[float] = []
    cpu = time.process_time()
    for _ in range(turns):
        loading.append(await _load_seconds(store, codecs, tables))
        decoding.append(await _decode_seconds(store, codecs))
        others.append(await theirs())
        print(
            f"loaded {tables * length / loading[-1]:,.0f} events/s, decoded {tables * length / decoding[-1]:,.0f}/s,"
            f" eventsourcing {others[-1]:,.0f}/s",
            flush=True,
        )
    cpu = (time.process_time() - cpu) / (sum(loading) + sum(decoding))
    ours = made(
        "rebuild",
        "events/s decoded and evolved",
        value=tables * length / median(loading),
        reference="read and decoded only, in groups",
        reference_value=tables * length / median(decoding),
        beside={"tables": tables, "events_a_table": length, "own_core": cpu},
    )
    return [
        ours,
        beside_eventsourcing("rebuild_eventsourcing", ours, others),
        made(
            "table_memory",
            "KiB for a table in memory without sockets",
            value=await _held_bytes(store, codecs) / tables / 1024,
            reference="",
            reference_value=0,
            beside={"events_a_table": length},
        ),
    ]


async def _load_seconds(store: Store, codecs: Codecs, tables: int) -> float:
    started = time.perf_counter()
    entries = await load(store, codecs)
    seconds = time.perf_counter() - started
    assert len(entries) == tables
    return seconds


async def _decode_seconds(store: Store, codecs: Codecs) -> float:
    started = time.perf_counter()
    codec = codecs.of(GAME)[1]
    async for _, rows in store.logs(await store.open_tables(range(SHARDS))):
        for _ in decode(rows, codec):
            pass
    return time.perf_counter() - started


async def _held_bytes(store: Store, codecs: Codecs) -> int:
    """Of the tables alone: what the driver keeps after reading so much (a buffer, free rows) is there before."""
    tracemalloc.start()
    await load(store, codecs)
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    entries = await load(store, codecs)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert entries
    return after - before


async def bench(*, tables: int, events: int, turns: int) -> list[Row]:
    """Bring a server up, fill it, measure, take it down."""
    async with stack.servers() as servers:
        urls = await servers.database("table", "tables")
        owner = await asyncpg.connect(urls.owner_url)
        await store_logs(owner, tables=tables, length=events)
        await owner.close()
        settle()
        database = await Database.open(urls.service_url)
        try:
            store = Store(database, queries("darbar_table.store"))
            async with eventsourcing(servers, "rebuild") as theirs:
                return await rebuild(store, theirs, tables=tables, turns=turns, length=events)
        finally:
            await database.close()


if __name__ == "__main__":
    sys.exit(main(bench, __doc__, tables=500, events=200, turns=9))
