"""A whole table service over real servers, as fixtures."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import pytest
import pytest_asyncio
from table_doubles import Lobby, WalletDouble
from table_stack import Stack, StartTable

from darbar_kit.bus import Bus
from darbar_kit.service import listen, reserve
from darbar_kit.testing import MakeDatabase, TestDatabase
from darbar_kit.tokens import TokenWriter, new_private_key_pem, public_key_pem
from darbar_table.app import SERVICE, build_app
from darbar_table.settings import Settings

MIGRATIONS = Path(str(resources.files("darbar_table"))) / "migrations"
PRIVATE_KEY = new_private_key_pem()
# Nobody thinks or looks on here; a test that is about such a time says how long it is.
QUICK: dict[str, Any] = {
    "bot_pause_seconds_min": 0.0,
    "bot_pause_seconds_max": 0.0,
    "seeds_open_seconds": 0.05,
    "frames_a_second_max": 1000,
}


@pytest_asyncio.fixture(loop_scope="session")
async def table_database(make_database: MakeDatabase) -> TestDatabase:
    return await make_database("tables", MIGRATIONS)


@pytest_asyncio.fixture(loop_scope="session")
async def bus(nats_server: str) -> AsyncIterator[Bus]:
    connected = await Bus.connect(nats_server, name="tests")
    yield connected
    await connected.close()


@pytest_asyncio.fixture(loop_scope="session")
async def start_table(table_database: TestDatabase, nats_server: str, bus: Bus) -> AsyncIterator[StartTable]:
    """Start a table service with these settings; stopped at the end of the test."""
    async with starting(str(table_database), nats_server, bus) as start:
        yield start


@asynccontextmanager
async def starting(database_url: str, nats_server: str, bus: Bus) -> AsyncIterator[StartTable]:
    """Starts table services; they are stopped at the end."""
    async with AsyncExitStack() as ends:
        session = await ends.enter_async_context(aiohttp.ClientSession())

        async def start(*, fresh_seed: Callable[[], str] | None = None, **changes: Any) -> Stack:
            nats_url = changes.pop("nats_url", nats_server)
            neighbours = bus
            if nats_url != nats_server:
                neighbours = await Bus.connect(nats_url, name="tests")
                ends.push_async_callback(neighbours.close)
            wallet = WalletDouble()
            await wallet.serve(neighbours)
            settings = Settings(
                database_url=changes.pop("database_url", database_url),
                nats_url=nats_url,
                token_public_key=public_key_pem(PRIVATE_KEY),
                unsafe_storage=True,
                **{**QUICK, **changes},
            )
            app = build_app(settings)
            app[SERVICE].fresh_seed = fresh_seed or app[SERVICE].fresh_seed
            runner = await listen(app, reserve("127.0.0.1", 0))
            stack = Stack(
                settings=settings,
                runner=runner,
                lobby=Lobby(neighbours, TokenWriter(PRIVATE_KEY), session),
                wallet=wallet,
            )
            ends.push_async_callback(_stop, stack)
            return stack

        yield start


async def _stop(stack: Stack) -> None:
    try:
        for player in stack.players:
            await player.close()
    finally:
        await stack.runner.cleanup()
        # Who is still held would keep the bus from closing for as long as it waits for anybody.
        stack.wallet.release()


@pytest.fixture
def table_id() -> str:
    return str(uuid4())
