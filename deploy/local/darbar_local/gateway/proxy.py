"""Passes one request on to a process: HTTP, or the handshake of a WebSocket. Open this when a header gets lost."""

import asyncio

import aiohttp
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Unavailable
from darbar_local.gateway.socket_pipe import NotOpened, NotReached, SocketPipes

ANSWER_SECONDS_MAX = 60.0
CONNECT_SECONDS_MAX = 5.0
PIECE_BYTES = 64 * 1024
MISDIRECTED = 421

_HOP_BY_HOP = (
    "Connection",
    "Keep-Alive",
    "Proxy-Authenticate",
    "Proxy-Authorization",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
)
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS_MAX)


class Misdirected(Exception):
    """The process says that the request is meant for another one."""


class Unreached(Unavailable):
    """Nobody listens at the process's address."""


async def forward(
    request: web.Request, session: aiohttp.ClientSession, pipes: SocketPipes, base_url: str
) -> web.StreamResponse:
    """The process's answer. Raises Misdirected, Unreached, and Unavailable when it may have seen the request."""
    url = URL(base_url + request.raw_path, encoded=True)
    try:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await _pass_socket(request, session, pipes, url)
        return await _pass_http(request, session, url)
    except aiohttp.ClientConnectorError as error:
        raise Unreached(Reason.SERVICE_UNREACHABLE) from error
    except (aiohttp.ClientConnectionError, TimeoutError) as error:
        raise Unavailable(Reason.SERVICE_UNREACHABLE) from error


async def _pass_http(request: web.Request, session: aiohttp.ClientSession, url: URL) -> web.StreamResponse:
    body = await request.read() if request.body_exists else None
    headers = _headers(request, without=("Host", "Content-Length"))
    async with (
        asyncio.timeout(ANSWER_SECONDS_MAX),
        session.request(
            request.method, url, headers=headers, data=body, allow_redirects=False, timeout=_TIMEOUT
        ) as upstream,
    ):
        if upstream.status == MISDIRECTED:
            raise Misdirected
        answered = web.StreamResponse(status=upstream.status, reason=upstream.reason, headers=_copied(upstream.headers))
        await answered.prepare(request)
        async for piece in upstream.content.iter_chunked(PIECE_BYTES):
            await answered.write(piece)
        await answered.write_eof()
        return answered


async def _pass_socket(
    request: web.Request, session: aiohttp.ClientSession, pipes: SocketPipes, url: URL
) -> web.StreamResponse:
    try:
        return await pipes.open(request, url, _headers(request, without=("Host", "Sec-WebSocket-Extensions")))
    except NotReached as error:
        raise Unreached(Reason.SERVICE_UNREACHABLE) from error
    except NotOpened as refused:
        if refused.status == MISDIRECTED:
            raise Misdirected from refused
        # Without the handshake the process says in full why.
        return await _pass_http(request, session, url)


def _headers(request: web.Request, *, without: tuple[str, ...]) -> CIMultiDict[str]:
    headers = CIMultiDict(request.headers)
    for name in (*_HOP_BY_HOP, *without):
        headers.popall(name, None)
    peers = [headers.get("X-Forwarded-For", ""), request.remote or ""]
    headers["X-Forwarded-For"] = ", ".join(filter(None, peers))
    headers["X-Forwarded-Host"] = request.host
    headers["X-Forwarded-Proto"] = request.scheme
    return headers


def _copied(upstream: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    headers = CIMultiDict(upstream)
    for name in (*_HOP_BY_HOP, "Date", "Server"):
        headers.popall(name, None)
    return headers
