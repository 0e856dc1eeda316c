"""What the one public port answers itself: health, metrics, welcome. Open this to change the page at /."""

import asyncio
from pathlib import Path
from typing import Protocol

import aiohttp
import msgspec
from aiohttp import web

from darbar_client.http import NO_TIMEOUT
from darbar_kit.http import answer
from darbar_kit.metrics import CONTENT_TYPE
from darbar_local.gateway import web_client

ASK_SECONDS_MAX = 5.0

_HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Darbar</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }</style>
"""
_WELCOME = """<h1>Darbar is running</h1>
<p>This is the backend of a table for trick-taking games: Court Piece, King, Kings and Rebels.
It speaks HTTP below <code>/v1/</code> and WebSocket below <code>/play/</code>.</p>
<p>What to do next:</p>
<ul>
<li>play in this browser: the web client was not built; see what <code>make web</code> says, and start Darbar again
<li>play a game in a terminal: <code>make demo</code>
<li>see which games there are: <a href="/v1/games">/v1/games</a>
<li>write a client: <a href="/v1/docs">/v1/docs</a>
<li>see how it is: <a href="/readyz">/readyz</a> and <a href="/metrics">/metrics</a>
</ul>
"""


class Status(Protocol):
    """What the public port tells of everything behind it. A service's name stands before what it says."""

    async def missing(self, request: web.Request) -> list[str]:
        """What keeps it from being ready."""

    async def failing(self, request: web.Request) -> list[str]:
        """What only a new start can help."""

    async def metrics(self) -> bytes:
        """A page of what all have counted."""


class _Said(msgspec.Struct, frozen=True):
    missing: list[str] = []


def missing_in(body: bytes) -> list[str]:
    """Out of what a /readyz or a /healthz answers."""
    return msgspec.json.decode(body, type=_Said).missing


async def body_at(session: aiohttp.ClientSession, url: str) -> bytes:
    """What is answered there. Raises ClientError, and TimeoutError after ASK_SECONDS_MAX."""
    async with asyncio.timeout(ASK_SECONDS_MAX), session.get(url, timeout=NO_TIMEOUT) as answered:
        return await answered.read()


async def ask(session: aiohttp.ClientSession, url: str) -> list[str] | None:
    """What the /readyz or /healthz at this address misses; None when it doesn't answer."""
    try:
        return missing_in(await body_at(session, url))
    except (aiohttp.ClientError, TimeoutError, msgspec.DecodeError):
        return None


async def ask_missing(session: aiohttp.ClientSession, base_url: str) -> list[str]:
    """What the process at this address says that it misses; itself, when it says nothing."""
    said = await ask(session, f"{base_url}/readyz")
    return ["process"] if said is None else said


def status_routes(status: Status) -> list[web.RouteDef]:
    """The same in every wiring that has one port."""

    async def healthz(request: web.Request) -> web.Response:
        things = await status.failing(request)
        return answer({"status": "failing" if things else "alive", "missing": things}, 503 if things else 200)

    async def readyz(request: web.Request) -> web.Response:
        things = await status.missing(request)
        return answer({"status": "waiting" if things else "ready", "missing": things}, 503 if things else 200)

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(body=await status.metrics(), headers={"Content-Type": CONTENT_TYPE})

    return [web.get("/healthz", healthz), web.get("/readyz", readyz), web.get("/metrics", metrics)]


def page_routes(web_folder: Path | None) -> list[web.RouteDef]:
    """The built web client, when it is in this folder; else a page that says how to build it."""

    async def welcome(_request: web.Request) -> web.Response:
        return web.Response(text=_HEAD + _WELCOME, content_type="text/html")

    client = [] if web_folder is None else web_client.routes(web_folder)
    return client or [web.get("/", welcome)]
