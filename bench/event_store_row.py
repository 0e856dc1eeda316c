"""Rows that stand beside the library eventsourcing on the same server. Open this when it does not start."""

from __future__ import annotations

import asyncio
import sys

from bench import stack
from bench.rows import Row, made
from bench.rules_peers import BENCH, PYTHON, installed

from darbar_kit.database.provision import provision


async def beside_eventsourcing(servers: stack.Servers, what: str, *, name: str, unit: str, value: float) -> Row:
    """`what` is append or rebuild. Where the library can't be installed, the row has no reference and is not met."""
    reference = await _events_a_second(servers, what) if installed("peers.sh", sys.executable) else 0.0
    return made(name, unit, value=value, reference="eventsourcing 9.5.6", reference_value=reference, beside={})


async def _events_a_second(servers: stack.Servers, what: str) -> float:
    urls = await provision(
        servers.admin_url, "eventsourcing", owner_password=stack.PASSWORD, service_password=stack.PASSWORD
    )
    command = (str(PYTHON), str(BENCH / "event_store.py"), what, urls.owner_url)
    running = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    said, _ = await running.communicate()
    return float(said) if running.returncode == 0 else 0.0
