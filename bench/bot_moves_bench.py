"""The slowest moves while fifty bots play at other tables, beside the same moves without. Open this about that row.

    python -m bench.bot_moves_bench [--seconds 4] [--turns 5] [--tables 20]

The bots are strong ones, three at each of seventeen tables, with their pauses as they are in production. The player at
each of these tables decides at once, so that a bot is nearly always on turn. They decide in the bot service.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import asyncpg
import msgspec
from bench import stack
from bench.program import main
from bench.recording import Seat, greeted
from bench.rows import Row
from bench.turns import in_company, opened, slowest_moves

TABLES_OF_BOTS = 17


class Host(Seat):
    """The one player at a table of bots, until it is told to stop."""

    async def play(self) -> None:
        async for message in self.socket:
            frame = msgspec.json.decode(message.data)
            if frame["type"] == "snapshot":
                if frame["table"]["phase"] == "waiting":
                    await self.send(type="start_now")
                await self.react({**frame, "kind": "snapshot", "public": frame.get("game", {})})
            elif frame["type"] == "event":
                await self.react(frame)
        raise RuntimeError("a table of bots has ended")


@asynccontextmanager
async def bots_playing(darbar: stack.Darbar, table_ids: list[str], name: str) -> AsyncIterator[None]:
    """From the beginning of the block to its end; the tables then wait for their players."""
    hosts = (await darbar.plan(table_ids))[:: stack.SEATS]
    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as tasks:
        running = []
        for number, line in enumerate(hosts):
            host = Host(await greeted(session, line), f"{name}-{number}")
            running.append(tasks.create_task(host.play()))
        yield
        for task in running:
            task.cancel()


async def decisions(url: str) -> int:
    """How many decisions bots have made."""
    connection = await asyncpg.connect(url)
    try:
        count: int = await connection.fetchval("SELECT count(*) FROM event WHERE body->>'by' = 'bot'")
        return count
    finally:
        await connection.close()


async def bench(*, tables: int, turns: int, seconds: float) -> list[Row]:
    """Bring everything up, measure with bots and without in turns, take it down."""
    async with opened(tables) as (darbar, played), darbar.service("bot"):
        theirs = await darbar.open_tables(TABLES_OF_BOTS, bot_level="strong")
        quiet, busy = await in_company(
            lambda: played.window(seconds), lambda turn: bots_playing(darbar, theirs, f"host{turn}"), turns
        )
        decided = await decisions(darbar.tables_url)
    return [
        slowest_moves(
            "bot_moves",
            "while 51 strong bots play at other tables",
            quiet=quiet,
            busy=busy,
            decisions=decided,
            bot_core=busy.core("bot"),
        )
    ]


if __name__ == "__main__":
    sys.exit(main(bench, __doc__, seconds=4.0, turns=5, tables=20))
