"""How long a move takes to the last of four at half of saturation, beside a bare commit. Open this about latency rows.

    python -m bench.latency_bench [--seconds 4] [--turns 5] [--tables 100]

First a closed loop shows how many moves a second there can be. Then windows at half of that alternate with the append
statement alone, which stores as many events a second as the moves before it brought: one connection, and each statement
has the events that came while the one before it was under way. Of each kind the middle one of the windows counts; the
reference is the median of the statement's time, as its events see it, and 3 ms.
"""

from __future__ import annotations

import asyncio
import sys
from statistics import median
from time import perf_counter
from uuid import uuid4

import asyncpg
from bench.append_bench import PROCESS, columns, register
from bench.program import main
from bench.rows import Row, made
from bench.turns import Tables, Turns, faults, opened

from darbar_kit.database import queries

MILLISECONDS_ABOVE_COMMIT = 3.0


class Commits:
    """The append statement at a rate. `medians` has, for each window, the statement's time as its events see it."""

    def __init__(self, connection: asyncpg.Connection[asyncpg.Record]) -> None:
        self._connection = connection
        self.medians: list[float] = []

    async def window(self, seconds: float, events_a_second: float) -> None:
        """So long, with so many events of as many tables."""
        statement = await self._connection.prepare(queries("darbar_table.store")["append_moves"])
        started, sent, milliseconds = perf_counter(), 0, list[float]()
        while (now := perf_counter() - started) < seconds:
            if (batch := int(now * events_a_second) - sent) == 0:
                await asyncio.sleep((sent + 1) / events_a_second - now)
                continue
            sent += batch
            rows = columns([uuid4() for _ in range(batch)], 1)
            began = perf_counter()
            stored = await statement.fetchval(PROCESS, *rows)
            milliseconds += [1000 * (perf_counter() - began)] * batch
            assert stored == batch
        self.medians.append(median(milliseconds))
        print(f"commits: {sent / seconds:,.0f} events/s, p50 {self.medians[-1]:.2f} ms", flush=True)

    async def stored(self) -> tuple[int, int]:
        """How many events there are, and how many of them are moves."""
        events: int = await self._connection.fetchval("SELECT count(*) FROM event")
        moves: int = await self._connection.fetchval(
            "SELECT count(*) FROM event WHERE kind IN ('card_played', 'trump_chosen')"
        )
        return events, moves


async def measured(url: str, played: Tables, *, turns: int, seconds: float) -> list[Row]:
    """Saturation, then moves and bare commits in turns."""
    saturated = Turns("table", name="saturated")
    saturated.add(await played.window(seconds))
    pace = saturated.moves / saturated.seconds / 2
    paced = Turns("table", name="half of it")
    connection = await asyncpg.connect(url)
    try:
        await register(connection)
        commits = Commits(connection)
        for _ in range(turns):
            before = await commits.stored()
            paced.add(await played.window(seconds, moves_a_second=pace))
            events, moves = (now - then for now, then in zip(await commits.stored(), before, strict=True))
            await commits.window(seconds, pace * events / moves)
    finally:
        await connection.close()
    return rows(paced, median(commits.medians), pace=pace)


def rows(paced: Turns, commit: float, *, pace: float) -> list[Row]:
    """What the windows say; `client_core` and the rate show whether the generator kept its pace."""
    allowed = commit + MILLISECONDS_ABOVE_COMMIT
    rate = paced.moves / paced.seconds
    beside = {
        "commit_p50_ms": commit,
        "moves_a_second": rate,
        "pace_kept": rate / pace,
        "table_cores": paced.core("table"),
        "postgres_core": paced.core("postgres"),
        "client_core": paced.mean("client_core"),
        **faults(paced),
    }
    return [
        made(
            "latency_p50",
            "ms from sending a move to the last of four having it, p50 at half of saturation",
            value=paced.median("p50_ms"),
            reference="commit + 3 ms",
            reference_value=allowed,
            beside=beside,
        ),
        made(
            "latency_p99",
            "ms, p99 of the same",
            value=paced.median("p99_ms"),
            reference="twice that sum",
            reference_value=2 * allowed,
            beside=beside,
        ),
    ]


async def bench(*, tables: int, turns: int, seconds: float) -> list[Row]:
    """Bring everything up, measure, take it down."""
    async with opened(tables) as (darbar, played):
        return await measured(darbar.tables_url, played, turns=turns, seconds=seconds)


if __name__ == "__main__":
    sys.exit(main(bench, __doc__, seconds=4.0, turns=5, tables=100))
