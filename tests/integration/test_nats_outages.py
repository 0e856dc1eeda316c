"""NATS is away, or takes no milestones: play goes on, and afterwards everything arrives by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import nats
import pytest_asyncio
from fault_stack import FaultStack, fault_stack, seconds
from long_games import GAME_SECONDS_MAX, long_table
from nats.js.api import DiscardPolicy
from stored import ARRIVED_SECONDS_MAX

from darbar_client import Darbar
from darbar_contracts.subjects import MILESTONE_STREAM
from darbar_kit.testing import eventually

TABLES = 3
LATE_SECONDS = 2.0
Count = Callable[[str], None]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stack(stack_folder: Path) -> AsyncIterator[FaultStack]:
    async with fault_stack(stack_folder, table_milestones_late_seconds=str(LATE_SECONDS)) as started:
        yield started


async def test_while_nats_is_away_cards_are_played_and_afterwards_coins_and_milestones_arrive(
    stack: FaultStack, guests: Darbar, count: Count
) -> None:
    tables = [await long_table(guests, seed=seed) for seed in range(TABLES)]
    async with asyncio.timeout(GAME_SECONDS_MAX + seconds(short=6, long=30)), asyncio.TaskGroup() as tasks:
        for table in tables:
            tasks.create_task(table.play())
        for table in tables:
            await table.guests[0].table.until(lambda seen: seen.now.phase == "playing" and 4 <= seen.turn < 40)
            table.pause()
        before = [table.guests[0].table.version for table in tables]
        await stack.nats.stop()
        end = time.monotonic() + seconds(short=6, long=30)
        for table in tables:
            table.go_on()
        # Each round is played to its end; then its coins wait for the wallet.
        for table in tables:
            await table.guests[0].table.until(lambda seen: seen.now.phase == "settling", seconds=ARRIVED_SECONDS_MAX)
        played = sum(table.guests[0].table.version for table in tables) - sum(before)
        await eventually(lambda: time.monotonic() >= end, seconds=60)
        await stack.nats.start()
        for table in tables:
            table.stop_after_this_game()
    await stack.ready()
    events = sum([await table.proven() for table in tables])
    milestones = await stack.stored.milestones_arrived([table.table_id for table in tables])
    count(f"{played} events stored without NATS; {events} proven and {milestones} milestones in the lobby afterwards")
    assert played > TABLES


async def test_milestones_that_are_refused_are_told_of_and_published_when_they_are_taken_again(
    stack: FaultStack, guests: Darbar, count: Count
) -> None:
    tables = [await long_table(guests, seed=seed) for seed in range(TABLES)]
    async with asyncio.timeout(GAME_SECONDS_MAX), asyncio.TaskGroup() as tasks:
        for table in tables:
            tasks.create_task(table.play())
        async with _stream_refuses(stack):
            await eventually(lambda: stack.missing("milestones"), seconds=LATE_SECONDS + 15)
            assert await _oldest_seconds(stack) >= LATE_SECONDS
            version = tables[0].guests[0].table.version
            await tables[0].guests[0].table.until(lambda seen: seen.version > version + 10, seconds=15)
        for table in tables:
            table.stop_after_this_game()
        await stack.ready()
        assert await _oldest_seconds(stack) < LATE_SECONDS
    events = sum([await table.proven() for table in tables])
    milestones = await stack.stored.milestones_arrived([table.table_id for table in tables])
    count(f"{events} events proven; {milestones} milestones in the lobby, some of them refused at first")


@asynccontextmanager
async def _stream_refuses(stack: FaultStack) -> AsyncIterator[None]:
    """The stream of milestones is as full as it may be, and takes no more."""
    client = await nats.connect(stack.nats.url("operator"))
    jetstream = client.jetstream()
    try:
        config = (await jetstream.stream_info(MILESTONE_STREAM)).config
        discard, max_msgs = config.discard, config.max_msgs
        config.discard, config.max_msgs = DiscardPolicy.NEW, 1
        await jetstream.update_stream(config)
        yield
        config.discard, config.max_msgs = discard, max_msgs
        await jetstream.update_stream(config)
    finally:
        await client.close()


async def _oldest_seconds(stack: FaultStack) -> float:
    """How long the oldest milestone has waited, as the metrics say."""
    return await stack.metric("table_outbox_oldest_seconds")
