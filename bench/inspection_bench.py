"""The slowest moves while many read a long log, beside the same moves without. Open this about the inspection row.

    python -m bench.inspection_bench [--seconds 4] [--turns 5] [--tables 20]

Forty people who have sat at one table ask at once, half of them for its audit and half for its replay, page after page,
and ask again as soon as they may. Limits are those of production. Other tables play in a closed loop meanwhile.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID, uuid4

import aiohttp
import asyncpg
import msgspec
from bench import stack
from bench.logs import COLUMNS, Script, records, stored
from bench.program import main
from bench.rows import Row
from bench.turns import in_company, opened, slowest_moves

from darbar_contracts.tables import Person

EVENTS = 10_000
READERS = 40
# A refusal says when to come back.
REFUSED = (429, 503)


class _Page(msgspec.Struct, frozen=True):
    events: list[msgspec.Raw]
    more: bool = False


class Readers:
    """Those who look at one log. `answers` counts them by what they asked for and the status."""

    def __init__(self, darbar: stack.Darbar, table_id: UUID) -> None:
        self._darbar = darbar
        self._url = f"http://{stack.HOST}:{darbar.port}/v1/tables/{table_id}"
        self.answers: Counter[tuple[str, int]] = Counter()

    @asynccontextmanager
    async def reading(self, accounts: list[str]) -> AsyncIterator[None]:
        """From the beginning of the block to its end."""
        connector = aiohttp.TCPConnector(limit=len(accounts))
        async with aiohttp.ClientSession(connector=connector) as session, asyncio.TaskGroup() as tasks:
            running = [
                tasks.create_task(self._audits(session, account) if number % 2 else self._replays(session, account))
                for number, account in enumerate(accounts)
            ]
            yield
            for task in running:
                task.cancel()

    async def _audits(self, session: aiohttp.ClientSession, account: str) -> None:
        while True:
            await self._ask(session, account, "audit")

    async def _replays(self, session: aiohttp.ClientSession, account: str) -> None:
        after = 0
        while True:
            body = await self._ask(session, account, "replay", f"?after={after}")
            if body is not None:
                page = msgspec.json.decode(body, type=_Page)
                after = after + len(page.events) if page.more else 0

    async def _ask(self, session: aiohttp.ClientSession, account: str, what: str, query: str = "") -> bytes | None:
        """Nothing when it was refused, after the pause that the refusal asks for."""
        headers = {"Authorization": f"Bearer {self._darbar.token(account)}"}
        async with session.get(f"{self._url}/{what}{query}", headers=headers) as answered:
            body = await answered.read()
            self.answers[what, answered.status] += 1
            if answered.status == 200:
                return body
            if answered.status not in REFUSED:
                raise RuntimeError(f"{what}: {answered.status} {body[:200]!r}")
            pause_seconds = float(answered.headers["Retry-After"])
        await asyncio.sleep(pause_seconds)
        return None


async def planted(url: str, people: list[str]) -> UUID:
    """A table at which all of these have sat, with a long log and no round under way."""
    script = Script()
    for account in people:
        script.visit(Person(account, account.capitalize(), "fox"))
    rows = stored(script.play_to_rest(EVENTS))
    table_id = uuid4()
    connection = await asyncpg.connect(url)
    try:
        await connection.copy_records_to_table(
            "event", records=records(table_id, rows, datetime.now(UTC)), columns=COLUMNS
        )
        await connection.execute("ANALYZE event")
    finally:
        await connection.close()
    return table_id


async def bench(*, tables: int, turns: int, seconds: float) -> list[Row]:
    """Bring everything up, measure with readers and without in turns, take it down."""
    people = [f"reader{number}" for number in range(READERS * turns)]
    async with opened(tables) as (darbar, played):
        readers = Readers(darbar, await planted(darbar.tables_url, people))

        def company(turn: int) -> AbstractAsyncContextManager[None]:
            # Limits are of an account: others come in each turn, so that as many are let in.
            return readers.reading(people[turn * READERS : (turn + 1) * READERS])

        quiet, busy = await in_company(lambda: played.window(seconds), company, turns)
    answers = readers.answers
    return [
        slowest_moves(
            "inspection",
            "while 40 read a log of 10,000 events",
            quiet=quiet,
            busy=busy,
            audits=answers["audit", 200],
            replay_pages=answers["replay", 200],
            sent_away=sum(count for (_, status), count in answers.items() if status in REFUSED),
        )
    ]


if __name__ == "__main__":
    sys.exit(main(bench, __doc__, seconds=4.0, turns=5, tables=20))
