"""Starting and stopping a service. Open this when one leaves a port or a resource behind."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from darbar_kit.service import listen
from darbar_kit.testing import eventually

PROGRAM = """
import sys
from pathlib import Path
from aiohttp import web
from darbar_kit.service import run

def build_app(notes: Path) -> web.Application:
    async def resource(app):
        notes.joinpath("started").touch()
        yield
        notes.joinpath("closed").touch()
    app = web.Application()
    app.cleanup_ctx.append(resource)
    return app

run(build_app, Path(sys.argv[1]), host="127.0.0.1", port=0)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_a_service_cleanly(tmp_path: Path, number: int) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, str(tmp_path))
    await eventually((tmp_path / "started").exists)

    process.send_signal(number)

    assert await asyncio.wait_for(process.wait(), timeout=10) == 0
    assert (tmp_path / "closed").exists()


async def test_a_port_that_is_taken_leaves_nothing_started() -> None:
    steps: list[str] = []

    async def resource(_app: web.Application) -> AsyncIterator[None]:
        steps.append("opened")
        yield
        steps.append("closed")

    first = await listen(web.Application(), host="127.0.0.1", port=0)
    port = first.addresses[0][1]
    second = web.Application()
    second.cleanup_ctx.append(resource)

    with pytest.raises(OSError, match="in use"):
        await listen(second, host="127.0.0.1", port=port)

    assert steps == ["opened", "closed"]
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/") as answered:
        assert answered.status == 404
    await first.cleanup()
