"""Starting and stopping a service. Open this when one leaves a port or a resource behind."""

import asyncio
import errno
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import asyncpg
import pytest
import structlog
from aiohttp import web
from aiohttp.web_app import CleanupError

from darbar_kit.database import DatabaseAway
from darbar_kit.service import CannotListen, clean_up, listen, reserve
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


async def test_an_app_that_cannot_start_leaves_nothing_behind() -> None:
    steps: list[str] = []

    async def good(_app: web.Application) -> AsyncIterator[None]:
        steps.append("opened")
        yield
        steps.append("closed")

    async def bad(_app: web.Application) -> AsyncIterator[None]:
        if steps:
            raise ConnectionError("no database")
        yield

    app = web.Application()
    app.cleanup_ctx.extend([good, bad])
    reserved = reserve("127.0.0.1", 0)

    with pytest.raises(ConnectionError):
        await listen(app, reserved)

    assert steps == ["opened", "closed"]
    assert reserved.fileno() == -1


@pytest.mark.parametrize(
    "failures",
    [[DatabaseAway("gone")], [ConnectionRefusedError(111, "refused"), asyncpg.InterfaceError("pool is closing")]],
)
async def test_a_stop_while_a_server_is_away_is_told_without_a_traceback(
    failures: list[Exception],
) -> None:
    runner = await listen(failing_at_its_end(*failures), reserve("127.0.0.1", 0))

    with structlog.testing.capture_logs() as logs:
        await clean_up(runner)

    assert [(line["event"], len(line["reasons"])) for line in logs] == [("cleanup_interrupted", len(failures))]


async def test_a_fault_of_ours_at_a_stop_is_raised() -> None:
    runner = await listen(failing_at_its_end(DatabaseAway("gone"), KeyError("ours")), reserve("127.0.0.1", 0))

    with pytest.raises(CleanupError, match="Multiple"):
        await clean_up(runner)


def failing_at_its_end(*failures: Exception) -> web.Application:
    app = web.Application()
    for failure in failures:

        async def opened(_app: web.Application, failure: Exception = failure) -> AsyncIterator[None]:
            yield
            raise failure

        app.cleanup_ctx.append(opened)
    return app


def test_a_port_that_is_taken_is_refused_at_once() -> None:
    with reserve("127.0.0.1", 0) as first, pytest.raises(CannotListen, match="in use") as caught:
        reserve("127.0.0.1", first.getsockname()[1])
    assert caught.value.errno == errno.EADDRINUSE


@pytest.mark.parametrize("host", ["nowhere.invalid", "192.0.2.1", "fe80::1", "ü" * 70])
def test_an_address_of_no_machine_or_of_another_one_is_refused(host: str) -> None:
    with pytest.raises(CannotListen, match=f"can't listen on {host}:0 ") as caught:
        reserve(host, 0)
    assert caught.value.errno not in (errno.EADDRINUSE, None)


async def test_who_comes_before_the_start_is_answered_after_it() -> None:
    reserved = reserve("127.0.0.1", 0)
    port = reserved.getsockname()[1]
    async with aiohttp.ClientSession() as session:
        early = asyncio.create_task(session.get(f"http://127.0.0.1:{port}/"))
        await asyncio.sleep(0)

        runner = await listen(web.Application(), reserved)

        assert (await asyncio.wait_for(early, timeout=10)).status == 404
    await runner.cleanup()
