"""Darbar over a PostgreSQL and a NATS that a test may hurt. Open this to do something worse to them.

Everything is used from outside: the servers are real, Darbar is the command as it is started by hand, and its
database is only looked at, unless a test says that it plants something there.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp
import msgspec
import psutil  # type: ignore[import-untyped,unused-ignore]
from small_disks import SmallDisk, small_disk
from stored import Stored
from whole_games import SETTINGS, new_folder

from darbar_client.demo.local_server import missing_at
from darbar_kit.embedded.nats import NatsServer
from darbar_kit.embedded.postgres import PLACE, PostgresServer
from darbar_kit.metrics import parsed
from darbar_kit.settings import load
from darbar_kit.testing import eventually
from darbar_kit.testing.cutting_proxy import CuttingProxy
from darbar_kit.testing.faults import keep_ending_sessions
from darbar_local.restarts import Restarts
from darbar_local.testing import Darbar as Run
from darbar_local.testing import run

READY_SECONDS_MAX = 30.0
KILLS_PAUSE_SECONDS = 0.1
UNSAFE = "DARBAR_UNSAFE_STORAGE"
DATABASES = ("lobby", "tables", "wallet")


class OutageSettings(msgspec.Struct, frozen=True, kw_only=True):
    """With DARBAR_TEST_LONG=1 outages last as long as they do in the world; without, as short as still shows all."""

    long: bool = False


async def lasts(duration_seconds: float) -> None:
    """What a fault does before it is over."""
    end = time.monotonic() + duration_seconds
    await eventually(lambda: time.monotonic() >= end, seconds=duration_seconds + 1)


def seconds(*, short: float, long: float) -> float:
    """How long a fault lasts in this run."""
    return long if load(OutageSettings, prefix="DARBAR_TEST_").long else short


class Owner(NamedTuple):
    """A table process that owns shards."""

    process_id: str
    address: str
    process: psutil.Process


class Disks(NamedTuple):
    """Below the servers."""

    postgres: SmallDisk
    nats: SmallDisk


_MOST_SHARDS = """
SELECT process_id FROM table_process JOIN shard USING (process_id)
 GROUP BY process_id ORDER BY count(*) DESC LIMIT 1
