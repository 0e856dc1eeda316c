"""The writer over a real database: batches, impossible requests in them, many stakes of the same players at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio

from darbar_contracts.refusals import Reason
from darbar_contracts.wallet import (
    BalancesRequest,
    GrantRequest,
    RefundPurpose,
    RefundRequest,
    SettlePurpose,
    SettleRequest,
    Share,
    StakeRequest,
    WalletAudit,
)
from darbar_kit.database import FenceLost, open_pool, queries
from darbar_kit.errors import Unavailable
from darbar_kit.testing import TestDatabase, eventually
from darbar_wallet.domain.decide import GrantTerms
from darbar_wallet.engine.writer import REQUESTS_WAITING_MAX, Writer
from darbar_wallet.metrics import Metrics
from darbar_wallet.store.ledger_audit import audited
from darbar_wallet.store.ledger_store import LedgerStore
from darbar_wallet.testing import stake_of

SQL = queries("darbar_wallet.store")


@pytest_asyncio.fixture(loop_scope="session")
async def pool(database: TestDatabase) -> AsyncIterator[asyncpg.Pool[asyncpg.Record]]:
    pool = await open_pool(database.url, unsafe_storage=True)
    yield pool
    await pool.close()


@pytest_asyncio.fixture(loop_scope="session")
async def metrics() -> Metrics:
    return Metrics()


@pytest_asyncio.fixture(loop_scope="session")
async def idle_writer(database: TestDatabase, pool: asyncpg.Pool[asyncpg.Record], metrics: Metrics) -> Writer:
    """A writer with its row that has not begun: what is asked waits."""
    writer_id = uuid4()
    await pool.execute(
        "INSERT INTO wallet_writer (writer_id, expires_at) VALUES ($1, now() + interval '1 hour')", writer_id
    )
    store = LedgerStore(database, SQL, writer_id=writer_id, generation=3)
    return Writer(store, terms=GrantTerms(), metrics=metrics)


@pytest_asyncio.fixture(loop_scope="session")
async def writer(idle_writer: Writer) -> AsyncIterator[Writer]:
    running = asyncio.ensure_future(idle_writer.run())
    yield idle_writer
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def grant(account_id: str, key: str = "") -> GrantRequest:
    return GrantRequest(key or str(uuid4()), account_id, "new_account")


async def assert_good(database: TestDatabase) -> WalletAudit:
    found = await audited(database, SQL)
    assert found.is_good, found
    return found


async def test_what_waits_becomes_one_batch(
    idle_writer: Writer, pool: asyncpg.Pool[asyncpg.Record], metrics: Metrics
) -> None:
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(idle_writer.ask(grant(f"p{number}"))) for number in range(50)]
        await asyncio.sleep(0)
        running = tasks.create_task(idle_writer.run())
        await idle_writer.drained(10)
        running.cancel()

    assert all(task.result().done for task in asked)
    assert metrics.registry.get_sample_value("wallet_batch_requests_count") == 1
    assert metrics.registry.get_sample_value("wallet_batch_requests_sum") == 50
    assert metrics.registry.get_sample_value("wallet_transfers_total", {"kind": "new_account"}) == 50
    assert await pool.fetchval("SELECT count(DISTINCT xmin::text) FROM transfer") == 1


async def test_requests_of_one_batch_see_each_other(
    writer: Writer, pool: asyncpg.Pool[asyncpg.Record], database: TestDatabase
) -> None:
    stake = stake_of("ann", "bob", bet_coins=2500)
    settle = SettleRequest(
        "settle", stake.key, "t1", "g1.r1", SettlePurpose.ROUND_ENDED, (1,), (Share(0, "ann", 7500),)
    )

    async with asyncio.TaskGroup() as tasks:
        requests = (grant("ann"), grant("bob"), stake, settle)
        asked = [tasks.create_task(writer.ask(request)) for request in requests]
        poor = tasks.create_task(writer.ask(stake_of("bob", bet_coins=1)))
        looked = tasks.create_task(writer.ask(BalancesRequest(("ann", "bob", "eve"))))

    assert [task.result().done for task in asked] == [True] * 4
    assert poor.result().short == ("bob",)
    assert looked.result().balances == {"ann": 10_000, "bob": 0}
    await assert_good(database)


async def test_the_same_request_twice_in_a_batch_is_done_once(
    writer: Writer, pool: asyncpg.Pool[asyncpg.Record]
) -> None:
    request = grant("ann", key="once")

    answers = await asyncio.gather(*(writer.ask(request) for _ in range(20)))

    assert all(answer == answers[0] for answer in answers)
    assert await pool.fetchval("SELECT count(*) FROM transfer") == 1


@pytest.mark.parametrize("broken", ["no name", "z\u0000", "p" * 200])
async def test_an_impossible_request_hurts_no_other_of_its_batch(
    writer: Writer, pool: asyncpg.Pool[asyncpg.Record], broken: str, database: TestDatabase
) -> None:
    requests = [grant(f"p{number}") for number in range(10)]
    requests.insert(5, grant(broken, key="impossible"))

    answers = await asyncio.gather(*(writer.ask(request) for request in requests), return_exceptions=True)

    failed = answers.pop(5)
    assert isinstance(failed, Unavailable)
    assert failed.code == Reason.REQUEST_FAILED
    assert all(not isinstance(answer, BaseException) and answer.done for answer in answers)
    assert (await writer.ask(grant("after"))).done
    await assert_good(database)


async def test_a_fault_of_ours_in_one_request_hurts_no_other_of_its_batch(
    idle_writer: Writer, pool: asyncpg.Pool[asyncpg.Record], metrics: Metrics, database: TestDatabase
) -> None:
    terms = GrantTerms(top_up_below_coins=None)  # type: ignore[arg-type]  # So that deciding on a top-up fails.
    writer_id = await pool.fetchval("SELECT writer_id FROM wallet_writer")
    faulty = Writer(LedgerStore(database, SQL, writer_id=writer_id, generation=1), terms=terms, metrics=metrics)
    requests = [grant("ann"), GrantRequest("faulty", "ann", "top_up"), grant("bob")]

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(faulty.run())
        answers = await asyncio.gather(*(faulty.ask(request) for request in requests), return_exceptions=True)
        running.cancel()

    assert [isinstance(answer, Unavailable) for answer in answers] == [False, True, False]
    assert metrics.registry.get_sample_value("wallet_batches_failed_total", {"reason": "impossible"}) == 3


async def test_too_many_waiting_requests_are_told_to_come_back(idle_writer: Writer) -> None:
    waiting = [asyncio.ensure_future(idle_writer.ask(grant(f"p{number}"))) for number in range(REQUESTS_WAITING_MAX)]
    await asyncio.sleep(0)

    with pytest.raises(Unavailable, match=Reason.WALLET_BUSY):
        await idle_writer.ask(grant("late"))
    for future in waiting:
        future.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_fenced_writer_ends_and_tells_everybody_who_waits(
    idle_writer: Writer, pool: asyncpg.Pool[asyncpg.Record]
) -> None:
    running = asyncio.ensure_future(idle_writer.run())
    assert (await idle_writer.ask(grant("ann"))).done
    await pool.execute("DELETE FROM wallet_writer")

    answers = await asyncio.gather(
        *(idle_writer.ask(grant(f"p{number}")) for number in range(500)), return_exceptions=True
    )

    assert {str(answer) for answer in answers} == {f"wallet_moved: {Reason.WALLET_MOVED.sentence}"}
    with pytest.raises(FenceLost):
        await running
    with pytest.raises(Unavailable, match=Reason.WALLET_MOVED):
        await idle_writer.ask(grant("late"))
    assert await pool.fetchval("SELECT count(*) FROM transfer") == 1


async def test_many_stakes_of_the_same_players_never_go_below_zero(
    writer: Writer, pool: asyncpg.Pool[asyncpg.Record], database: TestDatabase
) -> None:
    players = [f"p{number}" for number in range(6)]
    for account_id in players:
        await writer.ask(grant(account_id))
    chance = random.Random(7)
    stakes = [
        stake_of(*chance.sample(players, 4), bet_coins=chance.randint(25, 900), table_id=f"t{number}")
        for number in range(300)
    ]

    answers = await asyncio.gather(*(writer.ask(stake) for stake in stakes))

    granted = [stake for stake, answer in zip(stakes, answers, strict=True) if answer.done]
    refused = [answer for answer in answers if not answer.done]
    assert granted
    assert refused
    assert {answer.reason for answer in refused} == {Reason.SHORT_OF_COINS}
    left = (await writer.ask(BalancesRequest(tuple(players)))).balances
    assert min(left.values()) >= 0
    assert sum(left.values()) == 5000 * len(players) - sum(2 * stake.bet_coins * 4 for stake in granted)
    await assert_good(database)


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_rounds_at_many_tables_keep_every_coin(
    writer: Writer, pool: asyncpg.Pool[asyncpg.Record], seed: int, database: TestDatabase
) -> None:
    chance = random.Random(seed)
    players = [f"p{number}" for number in range(12)]
    await asyncio.gather(*(writer.ask(grant(account_id)) for account_id in players))

    async def one_table(table: int) -> None:
        for unit in range(10):
            four = [*chance.sample(players, 3), None]
            stake = stake_of(*four, bet_coins=chance.randint(25, 500), table_id=f"t{table}")
            if not (await writer.ask(stake)).done:
                continue
            end = ending(stake, chance, key=f"end-{table}-{unit}")
            assert (await writer.ask(end)).done, end

    await asyncio.gather(*(one_table(table) for table in range(20)))

    found = await assert_good(database)
    assert (found.stakes_open, found.pots_coins, found.reserves_coins) == (0, 0, 0)


def ending(stake: StakeRequest, chance: random.Random, *, key: str) -> SettleRequest | RefundRequest:
    """A refund, a win, or a sweep in which the losers pay again; sometimes with a winner away."""
    if chance.random() < 0.2:
        return RefundRequest(key, stake.key, stake.table_id, stake.unit, RefundPurpose.VOIDED)
    again = chance.choice(((), (1, 3)))
    share = stake.bet_coins * (3 if again else 2)
    away = chance.random() < 0.3
    winners = stake.seats[:1] if away else (stake.seats[0], stake.seats[2])
    shares = tuple(Share(winner.seat, winner.account_id, share) for winner in winners)
    return SettleRequest(
        key,
        stake.key,
        stake.table_id,
        stake.unit,
        SettlePurpose.ROUND_ENDED,
        again,
        shares,
        forfeit_coins=share if away else 0,
    )


async def test_a_new_generation_is_written_to_its_transfers(writer: Writer, pool: asyncpg.Pool[asyncpg.Record]) -> None:
    await writer.ask(grant("ann"))

    assert await pool.fetchval("SELECT generation FROM transfer") == 3


async def test_a_lock_held_by_somebody_else_only_delays(writer: Writer, pool: asyncpg.Pool[asyncpg.Record]) -> None:
    await writer.ask(grant("ann"))
    async with pool.acquire() as other, other.transaction():
        await other.execute("SELECT 1 FROM account WHERE account = 'player:ann' FOR UPDATE")
        asking = asyncio.ensure_future(writer.ask(stake_of("ann")))
        await eventually(lambda: _lock_waits(pool))
        assert not asking.done()

    assert (await asking).done


async def _lock_waits(pool: asyncpg.Pool[asyncpg.Record]) -> bool:
    waits: bool = await pool.fetchval("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)")
    return waits
