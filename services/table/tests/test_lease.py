"""Who owns which shards: rows, leases, expiry and takeovers, against a real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from uuid import UUID, uuid4

import asyncpg
import pytest
import pytest_asyncio

from darbar_contracts.tables import ShardsServed
from darbar_kit.database import Database, FenceLost, Lease, LeaseQueries, queries
from darbar_kit.database.lease import EXPIRY_SECONDS
from darbar_kit.testing import TestDatabase, eventually
from darbar_table.engine.node import new_process_id
from darbar_table.shards.cells import Cells
from darbar_table.shards.placement import SHARDS, shard_of, should_own
from darbar_table.shards.survey import Survey
from darbar_table.store.registry import Registry

SQL = queries("darbar_table.store")
EXPIRE = "UPDATE table_process SET expires_at = now() - interval '1 second' WHERE process_id = $1"


@pytest_asyncio.fixture(loop_scope="session")
async def database(table_database: TestDatabase) -> AsyncIterator[Database]:
    opened = await Database.open(str(table_database), unsafe_storage=True)
    yield opened
    await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def admin(table_database: TestDatabase) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    connected = await asyncpg.connect(table_database.owner_url)
    yield connected
    await connected.close()


class Process:
    """A process that notes the shards it owns."""

    def __init__(self, database: Database, url: str) -> None:
        self.process_id = new_process_id()
        statements = LeaseQueries(claim=SQL["register"], renew=SQL["renew"], release=SQL["retire"])
        self.lease = Lease(url, statements, holder_id=self.process_id, added=("127.0.0.1:1",))
        self.registry = Registry(database, SQL)
        self.cells = Cells()
        self.told: list[ShardsServed] = []
        self.survey = Survey(
            self.registry, self.process_id, own=self._note_shards, cells=self.cells, tell=self._note_told
        )
        self.shards: set[int] = set()

    def _note_shards(self, shards: Iterable[int]) -> None:
        self.shards = set(shards)

    async def _note_told(self, message: ShardsServed) -> None:
        self.told.append(message)


@pytest_asyncio.fixture(loop_scope="session")
async def process(database: Database, table_database: TestDatabase) -> AsyncIterator[Process]:
    made = Process(database, str(table_database))
    await made.lease.claim()
    yield made
    await made.lease.release()


@pytest_asyncio.fixture(loop_scope="session")
async def other(database: Database, table_database: TestDatabase) -> AsyncIterator[Process]:
    """It begins when the test says so."""
    made = Process(database, str(table_database))
    yield made
    await made.lease.release()


async def test_the_first_process_takes_every_shard(process: Process) -> None:
    await process.survey.look()
    assert process.shards == set(range(SHARDS))
    assert {process.survey.owner_of(shard) for shard in range(SHARDS)} == {process.process_id}


async def test_a_living_owners_shards_are_left_alone(process: Process, other: Process) -> None:
    await process.survey.look()
    await other.lease.claim()
    await other.survey.look()
    assert other.shards == set()
    assert other.survey.owner_of(7) == process.process_id


async def test_what_the_database_calls_ours_is_ours_again_at_every_look(process: Process) -> None:
    await process.registry.claim(process.process_id, range(10))
    await process.survey.look()
    assert process.shards == set(range(SHARDS))


async def test_others_share_what_a_dead_process_owned(
    process: Process, other: Process, database: Database, admin: asyncpg.Connection[asyncpg.Record]
) -> None:
    dead = Process(database, "postgresql://nowhere")
    await other.lease.claim()
    await admin.execute("INSERT INTO table_process VALUES ($1, 'gone', now() - interval '1 second')", dead.process_id)
    await admin.execute("UPDATE shard SET process_id = $1", dead.process_id)
    await asyncio.gather(process.survey.look(), other.survey.look())
    assert not process.shards & other.shards
    assert process.shards | other.shards == set(range(SHARDS))
    assert min(len(process.shards), len(other.shards)) > SHARDS // 3


async def test_the_outage_of_a_dead_process_began_with_its_last_renewal_and_ends_with_the_next_owner(
    process: Process, admin: asyncpg.Connection[asyncpg.Record]
) -> None:
    await admin.execute("INSERT INTO table_process VALUES ('dead', 'gone', now() - interval '2 seconds')")
    await admin.execute("UPDATE shard SET process_id = 'dead' WHERE shard < 3")
    await process.survey.look()
    outages = await process.registry.outages([0, 1, 2, 3])
    assert set(outages) == {0, 1, 2}
    [outage] = outages[1]
    assert (outage.ended - outage.began).total_seconds() >= 2 + EXPIRY_SECONDS
    await process.registry.end_outages([0, 1])
    assert await admin.fetchval("SELECT count(*) FROM outage WHERE ended IS NULL") == 1


async def test_a_process_whose_row_is_gone_has_lost_the_fence(
    process: Process, admin: asyncpg.Connection[asyncpg.Record]
) -> None:
    await admin.execute("DELETE FROM table_process")
    with pytest.raises(FenceLost):
        await process.lease.keep()


async def test_a_process_that_was_away_itself_declares_nobody_dead(
    process: Process, other: Process, admin: asyncpg.Connection[asyncpg.Record]
) -> None:
    """After an outage of the database all leases have run out; the first to come back must not expire the others."""
    await other.lease.claim()
    for each in (process, other):
        await admin.execute(EXPIRE, each.process_id)
    assert await process.registry.expire(process.process_id, seconds=EXPIRY_SECONDS) == []
    await _renewed(process, admin)
    assert await process.registry.expire(process.process_id, seconds=EXPIRY_SECONDS) == []
    await admin.execute("UPDATE table_process SET renewed_since = now() - interval '5 seconds'")
    assert await process.registry.expire(process.process_id, seconds=EXPIRY_SECONDS) == [other.process_id]


async def test_a_process_that_ends_leaves_its_shards_at_once(process: Process, other: Process) -> None:
    await process.survey.look()
    await other.lease.claim()
    await process.lease.release()
    assert not process.lease.may_answer
    await other.survey.look()
    assert other.shards == set(range(SHARDS))


async def test_expiring_waits_for_an_append_in_flight(
    process: Process, other: Process, admin: asyncpg.Connection[asyncpg.Record]
) -> None:
    await other.lease.claim()
    await admin.execute(EXPIRE, other.process_id)
    append = admin.transaction()
    await append.start()
    await admin.execute("SELECT 1 FROM table_process FOR KEY SHARE")
    expiring = asyncio.ensure_future(process.registry.expire(process.process_id, seconds=EXPIRY_SECONDS))
    await eventually(lambda: _lock_is_waited_for(process))
    assert not expiring.done()
    await append.commit()
    assert await expiring == [other.process_id]


def test_a_tables_shard_is_the_same_for_ever() -> None:
    assert shard_of(UUID(int=1)) == 60
    spread = Counter(shard_of(uuid4()) for _ in range(20_000))
    assert set(spread) <= set(range(SHARDS))
    assert max(spread.values()) < 60


def test_a_process_more_takes_its_share_and_moves_nothing_else() -> None:
    two, three = ["a", "b"], ["a", "b", "c"]
    before = [should_own(shard, two) for shard in range(SHARDS)]
    after = [should_own(shard, three) for shard in range(SHARDS)]
    moved = [new for old, new in zip(before, after, strict=True) if old != new]
    assert set(moved) == {"c"}
    assert SHARDS / 4 < len(moved) < SHARDS / 2


async def _renewed(process: Process, admin: asyncpg.Connection[asyncpg.Record]) -> None:
    renewing = asyncio.ensure_future(process.lease.keep())
    renewed = "SELECT expires_at > now() FROM table_process WHERE process_id = $1"
    await eventually(lambda: admin.fetchval(renewed, process.process_id))
    renewing.cancel()
    await asyncio.gather(renewing, return_exceptions=True)


async def _lock_is_waited_for(process: Process) -> bool:
    rows = await process.registry._database.read("SELECT 1 FROM pg_locks WHERE NOT granted")
    return bool(rows)
