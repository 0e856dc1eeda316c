"""Rows that stand beside the library eventsourcing on the same server. Open this when it does not start."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from statistics import median

from bench import stack
from bench.rows import Row, made
from bench.rules_peers import BENCH, PYTHON, installed

from darbar_kit.database.provision import provision

Measure = Callable[[], Awaitable[float]]


@asynccontextmanager
async def eventsourcing(servers: stack.Servers, what: str) -> AsyncIterator[Measure]:
    """Events a second of that library, measured when asked; `what` is append or rebuild. 0 where it can't be had."""
    if not installed("peers.sh", sys.executable):
        yield _nothing
        return
    urls = await provision(
        servers.admin_url, "eventsourcing", owner_password=stack.PASSWORD, service_password=stack.PASSWORD
    )
    command = (str(PYTHON), str(BENCH / "event_store.py"), what, urls.owner_url)
    running = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    asked, told = running.stdin, running.stdout
    assert asked is not None
    assert told is not None

    async def measure() -> float:
        asked.write(b"\n")
        return float(await told.readline() or 0)

    try:
        yield measure
    finally:
        asked.close()
        await running.wait()


async def _nothing() -> float:
    return 0.0


def beside_eventsourcing(name: str, ours: Row, theirs: list[float]) -> Row:
    """The figure of a row of ours beside the middle one of theirs. Without theirs the row has no reference."""
    reference = median(theirs)
    return made(
        name, ours.unit, value=ours.value, reference="eventsourcing 9.5.6", reference_value=reference, beside={}
    )
