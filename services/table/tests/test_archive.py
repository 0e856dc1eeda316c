"""Logs of tables that closed long ago go to the archive as they are, and whoever looks for them finds them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import asyncpg
import pytest
import pytest_asyncio
from table_stack import Stack, StartTable

from darbar_kit.database import Database, queries
from darbar_kit.testing import TestDatabase, eventually
from darbar_table.app import SERVICE
from darbar_table.metrics import Metrics
from darbar_table.store.archiver import Archiver
from darbar_table.store.replay import chain_fault
from darbar_table.store.store import Store

# A busy NATS lets several attempts of five seconds each run out before it takes a milestone.
PUBLISHED_SECONDS_MAX = 30.0


@pytest_asyncio.fixture(loop_scope="session")
async def store(table_database: TestDatabase) -> AsyncIterator[Store]:
    database = await Database.open(str(table_database), unsafe_storage=True)
    yield Store(database, queries("darbar_table.store"))
    await database.close()


def after(store: Store, days: float) -> Archiver:
    """The job, so many days from now."""
    return Archiver(store, after_days=30.0, metrics=Metrics(), now=lambda: datetime.now(UTC) + timedelta(days=days))


async def closed_table(stack: Stack) -> str:
    table_id = await stack.open_table()
    ann = await stack.join(table_id, "ann")
    await ann.command("leave")
    assert (await ann.frame("closing"))["code"] == "table_closed"
    return table_id


async def test_a_log_goes_to_the_archive_after_thirty_days_and_is_found_there(
    start_table: StartTable, store: Store, table_database: TestDatabase
) -> None:
    stack = await start_table()
    table_id = UUID(await closed_table(stack))
    open_id = UUID(await stack.open_table())
    connection = await asyncpg.connect(table_database.owner_url)
    await eventually(lambda: _is_published(connection, table_id), seconds=PUBLISHED_SECONDS_MAX)
    before = await store.log_page(table_id, after=0, rows_max=1000)
    assert await after(store, 29.9).archive() == 0
    assert await after(store, 30.1).archive() == 1
    assert await after(store, 30.1).archive() == 0
    events = "SELECT count(*) FROM event WHERE table_id = $1"
    assert await connection.fetchval(events, table_id) == 0
    assert await connection.fetchval(events, open_id) > 0
    assert await store.log_page(table_id, after=0, rows_max=1000) == before
    assert chain_fault(table_id, before) is None
    head = await store.replay_head(table_id, "ann")
    assert (head is not None and head.has_sat_here) is True
    audit = await stack.lobby._session.get(
        f"{stack.address}/v1/tables/{table_id}/audit", headers={"Authorization": f"Bearer {stack.lobby.token('ann')}"}
    )
    assert (audit.status, (await audit.json())["chain_holds"]) == (200, True)
    metrics = stack.runner.app[SERVICE].metrics
    assert metrics.snapshots_unfit._value.get() == 0
    await connection.close()


async def test_the_service_itself_can_delete_no_event_and_move_no_open_table(
    start_table: StartTable, store: Store, table_database: TestDatabase
) -> None:
    stack = await start_table()
    await stack.open_table()
    assert await after(store, 10_000).archive() == 0
    connection = await asyncpg.connect(str(table_database))
    for statement in ("DELETE FROM event", "DELETE FROM event_archive", "INSERT INTO event_archive TABLE event"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    await connection.close()


async def _is_published(connection: asyncpg.Connection[asyncpg.Record], table_id: UUID) -> bool:
    return bool(await connection.fetchval("SELECT count(*) FROM outbox WHERE table_id = $1", table_id) == 0)
