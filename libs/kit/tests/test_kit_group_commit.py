"""Many writes in one commit, each stored once and answered once. Open this when one is lost or doubled."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import msgspec
import pytest
import structlog

from darbar_kit.database import DatabaseAway, FenceLost, GroupCommit, connect, translated
from darbar_kit.settings import load
from darbar_kit.testing import Cut, CuttingProxy, MakeDatabase, TestDatabase, eventually, keep_ending_sessions

ITEMS = """
CREATE TABLE writer (id text PRIMARY KEY);
INSERT INTO writer VALUES ('ann');
CREATE TABLE item (name text PRIMARY KEY CHECK (name <> 'impossible'));
GRANT SELECT, UPDATE, DELETE ON writer TO :service_role;
GRANT SELECT, INSERT ON item TO :service_role;
"""
APPEND = """
WITH alive AS MATERIALIZED (SELECT 1 FROM writer WHERE id = 'ann' FOR KEY SHARE)
INSERT INTO item SELECT name FROM unnest($1::text[]) AS name WHERE EXISTS (SELECT 1 FROM alive) RETURNING name
"""


class Storage:
    """Names in a table, behind a fence; `answers` says how each ended, and how often."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.connection: asyncpg.Connection[asyncpg.Record] | None = None
        self.batches: list[int] = []
        self.answers: Counter[tuple[str, str]] = Counter()
        self.order: list[str] = []
        self.looked = 0
        self.store_errors: list[DatabaseAway] = []
        self.look_errors: list[DatabaseAway] = []
        self.cannot_look_at = ""

    async def store(self, batch: Sequence[str]) -> None:
        if self.store_errors:
            raise self.store_errors.pop(0)
        if self.connection is None or self.connection.is_closed():
            self.connection = await connect(self.url)
        self.batches.append(len(batch))
        with translated():
            rows = await self.connection.fetch(APPEND, list(batch))
        if not rows:
            raise FenceLost("ann")
        self.answer(batch, "stored")

    async def unstored(self, batch: Sequence[str]) -> Sequence[str]:
        if self.look_errors:
            raise self.look_errors.pop(0)
        if self.cannot_look_at in batch:
            raise ValueError(self.cannot_look_at)
        self.looked += 1
        self.close()
        self.connection = await connect(self.url)
        with translated():
            await self.connection.execute("SELECT 1 FROM writer FOR UPDATE")
            found = await self.connection.fetch("SELECT name FROM item WHERE name = ANY($1)", list(batch))
        stored = {row["name"] for row in found}
        self.answer([name for name in batch if name in stored], "stored")
        return [name for name in batch if name not in stored]

    def refuse(self, item: str, error: Exception) -> None:
        self.answer([item], type(error).__name__)

    def give_up(self, item: str) -> None:
        self.answer([item], "given up")

    def answer(self, items: Sequence[str], how: str) -> None:
        self.answers.update((item, how) for item in items)
        self.order += items

    def close(self) -> None:
        if self.connection is not None:
            self.connection.terminate()


@pytest.fixture
async def database(make_database: MakeDatabase, tmp_path: Path) -> TestDatabase:
    (tmp_path / "0001_pre_items.sql").write_text(ITEMS)
    return await make_database("shop", tmp_path)


@pytest.fixture
async def proxy(database: TestDatabase) -> AsyncIterator[CuttingProxy]:
    made = CuttingProxy(database)
    yield made
    await made.stop()


@pytest.fixture
async def storage(proxy: CuttingProxy) -> AsyncIterator[Storage]:
    made = Storage(await proxy.start())
    yield made
    made.close()


@pytest.fixture
def queue() -> GroupCommit[str]:
    return GroupCommit(batch_max=50, waiting_max=1000)


@asynccontextmanager
async def writing(queue: GroupCommit[str], *storages: Storage) -> AsyncIterator[list[asyncio.Task[None]]]:
    tasks = [asyncio.create_task(queue.run(storage)) for storage in storages]
    yield tasks
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def stored(database: TestDatabase) -> list[str]:
    connection = await asyncpg.connect(database)
    rows = await connection.fetch("SELECT name FROM item ORDER BY name")
    await connection.close()
    return [row["name"] for row in rows]


def names(count: int) -> list[str]:
    return [f"item {number:04}" for number in range(count)]


def offer(queue: GroupCommit[str], items: Sequence[str]) -> None:
    assert [queue.offer(item) for item in items] == [True] * len(items)


async def test_what_waits_is_one_batch_up_to_its_size(
    queue: GroupCommit[str], storage: Storage, database: TestDatabase
) -> None:
    offer(queue, names(120))
    async with writing(queue, storage):
        assert await queue.drained(10)

    assert storage.batches == [50, 50, 20]
    assert await stored(database) == names(120)
    assert storage.answers == Counter((name, "stored") for name in names(120))


