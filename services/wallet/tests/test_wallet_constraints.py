"""The rules about money that the database itself keeps: each planted violation is refused, whoever plants it."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio

import darbar_wallet
from darbar_kit.testing import MakeDatabase, TestDatabase

WRITER = "01890000-0000-7000-8000-000000000001"

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

MIGRATIONS = Path(darbar_wallet.__file__).parent / "migrations"

INSERT_TRANSFER = """
WITH transferred AS (
    INSERT INTO transfer (number, key, kind, done, request_hash, request, answer, table_id, unit, closes, purpose,
                          account_id, amount_coins, entry_count, generation)
    VALUES ($1, $2, $3::text::transfer_kind, $4, $5, '{}', '{}', $6, $7, $8, $9::text::transfer_purpose, $10, $11, $12,
            1)
)
INSERT INTO entry (transfer_number, line, account_number, coins, reason)
SELECT $1, line, account_number, coins, reason::entry_reason
  FROM unnest($13::int[], $14::bigint[], $15::bigint[], $16::text[]) AS posting (line, account_number, coins, reason)
"""
INSERT_ENTRIES = """
INSERT INTO entry (transfer_number, line, account_number, coins, reason)
SELECT $1, line, account_number, coins, reason::entry_reason
  FROM unnest($2::int[], $3::bigint[], $4::bigint[], $5::text[]) AS posting (line, account_number, coins, reason)
"""
CONSTRAINTS = r"""
SELECT conname
  FROM pg_constraint
 WHERE connamespace = 'public'::regnamespace AND contype <> 'n' AND conrelid <> 'applied_migration'::regclass
 UNION
SELECT pg_class.relname
  FROM pg_index
  JOIN pg_class ON pg_class.oid = indexrelid
 WHERE indisunique AND relnamespace = 'public'::regnamespace AND indrelid <> 'applied_migration'::regclass
 UNION
SELECT (regexp_matches(prosrc, 'CONSTRAINT = ''(\w+)''', 'g'))[1]
  FROM pg_proc
 WHERE pronamespace = 'public'::regnamespace
