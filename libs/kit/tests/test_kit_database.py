"""Pools and queries. Open this when a limit doesn't hold."""

from pathlib import Path

import asyncpg
import pytest

from darbar_kit.database import QueriesInvalid, StorageUnsafe, open_pool, parse_queries, queries
from darbar_kit.testing import MakeDatabase


async def test_sessions_are_in_utc_and_have_limits(make_database: MakeDatabase, tmp_path: Path) -> None:
    pool = await open_pool(await make_database("shop", tmp_path), unsafe_storage=True)

    found = {
        name: await pool.fetchval("SELECT current_setting($1)", name)
        for name in ("TimeZone", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    }

    await pool.close()
    assert found == {
        "TimeZone": "UTC",
        "statement_timeout": "5s",
        "lock_timeout": "5s",
        "idle_in_transaction_session_timeout": "2s",
    }


async def test_what_the_pool_is_asked_is_all_that_the_server_is_asked_and_a_transaction_left_open_is_rolled_back(
    make_database: MakeDatabase, tmp_path: Path
) -> None:
    url = await make_database("shop", tmp_path)
    pool, beside = await open_pool(url, size_max=1, unsafe_storage=True), await asyncpg.connect(url)

    pid = await pool.fetchval("SELECT pg_backend_pid()")
    last = await beside.fetchval("SELECT query FROM pg_stat_activity WHERE pid = $1", pid)
    async with pool.acquire() as connection:
        await connection.execute("BEGIN")
    async with pool.acquire() as connection:
        is_in_transaction = connection.is_in_transaction()

    await beside.close()
    await pool.close()
    assert last == "SELECT pg_backend_pid()"
    assert not is_in_transaction


async def test_a_server_that_may_forget_is_refused(make_database: MakeDatabase, tmp_path: Path) -> None:
    with pytest.raises(StorageUnsafe, match="fsync, full_page_writes, synchronous_commit"):
        await open_pool(await make_database("shop", tmp_path))


async def test_the_service_role_owns_nothing(make_database: MakeDatabase, tmp_path: Path) -> None:
    migration = "CREATE TABLE item (name text); GRANT SELECT ON item TO :service_role;"
    (tmp_path / "0001_pre_items.sql").write_text(migration)
    connection = await asyncpg.connect(await make_database("shop", tmp_path))

    assert await connection.fetch("SELECT * FROM item") == []
    for forbidden in ("INSERT INTO item VALUES ('x')", "DROP TABLE item", "CREATE TABLE other (x int)"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(forbidden)

    await connection.close()


def test_queries_are_found_by_their_names() -> None:
    text = "-- For the shop.\n\n-- append --\n-- Stores one.\nINSERT INTO item VALUES ($1);\n\n-- all --\nSELECT 1\n"

    assert parse_queries(text) == {"append": "-- Stores one.\nINSERT INTO item VALUES ($1)", "all": "SELECT 1"}


@pytest.mark.parametrize("text", ["SELECT 1;\n-- a --\nSELECT 2;", "-- a --\nSELECT 1;\n-- a --\nSELECT 2;"])
def test_queries_without_a_name_of_their_own_are_refused(text: str) -> None:
    with pytest.raises(QueriesInvalid):
        parse_queries(text)


def test_queries_are_read_from_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "shop_with_queries"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "queries.sql").write_text("-- one --\nSELECT 1;\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    (package / "more.sql").write_text("-- two --\nSELECT 2;\n")
    assert queries("shop_with_queries") == {"one": "SELECT 1"}
    assert queries("shop_with_queries", "more.sql") == {"two": "SELECT 2"}
