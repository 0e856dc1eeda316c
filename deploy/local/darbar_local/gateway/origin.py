"""What the one public port answers itself: health, metrics, welcome. Open this to change the page at /."""

from collections.abc import Awaitable, Callable

import aiohttp
import msgspec
from aiohttp import web

from darbar_kit.http import answer
from darbar_kit.metrics import CONTENT_TYPE

ASK_SECONDS_MAX = 5.0
ASKING = aiohttp.ClientTimeout(total=ASK_SECONDS_MAX)

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
<li>play a game in a terminal: <code>make demo</code>
<li>see which games there are: <a href="/v1/games">/v1/games</a>
<li>see how it is: <a href="/readyz">/readyz</a> and <a href="/metrics">/metrics</a>
</ul>
"""


class _Readiness(msgspec.Struct, frozen=True):
    missing: list[str] = []


def missing_in(readiness: bytes) -> list[str]:
    """Out of the body of a /readyz."""
    return msgspec.json.decode(readiness, type=_Readiness).missing


async def ask_missing(session: aiohttp.ClientSession, base_url: str) -> list[str]:
    """What the process at this address says that it misses; itself, when it says nothing."""
    try:
        async with session.get(f"{base_url}/readyz", timeout=ASKING) as answered:
            return missing_in(await answered.read())
    except (aiohttp.ClientError, TimeoutError, msgspec.DecodeError):
        return ["process"]


def routes(
    missing: Callable[[web.Request], Awaitable[list[str]]], metrics_page: Callable[[], Awaitable[bytes]]
) -> list[web.RouteDef]:
    """The same in every wiring that has one port."""

    async def healthz(_request: web.Request) -> web.Response:
        return answer({"status": "alive"})

    async def readyz(request: web.Request) -> web.Response:
        things = await missing(request)
        return answer({"status": "waiting" if things else "ready", "missing": things}, 503 if things else 200)

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(body=await metrics_page(), headers={"Content-Type": CONTENT_TYPE})

    async def welcome(_request: web.Request) -> web.Response:
        return web.Response(text=_HEAD + _WELCOME, content_type="text/html")

    return [
        web.get("/", welcome),
        web.get("/healthz", healthz),
        web.get("/readyz", readyz),
        web.get("/metrics", metrics),
    ]
