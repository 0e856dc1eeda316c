"""How the demo finds a server. Open this when it starts one of its own beside one that runs."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from darbar_client.demo.local_server import ServerFailed, free_port, missing_at, until_ready


@asynccontextmanager
async def answering(*answers: tuple[int, str]) -> AsyncIterator[str]:
    """Its address; /readyz gives these answers, the last one for ever."""
    left = list(answers)

    async def readyz(_request: web.Request) -> web.Response:
        status, text = left.pop(0) if len(left) > 1 else left[0]
        return web.Response(status=status, text=text)

    app = web.Application()
    app.add_routes([web.get("/readyz", readyz)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield "http://{}:{}".format(*runner.addresses[0])
    await runner.cleanup()


READY = (200, '{"status": "ready", "missing": []}')


def waiting(*missing: str) -> tuple[int, str]:
    names = ", ".join(f'"{name}"' for name in missing)
    return 503, f'{{"status": "waiting", "missing": [{names}]}}'


async def test_a_server_that_is_ready_is_used_without_a_word() -> None:
    told: list[str] = []
    async with answering(READY) as url:
        assert await until_ready(url, tell=told.append)
    assert told == []


async def test_a_server_that_is_not_ready_is_waited_for_and_what_it_waits_for_is_told_once() -> None:
    told: list[str] = []
    lobby, both = waiting("lobby: milestones"), waiting("lobby: milestones", "table: lease")
    async with answering(lobby, lobby, both, READY) as url:
        assert await until_ready(url, tell=told.append)
    assert told == [
        f"Waiting for the server on {url}: lobby: milestones is missing",
        f"Waiting for the server on {url}: lobby: milestones, table: lease is missing",
    ]


async def test_a_server_that_is_never_ready_is_given_up_with_what_it_lacks() -> None:
    async with answering(waiting("wallet: database")) as url:
        with pytest.raises(ServerFailed, match="wallet: database"):
            await until_ready(url, tell=lambda _: None, seconds=0.0)


async def test_a_port_that_is_taken_by_a_server_that_does_not_answer_yet_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}"
        assert await missing_at(url, seconds=0.1) == ("an answer",)


@pytest.mark.parametrize("other", [(404, "Not Found"), (200, "<html>"), (200, '{"ok": 1}')])
async def test_where_something_else_listens_there_is_no_darbar(other: tuple[int, str]) -> None:
    async with answering(other) as url:
        assert not await until_ready(url, tell=lambda _: None)


async def test_where_nobody_listens_there_is_no_darbar() -> None:
    assert not await until_ready(f"http://127.0.0.1:{free_port()}", tell=lambda _: None)
