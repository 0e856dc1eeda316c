"""A table process ends, killed or asked to: another one goes on with its tables, whatever else goes wrong meanwhile."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import uuid4

import aiohttp
import pytest_asyncio
from fault_stack import FaultStack, fault_stack, seconds
from long_games import LongTable, long_table, played

from darbar_client import Darbar
from darbar_client.darbar import Player
from darbar_kit.testing import eventually

TABLES = 3
WAITING_TABLES = 20
SILENT_SOCKETS = 50
TAKEN_OVER_SECONDS_MAX = 30.0
MOVES_ON_SECONDS_MAX = 15.0
ELSEWHERE_SECONDS_MAX = 5.0
Count = Callable[[str], None]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stack(stack_folder: Path) -> AsyncIterator[FaultStack]:
    async with fault_stack(stack_folder, "--processes", "--tables", "2") as started:
        yield started


async def test_a_load_that_fails_is_repeated_and_every_table_moves_on(
    stack: FaultStack, guests: Darbar, count: Count
) -> None:
    everything = await _tables(guests)
    async with everything.played():
        async with _event_table_locked(stack):
            await _kill_owner(stack)
            await _a_load_fails(stack)
        await everything.moved_on(MOVES_ON_SECONDS_MAX)
        async with _events_unreadable(stack):
            await _kill_owner(stack)
            await _a_load_fails(stack)
        moved_on = await everything.moved_on(MOVES_ON_SECONDS_MAX)
    events = await everything.proven()
    count(f"{moved_on} tables moved on after two loads that failed; {events} events proven")


async def test_connections_that_are_cut_while_tables_are_loaded_only_delay_them(
    stack: FaultStack, guests: Darbar, count: Count
) -> None:
    everything = await _tables(guests)
    async with everything.played():
        await _kill_owner(stack)
        killed = await stack.kill_sessions(seconds(short=6, long=30))
        moved_on = await everything.moved_on(MOVES_ON_SECONDS_MAX)
    events = await everything.proven()
    count(f"{killed} connections cut in a takeover; {moved_on} tables moved on; {events} events proven")
    assert killed > 10


async def test_a_planned_stop_does_not_wait_for_strangers(stack: FaultStack, guests: Darbar, count: Count) -> None:
    everything = await _tables(guests)
    owner = await stack.owner()
    async with everything.played(), AsyncExitStack() as sockets:
        await _silent_sockets(sockets, owner.address)
        began = time.monotonic()
        owner.process.send_signal(signal.SIGTERM)
        await eventually(lambda: _owns_nothing(stack, owner.process_id), seconds=ELSEWHERE_SECONDS_MAX)
        elsewhere = time.monotonic() - began
        moved_on = await everything.moved_on(MOVES_ON_SECONDS_MAX)
    events = await everything.proven()
    count(f"{SILENT_SOCKETS} silent sockets: all shards elsewhere after {elsewhere:.2f} s; {moved_on} tables, {events}")


class Everything:
    """Tables that are played at, and tables that wait for players."""

    def __init__(self, long: list[LongTable], waiting: list[tuple[Player, str]]) -> None:
        self.long = long
        self.waiting = waiting

    @asynccontextmanager
    async def played(self) -> AsyncIterator[None]:
        """The games go on meanwhile, and a while after."""
        async with played(self.long):
            yield

    async def moved_on(self, seconds_max: float) -> int:
        """Every table stores an event, or answers where nothing is to be stored; how many there are."""
        async with asyncio.timeout(seconds_max):
            await asyncio.gather(
                *(table.some_moves_later(1) for table in self.long),
                *(_answers(player, table_id) for player, table_id in self.waiting),
            )
        return len(self.long) + len(self.waiting)

    async def proven(self) -> int:
        return sum([await table.proven() for table in self.long])


async def _tables(darbar: Darbar) -> Everything:
    waiting = []
    for _ in range(WAITING_TABLES):
        host = await darbar.guest()
        waiting.append((host, (await host.create_table("court_piece")).table_id))
    return Everything([await long_table(darbar, seed=seed) for seed in range(TABLES)], waiting)


async def _answers(player: Player, table_id: str) -> None:
    """Its owner takes a command: the host's seat is theirs still, so only the answer counts."""
    table = await player.join(table_id)
    assert table.seat == 0
    await table.close()


async def _kill_owner(stack: FaultStack) -> None:
    """kill -9 of a process that owns shards."""
    owner = await stack.owner()
    owner.process.kill()


async def _a_load_fails(stack: FaultStack) -> None:
    """Whoever takes the shards of the dead process over can't read its tables."""
    before = await stack.metric("table_load_failures_total")

    async def failed() -> bool:
        return await stack.metric("table_load_failures_total") > before

    await eventually(failed, seconds=TAKEN_OVER_SECONDS_MAX)


@asynccontextmanager
async def _event_table_locked(stack: FaultStack) -> AsyncIterator[None]:
    """As a migration holds it: nobody reads, nobody writes, and whoever waits too long is refused."""
    connection = await stack.stored.connect("tables")
    try:
        async with connection.transaction():
            await connection.execute("LOCK TABLE event")
            yield
    finally:
        await connection.close()


@asynccontextmanager
async def _events_unreadable(stack: FaultStack) -> AsyncIterator[None]:
    """One statement of ours is refused, and goes on being refused; all others work."""
    await stack.stored.ask("tables", "REVOKE SELECT ON event FROM tables_service")
    try:
        yield
    finally:
        await stack.stored.ask("tables", "GRANT SELECT ON event TO tables_service")


async def _owns_nothing(stack: FaultStack, process_id: str) -> bool:
    """Every shard has another owner, and that one has read it."""
    owned = await stack.stored.ask(
        "tables",
        "SELECT 1 FROM shard s LEFT JOIN table_process p USING (process_id)"
        " WHERE s.process_id = $1 OR p.process_id IS NULL",
        process_id,
    )
    waiting = await stack.stored.ask("tables", "SELECT 1 FROM outage WHERE ended IS NULL")
    return not owned and not waiting


async def _silent_sockets(stack: AsyncExitStack, address: str) -> None:
    """Connections that never say hello."""
    session = await stack.enter_async_context(aiohttp.ClientSession())
    for _ in range(SILENT_SOCKETS):
        socket = session.ws_connect(f"http://{address}/play/tables/{uuid4()}/socket")
        await stack.enter_async_context(socket)
