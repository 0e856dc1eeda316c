"""What happens while the database is away, and after. Open this when an outage is called a bug."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import asyncpg
import pytest

from darbar_kit.database import Database, DatabaseAway, connect, translated
from darbar_kit.database.away import away_of
from darbar_kit.service import reserve
from darbar_kit.testing import MakeDatabase, TestDatabase, end_sessions, eventually

ITEMS = """
CREATE TABLE item (name text PRIMARY KEY);
GRANT SELECT, INSERT, UPDATE ON item TO :service_role;
"""

LAMP = "INSERT INTO item VALUES ('lamp')"
CHAIR = "INSERT INTO item VALUES ('chair')"

AWAY = [
    (asyncpg.AdminShutdownError("terminating"), True),
    (asyncpg.CrashShutdownError("crash"), True),
    (asyncpg.CannotConnectNowError("starting up"), False),
    (asyncpg.IdleSessionTimeoutError("idle"), True),
    (asyncpg.ConnectionDoesNotExistError("closed in the middle"), True),
    (asyncpg.ConnectionFailureError("failure"), True),
    (asyncpg.InternalClientError("got result for unknown protocol state 3"), True),
    (asyncpg.TargetServerAttributeNotMatched("no primary"), True),
    (asyncpg.InterfaceError("cannot perform operation: connection is closed"), True),
    (asyncpg.InterfaceError("the underlying connection is closed"), True),
    (asyncpg.InterfaceError("pool is closing"), True),
    (ConnectionRefusedError("refused"), True),
    (ConnectionResetError("reset"), True),
    (OSError("no route"), True),
    (TimeoutError(), True),
    (asyncpg.TooManyConnectionsError("too many"), False),
    (asyncpg.ReadOnlySQLTransactionError("read-only"), False),
    (asyncpg.DiskFullError("disk full"), False),
    (asyncpg.OutOfMemoryError("memory"), False),
    (asyncpg.LockNotAvailableError("lock"), False),
    (asyncpg.QueryCanceledError("statement timeout"), False),
    (asyncpg.DeadlockDetectedError("deadlock"), False),
    (asyncpg.SerializationError("serialization"), False),
    (asyncpg.IdleInTransactionSessionTimeoutError("idle"), False),
    (asyncpg.PostgresIOError("can't write"), False),
]

NOT_AWAY = [
    asyncpg.PostgresSyntaxError("syntax"),
    asyncpg.UndefinedTableError("no such table"),
    asyncpg.UndefinedColumnError("no such column"),
    asyncpg.UniqueViolationError("unique"),
    asyncpg.CheckViolationError("check"),
    asyncpg.NotNullViolationError("null"),
    asyncpg.InsufficientPrivilegeError("privilege"),
    asyncpg.InvalidPasswordError("password"),
    asyncpg.InvalidCatalogNameError("no such database"),
    asyncpg.UntranslatableCharacterError("U+0000"),
    asyncpg.DataError("invalid input for query argument $1"),
    asyncpg.InterfaceError("the server expects 1 argument for this query, 2 were passed"),
    asyncpg.InterfaceError("cannot perform operation: another operation is in progress"),
    asyncpg.OutdatedSchemaCacheError("schema"),
    asyncpg.ProtocolError("array"),
    ValueError("a bug"),
]


@pytest.mark.parametrize(("error", "maybe_done"), AWAY, ids=lambda value: f"{type(value).__name__}-{value}")
async def test_what_passes_by_itself_is_away(error: Exception, maybe_done: bool) -> None:
    with pytest.raises(DatabaseAway) as raised, translated():
        raise error

    assert raised.value.code == "storage_unavailable"
    assert raised.value.__cause__ is error
    assert raised.value.maybe_done is maybe_done


@pytest.mark.parametrize("error", NOT_AWAY, ids=lambda value: f"{type(value).__name__}-{value}")
async def test_what_trying_again_would_not_help_stays_what_it_is(error: Exception) -> None:
    with pytest.raises(type(error)) as raised, translated():
        raise error

    assert raised.value is error


async def test_the_message_does_not_repeat_the_row() -> None:
    fields = {"S": "ERROR", "C": "53100", "M": "could not extend file", "D": "Failing row contains (secret)."}
    error = asyncpg.PostgresError.new(fields)

    away = away_of(error)

    assert away is not None
    assert away.message == "DiskFullError: could not extend file"


async def test_a_cancelled_task_is_not_told_that_the_database_is_away() -> None:
    async def asking() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            with translated():
                raise TimeoutError from None

    task = asyncio.create_task(asking())
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.fixture
async def url(make_database: MakeDatabase, tmp_path: Path) -> TestDatabase:
    (tmp_path / "0001_pre_items.sql").write_text(ITEMS)
    return await make_database("shop", tmp_path)


@pytest.fixture
async def database(url: TestDatabase) -> AsyncIterator[Database]:
    opened = await Database.open(url, size_min=3, size_max=3, unsafe_storage=True)
    yield opened
    await opened.close()


@pytest.fixture
async def admin(postgres_server: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    connection = await asyncpg.connect(postgres_server)
    yield connection
    await connection.close()


def cut(admin_url: str, url: TestDatabase) -> int:
    """Ends every session while our own loop stands still, so that it meets them unawares; how many it were."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: asyncio.run(end_sessions(admin_url, url))).result()


async def transact(database: Database, *steps: str | Callable[[], object]) -> None:
    async with database.transaction() as connection:
        for step in steps:
            if isinstance(step, str):
                await connection.execute(step)
            else:
                step()


