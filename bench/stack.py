"""A whole Darbar for a measurement: servers, wallet and table in processes of their own. Open this to measure one."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO
from uuid import uuid4

import aiohttp
import msgspec

from darbar_contracts import subjects
from darbar_contracts.frames import PROTOCOL
from darbar_contracts.tables import CreateTable, Person, TableLook, TableTerms, WhereAnswer, WhereRequest
from darbar_contracts.wallet import GrantRequest, WalletAnswer
from darbar_kit.bus import Bus
from darbar_kit.database.migrate import migrate
from darbar_kit.database.provision import DatabaseUrls, provision
from darbar_kit.embedded import processes
from darbar_kit.embedded.kept import any_port
from darbar_kit.embedded.nats import NatsServer
from darbar_kit.embedded.postgres import PostgresServer
from darbar_kit.settings import environment
from darbar_kit.tokens import Claims, TokenWriter, new_private_key_pem, public_key_pem

ROOT = Path(__file__).resolve().parents[1]
HOST = "127.0.0.1"
SEATS = 4
READY_SECONDS_MAX = 60.0
READY_POLL_SECONDS = 0.05
ANSWER_SECONDS_MAX = 10.0
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
    """A program of ours; stopped at the end."""
    started = subprocess.Popen(
        [sys.executable, *command],
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

    def __init__(self, bus: Bus, tokens: TokenWriter, *, port: int, pids: dict[str, int], tables_url: str) -> None:
        self._bus = bus
        self._tokens = tokens
        self.port = port
        self.pids = pids
        self.tables_url = tables_url

    async def open_tables(self, count: int) -> list[str]:
        """Court Piece with a hidden trump; each line of the plan is one player's path and hello."""
        plan: list[str] = []
        for _ in range(count):
            plan += await self._open_table()
        return plan

    def token(self, account: str) -> str:
        """Shows that somebody is this account."""
        return self._tokens.write(Claims(account_id=account, name=account.capitalize(), avatar="fox", role="player"))

    async def _open_table(self) -> list[str]:
        table_id = str(uuid4())
        accounts = [f"{table_id[:8]}{seat}" for seat in range(SEATS)]
        for account in accounts:
            grant = GrantRequest(str(uuid4()), account, "new_account")
            await self._bus.request(subjects.WALLET_GRANT, grant, WalletAnswer, timeout_seconds=ANSWER_SECONDS_MAX)
        terms = TableTerms("court_piece", {"trump": "hidden"}, SEATS, 25, 30, "public", "normal")
        command = CreateTable(table_id, terms, Person(accounts[0], "Ann", "fox"))
        where = await self._bus.request(
            subjects.TABLE_WHERE, WhereRequest(table_id), WhereAnswer, timeout_seconds=ANSWER_SECONDS_MAX
        )
        subject = subjects.table_create(where.process_id or "nobody")
        await self._bus.request(subject, command, TableLook, timeout_seconds=ANSWER_SECONDS_MAX)
        return [f"/play/tables/{table_id}/socket\t{self._hello(account)}\t" for account in accounts]

    def _hello(self, account: str) -> str:
        hello = {"type": "hello", "protocol": PROTOCOL, "token": self.token(account), "version": 0}
        return msgspec.json.encode(hello).decode()


@asynccontextmanager
async def darbar(running: Servers) -> AsyncIterator[Darbar]:
    """The real wallet and one table process, ready."""
    private_key = new_private_key_pem()
    async with AsyncExitStack() as ends:
        session = await ends.enter_async_context(aiohttp.ClientSession())
        pids: dict[str, int] = {}
        ports: dict[str, int] = {}
        for service, database, extra in (("wallet", "wallet", WALLET_SETTINGS), ("table", "tables", TABLE_SETTINGS)):
            urls = await running.database(service, database)
            port = ports[service] = any_port(HOST)
            fields = {
                "DATABASE_URL": urls.service_url,
                "NATS_URL": running.nats_url,
                "TOKEN_PUBLIC_KEY": public_key_pem(private_key),
                **extra,
            }
            variables = {f"DARBAR_{service.upper()}_{name}": value for name, value in fields.items()}
            log = ends.enter_context((running.folder / f"{service}.log").open("ab"))
            command = ["-m", "bench.serve", service, str(port)]
            started = await ends.enter_async_context(process(command, log=log, variables=variables))
            await ready(started, session, f"http://{HOST}:{port}/readyz", log=Path(log.name))
            pids[service] = started.pid
        bus = await Bus.connect(running.nats_url, name="bench")
        ends.push_async_callback(bus.close)
        yield Darbar(
            bus,
            TokenWriter(private_key),
            port=ports["table"],
            pids={**pids, **running.pids},
            tables_url=urls.owner_url,
        )


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