async def test_what_comes_while_a_batch_commits_is_the_next_batch(queue: GroupCommit[str], storage: Storage) -> None:
    async with writing(queue, storage):
        for _ in range(20):
            offer(queue, [f"item {len(storage.batches)} {queue.waiting}"])
            await queue.drained(10)
        offer(queue, names(30))
        assert await queue.drained(10)

    assert storage.batches == [*[1] * 20, 30]


async def test_two_writers_share_a_queue(queue: GroupCommit[str], database: TestDatabase) -> None:
    storages = [Storage(str(database)), Storage(str(database))]
    offer(queue, names(300))
    async with writing(queue, *storages):
        assert await queue.drained(10)

    assert all(storage.batches for storage in storages)
    assert await stored(database) == names(300)
    for storage in storages:
        storage.close()


@pytest.mark.parametrize("cut", ["before", "after"])
async def test_a_batch_whose_answer_was_lost_is_stored_once_and_answered_once(
    queue: GroupCommit[str], storage: Storage, database: TestDatabase, proxy: CuttingProxy, cut: Cut
) -> None:
    async with writing(queue, storage):
        offer(queue, ["first"])
        assert await queue.drained(10)
        proxy.arm(cut)
        offer(queue, names(20))
        assert await queue.drained(10)

    assert proxy.cuts == 1
    assert storage.looked >= 1
    assert await stored(database) == ["first", *names(20)]
    assert storage.answers == Counter((name, "stored") for name in ["first", *names(20)])


async def test_what_is_surely_not_stored_is_tried_again_without_looking(
    queue: GroupCommit[str], storage: Storage
) -> None:
    storage.store_errors = [DatabaseAway("too many connections", maybe_done=False)] * 2
    async with writing(queue, storage):
        offer(queue, names(3))
        assert await queue.drained(10)

    assert storage.looked == 0
    assert storage.answers == Counter((name, "stored") for name in names(3))


async def test_an_unknown_outcome_stays_unknown_until_somebody_could_look(
    queue: GroupCommit[str], storage: Storage, database: TestDatabase, proxy: CuttingProxy
) -> None:
    storage.look_errors = [DatabaseAway("no connection yet", maybe_done=False)] * 2
    async with writing(queue, storage):
        offer(queue, ["first"])
        assert await queue.drained(10)
        proxy.arm("after")
        offer(queue, names(20))
        assert await queue.drained(10)

    assert storage.answers == Counter((name, "stored") for name in ["first", *names(20)])


async def test_what_was_looked_up_once_is_not_looked_up_again(
    queue: GroupCommit[str], storage: Storage, database: TestDatabase
) -> None:
    storage.store_errors = [DatabaseAway(maybe_done=True), *[DatabaseAway(maybe_done=False)] * 3]
    async with writing(queue, storage):
        offer(queue, names(3))
        assert await queue.drained(10)

    assert storage.looked == 1
    assert storage.answers == Counter((name, "stored") for name in names(3))


async def test_when_the_looking_itself_fails_each_half_is_looked_up(
    queue: GroupCommit[str], storage: Storage, database: TestDatabase, proxy: CuttingProxy
) -> None:
    storage.cannot_look_at = "item 0005"
    async with writing(queue, storage):
        offer(queue, ["first"])
        assert await queue.drained(10)
        proxy.arm("after")
        offer(queue, names(8))
        assert await queue.drained(10)

    refused = Counter({("item 0005", "ValueError"): 1})
    kept = [name for name in ["first", *names(8)] if name != "item 0005"]
    assert storage.answers == Counter((name, "stored") for name in kept) + refused


async def test_through_an_outage_everything_waits_and_is_stored_after_it(
    queue: GroupCommit[str], storage: Storage, database: TestDatabase, proxy: CuttingProxy
) -> None:
    async with writing(queue, storage):
        proxy.go_away()
        offer(queue, names(100))
        with structlog.testing.capture_logs() as logs:
            assert not await queue.drained(0.3), "a drain ends in time, and says that it is not done"
        assert 1 <= len([log for log in logs if log["event"] == "batch_delayed"]) <= 60, "with pauses"
        proxy.come_back()
        assert await queue.drained(10)

    assert await stored(database) == names(100)
    assert storage.answers == Counter((name, "stored") for name in names(100))


async def test_a_queue_says_that_it_is_stuck_from_two_seconds_of_an_outage_to_its_end(
    queue: GroupCommit[str], storage: Storage, proxy: CuttingProxy
) -> None:
    async with writing(queue, storage):
        proxy.go_away()
        offer(queue, names(3))
        offered_at = time.monotonic()
        await eventually(lambda: queue.is_stuck)
        assert time.monotonic() - offered_at >= 2.0
        proxy.come_back()
        assert await queue.drained(10)
        assert not queue.is_stuck


