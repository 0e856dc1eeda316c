"""Who owns which shards: rows, leases, expiry and reassignment, against a real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import asyncpg
import pytest
import pytest_asyncio

from darbar_kit.database import open_pool, queries
from darbar_kit.testing import CuttingProxy, TestDatabase, eventually
from darbar_table.shards.lease import Lease, new_process_id
from darbar_table.shards.placement import SHARDS, shard_of, should_own
from darbar_table.store.store import Store
from darbar_table.store.writer import FenceLost


@pytest_asyncio.fixture(loop_scope="session")
async def store(table_database: TestDatabase) -> AsyncIterator[Store]:
    pool = await open_pool(str(table_database), unsafe_storage=True)
    yield Store(pool, queries("darbar_table.store"))
    await pool.close()


class Home:
    """A process that notes the shards it was given."""

    def __init__(self, store: Store) -> None:
        self.lease = Lease(store, new_process_id(), address="127.0.0.1:1")
        self.shards: set[int] = set()

    async def take(self, shards: list[int]) -> None:
        self.shards.update(shards)

    async def look(self) -> None:
        await self.lease.reassign(self.take)


async def test_the_first_process_takes_every_shard(store: Store) -> None:
    home = Home(store)
    await home.lease.begin()
    await home.look()
    assert home.shards == set(range(SHARDS))
    assert {home.lease.owner_of(shard) for shard in range(SHARDS)} == {home.lease.process_id}


async def test_a_living_owners_shards_are_left_alone(store: Store) -> None:
    first, second = Home(store), Home(store)
    await first.lease.begin()
    await first.look()
    await second.lease.begin()
    await second.look()
    assert second.shards == set()
    assert second.lease.owner_of(7) == first.lease.process_id


async def test_the_living_share_what_a_dead_process_owned(store: Store, table_database: TestDatabase) -> None:
    dead, left, right = Home(store), Home(store), Home(store)
    for home in (dead, left, right):
        await home.lease.begin()
    await store.claim_shards(dead.lease.process_id, range(SHARDS))
    connection = await asyncpg.connect(table_database.owner_url)
    await connection.execute(
        "UPDATE table_process SET expires_at = now() - interval '1 second' WHERE process_id = $1",
        dead.lease.process_id,
    )
    await connection.close()
    await asyncio.gather(left.look(), right.look())
    assert not left.shards & right.shards
    assert left.shards | right.shards == set(range(SHARDS))
    assert min(len(left.shards), len(right.shards)) > SHARDS // 3
    with pytest.raises(FenceLost):
        await dead.lease.keep()


async def test_a_process_that_ends_leaves_its_shards_at_once(store: Store) -> None:
    first, second = Home(store), Home(store)
    await first.lease.begin()
    await first.look()
    await second.lease.begin()
    await first.lease.end()
    assert not first.lease.may_answer
    await second.look()
    assert second.shards == set(range(SHARDS))


async def test_expiring_a_process_waits_for_its_append_in_flight(store: Store, table_database: TestDatabase) -> None:
    home = Home(store)
    await home.lease.begin()
    connection = await asyncpg.connect(table_database.owner_url)
    append = connection.transaction()
    await append.start()
    await connection.execute(
        "UPDATE table_process SET expires_at = now() - interval '1 second' WHERE process_id = $1",
        home.lease.process_id,
    )
    await append.commit()
    append = connection.transaction()
    await append.start()
    await connection.execute("SELECT 1 FROM table_process FOR KEY SHARE")
    expiring = asyncio.ensure_future(store.expire_processes())
    blocked = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    watcher = await asyncpg.connect(table_database.owner_url)
    await eventually(lambda: watcher.fetchval(blocked))
    assert not expiring.done()
    await append.commit()
    assert await expiring == [home.lease.process_id]
    await connection.close()
    await watcher.close()


async def test_a_process_that_cannot_renew_falls_silent_and_speaks_again(table_database: TestDatabase) -> None:
    proxy = CuttingProxy(str(table_database))
    pool = await open_pool(await proxy.start(), unsafe_storage=True)
    home = Home(Store(pool, queries("darbar_table.store")))
    await home.lease.begin()
    keeping = asyncio.ensure_future(home.lease.keep())
    assert home.lease.may_answer
    proxy.go_away()
    await eventually(lambda: not home.lease.may_answer)
    proxy.come_back()
    await eventually(lambda: home.lease.may_answer)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    pool.terminate()
    await proxy.stop()


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
