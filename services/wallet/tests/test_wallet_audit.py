"""The audit reads everything, in slices of any size, and finds what somebody with all rights did to the ledger."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from uuid import uuid4

import asyncpg
import msgspec
import pytest
import pytest_asyncio

from darbar_contracts.wallet import GrantRequest, RefundPurpose, RefundRequest, WalletAudit
from darbar_kit.database import queries
from darbar_kit.errors import Unavailable
from darbar_kit.testing import TestDatabase
from darbar_wallet.domain.decide import GrantTerms
from darbar_wallet.engine.auditor import Auditor
from darbar_wallet.engine.writer import Writer
from darbar_wallet.metrics import Metrics
from darbar_wallet.store.ledger_audit import Slices, audited
from darbar_wallet.store.ledger_store import LedgerStore
from darbar_wallet.testing import stake_of

SQL = queries("darbar_wallet.store")
TINY = Slices(transfers=2, entries=3, accounts=2)
PLAYERS = [f"p{number}" for number in range(6)]


@pytest_asyncio.fixture(loop_scope="session")
async def owner(database: TestDatabase) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """Somebody with all rights."""
    connection = await asyncpg.connect(database.owner_url)
    yield connection
    await connection.close()


@pytest_asyncio.fixture(loop_scope="session")
async def writer(database: TestDatabase, ledger: asyncpg.Connection[asyncpg.Record]) -> AsyncIterator[Writer]:
    writer_id = uuid4()
    await ledger.execute("INSERT INTO wallet_writer VALUES (true, $1, now() + interval '1 hour')", writer_id)
    store = LedgerStore(database.url, SQL, writer_id=writer_id, generation=1)
    writer = Writer(store, terms=GrantTerms(), metrics=Metrics())
    running = asyncio.ensure_future(writer.run())
    yield writer
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


@pytest_asyncio.fixture(loop_scope="session")
async def given(writer: Writer) -> None:
    """Ann and Bob have their first coins; her stake at t1 is open, his at t2 has gone back."""
    ended = stake_of("bob", table_id="t2")
    for request in (
        GrantRequest("g1", "ann", "new_account"),
        GrantRequest("g2", "bob", "new_account"),
        stake_of("ann"),
        ended,
        RefundRequest("r", ended.key, "t2", "g1.r1", RefundPurpose.VOIDED),
    ):
        assert (await writer.ask(request)).done


async def both_ways(database: TestDatabase) -> WalletAudit:
    """However large the slices are, the result is the same."""
    whole, sliced = await audited(database.url, SQL), await audited(database.url, SQL, slices=TINY)
    assert msgspec.structs.replace(sliced, at=whole.at) == whole
    return whole


async def test_an_empty_ledger_is_good(database: TestDatabase) -> None:
    found = await both_ways(database)

    assert found.is_good
    assert (found.transfers, found.entries) == (0, 0)


async def test_what_lies_at_tables_is_counted(database: TestDatabase, given: None) -> None:
    found = await both_ways(database)

    assert found.is_good
    assert (found.transfers, found.entries) == (5, 2 + 2 + 4 + 4 + 4)
    assert (found.stakes_open, found.pots_coins, found.reserves_coins) == (1, 100, 100)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (
            "UPDATE entry SET coins = coins + 1 WHERE transfer_number = 1 AND account_number > 0",
            {"sum_coins": 1, "transfers_unbalanced": 1, "balances_match": False},
        ),
        (
            "UPDATE entry SET coins = coins + 1 WHERE transfer_number = 5 AND line = 1",
            {"sum_coins": 1, "transfers_unbalanced": 1},
        ),
        ("DELETE FROM entry WHERE transfer_number = 1", {"transfers_unbalanced": 1, "balances_match": False}),
        ("DELETE FROM transfer WHERE number = 1", {"transfers_missing": 1, "transfers_unbalanced": 1}),
        ("UPDATE account SET balance_coins = balance_coins + 1 WHERE number = 1", {"balances_match": False}),
        ("UPDATE account SET balance_coins = balance_coins + 1 WHERE number = 2", {"balances_match": False}),
        ("UPDATE account SET balance_coins = balance_coins + 1 WHERE number = -1", {"balances_match": False}),
        ("UPDATE account SET balance_coins = balance_coins + 1 WHERE number = -4", {"balances_match": False}),
        ("DELETE FROM account WHERE number = 2", {"balances_match": False}),
        ("UPDATE account SET balance_coins = 101 WHERE account = 'pot:t1'", {"pots_match": False, "pots_coins": 101}),
        ("UPDATE account SET balance_coins = 1 WHERE account = 'pot:t2'", {"pots_match": False, "pots_coins": 101}),
        ("UPDATE account SET balance_coins = 0 WHERE account = 'reserve:t1'", {"pots_match": False}),
        ("UPDATE account SET staked_coins = 0 WHERE number = 1", {"stakes_match": False}),
        ("UPDATE account SET staked_coins = 5 WHERE number = 2", {"stakes_match": False}),
        ("UPDATE account SET staked_coins = 5 WHERE account = 'house:bots'", {"stakes_match": False}),
    ],
)
async def test_what_somebody_with_all_rights_did_is_found(
    database: TestDatabase,
    given: None,
    owner: asyncpg.Connection[asyncpg.Record],
    statement: str,
    found: dict[str, object],
) -> None:
    assert (await both_ways(database)).is_good

    assert not (await owner.execute(statement)).endswith(" 0")

    audit = await both_ways(database)
    assert not audit.is_good
    assert {name: getattr(audit, name) for name in found} == found


async def test_a_balance_below_zero_is_found(
    database: TestDatabase, given: None, owner: asyncpg.Connection[asyncpg.Record]
) -> None:
    await owner.execute("ALTER TABLE account DROP CONSTRAINT balance_not_below_zero")
    await owner.execute("UPDATE account SET balance_coins = -1 WHERE number = 1")

    assert (await both_ways(database)).players_below_zero == 1


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_ledger_that_grows_meanwhile_is_good(database: TestDatabase, writer: Writer, seed: int) -> None:
    chance = random.Random(seed)
    for account_id in PLAYERS:
        await writer.ask(GrantRequest(str(uuid4()), account_id, "new_account"))
    over = asyncio.Event()
    answers = 0

    async def play(table: int) -> None:
        nonlocal answers
        while not over.is_set():
            stake = stake_of(*chance.sample(PLAYERS, 2), None, bet_coins=25, table_id=f"t{table}")
            assert (await writer.ask(stake)).done
            back = RefundRequest(str(uuid4()), stake.key, stake.table_id, stake.unit, RefundPurpose.VOIDED)
            assert (await writer.ask(back)).done
            answers += 2

    async with asyncio.TaskGroup() as tasks:
        for table in range(5):
            tasks.create_task(play(table))
        slices = Slices(transfers=20, entries=50, accounts=3)
        results = [await audited(database.url, SQL, slices=slices) for _ in range(5)]
        over.set()

    assert [result for result in results if not result.is_good] == []
    assert len(PLAYERS) < results[0].transfers < results[-1].transfers <= len(PLAYERS) + answers


async def test_who_asks_before_there_is_a_result_is_told_to_come_back() -> None:
    auditor = Auditor(
        lambda: audited("postgresql://nobody@127.0.0.1:1/none", SQL), Metrics().note_audit, wait_seconds_max=0.01
    )

    with pytest.raises(Unavailable, match="storage_unavailable"):
        await auditor.result()


async def test_the_last_result_is_shown_when_the_next_one_takes_too_long(database: TestDatabase, given: None) -> None:
    auditor = Auditor(lambda: audited(database.url, SQL), Metrics().note_audit, wait_seconds_max=3)
    running = asyncio.ensure_future(auditor.run())
    first = await auditor.result()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert first.is_good
    assert await auditor.result() == first
