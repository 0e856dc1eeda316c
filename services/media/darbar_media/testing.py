"""Media for tests: started whole, with a clock that can be turned. Open this when a test needs a voice note."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from darbar_media.app import CLOCK, Clock, build_app
from darbar_media.settings import Settings

HttpClient: TypeAlias = "TestClient[web.Request, web.Application]"


class TurnedClock(Clock):
    """The time of day, moved forward."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@asynccontextmanager
async def running(settings: Settings, now: TurnedClock | None = None) -> AsyncIterator[HttpClient]:
    """The service, as its own process would run it."""
    app = build_app(settings)
    if now is not None:
        app[CLOCK] = now
    client = TestClient(TestServer(app))
    await client.start_server()
    try:
        yield client
    finally:
        await client.close()
