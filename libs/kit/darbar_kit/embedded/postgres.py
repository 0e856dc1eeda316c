"""A real PostgreSQL of our own. Open this when it doesn't start, or when yesterday's data is refused."""

import asyncio
import secrets
import shutil
import signal
import subprocess
import time
from pathlib import Path
from types import MappingProxyType

import msgspec

from darbar_kit.embedded import processes
from darbar_kit.embedded.kept import any_port, last_port, sync_folder, write_private
from darbar_kit.embedded.programs import SHARED_FOLDER, find_programs
from darbar_kit.embedded.server_user import ServerUser, find_server_user, open_folder

ADMIN = "darbar_admin"
# In the data folder: where the server's user is at home. It may be a link to another disk.
PLACE = "place"
HOST = "127.0.0.1"
START_ATTEMPTS_MAX = 5
# Recovery after a crash may read much WAL; a server that isn't getting ready ends by itself and is noticed at once.
START_SECONDS_MAX = 300.0
INITDB_SECONDS_MAX = 120.0
READY_POLL_SECONDS = 0.01
# SIGINT is PostgreSQL's fast stop: sessions end, then a checkpoint. SIGQUIT ends at once; recovery follows next time.
STOP_SIGNALS = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 5.0))

_SETTINGS = MappingProxyType(
    {
        "listen_addresses": HOST,
        "unix_socket_directories": "",
        "max_connections": "200",
        "password_encryption": "scram-sha-256",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_checkpoints": "off",
        "max_wal_size": "2GB",
        "min_wal_size": "1GB",
    }
)
_UNSAFE_SETTINGS = MappingProxyType(
    {
        "fsync": "off",
        "full_page_writes": "off",
        "synchronous_commit": "off",
        "shared_buffers": "32MB",
        "max_wal_size": "256MB",
        "min_wal_size": "16MB",
        "io_method": "sync",
        # In the data folder: what a killed server leaves goes with it.
        "dynamic_shared_memory_type": "mmap",
        "autovacuum": "off",
    }
)
# Segments of 1 MB, for data that is made and thrown away often.
_UNSAFE_INITDB_OPTIONS = ("--no-sync", "--wal-segsize=1")
_INITDB_OPTIONS = (
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--auth=scram-sha-256",
    f"--username={ADMIN}",
)


class DataVersionWrong(Exception):
    """The data was written by another major version of PostgreSQL."""


class PostgresFailed(Exception):
    """The server doesn't start; the message says where its log is."""


class _Launch(msgspec.Struct, frozen=True):
    """How the server was started last. `place` has the cluster `pg` and the log."""

    place: Path
    programs: Path
    user: ServerUser
    port: int = 0


class PostgresServer:
    """One server over one data folder, stopped by stop(). The caller sees to it that only one process uses the folder.

    `unsafe` gives up durability for speed: for tests whose data nobody will miss.
    """

    def __init__(self, data_folder: Path, *, unsafe: bool = False, shared_folder: Path = SHARED_FOLDER) -> None:
        self._folder = data_folder.absolute()
        self._unsafe = unsafe
        self._shared_folder = shared_folder
        self._process: subprocess.Popen[bytes] | None = None
        self._launch: _Launch | None = None

    async def start(self) -> str:
        """Makes the data when there is none, ends a server left over on it, and gives the admin's URL."""
        self._folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        user = find_server_user()
        place = open_folder(self._folder / PLACE, user)
        await _stop_left_over(place / "pg")
        programs = await asyncio.to_thread(find_programs, user, shared_folder=self._shared_folder)
        password = _kept_password(self._folder / "password")
        await _make_data(place, programs, user, password=password, unsafe=self._unsafe)
        refuse_other_version(place / "pg", await asyncio.to_thread(_major, programs, user))
        for _ in range(START_ATTEMPTS_MAX):
            port = last_port(self._folder / "port", HOST) or any_port(HOST)
            self._launch = _Launch(place, programs, user, port)
            if await self._start_as(self._launch):
                (self._folder / "port").write_text(f"{port}\n")
                return f"postgresql://{ADMIN}:{password}@{HOST}:{port}/postgres"
            (self._folder / "port").unlink(missing_ok=True)
        raise PostgresFailed(f"PostgreSQL doesn't start: {_last_words(place / 'log')} (see {place / 'log'})")

    async def start_again(self) -> None:
        """After it was lost: at the address of the last start(), where clients look for it. Raises PostgresFailed."""
        assert self._launch is not None
        try:
            is_started = await self._start_as(self._launch)
        except OSError as error:
            raise PostgresFailed(f"PostgreSQL doesn't start: {error}") from error
        if not is_started:
            raise PostgresFailed(f"PostgreSQL doesn't start: {_last_words(self._launch.place / 'log')}")

    async def until_lost(self) -> str:
        """Waits until it has ended, which it does only when it must; says how."""
        assert self._process is not None
        return f"it has ended with exit code {await processes.ended(self._process)}"

    async def stop(self) -> None:
        """Ends sessions, writes a checkpoint, ends the server."""
        if self._process is not None:
            await processes.stop(self._process, *STOP_SIGNALS)
            self._process = None

    async def stop_left_over(self) -> None:
        """Ends a server whose starter was killed, without starting another."""
        await _stop_left_over(self._folder / PLACE / "pg")

    @property
    def copied_programs(self) -> Path | None:
        """Where a copy of the programs lies that this start made or used, outside of the data folder; else None."""
        programs = self._launch.programs if self._launch is not None else None
        return programs if programs is not None and self._shared_folder in programs.parents else None

    @property
    def exit_code(self) -> int | None:
        """Something else than None means that the server has ended by itself, which it does only when it must."""
        return None if self._process is None else self._process.poll()

    async def _start_as(self, launch: _Launch) -> bool:
        settings = {**_SETTINGS, **(_UNSAFE_SETTINGS if self._unsafe else {}), "port": str(launch.port)}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        log, cluster = launch.place / "log", launch.place / "pg"
        if log.exists():
            log.replace(launch.place / "log.previous")
        with log.open("wb") as output:
            command = [str(launch.programs / "postgres"), "-D", launch.user.name_inside(cluster), *options]
            self._process = launch.user.start(command, output=output, folder=cluster)
        try:
            return await _ready(self._process, cluster / "postmaster.pid")
        except BaseException:
            await self.stop()
            raise


