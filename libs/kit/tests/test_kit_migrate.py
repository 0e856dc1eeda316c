"""Migrations. Open this when a database isn't what the code needs."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from darbar_kit.database.migrate import DatabaseNewer, MigrationEdited, MigrationMisnamed, ReleaseLeftOut, migrate
from darbar_kit.testing import MakeDatabase


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "migrations"
    made.mkdir()
    return made


@pytest.fixture
async def url(make_database: MakeDatabase, tmp_path: Path) -> str:
    empty = tmp_path / "empty"
    empty.mkdir()
    return (await make_database("shop", empty)).owner_url


async def columns(url: str, table: str) -> list[str]:
    connection = await asyncpg.connect(url)
    query = "SELECT column_name FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position"
    found = [row[0] for row in await connection.fetch(query, table)]
    await connection.close()
    return found


async def test_files_are_applied_once_in_their_order(url: str, folder: Path) -> None:
    (folder / "0002_post_second.sql").write_text("ALTER TABLE item ADD price_cents int;")
    (folder / "0001_pre_first.sql").write_text("CREATE TABLE item (name text); INSERT INTO item VALUES ('a;b');")
    (folder / "README.md").write_text("Not a migration.")

    assert await migrate(url, folder, service_role=None) == ["0001_pre_first.sql", "0002_post_second.sql"]
    assert await migrate(url, folder, service_role=None) == []
    assert await columns(url, "item") == ["name", "price_cents"]


async def test_a_later_file_is_applied_alone(url: str, folder: Path) -> None:
    (folder / "0001_pre_first.sql").write_text("CREATE TABLE item (name text);")
    await migrate(url, folder, service_role=None)
    (folder / "0002_pre_second.sql").write_text("ALTER TABLE item ADD price_cents int;")

    assert await migrate(url, folder, service_role=None) == ["0002_pre_second.sql"]


async def test_a_file_that_fails_leaves_nothing_of_itself(url: str, folder: Path) -> None:
    (folder / "0001_pre_first.sql").write_text("CREATE TABLE item (name text);")
    (folder / "0002_pre_broken.sql").write_text("ALTER TABLE item ADD price_cents int; SELECT 1 / 0;")

    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate(url, folder, service_role=None)

    assert await columns(url, "item") == ["name"]


async def test_six_at_once_apply_each_file_once(url: str, folder: Path) -> None:
    (folder / "0001_pre_first.sql").write_text("CREATE TABLE item (name text); SELECT pg_sleep(0.05);")

    applied = await asyncio.gather(*(migrate(url, folder, service_role=None) for _ in range(6)))

    assert sorted(applied) == [[], [], [], [], [], ["0001_pre_first.sql"]]


async def test_an_edited_file_is_refused(url: str, folder: Path) -> None:
    (folder / "0001_pre_first.sql").write_text("CREATE TABLE item (name text);")
    await migrate(url, folder, service_role=None)
    (folder / "0001_pre_first.sql").write_text("CREATE TABLE item (name varchar);")

    with pytest.raises(MigrationEdited, match="0001_pre_first"):
        await migrate(url, folder, service_role=None)


async def test_a_database_of_a_newer_version_is_refused(url: str, folder: Path) -> None:
    (folder / "0001_pre_first.sql").write_text("CREATE TABLE item (name text);")
    (folder / "0002_pre_second.sql").write_text("SELECT 1;")
    await migrate(url, folder, service_role=None)
    (folder / "0002_pre_second.sql").unlink()

    with pytest.raises(DatabaseNewer, match="0002_pre_second"):
        await migrate(url, folder, service_role=None)


@pytest.mark.parametrize("names", [["1_pre_x.sql"], ["0001_x.sql"], ["0001_pre_a.sql", "0001_pre_b.sql"]])
async def test_files_with_wrong_names_are_refused(url: str, folder: Path, names: list[str]) -> None:
    for name in names:
        (folder / name).write_text("SELECT 1;")

    with pytest.raises(MigrationMisnamed):
        await migrate(url, folder, service_role=None)


async def test_without_a_service_role_grants_go_to_who_migrates(url: str, folder: Path) -> None:
    (folder / "0001_pre_first.sql").write_text("CREATE TABLE item (name text); GRANT SELECT ON item TO :service_role;")

    assert await migrate(url, folder, service_role=None)


async def test_a_role_that_is_no_name_is_refused(url: str, folder: Path) -> None:
    with pytest.raises(ValueError, match="role"):
        await migrate(url, folder, service_role="x; DROP TABLE item")


async def test_what_comes_after_a_roll_out_waits_until_it_is_over(url: str, folder: Path) -> None:
    await migrate(url, folder, service_role=None)
    (folder / "0003_pre_more.sql").write_text("CREATE TABLE more (id int);")
    (folder / "0004_post_less.sql").write_text("DROP TABLE more;")

    assert await migrate(url, folder, service_role=None, before_roll_out=True) == ["0003_pre_more.sql"]
    assert await migrate(url, folder, service_role=None) == ["0004_post_less.sql"]


async def test_a_release_that_was_left_out_stops_the_next_ones_roll_out(url: str, folder: Path) -> None:
    (folder / "0001_pre_first.sql").write_text("SELECT 1;")
    await migrate(url, folder, service_role=None)
    (folder / "0003_post_less.sql").write_text("SELECT 1;")
    (folder / "0004_pre_more.sql").write_text("SELECT 1;")

    with pytest.raises(ReleaseLeftOut, match="0003_post_less"):
        await migrate(url, folder, service_role=None, before_roll_out=True)

    assert await migrate(url, folder, service_role=None) == ["0003_post_less.sql", "0004_pre_more.sql"]
    await migrate(url, folder, service_role=None, before_roll_out=True)


async def test_an_empty_database_has_no_release_that_was_left_out(url: str, folder: Path) -> None:
    (folder / "0003_post_less.sql").write_text("SELECT 1;")
    (folder / "0004_pre_more.sql").write_text("SELECT 1;")

    assert (await migrate(url, folder, service_role=None, before_roll_out=True))[-1] == "0004_pre_more.sql"
