"""Starts again what has ended by itself or can't be helped. Open this when something stays away or keeps ending.

Each server and each service has a task of the kit's supervisor, which waits longer after each failure, logs it and
counts it. What is lost is started where it was, with the data and the address it had, so that everybody finds it.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

import aiohttp
import structlog
from aiohttp import web
from prometheus_client import CollectorRegistry

from darbar_kit.embedded.nats import NatsFailed
from darbar_kit.embedded.postgres import PostgresFailed
from darbar_kit.errors import KitReason, Unavailable
from darbar_kit.supervisor import Supervisor
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.gateway import origin

# A service that says so often in a row that only a new process helps it gets one.
FAILING_MAX = 3
# As a start may take; one that has answered and is silent for so long will not come back.
SILENT_SECONDS_MAX = 60.0
PROBE_SECONDS = 1.0
PAUSE_SECONDS_MAX = 10.0
WATCH_SECONDS = 1.0
# Of metrics, and of what is missing.
NAME = "local"

_log = structlog.get_logger()


class Restartable(Protocol):
    """A server, a service process, or the services of this process."""

    async def until_lost(self) -> str:
        """Waits until it has ended, or has been stopped because it can't be helped; says why."""

    async def start_again(self) -> None:
        """Raises Unavailable, Failure, PostgresFailed or NatsFailed where it has to be tried again."""


class Restarts:
    """Watches what was started, from the moment when all of it is ready."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._supervisor = Supervisor(NAME, self.registry)

    def missing(self) -> list[str]:
        """What doesn't run at this moment, or keeps ending."""
        return [f"{NAME}: {thing}" for thing in self._supervisor.not_ready()]

    async def watch(self, started: Mapping[str, Restartable]) -> None:
        """Until it is cancelled."""
        for name, one in started.items():
            self._supervisor.watch(name, _Rounds(name, one).run, pause_seconds_max=PAUSE_SECONDS_MAX)
        async with asynccontextmanager(self._supervisor.context)(web.Application()):
            while True:
                await asyncio.sleep(WATCH_SECONDS)
                if dead := self._supervisor.not_healthy():
                    raise Failure(ExitCode.BUG, f"nobody watches any more: {', '.join(dead)}")


class _Rounds:
    """A task of the supervisor: one round a life."""

    def __init__(self, name: str, one: Restartable) -> None:
        self._name = name
        self._one = one
        self._is_lost = False

    async def run(self) -> None:
        if self._is_lost:
            try:
                await self._one.start_again()
            except (Failure, PostgresFailed, NatsFailed) as error:
                raise Unavailable(KitReason.UNAVAILABLE, str(error)) from error
            self._is_lost = False
            _log.info("started_again", name=self._name)
        reason = await self._one.until_lost()
        self._is_lost = True
        raise Unavailable(KitReason.UNAVAILABLE, f"{self._name}: {reason}")


async def until_failing(base_url: str, *, has_ended: Callable[[], bool]) -> str:
    """Waits until the service at this address says that it can't be helped, or is silent; says which, and nothing when
    it has ended before."""
    failing, answered_at = 0, time.monotonic()
    async with aiohttp.ClientSession() as session:
        while not has_ended():
            said = await origin.ask(session, f"{base_url}/healthz")
            if said is not None:
                answered_at = time.monotonic()
                failing = failing + 1 if said else 0
            if failing >= FAILING_MAX:
                return f"it says that it can't go on: {', '.join(said or [])}"
            if time.monotonic() - answered_at > SILENT_SECONDS_MAX:
                return f"it has been silent for {SILENT_SECONDS_MAX:.0f} s"
            await asyncio.sleep(PROBE_SECONDS)
    return ""
