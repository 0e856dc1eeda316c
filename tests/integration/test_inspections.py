"""Forty people look at a long log at once: each has an answer or is told to come back, and other tables play on."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

import aiohttp
import msgspec
from fault_stack import FaultStack
from long_games import GAME_SECONDS_MAX, long_table
from long_logs import planted

from darbar_client import Darbar, Player
from darbar_contracts.api import Replay, TableAudit

EVENTS = 10_000
READERS = 40
TABLES = 3
TURN_SECONDS = 5
# Those of the limits of a log's readers: at once, in a minute, in a row; and of the time for which one waits.
COME_BACK = {(503, "busy"), (429, "too_many_requests"), (503, "timed_out")}
_OWNERS = "SELECT DISTINCT process_id FROM shard"
Count = Callable[[str], None]


class _Refusal(msgspec.Struct, frozen=True):
    code: str


async def test_forty_replays_and_audits_of_a_long_log_take_nothing_from_other_tables(
    stack: FaultStack, guests: Darbar, count: Count
) -> None:
    readers = [await guests.guest() for _ in range(READERS)]
    table_id = await planted(stack.stored, events=EVENTS, sat_here=[reader.account for reader in readers])
    tables = [await long_table(guests, seed=seed, turn_seconds=TURN_SECONDS) for seed in range(TABLES)]
    owners = await stack.stored.ask("tables", _OWNERS)
    async with asyncio.timeout(GAME_SECONDS_MAX), asyncio.TaskGroup() as tasks:
        for table in tables:
            tasks.create_task(table.play())
        await tables[0].guests[0].table.until(lambda seen: seen.now.phase == "playing" and seen.turn >= 8)
        before = tables[0].guests[0].table.version
        async with aiohttp.ClientSession(stack.url, connector=aiohttp.TCPConnector(limit=READERS)) as session:
            asked = [_audit if number % 2 else _replay for number in range(READERS)]
            ways = zip(asked, readers, strict=True)
            answers = await asyncio.gather(*(ask(session, table_id, reader) for ask, reader in ways))
        played = tables[0].guests[0].table.version - before
        for table in tables:
            table.stop_after_this_game()
    seen = Counter(answers)
    said = ", ".join(f"{number} x {status} {what}" for (status, what), number in sorted(seen.items()))
    assert await stack.stored.ask("tables", _OWNERS) == owners
    assert await stack.stored.turns_lost([table.table_id for table in tables]) == []
    events = sum([await table.proven() for table in tables])
    await stack.ready()
    count(f"{said}; {played} events at one table meanwhile, {events} at {TABLES} proven")
    assert set(seen) - COME_BACK == {(200, "audit"), (200, "replay")}
    assert len(owners) == 1
    assert played > 0


async def _audit(session: aiohttp.ClientSession, table_id: str, reader: Player) -> tuple[int, str]:
    status, body = await _asked(session, f"/v1/tables/{table_id}/audit", reader)
    if status != 200:
        return status, msgspec.json.decode(body, type=_Refusal).code
    audit = msgspec.json.decode(body, type=TableAudit)
    assert audit.events >= EVENTS
    assert audit.chain_holds
    assert audit.replay_equals_live
    return status, "audit"


async def _replay(session: aiohttp.ClientSession, table_id: str, reader: Player) -> tuple[int, str]:
    """All pages, or why the next one was refused."""
    after, more = 0, True
    while more:
        status, body = await _asked(session, f"/v1/tables/{table_id}/replay?after={after}", reader)
        if status != 200:
            return status, msgspec.json.decode(body, type=_Refusal).code
        page = msgspec.json.decode(body, type=Replay)
        after, more = page.events[-1].version, page.more
    assert after >= EVENTS - 50, "all rounds that are over, and what belongs to them"
    return 200, "replay"


async def _asked(session: aiohttp.ClientSession, path: str, reader: Player) -> tuple[int, bytes]:
    headers = {"Authorization": f"Bearer {await reader.tokens.access()}"}
    async with session.get(path, headers=headers) as answered:
        return answered.status, await answered.read()
