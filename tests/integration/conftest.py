"""The server that all tests here share, and servers that a test may kill. Open this when one does not start."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from fault_stack import FaultStack, fault_stack
from whole_games import BACKOFF, OTHERS_MAY_ENTER, local_server, new_folder

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
    async with local_server(new_folder(stack_folder, "shared")) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def server_to_kill(stack_folder: Path) -> AsyncIterator[LocalServer]:
    """A server of the test's own."""
    async with local_server(new_folder(stack_folder, "to-kill")) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def server_behind_a_proxy(stack_folder: Path) -> AsyncIterator[LocalServer]:
    """A server of the test's own, which believes whoever connects that it asks for somebody else."""
    proxies = {
        f"DARBAR_{service}_TRUSTED_PROXIES": '["127.0.0.1"]' for service in ("LOBBY", "TABLE", "WALLET", "MEDIA")
    }
    async with local_server(new_folder(stack_folder, "behind-a-proxy"), proxies) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def darbar(server: LocalServer) -> AsyncIterator[Darbar]:
    async with Darbar(server.url, backoff=BACKOFF) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stack(stack_folder: Path) -> AsyncIterator[FaultStack]:
    """A whole product over servers that may be hurt; a module with other needs has its own."""
    async with fault_stack(stack_folder) as started:
        yield started


@pytest.fixture
async def guests(stack: FaultStack) -> AsyncIterator[Darbar]:
    """The way in to `stack`, once it is whole again."""
    await stack.ready()
    async with Darbar(stack.url, backoff=BACKOFF) as opened:
        yield opened
