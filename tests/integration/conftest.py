"""The server that all tests here share, and servers that a test may kill. Open this when one does not start."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from whole_games import BACKOFF, OTHERS_MAY_ENTER, SETTINGS, new_folder

from darbar_client import Darbar
from darbar_client.demo.local_server import LocalServer

Count = Callable[[str], None]


@pytest.fixture
def count(record_property: Callable[[str, object], None]) -> Count:
    """Tells at the end of the run what a test has counted: a check that looked at nothing proves nothing."""
    return lambda line: record_property("count", line)


@pytest.fixture(scope="session")
def stack_folder() -> Iterator[Path]:
    """Not below pytest's own folder, which the user of PostgreSQL may not enter."""
    folder = Path(tempfile.mkdtemp(prefix="darbar-stack-"))
    folder.chmod(OTHERS_MAY_ENTER)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server(stack_folder: Path) -> AsyncIterator[LocalServer]:
    """Everything in one process, as `make run` starts it."""
    started = LocalServer(new_folder(stack_folder, "shared"), settings=SETTINGS)
    await started.start()
    try:
        yield started
    finally:
        await started.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def server_to_kill(stack_folder: Path) -> AsyncIterator[LocalServer]:
    """A server of the test's own. Whatever the test did to it, its children are gone afterwards."""
    started = LocalServer(new_folder(stack_folder, "to-kill"), settings=SETTINGS)
    await started.start()
    try:
        yield started
    finally:
        if not started.is_running:
            # Only a new start finds the PostgreSQL and NATS that a killed one left behind.
            await started.start()
        await started.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def server_behind_a_proxy(stack_folder: Path) -> AsyncIterator[LocalServer]:
    """A server of the test's own, which believes whoever connects that it asks for somebody else."""
    proxies = {f"DARBAR_{service}_TRUSTED_PROXIES": '["127.0.0.1"]' for service in ("LOBBY", "TABLE", "WALLET")}
    started = LocalServer(new_folder(stack_folder, "behind-a-proxy"), settings={**SETTINGS, **proxies})
    await started.start()
    try:
        yield started
    finally:
        await started.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def darbar(server: LocalServer) -> AsyncIterator[Darbar]:
    async with Darbar(server.url, backoff=BACKOFF) as opened:
        yield opened
