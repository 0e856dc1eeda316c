"""Servers and databases for tests, as a pytest plugin. Open this when a test needs a real one.

The servers are the embedded ones, started once for each run (for each worker under xdist). With
DARBAR_TEST_CONTAINERS=1 they are containers instead.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Protocol

import asyncpg
import msgspec
import pytest
import pytest_asyncio

from darbar_kit.database.migrate import migrate, read_folder
from darbar_kit.database.provision import ensure_role, owner_role, service_role, url_for
from darbar_kit.embedded.nats import NatsServer
from darbar_kit.embedded.nats_rights import Permissions
from darbar_kit.embedded.postgres import PostgresServer
from darbar_kit.settings import load
from darbar_kit.testing.folders import FOLDER_PREFIX, lock_folder, remove_abandoned
from darbar_kit.testing.waiting import POLL_SECONDS

FILE_STORE_BYTES_MAX = 1024**3
COPY_ATTEMPTS_MAX = 50
REMOVE = "/bin/rm"
_ROLE_PASSWORD = "only-for-tests"


class TestSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the environment says about test runs."""

    __test__ = False  # Not a class of tests, whatever its name says.
    containers: bool = False


class TestDatabase(str):
    """The URL of the service role of a fresh database; `owner_url` may change its tables."""

    __test__ = False  # Not a class of tests, whatever its name says.
    __slots__ = ("owner_url",)
    owner_url: str

    def __new__(cls, url: str, owner_url: str) -> TestDatabase:
        made = super().__new__(cls, url)
        made.owner_url = owner_url
        return made

    @property
    def url(self) -> str:
        return str(self)


class MakeDatabase(Protocol):
    """`await make_database("tables", folder)`: a database of its own, already migrated, with its two roles."""

    async def __call__(self, name_prefix: str, migrations_folder: Path) -> TestDatabase: ...


class MakeNats(Protocol):
    """`await make_nats({"lobby": Permissions(...)})`: a NATS server of its own with these users."""

    async def __call__(self, users: Mapping[str, Permissions]) -> NatsServer: ...


@pytest.fixture(scope="session")
def servers_folder() -> Iterator[Path]:
    """Where this run's servers live: not below pytest's own folder, which the user of PostgreSQL may not enter."""
    remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
    folder.chmod(0o711)
    lock = lock_folder(folder)
    try:
        yield folder
    finally:
        if lock is not None:
            os.close(lock)
        # Tens of thousands of small files: nobody waits for that. What it doesn't manage, the next run removes.
        os.posix_spawn(REMOVE, [REMOVE, "-rf", str(folder)], {}, setsid=True)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def postgres_server(servers_folder: Path) -> AsyncIterator[str]:
    """The admin's URL of a PostgreSQL which is fast and forgets on a power cut."""
    if load(TestSettings, prefix="DARBAR_TEST_").containers:
        from darbar_kit.testing import containers  # Only then: it needs a client for Docker.

        with containers.postgres() as url:
            yield url
        return
    server = PostgresServer(servers_folder / "postgres", unsafe=True)
    url = await server.start()
    try:
        yield url
    finally:
        await server.stop()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def nats_server(servers_folder: Path) -> AsyncIterator[str]:
    """The URL of a NATS server with JetStream, for a user who may do everything."""
    if load(TestSettings, prefix="DARBAR_TEST_").containers:
        from darbar_kit.testing import containers  # Only then: it needs a client for Docker.

        with containers.nats() as url:
            yield url
        return
    server = NatsServer(servers_folder / "nats", file_store_bytes_max=FILE_STORE_BYTES_MAX)
    url = await server.start()
    try:
        yield url
    finally:
        await server.stop()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def make_nats(servers_folder: Path) -> AsyncIterator[MakeNats]:
    """A factory of NATS servers with given users, for tests of rights."""
    servers: list[NatsServer] = []

    async def make(users: Mapping[str, Permissions]) -> NatsServer:
        server = NatsServer(
            servers_folder / f"nats-{len(servers)}", users=users, file_store_bytes_max=FILE_STORE_BYTES_MAX
        )
        servers.append(server)
        await server.start()
        return server

    yield make
    for server in servers:
        await server.stop()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def make_database(postgres_server: str) -> AsyncIterator[MakeDatabase]:
    """A factory of databases. Each folder of migrations is applied once; databases are copies of that."""
    admin = await asyncpg.connect(postgres_server)
    maker = _DatabaseMaker(admin, postgres_server)
    yield maker
    await admin.close()


def _roles(name_prefix: str) -> tuple[str, str]:
    """Of their own: a test that starts all of Darbar on this server gives the usual ones other passwords."""
    return owner_role(f"test_{name_prefix}"), service_role(f"test_{name_prefix}")


class _DatabaseMaker:
    def __init__(self, admin: asyncpg.Connection[asyncpg.Record], admin_url: str) -> None:
        self._admin = admin
        self._admin_url = admin_url
        self._templates: set[str] = set()
        self._lock = asyncio.Lock()

    async def __call__(self, name_prefix: str, migrations_folder: Path) -> TestDatabase:
        owner, service = _roles(name_prefix)
        database = f"{name_prefix}_{secrets.token_hex(6)}"
        async with self._lock:
            template = await self._template(name_prefix, migrations_folder)
            await self._copy(template, database, owner)
            await self._admin.execute(f"GRANT CONNECT ON DATABASE {database} TO {service}")
        return TestDatabase(self._url(database, service), self._url(database, owner))

    async def _template(self, name_prefix: str, folder: Path) -> str:
        content = "\n".join(f"{migration.name} {migration.sha256}" for migration in read_folder(folder))
        template = f"{name_prefix}_template_{hashlib.sha256(content.encode()).hexdigest()[:12]}"
        if template not in self._templates:
            owner, service = _roles(name_prefix)
            await ensure_role(self._admin, owner, _ROLE_PASSWORD)
            await ensure_role(self._admin, service, _ROLE_PASSWORD)
            await self._copy("template0", template, owner)
            try:
                await migrate(self._url(template, owner), folder, service_role=service)
            except BaseException:
                # Else the next test would meet half a template, and not the reason.
                await self._admin.execute(f"DROP DATABASE {template} WITH (FORCE)")
                raise
            self._templates.add(template)
        return template

    async def _copy(self, template: str, database: str, owner: str) -> None:
        for attempt in range(COPY_ATTEMPTS_MAX):
            try:
                await self._admin.execute(f"CREATE DATABASE {database} OWNER {owner} TEMPLATE {template}")
                await self._admin.execute(f"REVOKE ALL ON DATABASE {database} FROM PUBLIC")
                return
            except asyncpg.ObjectInUseError:
                # The session that migrated the template has been closed, but its server process hasn't quite ended.
                if attempt == COPY_ATTEMPTS_MAX - 1:
                    raise
                await asyncio.sleep(POLL_SECONDS)

    def _url(self, database: str, role: str) -> str:
        return url_for(self._admin_url, database=database, user=role, password=_ROLE_PASSWORD)
