"""The disk below a server is full: nothing stored is lost, nobody loses a turn, and all it needs is space."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest
from fault_stack import seconds
from long_games import GAME_SECONDS_MAX, LongTable, long_table
from small_disks import NoSmallDisk, SmallDisk, small_disk
from stored import Stored
from whole_games import BACKOFF, SETTINGS, new_folder

from darbar_client import Darbar
from darbar_client.demo.local_server import LocalServer, missing_at
from darbar_kit.database import DatabaseAway, translated
from darbar_kit.embedded.postgres import ADMIN, HOST
from darbar_kit.testing import eventually

TABLES = 2
TURN_SECONDS = 5
FULL_SECONDS = seconds(short=TURN_SECONDS + 1, long=20)
LATE_SECONDS = 2.0
# Until a full disk is noticed: a time limit of a statement, and how long something may wait to be stored.
TOLD_SECONDS_MAX = 20.0
# Pauses between attempts grow, and what kept failing counts as mended when it has run for a while.
READY_SECONDS_MAX = 45.0
# Here what is stored must survive the end of a server.
SAFE_SETTINGS = {
    **{name: value for name, value in SETTINGS.items() if name != "DARBAR_UNSAFE_STORAGE"},
    "DARBAR_TABLE_MILESTONES_LATE_SECONDS": str(LATE_SECONDS),
}
POSTGRES = "data/postgres/place"
NATS = "data/nats"
Count = Callable[[str], None]
Running = tuple[LocalServer, SmallDisk, Stored]


@asynccontextmanager
async def server_on_a_small_disk(parent: Path, place: str) -> AsyncIterator[Running]:
    folder = new_folder(parent, "small-disk")
    with ExitStack() as ends:
        try:
            disk = ends.enter_context(small_disk(folder / place))
        except NoSmallDisk as refusal:
            pytest.skip(f"NOT TRIED WITH A FULL DISK: {refusal}")
        server = LocalServer(folder, settings=SAFE_SETTINGS)
        await server.start()
        try:
            yield server, disk, Stored(_admin_url(folder / "data" / "postgres"))
        finally:
            await server.stop()


async def test_moves_wait_while_postgresql_has_no_space_for_them(stack_folder: Path, count: Count) -> None:
    async with server_on_a_small_disk(stack_folder, POSTGRES) as (server, disk, stored):
        missing = await play_while_full(server, disk, stored, lambda: _told(server, "table: storage"), count)
        assert not any(thing.startswith("local") for thing in missing), "PostgreSQL itself goes on"


async def test_postgresql_that_ends_for_want_of_space_is_back_when_there_is_some(
    stack_folder: Path, count: Count
) -> None:
    async with server_on_a_small_disk(stack_folder, POSTGRES) as (server, disk, stored):

        async def has_ended() -> bool:
            await _switch_wal(stored)
            return "local: task:postgres" in (await missing_at(server.url) or ())

        async def end() -> None:
            # It may recover by itself once or twice, with the space that it had begun to use.
            await eventually(has_ended, seconds=TOLD_SECONDS_MAX)
            await _told(server, "table: lease")

        missing = await play_while_full(server, disk, stored, end, count)
        assert {"wallet: database", "lobby: database"} <= set(missing)


async def test_milestones_wait_while_nats_has_no_space_for_them(stack_folder: Path, count: Count) -> None:
    async with server_on_a_small_disk(stack_folder, NATS) as (server, disk, stored):
        await play_while_full(server, disk, stored, lambda: _told(server, "table: milestones"), count)


async def play_while_full(
    server: LocalServer, disk: SmallDisk, stored: Stored, until_told: Callable[[], Awaitable[None]], count: Count
) -> tuple[str, ...]:
    """Games in whose middle the disk is full for some seconds, and all that can be proven about them afterwards.

    What readiness missed at the end of these seconds.
    """
    async with Darbar(server.url, backoff=BACKOFF) as darbar:
        tables = [await long_table(darbar, seed=seed, turn_seconds=TURN_SECONDS) for seed in range(TABLES)]
        async with asyncio.timeout(GAME_SECONDS_MAX + FULL_SECONDS), asyncio.TaskGroup() as tasks:
            for table in tables:
                tasks.create_task(table.play())
            await asyncio.gather(*(_in_the_middle_of_a_round(table) for table in tables))
            async with disk.full():
                end = time.monotonic() + FULL_SECONDS
                for table in tables:
                    table.go_on()
                await until_told()
                await eventually(lambda: time.monotonic() >= end, seconds=FULL_SECONDS + 1)
                missing = await missing_at(server.url) or ()
            for table in tables:
                table.stop_after_this_game()
        table_ids = [table.table_id for table in tables]
        await eventually(lambda: _is_ready(server), seconds=READY_SECONDS_MAX)
        assert await stored.turns_lost(table_ids) == []
        events = sum([await table.proven() for table in tables])
        milestones = await stored.milestones_arrived(table_ids)
    count(
        f"full for {FULL_SECONDS:.0f} s, without {', '.join(missing)}: {events} events, {milestones} milestones proven"
    )
    return missing


async def _in_the_middle_of_a_round(table: LongTable) -> None:
    await table.in_the_middle_of_a_round()
    table.pause()


async def _told(server: LocalServer, thing: str) -> None:
    """Waits until readiness misses it."""

    async def misses() -> bool:
        return thing in (await missing_at(server.url) or ())

    await eventually(misses, seconds=TOLD_SECONDS_MAX)


async def _is_ready(server: LocalServer) -> bool:
    return await missing_at(server.url) == ()


async def _switch_wal(stored: Stored) -> None:
    """A server that must begin a new file of its log, and has no space for it, ends."""
    with suppress(DatabaseAway), translated():
        connection = await stored.connect("postgres")
        try:
            for _ in range(100):
                await connection.execute("SELECT pg_logical_emit_message(false, 'some', 'words'), pg_switch_wal()")
        finally:
            connection.terminate()


def _admin_url(folder: Path) -> str:
    password, port = ((folder / name).read_text().strip() for name in ("password", "port"))
    return f"postgresql://{ADMIN}:{password}@{HOST}:{port}/postgres"
