"""Tables go from this version's process to one of the version before and back, as while a cluster is brought forward.

The version before is the commit before this one, or what DARBAR_TEST_BEFORE names; its code runs beside ours over the
same servers, with the packages that are installed for ours.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec
import psutil  # type: ignore[import-untyped,unused-ignore]
import pytest
import pytest_asyncio
from fault_stack import FaultStack, fault_stack
from long_games import long_table, moved_on, played

from darbar_client import Darbar
from darbar_client.demo.local_server import free_port
from darbar_kit.settings import environment, load
from darbar_kit.testing import eventually

ROOT = Path(__file__).parents[2]
TABLES = 4
HANDED_OVER_SECONDS_MAX = 40.0
GIT_SECONDS_MAX = 30.0
PYTHON = (sys.executable, "-P")
PACKAGES = ("libs/*", "services/*", "deploy/local")
Count = Callable[[str], None]


class BeforeSettings(msgspec.Struct, frozen=True, kw_only=True):
    before: str = "HEAD~1"


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> str:
    """PYTHONPATH with the packages of that commit."""
    name = load(BeforeSettings, prefix="DARBAR_TEST_").before
    packed = subprocess.run(
        ["git", "archive", name, "libs", "services", "deploy", "docs/rules"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=GIT_SECONDS_MAX,
    )
    if packed.returncode:
        pytest.skip(f"there is no commit {name} here: {packed.stderr.decode().strip()}")
    folder = tmp_path_factory.mktemp("before")
    unpack = ["tar", "--extract", "--directory", str(folder)]
    subprocess.run(unpack, input=packed.stdout, check=True, timeout=GIT_SECONDS_MAX)
    path = os.pathsep.join(str(found) for pattern in PACKAGES for found in folder.glob(pattern) if found.is_dir())
    said = subprocess.run(
        [*PYTHON, "-c", "import darbar_table, darbar_local; print(darbar_table.__file__, darbar_local.__file__)"],
        env=environment() | {"PYTHONPATH": path},
        capture_output=True,
        check=True,
        text=True,
        timeout=GIT_SECONDS_MAX,
    )
    assert said.stdout.count(str(folder)) == 2, "it is the other tree's code that runs"
    return path


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stack(stack_folder: Path) -> AsyncIterator[FaultStack]:
    arguments = ("--processes", "--tables", "1")
    async with fault_stack(stack_folder, *arguments, table_better_place_seconds="1") as started:
        yield started


async def test_tables_are_handed_to_the_version_before_and_back_and_no_move_is_refused(
    stack: FaultStack, guests: Darbar, before: str, count: Count
) -> None:
    tables = [await long_table(guests, seed=seed) for seed in range(TABLES)]
    async with played(tables), _process_with(before, stack) as older:
        await eventually(lambda: _owned_by(stack, older.address), seconds=HANDED_OVER_SECONDS_MAX)
        await moved_on(tables)

        _child(stack).send_signal(signal.SIGTERM)
        await eventually(lambda: _all_owned_by(stack, older.address), seconds=HANDED_OVER_SECONDS_MAX)
        await moved_on(tables)

        await stack.ready()
        older.process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(older.process.wait(), HANDED_OVER_SECONDS_MAX) == 0
        await eventually(partial(_none_owned_by, stack, older.address), seconds=HANDED_OVER_SECONDS_MAX)
        await moved_on(tables)
    events = sum([await table.proven() for table in tables])
    count(f"{TABLES} tables handed to the commit before this one and back, {events} events proven")


class Older:
    def __init__(self, process: asyncio.subprocess.Process, address: str) -> None:
        self.process = process
        self.address = address


@asynccontextmanager
async def _process_with(path: str, stack: FaultStack) -> AsyncIterator[Older]:
    """A table process of that tree, with the settings of ours but for its address."""
    port = free_port()
    address = f"127.0.0.1:{port}"
    variables = _child(stack).environ() | {"PYTHONPATH": path, "DARBAR_TABLE_PROCESS_ADDRESS": address}
    process = await asyncio.create_subprocess_exec(
        *PYTHON, "-m", "darbar_local", "serve", "table", "--port", str(port), env=variables
    )
    try:
        yield Older(process, address)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _child(stack: FaultStack) -> psutil.Process:
    assert stack.run is not None
    return stack.run.children()["table-1"]


async def _shards(stack: FaultStack) -> list[str | None]:
    """The address of the owner of each shard."""
    rows = await stack.stored.ask(
        "tables", "SELECT p.address FROM shard s LEFT JOIN table_process p USING (process_id)"
    )
    return [row["address"] for row in rows]


async def _owned_by(stack: FaultStack, address: str) -> bool:
    return address in await _shards(stack)


async def _all_owned_by(stack: FaultStack, address: str) -> bool:
    return set(await _shards(stack)) == {address}


async def _none_owned_by(stack: FaultStack, address: str) -> bool:
    owners = set(await _shards(stack))
    return address not in owners and None not in owners
