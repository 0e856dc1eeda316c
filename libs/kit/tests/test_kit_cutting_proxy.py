"""The proxy before PostgreSQL behaves like PostgreSQL, but for what it is told. Open this when tests of faults lie."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from darbar_kit.testing import Cut, CuttingProxy, MakeDatabase, TestDatabase, eventually

ITEMS = "CREATE TABLE item (name text PRIMARY KEY); GRANT SELECT, INSERT ON item TO :service_role;"


@pytest.fixture
async def database(make_database: MakeDatabase, tmp_path: Path) -> TestDatabase:
    (tmp_path / "0001_pre_items.sql").write_text(ITEMS)
    return await make_database("shop", tmp_path)


@pytest.fixture
async def proxy(database: TestDatabase) -> AsyncIterator[tuple[CuttingProxy, str]]:
    made = CuttingProxy(database)
    url = await made.start()
    yield made, url
    await made.stop()


async def test_unarmed_it_answers_as_the_server_does(database: TestDatabase, proxy: tuple[CuttingProxy, str]) -> None:
    answers = []
    for url in (database, proxy[1]):
        connection = await asyncpg.connect(url)
        answers.append(await connection.fetch("SELECT n, repeat('x', n * 1000) FROM generate_series(1, 50) AS n"))
        with pytest.raises(asyncpg.PostgresSyntaxError):
            await connection.fetch("SELEC 1")
        async with connection.transaction():
            await connection.execute("SELECT 1")
        await connection.close()

    assert answers[0] == answers[1]
    assert proxy[0].cuts == 0


@pytest.mark.parametrize(("cut", "stored"), [("before", 0), ("after", 1)])
async def test_armed_it_cuts_one_statement_on_the_side_it_was_told(
    database: TestDatabase, proxy: tuple[CuttingProxy, str], cut: Cut, stored: int
) -> None:
    connection = await asyncpg.connect(proxy[1])
    statement = await connection.prepare("INSERT INTO item VALUES ($1)")

    proxy[0].arm(cut)
    with pytest.raises((asyncpg.PostgresConnectionError, ConnectionError)):
        await statement.fetch("lamp")

    assert proxy[0].cuts == 1
    again = await asyncpg.connect(proxy[1])
    assert await again.fetchval("SELECT count(*) FROM item") == stored
    await again.close()


async def test_away_it_takes_nobody_until_it_comes_back(proxy: tuple[CuttingProxy, str]) -> None:
    connection = await asyncpg.connect(proxy[1])
    proxy[0].go_away()

    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        await connection.fetch("SELECT 1")
    with pytest.raises((asyncpg.PostgresError, OSError)):
        await asyncpg.connect(proxy[1])

    proxy[0].come_back()
    again = await asyncpg.connect(proxy[1])
    assert await again.fetchval("SELECT 1") == 1
    await again.close()


async def test_silent_it_keeps_everything_back_and_loses_nothing(
    database: TestDatabase, proxy: tuple[CuttingProxy, str]
) -> None:
    connection, direct = await asyncpg.connect(proxy[1]), await asyncpg.connect(database)
    proxy[0].fall_silent()
    writing = asyncio.create_task(connection.execute("INSERT INTO item VALUES ('lamp')"))
    done, _ = await asyncio.wait({writing}, timeout=0.05)
    assert not done
    assert await direct.fetchval("SELECT count(*) FROM item") == 0

    proxy[0].speak_again()

    assert await writing == "INSERT 0 1"
    await eventually(lambda: direct.fetchval("SELECT count(*) FROM item"))
    await connection.close()
    await direct.close()
