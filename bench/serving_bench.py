"""Moves for a second of CPU of the table process, beside a bare fan-out server. Open this about the serving rows.

    python -m bench.serving_bench [--seconds 6] [--turns 3] [--tables 100]

Both servers are driven in turns by the same load generator; the figures of all turns are pooled.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import asyncpg
from bench import stack
from bench.load import Window, compiled, drive
from bench.program import main
from bench.recording import record
from bench.rows import Row, made
from bench.turns import Turns, faults

from darbar_kit.embedded.kept import any_port

MEMORY_SECONDS = 8.0
MEMORY_TABLES = 300
MEMORY_TABLES_BEFORE = 20
BARE_OPENING = '{"type":"play_card","id":"load000000000000","round":1,"turn":10,"card":"5D"}'


class Bench:
    """Both servers, and the load generator."""

    def __init__(self, servers: stack.Servers, darbar: stack.Darbar, program: Path, *, bare: tuple[int, int]) -> None:
        self._folder = servers.folder
        self._darbar = darbar
        self._program = program
        self._bare_port, self._bare_pid = bare
        self.table = Turns("table")
        self.bare = Turns("bare")

    async def saturate(self, tables: int, *, turns: int, seconds: float) -> None:
        """Bare and table in turns."""
        table_plan, bare_plan = await self._plans(tables, "full")
        for _ in range(turns):
            self.bare.add(await self._drive_bare(bare_plan, seconds))
            self.table.add(await self._drive_table(table_plan, seconds))

    async def memory(self, tables: int) -> tuple[float, float]:
        """KiB that a table with four playing sockets adds: ours, and the bare server's.

        A few tables play first. They are connected in both windows, so that what they leave behind is not filled anew.
        """
        few = await self._plans(MEMORY_TABLES_BEFORE, "few")
        many = await self._plans(tables, "many")
        grown = []
        for drive_it, process, before, added in (
            (self._drive_table, "table", few[0], many[0]),
            (self._drive_bare, "bare", few[1], many[1]),
        ):
            first = await drive_it(before, MEMORY_SECONDS)
            added.write_text(before.read_text() + added.read_text())
            second = await drive_it(added, MEMORY_SECONDS)
            grown.append((second.memory_bytes[process] - first.memory_bytes[process]) / tables / 1024)
        return grown[0], grown[1]

    async def _plans(self, tables: int, name: str) -> tuple[Path, Path]:
        table_plan, bare_plan = self._folder / f"{name}.table", self._folder / f"{name}.bare"
        lines = await self._darbar.plan(await self._darbar.open_tables(tables))
        table_plan.write_text("".join(f"{line}\n" for line in lines))
        sockets = [(table, seat) for table in range(tables) for seat in range(stack.SEATS)]
        bare_plan.write_text(
            "".join(
                f"{self._bare_port}\t/bare/{name}{table}/{seat}\t\t{'' if seat else BARE_OPENING}\n"
                for table, seat in sockets
            )
        )
        return table_plan, bare_plan

    async def _drive_bare(self, plan: Path, seconds: float) -> Window:
        return await self._drive(plan, seconds, {"bare": self._bare_pid})

    async def _drive_table(self, plan: Path, seconds: float) -> Window:
        return await self._drive(plan, seconds, self._darbar.pids)

    async def _drive(self, plan: Path, seconds: float, pids: dict[str, int]) -> Window:
        return await drive(self._program, plan=plan, seconds=seconds, pids=pids)


@asynccontextmanager
async def bare_server(folder: Path, frames: list[list[str]]) -> AsyncIterator[tuple[int, int]]:
    """The reference with these frames: its port and its process."""
    recorded, log_path = folder / "frames.json", folder / "bare.log"
    recorded.write_text(json.dumps(frames))
    port = any_port(stack.HOST)
    command = [sys.executable, "bench/bare_server.py", str(port), str(recorded)]
    with log_path.open("wb") as log:
        async with stack.process(command, log=log, variables={}) as started, aiohttp.ClientSession() as session:
            await stack.ready(started, session, f"http://{stack.HOST}:{port}/", log=log_path)
            yield port, started.pid


async def stored(url: str) -> int:
    """How many events carry a player's command."""
    connection = await asyncpg.connect(url)
    try:
        count: int = await connection.fetchval("SELECT count(*) FROM event WHERE body->>'id' IS NOT NULL")
        return count
    finally:
        await connection.close()


async def bench(*, tables: int, turns: int, seconds: float) -> list[Row]:
    """Bring everything up, measure, take it down."""
    async with stack.servers() as servers, stack.darbar(servers) as darbar:
        frames = await record(await darbar.plan(await darbar.open_tables(1)))
        async with bare_server(servers.folder, frames) as bare:
            measured = Bench(servers, darbar, compiled(servers.folder), bare=bare)
            memory = await measured.memory(MEMORY_TABLES)
            before = await stored(darbar.tables_url)
            await measured.saturate(tables, turns=turns, seconds=seconds)
            lost = measured.table.total("acknowledged") - (await stored(darbar.tables_url) - before)
    return rows(measured.table, measured.bare, lost=max(0, lost), memory=memory)


def rows(table: Turns, bare: Turns, *, lost: int, memory: tuple[float, float]) -> list[Row]:
    """What the windows say."""
    return [
        made(
            "serving",
            "durable moves for a CPU-second of the table process",
            value=table.moves_per_cpu_second,
            reference="bare aiohttp fan-out",
            reference_value=bare.moves_per_cpu_second,
            beside=beside(table, bare, lost),
        ),
        made(
            "serving_bytes",
            "bytes to four players for a move",
            value=table.mean("bytes_a_move"),
            reference="",
            reference_value=0,
            beside={},
        ),
        made(
            "serving_memory",
            "KiB for a table with four playing sockets",
            value=memory[0],
            reference="bare aiohttp fan-out",
            reference_value=memory[1],
            beside={"tables": MEMORY_TABLES},
        ),
    ]


def beside(table: Turns, bare: Turns, lost: int) -> dict[str, float]:
    """What was measured with the moves: who used which share of a core, latencies at saturation, counts."""
    return {
        **{f"{name}_core": table.core(name) for name in ("table", "postgres", "wallet", "nats")},
        "client_core": table.mean("client_core"),
        "bare_core": bare.core("bare"),
        "bare_moves_per_cpu_second": bare.moves_per_cpu_second,
        "p50_ms": table.mean("p50_ms"),
        "p99_ms": table.mean("p99_ms"),
        "bare_p50_ms": bare.mean("p50_ms"),
        "bare_p99_ms": bare.mean("p99_ms"),
        "acknowledged": table.total("acknowledged"),
        "lost": lost,
        **faults(table),
    }


if __name__ == "__main__":
    sys.exit(main(bench, __doc__, seconds=6.0, turns=3, tables=100))
