"""The rules about money that the database itself keeps: each planted violation is refused, whoever plants it."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TypeAlias

import asyncpg
import pytest
import pytest_asyncio

import darbar_wallet
from darbar_kit.testing import MakeDatabase, TestDatabase

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

MIGRATIONS = Path(darbar_wallet.__file__).parent / "migrations"
HASH = hashlib.sha256(b"").digest()

INSERT_TRANSFER = """
INSERT INTO transfer (number, key, kind, done, request_hash, request, answer, table_id, unit, closes, account_id,
                      amount_coins, entry_count, generation)
VALUES ($1, $2, $3::text::transfer_kind, $4, $5, '{}', '{}', $6, $7, $8, $9, $10, $11, 1)
"""
INSERT_ENTRIES = """
INSERT INTO entry (transfer_number, line, account_number, coins, reason, unit)
SELECT $1, line, account_number, coins, reason::entry_reason, NULL
  FROM unnest($2::int[], $3::bigint[], $4::bigint[], $5::text[]) AS posting (line, account_number, coins, reason)
"""

BANK, BOTS, FORFEIT, ANN, POT = -1, -2, -3, 1, -5
Line: TypeAlias = tuple[int, int, str]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(make_database: MakeDatabase) -> TestDatabase:
    """One database for all tests here: each of them rolls back what it did."""
    return await make_database("wallet", MIGRATIONS)


@pytest_asyncio.fixture(loop_scope="session")
async def ledger(shared: TestDatabase) -> AsyncIterator[Connection]:
    """A connection with the service's rights, in a transaction that is rolled back."""
    connection = await asyncpg.connect(shared.url)
    transaction = connection.transaction()
    await transaction.start()
    yield connection
    await transaction.rollback()
    await connection.close()


@pytest_asyncio.fixture(loop_scope="session")
async def accounts(ledger: Connection) -> Connection:
    """Ann, who was granted 1,000 coins by transfer 1, and a table's pot."""
    await ledger.execute("INSERT INTO account (number, account) VALUES ($1, 'player:ann'), ($2, 'pot:t')", ANN, POT)
    await post(ledger, 1, (BANK, -1000, "new_account"), (ANN, 1000, "new_account"), kind="new_account")
    return ledger


async def post(
    connection: Connection,
    number: int,
    *lines: Line,
    kind: str = "stake",
    done: bool = True,
    amount: int | None = None,
    count: int | None = None,
    closes: str | None = None,
    account_id: str | None = "ann",
    first_line: int = 1,
) -> None:
    """A transfer with its lines in one statement, as the service writes them, but for what the test plants."""
    grants = kind in ("new_account", "top_up")
    values = [
        number,
        f"key-{number}",
        kind,
        done,
        HASH,
        None if grants else "t",
        None if grants else "g1.r1",
        closes,
        account_id if grants else None,
        sum(coins for _, coins, _ in lines if coins > 0) if amount is None else amount,
        len(lines) if count is None else count,
    ]
    columns: list[list[object]] = [
        list(range(first_line, first_line + len(lines))),
        [account for account, _, _ in lines],
        [coins for _, coins, _ in lines],
        [reason for _, _, reason in lines],
    ]
    entries = INSERT_ENTRIES
    for place in range(5, 0, -1):
        entries = entries.replace(f"${place}", f"${place + 10}" if place > 1 else "$1")
    await execute(connection, f"WITH transferred AS ({INSERT_TRANSFER}) {entries}", *values, *columns)


async def execute(connection: Connection, statement: str, *values: object) -> None:
    """In a savepoint, so that the test goes on after a refusal."""
    async with connection.transaction():
        await connection.execute(statement, *values)


async def balance(connection: Connection, number: int) -> int:
    coins: int = await connection.fetchval("SELECT balance_coins FROM account WHERE number = $1", number)
    return coins


