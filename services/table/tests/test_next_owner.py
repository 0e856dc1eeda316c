"""A table goes on at its next owner where it stood: what it waits for, who may sit, and what stays stopped."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from uuid import UUID

import asyncpg
import msgspec
import pytest
from table_doubles import Player
from table_scripts import TABLE_ID, Script
from table_stack import Stack, StartTable

from darbar_contracts.wallet import StakeRequest
from darbar_kit.testing import TestDatabase, eventually
from darbar_table.app import SERVICE
from darbar_table.domain.milestones import milestone_of
from darbar_table.engine.live_table import LiveTable
from darbar_table.shards.placement import shard_of


def held(stack: Stack, table_id: str) -> LiveTable:
    return stack.runner.app[SERVICE].present_node().owner.live_tables[UUID(table_id)]


async def end(stack: Stack, players: list[Player]) -> None:
    await stack.runner.cleanup()
    await asyncio.gather(*(asyncio.wait_for(player.closed.wait(), 10) for player in players))


async def test_the_wallet_is_asked_again_what_nobody_has_answered(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    stack.wallet.hold()
    table_id, players = await stack.full_table()
    await players[0].event("stakes_asked")
    await eventually(lambda: bool(stack.wallet.requests))
    await end(stack, players)
    successor = await start_table(count_in_seconds=0.05)
    await eventually(lambda: held(successor, table_id).table.staked)
    asked = [*stack.wallet.requests, *successor.wallet.requests]
    assert len({request.key for request in asked if isinstance(request, StakeRequest)}) == 1


@pytest.mark.parametrize("first", ["'{}'", "to_json(repeat('x', 2 * 1024 * 1024))"], ids=["plain", "too long for NATS"])
async def test_milestones_of_closed_tables_are_published_by_the_next_owner_and_one_that_no_server_takes_keeps_none_back(
    start_table: StartTable, table_database: TestDatabase, first: str
) -> None:
    connection = await asyncpg.connect(table_database.owner_url)
    await connection.execute(
        f"INSERT INTO outbox VALUES ($1, 1, 1, {first}), ($2, 1, 1, '{{}}')",
        UUID(int=1),
        UUID(int=2),
    )

    await start_table()

    async def all_are_gone() -> bool:
        return bool(await connection.fetchval("SELECT count(*) = 0 FROM outbox"))

    await eventually(all_are_gone)
    await connection.close()


async def test_a_bot_on_turn_is_asked_at_once(start_table: StartTable) -> None:
    """Nobody waits for a turn of thirty seconds: a test gives up sooner."""
    never = {"bot_pause_seconds_min": 3600.0, "bot_pause_seconds_max": 3600.0}
    stack = await start_table(count_in_seconds=0.05, **never)
    table_id = await stack.open_table(turn_seconds=30)
    ann = await stack.join(table_id, "ann")
    await ann.command("start_now")
    playing = asyncio.create_task(ann.play(lambda frame: False))
    live = held(stack, table_id)
    await eventually(lambda: live.asked_bots is not None)
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)
    await end(stack, [ann])
    successor = await start_table()
    await eventually(lambda: held(successor, table_id).table.version > live.table.version)


async def test_a_frozen_table_stays_frozen(start_table: StartTable, table_database: TestDatabase) -> None:
    stack = await start_table()
    table_id, other = await stack.open_table(), await stack.open_table(host="eve")
    node = stack.runner.app[SERVICE].present_node()
    node.freezer.freeze(held(stack, table_id), "a test", None)
    await eventually(lambda: not node.freezer.unstored)
    await stack.runner.cleanup()
    successor = await start_table()
    assert (await (await successor.join(table_id, "bob")).frame("closing"))["code"] == "table_frozen"
    assert (held(successor, table_id).frozen, held(successor, table_id).timers) == (True, {})
    assert (await (await successor.join(other, "bob")).command("sit"))["type"] == "event"


@pytest.mark.ruling("TL-8")
async def test_tl_8_claims_are_as_the_logs_say(start_table: StartTable, table_database: TestDatabase) -> None:
    """A claim that no seat goes with is gone, and the others are not."""
    stack = await start_table()
    table_id, other = await stack.open_table(), await stack.open_table(host="eve")
    await stack.runner.cleanup()
    connection = await asyncpg.connect(table_database.owner_url)
    await connection.execute("INSERT INTO seat_claim (account_id, table_id) VALUES ('bob', $1)", UUID(table_id))
    await connection.close()
    successor = await start_table()
    at_other = [await successor.join(other, name) for name in ("ann", "bob")]
    assert (await at_other[0].command("sit"))["code"] == "seated_elsewhere"
    assert (await at_other[1].command("sit"))["type"] == "event"


async def test_milestones_that_wait_are_published_also_where_no_table_is_open_any_more(
    start_table: StartTable, table_database: TestDatabase
) -> None:
    script = Script()
    (_, created, table) = script.log[0]
    note = milestone_of(created, table, at=datetime.now(UTC), generation=1)
    connection = await asyncpg.connect(table_database.owner_url)
    try:
        await connection.execute(
            "INSERT INTO outbox (table_id, number, shard, message) VALUES ($1, 1, $2, $3)",
            UUID(TABLE_ID),
            shard_of(UUID(TABLE_ID)),
            msgspec.json.encode(note).decode(),
        )
        await start_table()
        await eventually(lambda: _is_empty(connection, "outbox"))
    finally:
        await connection.close()


async def _is_empty(connection: asyncpg.Connection[asyncpg.Record], table: str) -> bool:
    return not await connection.fetch(f"SELECT 1 FROM {table}")


async def test_a_table_that_is_being_read_again_answers_nobody(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    live = held(stack, table_id)
    live.stale = True
    assert (await (await stack.join(table_id, "bob")).frame("closing"))["code"] == "unavailable"
    live.stale = False
    assert (await (await stack.join(table_id, "bob")).command("sit"))["type"] == "event"


@pytest.mark.ruling("TL-43")
async def test_tl_43_who_does_not_come_to_the_next_owner_is_away_after_a_while(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    bob = await stack.join(table_id, "bob")
    await bob.command("sit")
    await end(stack, [bob])
    successor = await start_table(present_after_load_seconds=0.3)
    back = await successor.join(table_id, "bob")
    assert (await back.event("player_went_offline"))["public"] == {"seat": 0}
    assert not [frame for frame in back.frames if frame.get("public") == {"seat": 2}]


async def test_nobody_is_held_at_a_table_that_has_closed(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    ann, eve = await stack.join(table_id, "ann"), await stack.join(table_id, "eve")
    await ann.command("leave")
    assert (await eve.frame("closing"))["code"] == "table_closed"
    node = stack.runner.app[SERVICE].present_node()
    assert UUID(table_id) not in node.owner.live_tables
    assert (await (await stack.join(table_id, "eve")).frame("closing"))["code"] == "table_unknown"
