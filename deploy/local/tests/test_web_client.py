"""The built web client is served beside the services. Open this when a page of it isn't found."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.gateway.many_processes import WEB, build_gateway
from darbar_local.gateway.one_process import build_root
from darbar_local.gateway.web_server import build_web
from darbar_local.restarts import Restarts
from darbar_local.settings import WebSettings

PAGE = "<!doctype html><title>Darbar</title>"
SCRIPT = "export const a = 1;" * 50


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text(PAGE)
    (tmp_path / "assets/index-1a2b.js").write_text(SCRIPT)
    (tmp_path.parent / "secret.txt").write_text("not of the client")
    return tmp_path


@pytest.fixture
async def session(built: Path) -> AsyncIterator[aiohttp.ClientSession]:
    async for opened in serve(built):
        yield opened


async def serve(folder: Path) -> AsyncIterator[aiohttp.ClientSession]:
    lobby = web.Application()
    lobby.add_routes([web.get("/v1/games", answer)])
    async with (
        TestServer(build_root({"lobby": lobby}, Restarts(), folder)) as server,
        aiohttp.ClientSession(server.make_url("/")) as session,
    ):
        yield session


async def answer(_request: web.Request) -> web.Response:
    return web.Response(text="games")


async def test_the_page_is_at_the_root_and_is_asked_for_again(session: aiohttp.ClientSession) -> None:
    async with session.get("/") as page:
        assert await page.text() == PAGE
        assert page.headers["Content-Type"].startswith("text/html")
        assert page.headers["Cache-Control"] == "no-cache"
        assert page.headers["Content-Security-Policy"] == "frame-ancestors 'none'"


async def test_what_is_named_by_its_content_is_kept_for_ever_and_comes_packed(session: aiohttp.ClientSession) -> None:
    async with session.get("/assets/index-1a2b.js", headers={"Accept-Encoding": "gzip"}) as script:
        assert "immutable" in script.headers["Cache-Control"]
        assert script.headers["Content-Encoding"] == "gzip"
        assert int(script.headers["Content-Length"]) < len(SCRIPT)
        assert await script.text() == SCRIPT
    async with session.get("/assets/index-1a2b.js", headers={"Accept-Encoding": "identity"}) as script:
        assert await script.text() == SCRIPT


@pytest.mark.parametrize("path", ["/../secret.txt", "/assets/..%2f..%2fsecret.txt", "/index.html/", "/assets/"])
async def test_nothing_else_is_served(session: aiohttp.ClientSession, path: str) -> None:
    async with session.get(path) as answered:
        assert answered.status == 404


async def test_the_services_keep_their_paths(session: aiohttp.ClientSession) -> None:
    async with session.get("/v1/games") as answered:
        assert await answered.text() == "games"
    async with session.get("/healthz") as answered:
        assert answered.status == 200


async def test_without_a_built_client_a_page_says_how_to_build_it(tmp_path: Path) -> None:
    async for session in serve(tmp_path / "nothing"):
        async with session.get("/") as page:
            assert "make web" in await page.text()


@pytest.fixture
async def alone(built: Path) -> AsyncIterator[TestServer]:
    """As its own image serves it."""
    server = TestServer(build_web(WebSettings(folder=str(built))))
    await server.start_server()
    yield server
    await server.close()


async def test_alone_it_is_served_the_same_way_and_says_that_it_is_well(alone: TestServer) -> None:
    async with aiohttp.ClientSession(alone.make_url("/")) as session:
        async with session.get("/") as page:
            assert await page.text() == PAGE
            assert page.headers["Content-Security-Policy"] == "frame-ancestors 'none'"
        for path, status in (("/healthz", "alive"), ("/readyz", "ready")):
            async with session.get(path) as answered:
                assert (answered.status, (await answered.json())["status"]) == (200, status)
        for path in ("/metrics", "/v1/games"):
            async with session.get(path) as answered:
                assert answered.status == 404


async def test_a_gateway_asks_whoever_serves_it_for_what_belongs_to_no_service(alone: TestServer) -> None:
    gateway = build_gateway({WEB: [str(alone.make_url("")).rstrip("/")]}, Restarts())
    async with TestServer(gateway) as server, aiohttp.ClientSession(server.make_url("/")) as session:
        async with session.get("/") as page:
            assert await page.text() == PAGE
        async with session.get("/assets/index-1a2b.js") as script:
            assert (await script.text(), script.headers["Content-Encoding"]) == (SCRIPT, "gzip")
        async with session.get("/v1/games") as answered:
            assert answered.status == 404
        async with session.get("/readyz") as answered:
            assert (await answered.json())["missing"] == []
        async with session.get("/metrics") as answered:
            assert answered.status == 200


async def test_a_gateway_tells_that_whoever_serves_it_is_away() -> None:
    gateway = build_gateway({WEB: ["http://127.0.0.1:1"]}, Restarts())
    async with TestServer(gateway) as server, aiohttp.ClientSession(server.make_url("/")) as session:
        async with session.get("/readyz") as answered:
            assert (await answered.json())["missing"] == ["web: process"]
        async with session.get("/") as page:
            assert page.status == 503


def test_alone_it_does_not_start_where_no_client_was_built(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="has no built web client") as failed:
        build_web(WebSettings(folder=str(tmp_path)))
    assert failed.value.code is ExitCode.SETTINGS_WRONG