"""


_PROCESS = "SELECT process_id, address FROM table_process WHERE process_id = $1"


class FaultStack:
    """The servers, and the run of Darbar over them. `proxy`, when there is one, is between Darbar and PostgreSQL;
    `disks`, when there are any, can be full."""

    def __init__(
        self,
        folder: Path,
        arguments: tuple[str, ...],
        settings: Mapping[str, str],
        *,
        has_proxy: bool = False,
        disks: Disks | None = None,
    ) -> None:
        self.disks = disks
        self._has_proxy = has_proxy
        self.proxy: CuttingProxy | None = None
        self._settings = {**SETTINGS, **settings}
        self.postgres = PostgresServer(folder / "postgres", unsafe=self._settings[UNSAFE] == "1")
        self.nats = NatsServer(folder / "nats")
        self._data = folder / "data"
        self._arguments = arguments
        self._ends = contextlib.AsyncExitStack()
        self.url = ""
        self.database_url = self._proxy_url = ""
        self.run: Run | None = None

    async def start_servers(self) -> None:
        self.database_url = await self.postgres.start()
        if self._has_proxy:
            self.proxy = CuttingProxy(self.database_url)
            self._proxy_url = await self.proxy.start()
        await self.nats.start()

    async def start(self) -> None:
        """Darbar itself, over the servers as they are."""
        variables = {
            **self._settings,
            "DATABASE_URL": self._proxy_url or self.database_url,
            "NATS_URL": self.nats.url("operator"),
        }
        self._ends = contextlib.AsyncExitStack()
        starting = run("up", "--data", str(self._data), "--port", self._port(), *self._arguments, variables=variables)
        self.run = await self._ends.enter_async_context(starting)
        self.url = await self.run.ready()

    async def stop(self) -> None:
        """In peace."""
        await self._ends.aclose()

    async def stop_servers(self) -> None:
        await self.nats.stop()
        if self.proxy is not None:
            await self.proxy.stop()
        await self.postgres.stop()

    async def ready(self) -> None:
        """Waits until nothing is missing."""
        await eventually(self._misses_nothing, seconds=READY_SECONDS_MAX)

    async def missing(self, word: str) -> bool:
        """Whether readiness speaks of this."""
        return any(word in thing for thing in await missing_at(self.url) or ())

    async def _misses_nothing(self) -> bool:
        return await missing_at(self.url) == ()

    async def owner(self) -> Owner:
        """The table process that owns most shards, with --processes."""
        [row] = await self.stored.ask("tables", _MOST_SHARDS)
        return await self.process(row["process_id"])

    async def process(self, process_id: str) -> Owner:
        """The table process that has this id at present, with --processes."""
        [row] = await self.stored.ask("tables", _PROCESS, process_id)
        assert self.run is not None
        for child in self.run.children().values():
            if port_of(child) == row["address"].rpartition(":")[2]:
                return Owner(row["process_id"], row["address"], child)
        raise AssertionError(f"no process of ours is at {row['address']}")

    async def metric(self, name: str) -> float:
        """The sum over all processes that answer."""
        async with aiohttp.ClientSession() as session, session.get(f"{self.url}/metrics") as answered:
            page = await answered.text()
        return sum(sample.value for family in parsed(page) for sample in family.samples if sample.name == name)

    @property
    def stored(self) -> Stored:
        return Stored(self.database_url)

    async def kill_sessions(self, duration_seconds: float) -> int:
        """Ends every session of the services ten times a second; how many there were."""
        urls = [self.stored.url(database) for database in DATABASES]
        return sum(
            await asyncio.gather(
                *(
                    keep_ending_sessions(
                        self.database_url, url, seconds=duration_seconds, every_seconds=KILLS_PAUSE_SECONDS
                    )
                    for url in urls
                )
            )
        )

    async def silence_postgres(self, duration_seconds: float) -> None:
        """PostgreSQL hears nothing and says nothing; its connections stay open."""
        with _suspended(await self.postgres_process()):
            await lasts(duration_seconds)

    async def crash_postgres(self) -> None:
        """It ends at once and writes nothing any more; then it is started again, and recovers."""
        (await self.postgres_process()).send_signal(signal.SIGQUIT)
        await self.postgres.until_lost()
        await self.postgres.start_again()

    async def postgres_process(self) -> psutil.Process:
        """Asked of the server itself: not where its disk is full."""
        connection = await self.stored.connect("postgres")
        try:
            return psutil.Process(await connection.fetchval("SELECT pg_backend_pid()")).parent()
        finally:
            await connection.close()

    def _port(self) -> str:
        """The same one after a new start, so that clients find it again."""
        return str(urlsplit(self.url).port or 0)


def port_of(child: psutil.Process) -> str:
    words: list[str] = child.cmdline()
    return words[words.index("--port") + 1] if "--port" in words else ""


@contextlib.contextmanager
def _suspended(server: psutil.Process) -> Iterator[None]:
    """The server first: it makes no new children then."""
    server.suspend()
    stopped = [server, *server.children(recursive=True)]
    try:
        for process in stopped[1:]:
            process.suspend()
        yield
    finally:
        for process in reversed(stopped):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()


@asynccontextmanager
async def fault_stack(parent: Path, *arguments: str, **settings: str) -> AsyncIterator[FaultStack]:
    """Started and, whatever the test did to it, stopped. `settings` are variables without DARBAR_; unsafe_storage="0":
    what is acknowledged is on a disk.
    """
    async with _run(FaultStack(new_folder(parent, "hurt"), arguments, _variables(settings))) as stack:
        yield stack


@asynccontextmanager
async def fault_stack_behind_a_proxy(parent: Path, *arguments: str, **settings: str) -> AsyncIterator[FaultStack]:
    """The same with a proxy between Darbar and PostgreSQL, which cuts connections when it is told to."""
    stack = FaultStack(new_folder(parent, "hurt"), arguments, _variables(settings), has_proxy=True)
    async with _run(stack):
        yield stack


@asynccontextmanager
async def fault_stack_on_small_disks(parent: Path, *arguments: str, **settings: str) -> AsyncIterator[FaultStack]:
    """The same with each server on a disk of its own, which can be full; what ends for that is started again until it
    runs, as the machine below a server does it. Raises NoSmallDisk."""
    folder = new_folder(parent, "hurt")
    with small_disk(folder / "postgres" / PLACE) as postgres, small_disk(folder / "nats") as nats:
        stack = FaultStack(folder, arguments, _variables(settings), has_proxy=True, disks=Disks(postgres, nats))
        async with _run(stack), _watched(stack):
            yield stack


@asynccontextmanager
async def _watched(stack: FaultStack) -> AsyncIterator[None]:
    watching = asyncio.create_task(Restarts().watch({"postgres": stack.postgres, "nats": stack.nats}))
    try:
        yield
    finally:
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching


@asynccontextmanager
async def _run(stack: FaultStack) -> AsyncIterator[FaultStack]:
    await stack.start_servers()
    try:
        await stack.start()
        yield stack
    finally:
        await stack.stop()
        await stack.stop_servers()


def _variables(settings: Mapping[str, str]) -> dict[str, str]:
    return {f"DARBAR_{name.upper()}": value for name, value in settings.items()}
