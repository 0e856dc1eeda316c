"""A scripted server and a client of it. Open this when a test of the client needs another backoff."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from client_doubles import ScriptedServer, site_url

from darbar_client import Backoff, Darbar, Player, TableSocket

QUICK_BACKOFF = Backoff(
    http_seconds=5.0, socket_seconds=10.0, command_seconds=10.0, pause_seconds_min=0.001, pause_seconds_max=0.01
)


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    scripted = ScriptedServer()
    runner = web.AppRunner(scripted.app(), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    scripted.url = site_url(runner)
    yield scripted
    await runner.cleanup()
    assert scripted.undocumented == []


@pytest.fixture
async def darbar(server: ScriptedServer) -> AsyncIterator[Darbar]:
    async with Darbar(server.url, backoff=QUICK_BACKOFF) as opened:
        yield opened


@pytest.fixture
async def amina(darbar: Darbar) -> Player:
    return await darbar.guest("Amina")


@pytest.fixture
async def table(amina: Player) -> AsyncIterator[TableSocket]:
    ref = await amina.create_table("court_piece")
    async with await amina.join(ref, fair=False) as joined:
        yield joined
