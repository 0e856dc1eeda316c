"""A stored event that can't be taken: one table is frozen, and all others go on, also through a start."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from fault_stack import FaultStack
from long_games import GAME_SECONDS_MAX, long_table

from darbar_client import Backoff, Darbar
from darbar_client.errors import DarbarError
from darbar_kit.testing import eventually

HASTE = Backoff(http_seconds=10.0, socket_seconds=2.0, command_seconds=2.0)
FROZEN_SECONDS_MAX = 15.0
CARD = (
    '{"seat":1,"by":"bot","id":null,"digest":0,"event":{"seat":1,"card":"3S","winning":1,"turn":2,"to_act":2,'
    '"face_down":false,"trump":null,"trick":null}}'
)
# What no owner can read or take; each is a row of the log that the database accepts.
POISONS = {
    "an unknown kind": ("nonsense", "{}"),
    "another type in a field": ("host_changed", '{"seat": "no seat"}'),
    "no object": ("host_changed", "[1, 2]"),
    "a seat that is not there": ("player_went_offline", '{"seat": 99}'),
    "a card where nothing is played": ("card_played", CARD),
}
# This one is taken, and hurts only when the table is asked to do something.
LATE_POISON = ("host_changed", '{"seat": 99}')
_PLANT = """
INSERT INTO event (table_id, version, kind, body, at, chain)
SELECT table_id, max(version) + 1, $2, $3::text::json, now(), sha256('planted'::bytea)
  FROM event WHERE table_id = $1::text::uuid GROUP BY table_id
"""
Count = Callable[[str], None]


async def test_a_poisoned_row_at_run_time_freezes_its_table_and_no_other(
    stack: FaultStack, guests: Darbar, count: Count
) -> None:
    healthy = await long_table(guests)
    poisoned = await _poisoned_tables(stack, guests, [*POISONS.values(), LATE_POISON])
    async with asyncio.timeout(GAME_SECONDS_MAX), asyncio.TaskGroup() as tasks:
        tasks.create_task(healthy.play())
        async with Darbar(stack.url, backoff=HASTE) as guests:
            await asyncio.gather(*(_ask_for_a_seat(guests, table_id) for table_id in poisoned))
        await eventually(lambda: _frozen(stack, poisoned), seconds=FROZEN_SECONDS_MAX)
        healthy.stop_after_this_game()
    events = await healthy.proven()
    await stack.ready()
    count(f"{len(poisoned)} tables frozen, {events} events of another one proven")


async def test_poisoned_rows_before_a_start_keep_no_other_table_from_coming_back(
    stack: FaultStack, guests: Darbar, count: Count
) -> None:
    healthy = await long_table(guests)
    async with asyncio.timeout(GAME_SECONDS_MAX), asyncio.TaskGroup() as tasks:
        tasks.create_task(healthy.play())
        await healthy.guests[0].table.until(lambda table: table.now.phase == "playing" and table.turn >= 8)
        poisoned = await _poisoned_tables(stack, guests, list(POISONS.values()))
        await stack.stop()
        await stack.start()
        await stack.ready()
        assert await _frozen(stack, poisoned)
        healthy.stop_after_this_game()
    events = await healthy.proven()
    count(f"{len(poisoned)} tables frozen, {events} events of another one proven")


async def _poisoned_tables(stack: FaultStack, darbar: Darbar, poisons: list[tuple[str, str]]) -> list[str]:
    ids = []
    for kind, body in poisons:
        host = await darbar.guest()
        ids.append((await host.create_table("court_piece", visibility="public")).table_id)
        await stack.stored.ask("tables", _PLANT, ids[-1], kind, body)
    return ids


async def _ask_for_a_seat(darbar: Darbar, table_id: str) -> None:
    """Until the table is frozen: its owner finds the row when it wants to store the next one."""
    guest = await darbar.guest()
    for _ in range(3):
        with contextlib.suppress(DarbarError):
            table = await guest.join(table_id)
            await table.sit()


async def _frozen(stack: FaultStack, wanted: list[str]) -> bool:
    """Whether these tables are frozen, with a reason; never others."""
    rows = await stack.stored.ask("tables", "SELECT table_id::text AS id, reason FROM frozen_table WHERE reason <> ''")
    found = {row["id"] for row in rows}
    return found >= set(wanted)
