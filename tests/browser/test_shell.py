"""The client opens without a connection, and a deploy is seen. Open this when an old client stays."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from browsing import WAIT_MS
from playwright.async_api import Browser, Page, expect

from darbar_local.gateway import web_client

BUILT = Path(__file__).parents[2] / "web/dist"
BUILD = re.compile(r"\b[0-9a-f]{12}\b")
NEWER = "0123456789ab"
WHICH_BUILD = """
() => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => resolve(data);
  navigator.serviceWorker.controller.postMessage("which_build", [port2]);
})
"""
IS_KEPT = "() => navigator.serviceWorker.controller !== null"
LOOK = "() => navigator.serviceWorker.ready.then((registration) => registration.update())"
KEPT = """
async () => (await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys())))
  .flat().map(({ url }) => new URL(url).pathname)
"""


# What one player may load, packed: all pages and the largest language beside English, and no drawn deck.
PACKED_BYTES_MAX = 150_000
LANGUAGES = ("hi", "ru", "tr", "ur")
DECKS = ("atlasnye", "classic", "renaissance", "skat", "figures", "cards")


def packed_bytes(files: Iterable[Path]) -> int:
    return sum(len(gzip.compress(file.read_bytes())) for file in files)


@asynccontextmanager
async def served(folder: Path, port: int | None = None) -> AsyncIterator[TestServer]:
    """The client as `darbar up` serves it, before a server that has gone."""

    async def nothing(_request: web.Request) -> web.Response:
        return web.json_response({"code": "unavailable", "message": "Not now."}, status=404)

    app = web.Application()
    app.add_routes([*web_client.routes(folder), web.get("/v1/{path:.*}", nothing)])
    server = TestServer(app, port=port)
    async with server:
        yield server


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """Another build: its service worker has another name."""
    folder = tmp_path / "newer"
    shutil.copytree(BUILT, folder)
    worker = folder / "worker.js"
    text = worker.read_text()
    (name,) = set(BUILD.findall(text))
    worker.write_text(text.replace(name, NEWER))
    return folder


@asynccontextmanager
async def opened(browser: Browser, server: TestServer) -> AsyncIterator[Page]:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(str(server.make_url("/")))
    await page.wait_for_function(IS_KEPT, timeout=WAIT_MS)
    yield page
    await context.close()


def test_a_player_loads_no_more_than_the_limit() -> None:
    assert BUILT.exists(), "the web client is not built: bash web/build.sh"
    files = [file for file in BUILT.rglob("*") if file.suffix in {".js", ".css", ".html"}]
    named = {file: file.name.partition("-")[0].partition(".")[0] for file in files}
    languages = [packed_bytes(file for file in files if named[file] == language) for language in LANGUAGES]
    rest = packed_bytes(file for file in files if named[file] not in {*LANGUAGES, *DECKS})
    assert all(languages), "every language is a file of its own"
    assert rest + max(languages) < PACKED_BYTES_MAX


async def test_the_client_opens_without_a_connection_and_nothing_of_the_server_is_kept(browser: Browser) -> None:
    async with served(BUILT) as server, opened(browser, server) as page:
        kept = await page.evaluate(KEPT)
        assert "/" in kept
        assert [path for path in kept if path.startswith(("/v1/", "/play/", "/join/"))] == []
        await page.context.set_offline(True)

        await page.reload()

        await expect(page.get_by_text("No connection.")).to_be_visible(timeout=WAIT_MS)


async def test_after_a_deploy_the_newer_client_is_offered_and_taken_when_the_player_wants_it(
    browser: Browser, newer: Path
) -> None:
    async with served(BUILT) as server:
        port = server.port
        async with opened(browser, server) as page:
            older = await page.evaluate(WHICH_BUILD)
            await server.close()
            async with served(newer, port):
                await page.evaluate(LOOK)
                take = page.get_by_role("button", name="Use it now")
                await expect(take).to_be_visible(timeout=WAIT_MS)
                assert await page.evaluate(WHICH_BUILD) == older, "nothing changes under somebody who plays"

                async with page.expect_navigation():
                    await take.click()

                await page.wait_for_function(IS_KEPT, timeout=WAIT_MS)
                assert await page.evaluate(WHICH_BUILD) == NEWER
                await expect(take).to_be_hidden()
