"""The database cuts its connections, or falls silent: everything plays on by itself, and nobody is the worse for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path

import pytest
import pytest_asyncio
from fault_stack import FaultStack, fault_stack, seconds
from long_games import GAME_SECONDS_MAX, LongTable, long_table

from darbar_client import Darbar, DarbarError
from darbar_contracts.refusals import Reason
from darbar_kit.testing import eventually

TABLES = 3
TURN_SECONDS = 5
KEEP_SECONDS = 6.0
SILENT_SECONDS_MAX = 10.0
Count = Callable[[str], None]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stack(stack_folder: Path) -> AsyncIterator[FaultStack]:
    settings = {"table_offline_grace_seconds": "0.5", "table_keep_before_game_seconds": str(KEEP_SECONDS)}
    async with fault_stack(stack_folder, **settings) as started:
        yield started


async def test_connections_that_are_cut_ten_times_a_second_stop_nothing_and_lose_nothing(
    stack: FaultStack, guests: Darbar, count: Count
) -> None:
    tables = [await long_table(guests, seed=seed, people=4 if seed else 2) for seed in range(TABLES)]
    asked, killed = 0, 0

    async def kill() -> None:
        nonlocal killed
        killed = await stack.kill_sessions(seconds(short=8, long=60))
        for table in tables:
            table.stop_after_this_game()

    async def ask_lobby_and_wallet() -> None:
        nonlocal asked
        players = cycle([guest.player for table in tables for guest in table.guests])
        while not killed:
            try:
                assert (await next(players).me()).table is not None
            except DarbarError as refused:
                if refused.code != Reason.TOO_MANY_REQUESTS:  # Each asks as often as it may.
                    raise
            else:
                asked += 1

    async with asyncio.timeout(GAME_SECONDS_MAX + seconds(short=8, long=60)), asyncio.TaskGroup() as tasks:
        for table in tables:
            tasks.create_task(table.play())
        tasks.create_task(kill())
        tasks.create_task(ask_lobby_and_wallet())
    await stack.ready()
    events = sum([await table.proven() for table in tables])
    count(f"{killed} connections cut; {events} events of {TABLES} tables and {asked} answers proven")
    assert killed > 10
    assert asked > 0


@pytest.mark.parametrize("silent_seconds", [3.5, 6.0, *([30.0] if seconds(short=0, long=1) else [])])
async def test_a_silent_database_costs_nobody_a_turn_or_a_seat(
    stack: FaultStack, guests: Darbar, count: Count, silent_seconds: float
) -> None:
    tables = [await long_table(guests, seed=seed, turn_seconds=TURN_SECONDS) for seed in range(TABLES)]
    kept_table_id = await _table_with_an_absent_player(guests)
    async with asyncio.timeout(GAME_SECONDS_MAX + silent_seconds), asyncio.TaskGroup() as tasks:
        for table in tables:
            tasks.create_task(table.play())
        await _all_stop_to_think(tables)
        # Some act while nobody can hear them, the others only when the database is back.
        tables[0].go_on()
        await stack.silence_postgres(silent_seconds)
        await stack.ready()
        await asyncio.gather(*(_has_time_left(table) for table in tables[1:]))
        for table in tables:
            table.go_on()
            table.stop_after_this_game()
    assert await stack.stored.turns_lost([table.table_id for table in tables]) == []
    events = sum([await table.proven() for table in tables])
    kept = await eventually(lambda: _kept_seconds(stack, kept_table_id), seconds=KEEP_SECONDS + 10)
    # A renewal of the lease may have been under way: up to a second before and after belongs to neither side.
    assert kept >= KEEP_SECONDS + silent_seconds - 2
    count(f"silent for {silent_seconds} s: 0 turns lost in {events} events; a seat of {KEEP_SECONDS} s kept {kept:.1f}")


async def test_a_lease_that_runs_out_while_it_is_looked_up_what_was_stored_loses_nothing(
    stack: FaultStack, guests: Darbar, count: Count
) -> None:
    tables = [await long_table(guests, seed=seed) for seed in range(TABLES)]
    unknown = await stack.metric("table_append_unknown_outcomes_total")
    async with asyncio.timeout(GAME_SECONDS_MAX), asyncio.TaskGroup() as tasks:
        for table in tables:
            tasks.create_task(table.play())
        await tables[0].guests[0].table.until(lambda seen: seen.now.phase == "playing" and seen.turn >= 4)
        async with _held(stack, "LOCK TABLE event IN SHARE ROW EXCLUSIVE MODE"):
            await eventually(lambda: _waits_for_a_lock(stack))
            # Granted when the appends that hold the row have lost their connections: then nobody can look, and nobody
            # can renew.
            async with _held(stack, "LOCK TABLE table_process", meanwhile=stack.kill_sessions(0.1)):
                await eventually(lambda: stack.missing("lease"), seconds=SILENT_SECONDS_MAX)
        for table in tables:
            table.stop_after_this_game()
    await stack.ready()
    looked = await stack.metric("table_append_unknown_outcomes_total") - unknown
    events = sum([await table.proven() for table in tables])
    count(f"{looked:.0f} outcomes looked up while the lease ran out; {events} events proven")
    assert looked > 0


@asynccontextmanager
async def _held(
    stack: FaultStack, lock: str, meanwhile: Coroutine[None, None, object] | None = None
) -> AsyncIterator[None]:
    """A lock of somebody else's, got when `meanwhile` has been done."""
    connection = await stack.stored.connect("tables")
    try:
        async with connection.transaction():
            locking = asyncio.ensure_future(connection.execute(lock))
            if meanwhile is not None:
                await meanwhile
            await locking
            yield
    finally:
        await connection.close()


async def _waits_for_a_lock(stack: FaultStack) -> bool:
    return bool(await stack.stored.ask("tables", "SELECT 1 FROM pg_locks WHERE NOT granted"))


_KEPT = """
SELECT extract(epoch FROM freed.at - gone.at)::float8 AS seconds FROM event gone JOIN event freed USING (table_id)
 WHERE table_id = $1::text::uuid AND gone.kind = 'player_went_offline' AND freed.kind = 'seat_freed'
"""


async def _table_with_an_absent_player(darbar: Darbar) -> str:
    host, guest = await darbar.guest(), await darbar.guest()
    ref = await host.create_table("court_piece")
    table, other = await host.join(ref), await guest.join(ref)
    await other.sit()
    await other.close()
    await table.until(lambda seen: any(seat.away for seat in seen.now.seats), seconds=10)
    return ref.table_id


async def _all_stop_to_think(tables: list[LongTable]) -> None:
    """In the middle of a round, with some of the turn's time used."""
    for table in tables:
        await table.guests[0].table.until(lambda seen: seen.now.phase == "playing" and seen.turn >= 8)
        table.pause()

    def thinks(table: LongTable) -> bool:
        left = table.guests[0].table.remaining_seconds
        return left is not None and left < TURN_SECONDS - 1.0

    await eventually(lambda: all(thinks(table) for table in tables), seconds=TURN_SECONDS)


async def _has_time_left(table: LongTable) -> None:
    """Enough to play a card by hand."""
    snapshot = await table.guests[0].table.refresh()
    assert snapshot.remaining_ms is not None
    assert snapshot.remaining_ms >= 2000


async def _kept_seconds(stack: FaultStack, table_id: str) -> float | None:
    found = await stack.stored.ask("tables", _KEPT, table_id)
    return found[0]["seconds"] if found else None