async def test_a_queue_that_has_given_everything_up_is_not_stuck(storage: Storage, proxy: CuttingProxy) -> None:
    queue: GroupCommit[str] = GroupCommit(batch_max=50, waiting_max=1000, batch_seconds_max=2.5)
    async with writing(queue, storage):
        proxy.go_away()
        offer(queue, names(3))
        await eventually(lambda: queue.is_stuck)
        assert await queue.drained(10)
        assert not queue.is_stuck
        offer(queue, names(1))
        assert not queue.is_stuck, "each outage is measured from its own beginning"

    assert storage.answers == Counter((name, "given up") for name in names(3))


async def test_an_impossible_item_hurts_no_other(
    queue: GroupCommit[str], storage: Storage, database: TestDatabase
) -> None:
    items = names(40)
    offer(queue, [*items[:17], "impossible", *items[17:]])
    async with writing(queue, storage):
        assert await queue.drained(10)

    assert await stored(database) == items
    refused = {("impossible", "CheckViolationError"): 1}
    assert storage.answers == Counter((name, "stored") for name in items) + Counter(refused)
    assert storage.order == [*items[:17], "impossible", *items[17:]]
    assert len(storage.batches) <= 14, "halves, not one by one"


async def test_more_than_may_wait_is_not_taken(storage: Storage) -> None:
    queue: GroupCommit[str] = GroupCommit(batch_max=5, waiting_max=10)

    assert [queue.offer(name) for name in names(12)] == [True] * 10 + [False] * 2
    async with writing(queue, storage):
        assert await queue.drained(10)
        assert queue.offer("again")


async def test_a_lost_fence_ends_the_writing_and_what_was_not_stored_is_given_back(
    queue: GroupCommit[str], storage: Storage, database: TestDatabase
) -> None:
    connection = await asyncpg.connect(database)
    await connection.execute("DELETE FROM writer")
    await connection.close()
    offer(queue, names(60))
    async with writing(queue, storage) as [task]:
        with pytest.raises(FenceLost):
            await asyncio.wait_for(task, timeout=10)

    assert queue.abandoned() == names(60)
    assert await queue.drained(0.01)
    assert await stored(database) == []
    assert storage.answers == Counter()


async def test_a_writer_that_is_stopped_in_the_middle_gives_its_batch_back(
    queue: GroupCommit[str], storage: Storage, proxy: CuttingProxy
) -> None:
    async with writing(queue, storage):
        offer(queue, ["first"])
        assert await queue.drained(10)
        proxy.fall_silent()
        offer(queue, names(60))
        await eventually(lambda: storage.batches == [1, 50])

    assert queue.abandoned() == names(60)


async def test_a_second_writer_helps_only_when_enough_waits(
    queue: GroupCommit[str], database: TestDatabase, storage: Storage
) -> None:
    other = Storage(database)
    second = asyncio.create_task(queue.run(other, waiting_min=3))
    offer(queue, names(2))
    async with writing(queue, storage):
        assert await queue.drained(10)
    assert (storage.batches, other.batches) == ([2], [])
    offer(queue, names(5)[2:])
    assert await queue.drained(10)
    assert other.batches == [3]
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    other.close()


async def test_a_batch_with_a_time_is_given_up_after_it(storage: Storage, proxy: CuttingProxy) -> None:
    queue: GroupCommit[str] = GroupCommit(batch_max=50, waiting_max=100, batch_seconds_max=0.05)
    proxy.go_away()
    offer(queue, names(3))
    async with writing(queue, storage):
        assert await queue.drained(10)
        assert storage.answers == Counter((name, "given up") for name in names(3))

        proxy.come_back()
        offer(queue, ["later"])
        assert await queue.drained(10)
    assert storage.answers["later", "stored"] == 1


class ChaosTimes(msgspec.Struct, frozen=True, kw_only=True):
    """How long connections are killed, and how often."""

    killing_seconds: float = 5.0
    killing_every_seconds: float = 0.1


async def test_connections_killed_all_the_time_lose_double_or_forget_nothing(
    queue: GroupCommit[str], database: TestDatabase, postgres_server: str
) -> None:
    times = load(ChaosTimes, prefix="DARBAR_TEST_KIT_")
    storage, over, offered = Storage(database), asyncio.Event(), 0

    async def offering() -> None:
        nonlocal offered
        while not over.is_set():
            for _ in range(20):
                offered += queue.offer(f"item {offered:06}")
            await queue.drained(1)

    async with writing(queue, storage), asyncio.TaskGroup() as tasks:
        tasks.create_task(offering())
        killed = await keep_ending_sessions(
            postgres_server, database, seconds=times.killing_seconds, every_seconds=times.killing_every_seconds
        )
        over.set()
        assert await queue.drained(30)
    storage.close()

    assert killed >= times.killing_seconds / times.killing_every_seconds / 4
    assert offered > 500
    assert await stored(database) == [f"item {number:06}" for number in range(offered)]
    assert storage.answers == Counter((f"item {number:06}", "stored") for number in range(offered))