@pytest.mark.parametrize("times", [1, 6])
async def test_the_first_read_after_the_server_ended_all_sessions_is_answered(
    database: Database, postgres_server: str, url: TestDatabase, times: int
) -> None:
    for _ in range(times):
        await asyncio.gather(*(database.read("SELECT pg_sleep(0.01)") for _ in range(3)))
        assert cut(postgres_server, url) == 3

        assert [row["answer"] for row in await database.read("SELECT 42 AS answer")] == [42]


async def test_the_first_transaction_after_the_server_ended_all_sessions_is_done(
    database: Database, postgres_server: str, url: TestDatabase
) -> None:
    assert cut(postgres_server, url) == 3

    await transact(database, LAMP)

    assert [row["name"] for row in await database.read("SELECT name FROM item")] == ["lamp"]


async def test_a_read_that_was_cut_in_the_middle_is_asked_again_once(
    database: Database, admin: asyncpg.Connection[asyncpg.Record], url: TestDatabase
) -> None:
    name = url.rpartition("/")[2]
    asked = "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND query LIKE '%pg_sleep(0.2)' AND state = 'active'"
    reading = asyncio.create_task(database.read_row("SELECT 42, pg_sleep(0.2)"))
    pid = await eventually(lambda: admin.fetchval(asked, name))

    await admin.fetchval("SELECT pg_terminate_backend($1)", pid)

    row = await reading
    assert row is not None
    assert row[0] == 42


async def test_a_write_is_never_asked_again(
    database: Database, admin: asyncpg.Connection[asyncpg.Record], url: TestDatabase
) -> None:
    name = url.rpartition("/")[2]
    asked = "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND query LIKE 'INSERT%' AND state = 'active'"
    slow = "INSERT INTO item SELECT 'lamp' FROM pg_sleep(4) RETURNING name"
    writing = asyncio.create_task(database.write(slow))
    pid = await eventually(lambda: admin.fetchval(asked, name))

    await admin.fetchval("SELECT pg_terminate_backend($1)", pid)

    with pytest.raises(DatabaseAway) as raised:
        await writing
    assert raised.value.maybe_done
    assert await database.read("SELECT name FROM item") == []


async def test_a_transaction_that_is_cut_before_its_commit_is_surely_not_done(
    database: Database, postgres_server: str, url: TestDatabase
) -> None:
    with pytest.raises(DatabaseAway) as raised:
        await transact(database, LAMP, lambda: cut(postgres_server, url), CHAIR)

    assert not raised.value.maybe_done
    assert await database.read("SELECT name FROM item") == []


async def test_a_mistake_of_ours_is_no_outage_and_rolls_back(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    for statement in ("SELEC 1", "SELECT * FROM nowhere", "INSERT INTO item VALUES (NULL)"):
        with pytest.raises(asyncpg.PostgresError):
            await database.read(statement)
        with pytest.raises(asyncpg.PostgresError):
            await transact(database, LAMP, statement)

    assert await database.read("SELECT name FROM item") == []
    assert caplog.records == [], "a connection that goes back in the middle of a transaction is told by the driver"


async def test_locks_and_slow_statements_pass_and_nothing_is_done(database: Database) -> None:
    async with database.transaction() as holder:
        await holder.execute("LOCK TABLE item IN SHARE MODE")
        for limit in ("lock_timeout", "statement_timeout"):
            with pytest.raises(DatabaseAway) as raised:
                await transact(database, f"SET LOCAL {limit} = '20ms'", LAMP)
            assert not raised.value.maybe_done


async def test_a_server_that_became_read_only_passes(database: Database) -> None:
    with pytest.raises(DatabaseAway) as raised:
        await transact(database, "SET TRANSACTION READ ONLY", LAMP)

    assert isinstance(raised.value.__cause__, asyncpg.ReadOnlySQLTransactionError)


async def test_a_pool_whose_connections_are_all_busy_passes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_kit.database.connections.ACQUIRE_SECONDS_MAX", 0.01)
    async with database.connection(), database.connection(), database.connection():
        with pytest.raises(DatabaseAway) as raised:
            await database.write(LAMP)

    assert not raised.value.maybe_done


async def test_where_no_server_listens_nothing_opens_and_nothing_is_done() -> None:
    with reserve("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
    url = f"postgresql://shop:secret@127.0.0.1:{port}/shop"

    for opening in (Database.open(url), connect(url)):
        with pytest.raises(DatabaseAway) as raised:
            await opening
        assert not raised.value.maybe_done


async def test_a_database_that_lets_nobody_in_is_away_until_it_does(
    database: Database, url: TestDatabase, admin: asyncpg.Connection[asyncpg.Record], postgres_server: str
) -> None:
    name = url.rpartition("/")[2]
    await admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    cut(postgres_server, url)
    with pytest.raises(DatabaseAway) as raised:
        await database.read("SELECT 1")
    await admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

    assert not raised.value.maybe_done
    assert await database.answers()


async def test_closing_ends_in_time_while_a_connection_is_in_use(
    url: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_kit.database.connections.CLOSE_SECONDS_MAX", 0.1)
    database = await Database.open(url, unsafe_storage=True)
    reading = asyncio.create_task(database.read("SELECT pg_sleep(4)"))
    await eventually(lambda: database.pool.get_idle_size() == 0)

    await asyncio.wait_for(database.close(), timeout=5)

    with pytest.raises(DatabaseAway):
        await reading
    assert not await database.answers()