async def test_entries_move_the_balances_by_themselves(accounts: Connection) -> None:
    await post(accounts, 2, (ANN, -300, "bet"), (POT, 300, "bet"))

    assert (await balance(accounts, ANN), await balance(accounts, POT)) == (700, 300)
    assert await accounts.fetchval("SELECT staked_coins FROM account WHERE number = $1", ANN) == 300


@pytest.mark.parametrize(
    ("lines", "planted", "constraint"),
    [
        (((ANN, -300, "bet"), (POT, 299, "bet")), {}, "entries_sum_to_zero"),
        (((ANN, -300, "bet"), (POT, 300, "bet")), {"amount": 299}, "entries_sum_to_zero"),
        (((ANN, -300, "bet"), (POT, 300, "bet")), {"count": 3}, "entries_sum_to_zero"),
        (((ANN, -300, "bet"), (POT, 300, "bet")), {"first_line": 2}, "entries_sum_to_zero"),
        (((ANN, -300, "bet"), (POT, 300, "bet"), (ANN, 0, "bet")), {}, "entry_moves_coins"),
        ((), {"amount": 300, "count": 2}, "transfer_has_entries"),
        (((ANN, -1001, "bet"), (POT, 1001, "bet")), {}, "balance_not_below_zero"),
        (((POT, -1, "share"), (ANN, 1, "share")), {}, "balance_not_below_zero"),
        (((FORFEIT, -1, "share"), (ANN, 1, "share")), {}, "balance_not_below_zero"),
        (((ANN, -300, "bet"), (99, 300, "bet")), {}, "entry_has_account"),
        (((ANN, -300, "bet"), (POT, 300, "bet")), {"done": False}, "refusals_move_nothing"),
        ((), {}, "done_moves_coins"),
        (((ANN, -300, "bet"), (POT, 300, "bet")), {"closes": "key-1"}, "closes_a_stake"),
        (((ANN, -300, "share"), (POT, 300, "share")), {"kind": "settle"}, "settle_closes"),
        (((BANK, -5, "new_account"), (ANN, 5, "new_account")), {"kind": "new_account"}, "transfer_new_account_once"),
        (((BANK, -5, "top_up"), (ANN, 5, "top_up")), {"kind": "top_up", "account_id": None}, "grant_names_account"),
    ],
)
async def test_a_transfer_that_breaks_a_rule_is_refused(
    accounts: Connection, lines: tuple[Line, ...], planted: dict[str, object], constraint: str
) -> None:
    with pytest.raises(asyncpg.IntegrityConstraintViolationError) as refused:
        await post(accounts, 2, *lines, **planted)  # type: ignore[arg-type]

    assert refused.value.constraint_name == constraint
    assert await accounts.fetchval("SELECT count(*) FROM transfer") == 1
    assert await balance(accounts, ANN) == 1000


async def test_the_house_s_bank_and_bots_may_be_below_zero(accounts: Connection) -> None:
    await post(accounts, 2, (BOTS, -300, "bet"), (POT, 300, "bet"))

    assert (await balance(accounts, BANK), await balance(accounts, BOTS)) == (-1000, -300)


async def test_a_key_and_a_number_are_taken_once(accounts: Connection) -> None:
    with pytest.raises(asyncpg.UniqueViolationError):
        await post(accounts, 1, (ANN, -300, "bet"), (POT, 300, "bet"))


async def test_a_stake_is_closed_once(accounts: Connection) -> None:
    await post(accounts, 2, (ANN, -300, "bet"), (POT, 300, "bet"))
    await post(accounts, 3, (POT, -300, "share"), (ANN, 300, "share"), kind="settle", closes="key-2")

    with pytest.raises(asyncpg.UniqueViolationError) as refused:
        await post(accounts, 4, kind="refund", closes="key-2")

    assert refused.value.constraint_name == "transfer_closes_once"


async def test_a_closed_stake_is_no_longer_among_the_player_s_stakes(accounts: Connection) -> None:
    await post(accounts, 2, (ANN, -300, "bet"), (POT, 300, "bet"))
    await post(accounts, 3, (POT, -300, "forfeit"), (FORFEIT, 300, "forfeit"), kind="settle", closes="key-2")

    assert await accounts.fetchval("SELECT staked_coins FROM account WHERE number = $1", ANN) == 0