async def _ready(process: "subprocess.Popen[bytes]", pid_file: Path) -> bool:
    end = time.monotonic() + START_SECONDS_MAX
    while process.poll() is None and time.monotonic() < end:
        lines = _lines(pid_file)
        # Line 8 is the state, padded with blanks; the file of an earlier server has another number in line 1.
        if len(lines) >= 8 and lines[0] == str(process.pid) and lines[7].strip() == "ready":
            return True
        await asyncio.sleep(READY_POLL_SECONDS)
    await processes.stop(process, *STOP_SIGNALS)
    return False


async def _stop_left_over(data: Path) -> None:
    """Ends the server whose starter was killed. Its pid file says number, data folder and start time."""
    lines = _lines(data / "postmaster.pid")
    if len(lines) < 3 or not lines[0].isdecimal() or not lines[2].isdecimal():
        return
    # The folder in the file may be an old name of it; where the process works is what counts.
    process = processes.left_over(int(lines[0]), written_at=float(lines[2]), mark="postgres", folder=data)
    if process is not None:
        await processes.stop_left_over(process, *STOP_SIGNALS)


async def _make_data(place: Path, programs: Path, user: ServerUser, *, password: str, unsafe: bool) -> None:
    await asyncio.to_thread(_remove_unfinished, place)
    if (place / "pg").exists():
        return
    # A name of its own: an initdb that a killed start has left running must not write into ours.
    new = place / f"pg.new-{secrets.token_hex(4)}"
    new.mkdir(mode=0o700)
    user.give(new)
    password_file = place / f"{new.name}.password"
    write_private(password_file, password)
    user.give(password_file)
    options = [f"--pwfile=../{password_file.name}", *_INITDB_OPTIONS, *(_UNSAFE_INITDB_OPTIONS if unsafe else ())]
    command = [str(programs / "initdb"), "-D", user.name_inside(new), *options]
    try:
        code, said = await asyncio.to_thread(user.output, command, folder=new)
    finally:
        password_file.unlink()
    if code != 0:
        shutil.rmtree(new, ignore_errors=True)
        raise PostgresFailed(f"initdb failed: {said.strip()[-1000:]}")
    new.rename(place / "pg")
    sync_folder(place)


def _remove_unfinished(place: Path) -> None:
    # programs-*: copies that earlier versions made.
    for unfinished in (*place.glob("pg.new-*"), *place.glob("programs-*")):
        if unfinished.is_dir():
            shutil.rmtree(unfinished, ignore_errors=True)
        else:
            unfinished.unlink()


def refuse_other_version(data: Path, server_major: int) -> None:
    """Raises DataVersionWrong unless the data fits the server."""
    data_major = int((data / "PG_VERSION").read_text())
    if data_major > server_major:
        raise DataVersionWrong(
            f"the data in {data} was written by PostgreSQL {data_major}, newer than this version's {server_major}"
        )
    if data_major < server_major:
        raise DataVersionWrong(
            f"the data in {data} was written by PostgreSQL {data_major}; bring it to {server_major} with pg_upgrade"
        )


def _major(programs: Path, user: ServerUser) -> int:
    _, said = user.output([str(programs / "postgres"), "--version"], folder=Path("/"))
    return int(said.split()[-1].partition(".")[0])


def _kept_password(path: Path) -> str:
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        password = secrets.token_urlsafe(24)
        write_private(path, password + "\n")
        return password


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except FileNotFoundError:
        return []


def _last_words(log: Path) -> str:
    words = [line for line in _lines(log) if "FATAL" in line or "could not" in line]
    return words[-1] if words else "it says nothing"
