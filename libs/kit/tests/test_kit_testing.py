"""What the fixtures promise. Open this when tests disturb each other."""

import asyncio
import sys
from pathlib import Path

import asyncpg
import psutil  # type: ignore[import-untyped,unused-ignore]
import pytest

from darbar_kit.embedded import processes
from darbar_kit.testing import MakeDatabase, TestDatabase, eventually, folders

START_AND_WAIT = """
import asyncio, sys
from pathlib import Path
from darbar_kit.testing import folders
from darbar_kit.embedded.nats import NatsServer

async def main(folder: Path):
    folder.mkdir()
    lock = folders.lock_folder(folder)
    print(await NatsServer(folder / "nats").start(), flush=True)
    await asyncio.Event().wait()

asyncio.run(main(Path(sys.argv[1])))
"""


async def test_each_database_is_fresh_and_migrated(make_database: MakeDatabase, tmp_path: Path) -> None:
    (tmp_path / "0001_pre_items.sql").write_text("CREATE TABLE item (name text); GRANT ALL ON item TO :service_role;")
    first, second = await make_database("shop", tmp_path), await make_database("shop", tmp_path)
    assert first != second

    writer = await asyncpg.connect(first)
    await writer.execute("INSERT INTO item VALUES ('x')")
    await writer.close()

    reader = await asyncpg.connect(second.url)
    assert await reader.fetch("SELECT * FROM item") == []
    await reader.close()


async def test_a_changed_folder_makes_another_template(make_database: MakeDatabase, tmp_path: Path) -> None:
    (tmp_path / "0001_pre_items.sql").write_text("CREATE TABLE item (name text);")
    await make_database("shop", tmp_path)
    (tmp_path / "0001_pre_items.sql").write_text("CREATE TABLE item (number int);")

    owner = await asyncpg.connect((await make_database("shop", tmp_path)).owner_url)

    await owner.execute("INSERT INTO item VALUES (1)")
    await owner.close()


def test_a_database_is_its_url() -> None:
    database = TestDatabase("postgresql://service@here/x", "postgresql://owner@here/x")

    assert database == database.url == "postgresql://service@here/x"
    assert database.owner_url == "postgresql://owner@here/x"


async def test_eventually_gives_what_was_waited_for() -> None:
    answers = iter([0, 0, 7])

    async def ask() -> int:
        return next(answers)

    assert await eventually(ask) == 7


async def test_eventually_says_what_it_last_saw() -> None:
    with pytest.raises(AssertionError, match="the last answer was ''"):
        await eventually(lambda: "", seconds=0.02)


async def test_what_a_killed_run_left_behind_is_ended_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "abandoned_folders", lambda: [tmp_path / "run"])
    run = await asyncio.create_subprocess_exec(
        sys.executable, "-c", START_AND_WAIT, str(tmp_path / "run"), stdout=asyncio.subprocess.PIPE
    )
    assert run.stdout is not None
    await run.stdout.readline()
    server = psutil.Process(int((tmp_path / "run" / "nats" / "pid").read_text()))

    await asyncio.to_thread(folders.remove_abandoned)
    assert not processes.gone(server), "the run is alive"

    run.kill()
    await run.wait()
    await asyncio.to_thread(folders.remove_abandoned)

    assert processes.gone(server)
    assert not (tmp_path / "run").exists()