@pytest.mark.ruling("TL-23")
async def test_a_second_top_up_on_a_day_is_refused(accounts: Connection) -> None:
    await post(accounts, 2, (BANK, -5, "top_up"), (ANN, 5, "top_up"), kind="top_up")

    with pytest.raises(asyncpg.UniqueViolationError) as refused:
        await post(accounts, 3, (BANK, -5, "top_up"), (ANN, 5, "top_up"), kind="top_up")

    assert refused.value.constraint_name == "transfer_top_up_once_a_day"


async def test_lines_can_not_be_added_to_a_transfer_later(accounts: Connection) -> None:
    lines: list[list[object]] = [[3, 4], [BANK, ANN], [-1000, 1000], ["top_up", "top_up"]]

    with pytest.raises(asyncpg.IntegrityConstraintViolationError) as refused:
        await execute(accounts, INSERT_ENTRIES, 1, *lines)

    assert refused.value.constraint_name == "entries_sum_to_zero"


async def test_lines_without_a_transfer_are_refused(accounts: Connection) -> None:
    lines: list[list[object]] = [[1, 2], [BANK, ANN], [-1000, 1000], ["top_up", "top_up"]]

    with pytest.raises(asyncpg.IntegrityConstraintViolationError):
        await execute(accounts, INSERT_ENTRIES, 77, *lines)


@pytest.mark.parametrize(("number", "name"), [(-9, "player:eve"), (9, "pot:t2"), (0, "player:eve"), (0, "pot:t2")])
async def test_only_players_have_numbers_above_zero(ledger: Connection, number: int, name: str) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        await execute(ledger, "INSERT INTO account (number, account) VALUES ($1, $2)", number, name)


@pytest.mark.parametrize("name", ["player:", "player:a b", "player:ann\n", "house:mine", "cellar:x", "ann"])
async def test_an_account_has_one_of_the_known_names(ledger: Connection, name: str) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        await execute(ledger, "INSERT INTO account (number, account) VALUES (9, $1)", name)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET coins = 1",
        "DELETE FROM entry",
        "TRUNCATE entry",
        "UPDATE transfer SET answer = '{}'",
        "DELETE FROM transfer",
        "TRUNCATE transfer",
        "UPDATE account SET balance_coins = 1",
        "UPDATE account SET staked_coins = 1",
        "INSERT INTO account (number, account, balance_coins) VALUES (9, 'player:eve', 1)",
        "DELETE FROM account",
        "INSERT INTO transfer (number, day) VALUES (9, '2020-01-01')",
        "ALTER TABLE entry DISABLE TRIGGER ALL",
        "ALTER TABLE account DROP CONSTRAINT balance_not_below_zero",
        "DROP TABLE entry",
        "CREATE TABLE mine (x int)",
        "SET session_replication_role = replica",
    ],
)
async def test_the_service_may_not_change_what_is_written(accounts: Connection, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await execute(accounts, statement)


async def test_the_service_owns_nothing(ledger: Connection) -> None:
    owned = await ledger.fetchval(
        "SELECT count(*) FROM pg_class JOIN pg_roles ON pg_roles.oid = relowner WHERE rolname = current_user"
    )
    powers = await ledger.fetchrow(
        "SELECT rolsuper, rolcreatedb, rolcreaterole, rolbypassrls FROM pg_roles WHERE rolname = current_user"
    )

    assert owned == 0
    assert powers is not None
    assert not any(powers)


async def test_the_owner_of_the_tables_can_not_unbalance_them_either(shared: TestDatabase) -> None:
    owner = await asyncpg.connect(shared.owner_url)
    try:
        with pytest.raises(asyncpg.IntegrityConstraintViolationError):
            await post(owner, 2, (BANK, -300, "bet"), (BOTS, 299, "bet"))
    finally:
        await owner.close()