"""

BANK, BOTS, FORFEIT, ANN, POT, RESERVE = -1, -2, -3, 1, -5, -6
Line: TypeAlias = tuple[int, int, str]

BET: tuple[Line, ...] = ((ANN, -300, "bet"), (POT, 300, "bet"))
RESERVED: tuple[Line, ...] = ((ANN, -300, "reserve"), (RESERVE, 300, "reserve"))
RESERVE_BACK: tuple[Line, ...] = ((RESERVE, -300, "reserve_back"), (ANN, 300, "reserve_back"))
SHARED: tuple[Line, ...] = ((POT, -300, "share"), (ANN, 300, "share"))
BET_BACK: tuple[Line, ...] = ((POT, -300, "bet_back"), (ANN, 300, "bet_back"))
TOO_MUCH_BACK: tuple[Line, ...] = ((POT, -300, "bet_back"), (RESERVE, -300, "bet_back"), (ANN, 600, "bet_back"))
ENDS_THE_STAKE: dict[str, object] = {"closes": "key-2"}

# Which constraint, the kind of transfer, its lines, and what else is wrong about it. `given` is what was before.
PLANTED_TRANSFERS: Sequence[tuple[str, str, tuple[Line, ...], dict[str, object]]] = [
    ("entries_sum_to_zero", "stake", ((ANN, -300, "bet"), (POT, 299, "bet")), {}),
    ("entries_sum_to_zero", "stake", BET, {"amount_coins": 299}),
    ("entries_sum_to_zero", "stake", BET, {"entry_count": 3}),
    ("entries_sum_to_zero", "stake", BET, {"lines": [2, 3]}),
    ("entry_moves_coins", "stake", (*BET, (ANN, 0, "bet")), {}),
    ("entry_line_check", "stake", BET, {"lines": [0, 1]}),
    ("entry_pkey", "stake", BET, {"lines": [1, 1]}),
    ("entry_has_account", "stake", ((ANN, -300, "bet"), (99, 300, "bet")), {}),
    ("transfer_has_entries", "stake", (), {"amount_coins": 300, "entry_count": 2}),
    ("balance_not_below_zero", "stake", ((ANN, -406, "bet"), (POT, 406, "bet")), {}),
    ("balance_not_below_zero", "stake", ((POT, -301, "bet"), (ANN, 301, "bet")), {}),
    ("balance_not_below_zero", "stake", ((FORFEIT, -1, "bet"), (POT, 1, "bet")), {}),
    ("entry_fits_transfer", "stake", ((ANN, -300, "share"), (POT, 300, "share")), {}),
    ("entry_fits_transfer", "refund", (*SHARED, *RESERVE_BACK), ENDS_THE_STAKE),
    ("entry_fits_transfer", "settle", (*BET, *RESERVE_BACK), ENDS_THE_STAKE),
    ("entry_fits_transfer", "settle", (*SHARED, *RESERVE_BACK), {"purpose": "table_closed", **ENDS_THE_STAKE}),
    ("entry_fits_transfer", "settle", (*SHARED, *RESERVE_BACK), {"purpose": "ended_early", **ENDS_THE_STAKE}),
    ("entry_fits_transfer", "top_up", ((BANK, -5, "new_account"), (ANN, 5, "new_account")), {"account_id": "bob"}),
    ("entry_fits_transfer", "new_account", ((BANK, -5, "top_up"), (ANN, 5, "top_up")), {"account_id": "bob"}),
    ("ending_empties_the_stake", "settle", SHARED, ENDS_THE_STAKE),
    ("ending_empties_the_stake", "settle", RESERVE_BACK, ENDS_THE_STAKE),
    ("ending_empties_the_stake", "refund", TOO_MUCH_BACK, ENDS_THE_STAKE),
    ("ending_empties_the_stake", "refund", tuple((n, c, "reserve_back") for n, c, _ in TOO_MUCH_BACK), ENDS_THE_STAKE),
    ("refusals_move_nothing", "stake", BET, {"done": False}),
    ("refusals_move_nothing", "refund", (), {"done": False, "closes": "key-2"}),
    ("amount_has_entries", "refund", (), {"entry_count": 2}),
    ("done_moves_coins", "stake", (), {}),
    ("closes_a_stake", "stake", BET, {"closes": "key-1"}),
    ("settle_closes", "settle", (*SHARED, *RESERVE_BACK), {}),
    ("purpose_of_an_ending", "settle", (*SHARED, *RESERVE_BACK), {"purpose": "voided", **ENDS_THE_STAKE}),
    ("purpose_of_an_ending", "refund", (*BET_BACK, *RESERVE_BACK), {"purpose": "round_ended", **ENDS_THE_STAKE}),
    ("ending_has_purpose", "settle", (*SHARED, *RESERVE_BACK), {"purpose": None, **ENDS_THE_STAKE}),
    ("ending_has_purpose", "refund", (), {"purpose": None}),
    ("ending_has_purpose", "stake", BET, {"purpose": "voided"}),
    ("grant_names_account", "top_up", (), {"done": False, "account_id": None, "table_id": "t", "unit": "g1.r1"}),
    ("grant_names_account", "stake", BET, {"account_id": "ann", "table_id": None}),
    ("table_is_named", "stake", BET, {"table_id": None}),
    ("table_is_named", "stake", BET, {"unit": None}),
    ("transfer_amount_coins_check", "refund", BET_BACK, {"amount_coins": -1}),
    ("transfer_entry_count_check", "refund", (), {"amount_coins": 5, "entry_count": -1}),
    ("transfer_key_check", "stake", BET, {"key": ""}),
    ("transfer_key_check", "stake", BET, {"key": "k" * 129}),
    ("transfer_key_key", "stake", BET, {"key": "key-1"}),
    ("transfer_number_check", "stake", BET, {"number": 0}),
    ("transfer_pkey", "refund", (), {"number": 1}),
    ("transfer_request_hash_check", "stake", BET, {"request_hash": b""}),
    ("transfer_closes_once", "refund", (), {"closes": "key-9"}),
    ("transfer_new_account_once", "new_account", ((BANK, -5, "new_account"), (ANN, 5, "new_account")), {}),
    ("transfer_top_up_once_a_day", "top_up", ((BANK, -5, "top_up"), (ANN, 5, "top_up")), {}),
]
PLANTED_STATEMENTS: Sequence[tuple[str, str]] = [
    *(
        ("account_name_check", f"INSERT INTO account (number, account) VALUES (9, '{name}')")
        for name in ("player:", "player:a b", "player:ann\n", "house:mine", "cellar:x", "ann")
    ),
    *(
        ("players_are_above_zero", f"INSERT INTO account (number, account) VALUES ({number}, '{name}')")
        for number, name in ((-9, "player:eve"), (9, "pot:t2"), (0, "player:eve"), (0, "pot:t2"))
    ),
    ("account_pkey", "INSERT INTO account (number, account) VALUES (1, 'player:eve')"),
    ("account_account_key", "INSERT INTO account (number, account) VALUES (9, 'player:ann')"),
    ("staked_not_below_zero", "UPDATE account SET staked_coins = -1"),
    ("wallet_writer_pkey", f"INSERT INTO wallet_writer (writer_id, expires_at) VALUES ('{WRITER}', now())"),
    ("wallet_writer_singleton_check", f"INSERT INTO wallet_writer VALUES (false, '{WRITER}', now())"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(make_database: MakeDatabase) -> TestDatabase:
    """One database for all tests here: each of them rolls back what it did."""
    return await make_database("wallet", MIGRATIONS)


@pytest_asyncio.fixture(loop_scope="session")
async def ledger(shared: TestDatabase) -> AsyncIterator[Connection]:
    """A connection with the service's rights, in a transaction that is rolled back."""
    async with _rolled_back(shared.url) as connection:
        yield connection


