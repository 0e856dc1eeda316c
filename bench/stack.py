"""A whole Darbar for a measurement: servers, wallet and table in processes of their own. Open this to measure one."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO
from uuid import UUID, uuid4

import aiohttp
import asyncpg
import msgspec

from darbar_contracts import subjects
from darbar_contracts.frames import PROTOCOL
from darbar_contracts.tables import BotLevel, CreateTable, Person, TableLook, TableTerms, WhereAnswer, WhereRequest
from darbar_contracts.wallet import GrantRequest, WalletAnswer
from darbar_kit.bus import Bus
from darbar_kit.database.migrate import migrate
from darbar_kit.database.provision import DatabaseUrls, provision
from darbar_kit.embedded import processes
from darbar_kit.embedded.kept import any_port
from darbar_kit.embedded.nats import NatsServer
from darbar_kit.embedded.postgres import PostgresServer
from darbar_kit.settings import environment
from darbar_kit.testing.waiting import eventually
from darbar_kit.tokens import Claims, TokenWriter, new_private_key_pem, public_key_pem
from darbar_table.shards.placement import shard_of, should_own

ROOT = Path(__file__).resolve().parents[1]
HOST = "127.0.0.1"
SEATS = 4
READY_SECONDS_MAX = 60.0
READY_POLL_SECONDS = 0.05
ANSWER_SECONDS_MAX = 30.0
OPENED_AT_ONCE = 20
STOP_SIGNALS = ((signal.SIGTERM, 20.0),)
PASSWORD = "only-for-the-bench"
# Nothing here takes work away: clients are as quick as they can be, and nobody is sent away between two windows.
TABLE_SETTINGS = {
    "FRAMES_A_SECOND_MAX": "1000000",
    "SOCKETS_AN_ADDRESS_MAX": "0",
    "COUNT_IN_SECONDS": "1.0",
    "OFFLINE_GRACE_SECONDS": "3600",
}
WALLET_SETTINGS = {"NEW_ACCOUNT_COINS": "1000000"}


class Servers:
    """PostgreSQL as it ships, with fsync on, and NATS, in a folder that goes away at the end."""

    def __init__(self, folder: Path, admin_url: str, nats_url: str) -> None:
        self.folder = folder
        self.admin_url = admin_url
        self.nats_url = nats_url

    @property
    def pids(self) -> dict[str, int]:
        postmaster = self.folder / "postgres" / "place" / "pg" / "postmaster.pid"
        return {
            "postgres": int(postmaster.read_text().splitlines()[0]),
            "nats": int((self.folder / "nats" / "pid").read_text()),
        }

    async def database(self, service: str, name: str) -> DatabaseUrls:
        """A service's own database, migrated, with its two roles."""
        urls = await provision(self.admin_url, name, owner_password=PASSWORD, service_password=PASSWORD)
        migrations = Path(str(import_module(f"darbar_{service}").__path__[0])) / "migrations"
        await migrate(urls.owner_url, migrations, service_role=urls.service_role)
        return urls


