"""Children, services and views for the bot's tests. Open this when a fixture of them goes wrong."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import msgspec
import pytest
import pytest_asyncio
from aiohttp import web
from prometheus_client import CollectorRegistry

from darbar_bot.app import RESTART_SECONDS_MAX, build_app
from darbar_bot.engine.workers import CHILD_COMMAND, Workers
from darbar_bot.settings import Settings
from darbar_bots.any_legal import AnyLegal
from darbar_bots.duels import play
from darbar_contracts.bots import BotRequest
from darbar_kit.bus import Bus
from darbar_kit.service import listen, reserve
from darbar_kit.supervisor import Supervisor
from darbar_kit.testing import eventually
from darbar_rules.games import BY_NAME
from darbar_rules.games.court_piece.options import CourtPieceOptions

STUBBORN_CHILD = (sys.executable, "-P", str(Path(__file__).parent / "stubborn_child.py"))

# Machines that run tests are busy with other tests.
ANSWER_SECONDS = 30.0

MakeRequest: TypeAlias = Callable[..., BotRequest]
Service: TypeAlias = tuple[web.Application, str]
Ended: TypeAlias = Callable[[], int]
StartWorkers: TypeAlias = Callable[..., Awaitable[tuple[Workers, Ended]]]


@pytest.fixture(scope="session")
def views() -> list[Any]:
    """What seats saw in a round that chance played, whenever they had to decide."""
    seen: list[Any] = []
    game = BY_NAME["court_piece"]
    anybody = AnyLegal(game, Random(7))
    play(game, CourtPieceOptions(), [anybody] * 4, seed=7, look=lambda view, _: seen.append(view))
    return seen


@pytest.fixture
def request_of() -> MakeRequest:
    """The request that a table would send for a view."""

    def make(view: Any, *, level: str = "normal") -> BotRequest:
        return BotRequest("court_piece", level, view.seat, msgspec.Raw(msgspec.json.encode(view)))

    return make


@pytest_asyncio.fixture(loop_scope="session")
async def start_workers() -> AsyncIterator[StartWorkers]:
    """Starts children that end with the test; gives them, and how many have ended."""
    async with AsyncExitStack() as stack:

        async def start(count: int = 1, *, command: Sequence[str] = CHILD_COMMAND) -> tuple[Workers, Ended]:
            workers = Workers(answer_seconds_max=ANSWER_SECONDS, command=command)
            ended = await stack.enter_async_context(kept_alive(workers, count))
            await eventually(lambda: workers.ready == count, seconds=ANSWER_SECONDS)
            return workers, ended

        yield start


@pytest_asyncio.fixture(loop_scope="session")
async def service(nats_server: str) -> AsyncIterator[Service]:
    """The whole service and its address, at the moment its port is open."""
    async with _listening(nats_server) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def second_service(nats_server: str) -> AsyncIterator[Service]:
    """Another process of the service."""
    async with _listening(nats_server) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def bus(nats_server: str) -> AsyncIterator[Bus]:
    """A table's connection to NATS."""
    bus = await Bus.connect(nats_server, name="test")
    yield bus
    await bus.close()


@asynccontextmanager
async def kept_alive(workers: Workers, count: int) -> AsyncIterator[Ended]:
    """As in the service."""
    registry = CollectorRegistry()
    supervisor = Supervisor("bot", registry)
    for number in range(count):
        supervisor.watch(f"child_{number}", workers.live, pause_seconds_max=RESTART_SECONDS_MAX)
    names = [{"task": f"child_{number}"} for number in range(count)]
    keeping = asynccontextmanager(supervisor.context)
    async with keeping(web.Application()):
        yield lambda: int(sum(registry.get_sample_value("bot_task_restarts_total", name) or 0 for name in names))


@asynccontextmanager
async def _listening(nats_url: str) -> AsyncIterator[Service]:
    app = build_app(Settings(nats_url=nats_url, answer_seconds_max=ANSWER_SECONDS))
    reserved = reserve("127.0.0.1", 0)
    url = f"http://127.0.0.1:{reserved.getsockname()[1]}"
    runner = await listen(app, reserved)
    yield app, url
    await runner.cleanup()
