"""Who may write, who may answer, and how long nobody could. Open this when two do, or a deadline was lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import asyncpg
import pytest
import structlog

from darbar_kit.database import DatabaseAway, FenceLost, Lease, LeaseQueries, LeaseSeconds
from darbar_kit.testing import CuttingProxy, MakeDatabase, ManualClock, TestDatabase, eventually, keep_ending_sessions

ROW = """
CREATE TABLE holder (one bool PRIMARY KEY DEFAULT true CHECK (one), id text, place text, expires_at timestamptz);
GRANT SELECT, INSERT, UPDATE, DELETE ON holder TO :service_role;
"""
QUERIES = LeaseQueries(
    expire="DELETE FROM holder WHERE expires_at < clock_timestamp()",
    claim="""INSERT INTO holder (id, place, expires_at)
             VALUES ($1, $3, clock_timestamp() + $2::float8 * interval '1 second')
             ON CONFLICT (one) DO NOTHING RETURNING id""",
    renew="""UPDATE holder SET expires_at = clock_timestamp() + $2::float8 * interval '1 second'
              WHERE id = $1 RETURNING id""",
    release="DELETE FROM holder WHERE id = $1",
)
SECONDS = LeaseSeconds(renew=0.01, answering=3, expiry=4)
# The next renewal comes on its own only after the test is over.
SLOWLY = LeaseSeconds(renew=290, answering=300, expiry=400)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def database(make_database: MakeDatabase, tmp_path: Path) -> TestDatabase:
    (tmp_path / "0001_pre_holder.sql").write_text(ROW)
    return await make_database("shop", tmp_path)


@pytest.fixture
async def proxy(database: TestDatabase) -> AsyncIterator[CuttingProxy]:
    made = CuttingProxy(database)
    yield made
    await made.stop()


MakeLease = Callable[[str], Lease]


@pytest.fixture
async def make_lease(proxy: CuttingProxy, clock: ManualClock) -> MakeLease:
    url = await proxy.start()
    return lambda holder_id: Lease(url, QUERIES, holder_id=holder_id, added=("here",), seconds=SECONDS, now=clock)


@pytest.fixture
async def direct(database: TestDatabase) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    connection = await asyncpg.connect(database)
    yield connection
    await connection.close()


class Keeping:
    """A lease that is being renewed."""

    def __init__(self, lease: Lease) -> None:
        self.task = asyncio.create_task(lease.keep())

    async def __aenter__(self) -> asyncio.Task[None]:
        return self.task

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


async def test_only_one_holds_the_row_until_it_gives_it_back(
    make_lease: MakeLease, direct: asyncpg.Connection[asyncpg.Record]
) -> None:
    ann, bob = make_lease("ann"), make_lease("bob")
    assert not ann.may_answer

    assert await ann.claim()
    assert not await bob.claim()
    assert (ann.may_answer, bob.may_answer) == (True, False)
    assert await direct.fetchval("SELECT place FROM holder") == "here"

    await ann.release()
    assert not ann.may_answer
    assert await bob.claim()
    await bob.release()


async def test_a_row_that_expired_is_taken_over_and_the_old_holder_learns_it(
    make_lease: MakeLease, direct: asyncpg.Connection[asyncpg.Record]
) -> None:
    ann, bob = make_lease("ann"), make_lease("bob")
    await ann.claim()
    await direct.execute("UPDATE holder SET expires_at = now() - interval '1 second'")

    assert await bob.claim()

    with pytest.raises(FenceLost, match="ann"):
        await asyncio.wait_for(ann.keep(), timeout=10)
    assert not ann.may_answer
    await ann.release()
    assert await direct.fetchval("SELECT id FROM holder") == "bob", "a release takes only one's own row"
    await bob.release()


async def test_a_holder_answers_only_so_long_after_it_sent_its_last_renewal(
    make_lease: MakeLease, clock: ManualClock
) -> None:
    lease = make_lease("ann")
    await lease.claim()

    clock.now += 2.99
    answers = [lease.may_answer]
    clock.now += 0.02
    answers.append(lease.may_answer)
    assert answers == [True, False]
    await lease.release()


async def test_an_outage_is_measured_and_the_clock_stands_still_for_it(
    make_lease: MakeLease, clock: ManualClock, proxy: CuttingProxy
) -> None:
    lease = make_lease("ann")
    await lease.claim()
    assert lease.silent_seconds == 0
    before = lease.clock()
    async with Keeping(lease):
        proxy.go_away()
        with structlog.testing.capture_logs() as logs:
            await eventually(lambda: any(log["event"] == "lease_not_renewed" for log in logs))
        clock.now += 33
        assert not lease.may_answer
        assert lease.silent_seconds == pytest.approx(30)
        assert lease.clock() - before == pytest.approx(3)

        proxy.come_back()
        await eventually(lambda: lease.may_answer)

        assert lease.silent_seconds == pytest.approx(30)
        assert lease.clock() - before == pytest.approx(3)
        clock.now += 1
        assert lease.clock() - before == pytest.approx(4)
    await lease.release()


async def test_without_an_outage_nothing_is_silent(
    make_lease: MakeLease, clock: ManualClock, direct: asyncpg.Connection[asyncpg.Record]
) -> None:
    lease = make_lease("ann")
    await lease.claim()
    async with Keeping(lease):
        for _ in range(5):
            clock.now += 1
            seen = await direct.fetchval("SELECT expires_at FROM holder")
            await eventually(lambda seen=seen: renewed_after(direct, seen))  # type: ignore[misc]

        assert (lease.may_answer, lease.silent_seconds) == (True, 0)
    await lease.release()


async def renewed_after(direct: asyncpg.Connection[asyncpg.Record], seen: object) -> bool:
    return bool(await direct.fetchval("SELECT expires_at > $1 FROM holder", seen))


async def until_a_renewal_waits(database: TestDatabase) -> None:
    watcher = await asyncpg.connect(database)
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE holder%'"
    await eventually(lambda: watcher.fetchval(waits))
    await watcher.close()


async def test_a_renewal_whose_answer_came_too_late_is_worth_nothing_and_another_one_is_sent_at_once(
    database: TestDatabase, clock: ManualClock, direct: asyncpg.Connection[asyncpg.Record]
) -> None:
    lease = Lease(database, QUERIES, holder_id="ann", added=("here",), seconds=SLOWLY, now=clock)
    await lease.claim()
    async with direct.transaction():
        await direct.execute("SELECT 1 FROM holder FOR UPDATE")
        keeping = Keeping(lease)
        await until_a_renewal_waits(database)
        clock.now += 500
        assert not lease.may_answer
    async with keeping:
        await eventually(lambda: lease.may_answer)

    assert lease.silent_seconds == pytest.approx(200)
    await lease.release()


async def test_a_renewal_counts_from_when_it_was_sent(
    database: TestDatabase, clock: ManualClock, direct: asyncpg.Connection[asyncpg.Record]
) -> None:
    lease = Lease(database, QUERIES, holder_id="ann", added=("here",), seconds=SLOWLY, now=clock)
    await lease.claim()
    clock.now += 100
    async with direct.transaction():
        await direct.execute("SELECT 1 FROM holder FOR UPDATE")
        keeping = Keeping(lease)
        await until_a_renewal_waits(database)
        clock.now += 150
    async with keeping:
        # Sent 150 seconds ago: it is good for 150 seconds more, longer than the claim was.
        clock.now += 100
        await eventually(lambda: lease.may_answer)
        clock.now += 60
        assert not lease.may_answer
    await lease.release()


async def test_a_silent_server_costs_one_attempt_and_not_the_lease(
    proxy: CuttingProxy, direct: asyncpg.Connection[asyncpg.Record]
) -> None:
    seconds = LeaseSeconds(renew=0.05, answering=0.5, expiry=60)
    lease = Lease(await proxy.start(), QUERIES, holder_id="ann", added=("here",), seconds=seconds)
    await lease.claim()
    async with Keeping(lease):
        await eventually(lambda: lease.may_answer)
        proxy.fall_silent()
        await eventually(lambda: not lease.may_answer)
        proxy.speak_again()
        await eventually(lambda: lease.may_answer)

    assert lease.silent_seconds > 0
    await lease.release()


async def test_connections_killed_all_the_time_cost_no_lease(database: TestDatabase, postgres_server: str) -> None:
    seconds = LeaseSeconds(renew=0.05, answering=3, expiry=4)
    lease = Lease(database, QUERIES, holder_id="ann", added=("here",), seconds=seconds)
    await lease.claim()
    async with Keeping(lease) as keeping:
        killed = await keep_ending_sessions(postgres_server, database, seconds=2, every_seconds=0.1)

        assert killed >= 5
        assert not keeping.done()
        assert (lease.may_answer, lease.silent_seconds) == (True, 0)
    await lease.release()


async def test_a_mistake_in_a_statement_is_no_outage(make_lease: MakeLease, database: TestDatabase) -> None:
    broken = LeaseQueries(claim=QUERIES.claim, renew="SELECT 1 FROM nowhere", release=QUERIES.release)
    lease = Lease(database, broken, holder_id="ann", added=("here",), seconds=SECONDS)
    await lease.claim()

    with pytest.raises(asyncpg.UndefinedTableError):
        await asyncio.wait_for(lease.keep(), timeout=10)
    await lease.release()


async def test_claiming_and_releasing_end_in_time_without_a_database(
    make_lease: MakeLease, proxy: CuttingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_kit.database.lease.RELEASE_SECONDS_MAX", 0.05)
    lease = make_lease("ann")
    await lease.claim()
    proxy.fall_silent()
    await asyncio.wait_for(lease.release(), timeout=5)
    proxy.go_away()

    with pytest.raises(DatabaseAway):
        await make_lease("bob").claim()
    with structlog.testing.capture_logs() as logs:
        await lease.release()
    assert [log["event"] for log in logs] == ["lease_not_released"]


async def test_releasing_while_it_is_renewed_ends_the_renewing(make_lease: MakeLease) -> None:
    lease = make_lease("ann")
    await lease.claim()
    async with Keeping(lease) as keeping:
        await lease.release()

        with pytest.raises(FenceLost):
            await asyncio.wait_for(keeping, timeout=10)


@pytest.mark.parametrize("seconds", [(1, 4, 3), (3, 1, 4), (0, 1, 2)])
def test_times_that_would_let_two_answer_are_refused(seconds: tuple[float, float, float]) -> None:
    renew, answering, expiry = seconds
    with pytest.raises(ValueError, match="renew < answering < expiry"):
        LeaseSeconds(renew=renew, answering=answering, expiry=expiry)
