"""A wallet over real servers. Open this when a fixture of the wallet's tests isn't found."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeAlias

import asyncpg
import pytest_asyncio

import darbar_wallet
from darbar_kit.bus import Bus
from darbar_kit.testing import MakeDatabase, TestDatabase, eventually
from darbar_kit.tokens import new_private_key_pem, public_key_pem
from darbar_wallet.settings import Settings
from darbar_wallet.testing import HttpClient, is_ready, running

MIGRATIONS = Path(darbar_wallet.__file__).parent / "migrations"

StartWallet: TypeAlias = Callable[[Settings], Awaitable[HttpClient]]


@pytest_asyncio.fixture(loop_scope="session")
async def database(make_database: MakeDatabase) -> TestDatabase:
    """A fresh ledger, as the service's role."""
    return await make_database("wallet", MIGRATIONS)


@pytest_asyncio.fixture(loop_scope="session")
async def ledger(database: TestDatabase) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """A connection with the service's rights."""
    connection = await asyncpg.connect(database.url)
    yield connection
    await connection.close()


@pytest_asyncio.fixture(loop_scope="session")
async def bus(nats_server: str) -> AsyncIterator[Bus]:
    """Another service's connection to NATS."""
    bus = await Bus.connect(nats_server, name="test")
    yield bus
    await bus.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def token_key() -> str:
    """The lobby's private key."""
    return new_private_key_pem()


@pytest_asyncio.fixture(loop_scope="session")
async def settings(database: TestDatabase, nats_server: str, token_key: str) -> Settings:
    return Settings(
        database_url=database.url,
        nats_url=nats_server,
        token_public_key=public_key_pem(token_key),
        unsafe_storage=True,
    )


@pytest_asyncio.fixture(loop_scope="session")
async def start_wallet() -> AsyncIterator[StartWallet]:
    """Starts wallets that end with the test; waits until somebody writes."""
    async with AsyncExitStack() as stack:

        async def start(settings: Settings) -> HttpClient:
            client = await stack.enter_async_context(running(settings))
            await eventually(lambda: is_ready(client))
            return client

        yield start


@pytest_asyncio.fixture(loop_scope="session")
async def wallet(settings: Settings, start_wallet: StartWallet) -> HttpClient:
    """One wallet that writes."""
    return await start_wallet(settings)