@pytest_asyncio.fixture(loop_scope="session")
async def given(ledger: Connection) -> Connection:
    """Ann was granted 1,000 coins, staked 300, and topped up by 5; a stake that never came was closed in advance."""
    await _fill(ledger)
    return ledger


@pytest_asyncio.fixture(loop_scope="session")
async def given_to_owner(shared: TestDatabase) -> AsyncIterator[Connection]:
    """The same for the owner of the tables, who may do more than the service."""
    async with _rolled_back(shared.owner_url) as connection:
        await _fill(connection)
        yield connection


@asynccontextmanager
async def _rolled_back(url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(url)
    transaction = connection.transaction()
    await transaction.start()
    yield connection
    await transaction.rollback()
    await connection.close()


async def _fill(connection: Connection) -> None:
    names = ((ANN, "player:ann"), (POT, "pot:t"), (RESERVE, "reserve:t"))
    await connection.executemany("INSERT INTO account (number, account) VALUES ($1, $2)", names)
    await connection.execute("INSERT INTO wallet_writer (writer_id, expires_at) VALUES ($1, now())", uuid4())
    await post(connection, 1, "new_account", (BANK, -1000, "new_account"), (ANN, 1000, "new_account"))
    await post(connection, 2, "stake", *BET, *RESERVED)
    await post(connection, 3, "refund", closes="key-9")
    await post(connection, 4, "top_up", (BANK, -5, "top_up"), (ANN, 5, "top_up"))


async def post(connection: Connection, number: int, kind: str, /, *entries: Line, **planted: object) -> None:
    """A transfer with its lines in one statement, as the service writes them, but for what the test plants."""
    grants = kind in ("new_account", "top_up")
    row: dict[str, object] = {
        "number": number,
        "key": f"key-{number}",
        "kind": kind,
        "done": True,
        "request_hash": hashlib.sha256(b"").digest(),
        "table_id": None if grants else "t",
        "unit": None if grants else "g1.r1",
        "closes": None,
        "purpose": {"settle": "round_ended", "refund": "voided"}.get(kind),
        "account_id": "ann" if grants else None,
        "amount_coins": sum(coins for _, coins, _ in entries if coins > 0),
        "entry_count": len(entries),
        "lines": list(range(1, len(entries) + 1)),
    }
    columns = zip(*entries, strict=True) if entries else ((), (), ())
    await execute(connection, INSERT_TRANSFER, *(row | planted).values(), *columns)


async def execute(connection: Connection, statement: str, *values: object) -> None:
    """In a savepoint, so that the test goes on after a refusal."""
    async with connection.transaction():
        await connection.execute(statement, *values)


async def funds(connection: Connection, number: int) -> tuple[int, int]:
    """Balance and stakes."""
    row = await connection.fetchrow("SELECT balance_coins, staked_coins FROM account WHERE number = $1", number)
    assert row is not None
    return row["balance_coins"], row["staked_coins"]


async def test_entries_move_the_balances_by_themselves(given: Connection) -> None:
    assert (await funds(given, ANN), await funds(given, POT)) == ((405, 300), (300, 0))

    await post(given, 5, "settle", (POT, -300, "forfeit"), (FORFEIT, 300, "forfeit"), *RESERVE_BACK, closes="key-2")

    assert (await funds(given, ANN), await funds(given, FORFEIT)) == ((705, 0), (300, 0))


@pytest.mark.parametrize(
    ("kind", "purpose"), [("refund", "ended_early"), ("settle", "table_closed"), ("settle", "game_ended")]
)
async def test_a_bet_goes_back(given: Connection, kind: str, purpose: str) -> None:
    await post(given, 5, kind, *BET_BACK, *RESERVE_BACK, closes="key-2", purpose=purpose)

    assert await funds(given, ANN) == (1005, 0)


@pytest.mark.parametrize(("constraint", "kind", "entries", "planted"), PLANTED_TRANSFERS)
async def test_a_transfer_that_breaks_a_rule_is_refused(
    given: Connection, constraint: str, kind: str, entries: tuple[Line, ...], planted: dict[str, object]
) -> None:
    with pytest.raises(asyncpg.IntegrityConstraintViolationError) as refused:
        await post(given, 5, kind, *entries, **planted)

    assert refused.value.constraint_name == constraint
    assert await given.fetchval("SELECT count(*) FROM transfer") == 4
    assert await funds(given, ANN) == (405, 300)


@pytest.mark.parametrize(("constraint", "statement"), PLANTED_STATEMENTS)
async def test_a_row_that_breaks_a_rule_is_refused(given_to_owner: Connection, constraint: str, statement: str) -> None:
    with pytest.raises(asyncpg.IntegrityConstraintViolationError) as refused:
        await execute(given_to_owner, statement)

    assert refused.value.constraint_name == constraint


async def test_every_constraint_of_the_ledger_is_tried(ledger: Connection) -> None:
    constraints = {row[0] for row in await ledger.fetch(CONSTRAINTS)}

    tried = {planted[0] for planted in (*PLANTED_TRANSFERS, *PLANTED_STATEMENTS)}
    assert len(constraints) > 25
    assert constraints == tried


async def test_the_house_s_bank_and_bots_may_be_below_zero(given: Connection) -> None:
    await post(given, 5, "stake", (BOTS, -300, "bet"), (POT, 300, "bet"))

    assert (await funds(given, BANK), await funds(given, BOTS)) == ((-1005, 0), (-300, 300))


@pytest.mark.parametrize("number", [1, 77])
async def test_lines_can_not_be_added_later_nor_without_a_transfer(given: Connection, number: int) -> None:
    lines: list[list[object]] = [[3, 4], [BANK, ANN], [-1000, 1000], ["new_account", "new_account"]]

    with pytest.raises(asyncpg.IntegrityConstraintViolationError) as refused:
        await execute(given, INSERT_ENTRIES, number, *lines)

    assert refused.value.constraint_name == "entries_sum_to_zero"


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
async def test_the_service_may_not_change_what_is_written(given: Connection, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await execute(given, statement)


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
            await post(owner, 2, "stake", (BANK, -300, "bet"), (BOTS, 299, "bet"))
    finally:
        await owner.close()