@asynccontextmanager
async def servers() -> AsyncIterator[Servers]:
    """Brought up, and taken down with their data, also when the bench is told to stop."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    folder = Path(tempfile.mkdtemp(prefix="darbar-bench-"))
    folder.chmod(0o711)
    postgres, nats = PostgresServer(folder / "postgres"), NatsServer(folder / "nats")
    try:
        yield Servers(folder, await postgres.start(), await nats.start())
    finally:
        await nats.stop()
        await postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def process(
    command: list[str], *, log: IO[bytes], variables: dict[str, str]
) -> AsyncIterator[subprocess.Popen[bytes]]:
    """A program; stopped at the end."""
    started = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**environment(), **variables},
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        yield started
    finally:
        await processes.stop(started, *STOP_SIGNALS)


class Darbar:
    """The running services, and what the lobby would do for players."""

    def __init__(self, running: Servers, session: aiohttp.ClientSession, bus: Bus, *, table_urls: DatabaseUrls) -> None:
        private_key = new_private_key_pem()
        self.servers = running
        self._session = session
        self._bus = bus
        self._tokens = TokenWriter(private_key)
        self._public_key = public_key_pem(private_key)
        self._ports: dict[str, int] = {}
        self.pids = running.pids
        self._table_urls = table_urls
        self.tables_url = table_urls.owner_url

    @property
    def port(self) -> int:
        """Of the first table process."""
        return self._ports["table"]

    @asynccontextmanager
    async def service(self, service: str, *, name: str = "", **fields: str) -> AsyncIterator[None]:
        """A process of this service, ready. `name` is what its CPU is called; a table process has it in its id."""
        name = name or service
        port = any_port(HOST)
        fields = {"NATS_URL": self.servers.nats_url, **fields}
        variables = {f"DARBAR_{service.upper()}_{field}": value for field, value in fields.items()}
        log_path = self.servers.folder / f"{name}.log"
        with log_path.open("ab") as log:
            async with process(
                [sys.executable, "-m", "bench.serve", service, str(port)], log=log, variables=variables
            ) as started:
                await ready(started, self._session, f"http://{HOST}:{port}/readyz", log=log_path)
                self._ports[name], self.pids[name] = port, started.pid
                try:
                    yield
                finally:
                    del self._ports[name], self.pids[name]

    def wallet(self, urls: DatabaseUrls) -> AbstractAsyncContextManager[None]:
        return self.service(
            "wallet", DATABASE_URL=urls.service_url, TOKEN_PUBLIC_KEY=self._public_key, **WALLET_SETTINGS
        )

    def table_process(self, name: str) -> AbstractAsyncContextManager[None]:
        """One of those that share the tables."""
        return self.service(
            "table",
            name=name,
            PROCESS_NAME=name,
            DATABASE_URL=self._table_urls.service_url,
            TOKEN_PUBLIC_KEY=self._public_key,
            **TABLE_SETTINGS,
        )

    async def open_tables(self, count: int, *, bot_level: BotLevel = "normal") -> list[str]:
        """The ids of tables of Court Piece with a hidden trump, at each of which its host sits."""
        opened = list[str]()
        while len(opened) < count:
            together = min(OPENED_AT_ONCE, count - len(opened))
            opened += await asyncio.gather(*(self._open_table(bot_level) for _ in range(together)))
        return opened

    async def at_home(self, table_ids: list[str]) -> None:
        """Waits until each of these tables is at the process where it is to be, and everybody knows it."""
        await eventually(lambda: self._are_at_home(table_ids), seconds=READY_SECONDS_MAX)

    async def _are_at_home(self, table_ids: list[str]) -> bool:
        connection = await asyncpg.connect(self.tables_url)
        try:
            living = [
                row[0] for row in await connection.fetch("SELECT process_id FROM table_process WHERE NOT leaving")
            ]
        finally:
            await connection.close()
        homes = {table_id: should_own(shard_of(UUID(table_id)), living) for table_id in table_ids}
        return len(living) == self._table_processes and all(
            [await self._where(table_id) == home for table_id, home in homes.items()]
        )

    @property
    def _table_processes(self) -> int:
        return sum(name.startswith("table") for name in self._ports)

    async def plan(self, table_ids: list[str]) -> list[str]:
        """Four lines for each table, one for each player: port, path, hello, and no opening."""
        lines = []
        for table_id in table_ids:
            port = self._ports[(await self._where(table_id)).split("-")[0]]
            for account in players_of(table_id):
                lines.append(f"{port}\t/play/tables/{table_id}/socket\t{self._hello(account)}\t")
        return lines

    def token(self, account: str) -> str:
        """Shows that somebody is this account."""
        return self._tokens.write(Claims(account_id=account, name=account.capitalize(), avatar="fox", role="player"))

    async def give_coins(self, table_id: str) -> None:
        """To those who are to play there."""
        for account in players_of(table_id):
            grant = GrantRequest(str(uuid4()), account, "new_account")
            await self._bus.request(subjects.WALLET_GRANT, grant, WalletAnswer, timeout_seconds=ANSWER_SECONDS_MAX)

    async def _open_table(self, bot_level: BotLevel) -> str:
        table_id = str(uuid4())
        await self.give_coins(table_id)
        terms = TableTerms("court_piece", {"trump": "hidden"}, SEATS, 25, 30, "public", bot_level)
        command = CreateTable(table_id, terms, Person(players_of(table_id)[0], "Ann", "fox"))
        subject = subjects.table_create(await self._where(table_id))
        await self._bus.request(subject, command, TableLook, timeout_seconds=ANSWER_SECONDS_MAX)
        return table_id

    async def _where(self, table_id: str) -> str:
        """The process that has the table; while nobody has, it is asked again."""
        async with asyncio.timeout(READY_SECONDS_MAX):
            while True:
                answer = await self._bus.request(
                    subjects.TABLE_WHERE, WhereRequest(table_id), WhereAnswer, timeout_seconds=ANSWER_SECONDS_MAX
                )
                if answer.process_id is not None:
                    return answer.process_id
                await asyncio.sleep(READY_POLL_SECONDS)

    def _hello(self, account: str) -> str:
        hello = {"type": "hello", "protocol": PROTOCOL, "token": self.token(account), "version": 0}
        return msgspec.json.encode(hello).decode()


def players_of(table_id: str) -> list[str]:
    """The accounts that play at a table."""
    return [f"{table_id[:8]}{seat}" for seat in range(SEATS)]


async def nothing(_darbar: Darbar) -> None:
    """Tables begin without a past."""


@asynccontextmanager
async def darbar(running: Servers, planted: Callable[[Darbar], Awaitable[None]] = nothing) -> AsyncIterator[Darbar]:
    """The real wallet and one table process, ready. `planted` is done before tables are loaded."""
    wallet_urls, table_urls = await running.database("wallet", "wallet"), await running.database("table", "tables")
    async with aiohttp.ClientSession() as session, AsyncExitStack() as ends:
        bus = await Bus.connect(running.nats_url, name="bench")
        ends.push_async_callback(bus.close)
        started = Darbar(running, session, bus, table_urls=table_urls)
        await ends.enter_async_context(started.wallet(wallet_urls))
        await planted(started)
        await ends.enter_async_context(started.table_process("table"))
        yield started


async def ready(started: subprocess.Popen[bytes], session: aiohttp.ClientSession, url: str, *, log: Path) -> None:
    """Waits until a process answers; raises with the end of its log when it doesn't."""
    with suppress(TimeoutError):
        async with asyncio.timeout(READY_SECONDS_MAX):
            while started.poll() is None:
                if await _answers(session, url):
                    return
                await asyncio.sleep(READY_POLL_SECONDS)
    raise RuntimeError(f"{url} is not ready: {log.read_text()[-2000:]}")


async def _answers(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as answered:
            return answered.status in (200, 404)
    except aiohttp.ClientError:
        return False
