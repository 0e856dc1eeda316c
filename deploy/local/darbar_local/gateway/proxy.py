"""Passes one request on to a process: HTTP, or WebSocket both ways. Open this when a header or a frame gets lost."""

import asyncio
import contextlib

import aiohttp
from aiohttp import WSMsgType, web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Unavailable

ANSWER_SECONDS_MAX = 60.0
CONNECT_SECONDS_MAX = 5.0
# Services have their own, smaller limits; this one only keeps the gateway itself safe.
FRAME_BYTES_MAX = 1024 * 1024
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
_HANDSHAKE = ("Sec-WebSocket-Accept", "Sec-WebSocket-Extensions", "Sec-WebSocket-Key", "Sec-WebSocket-Version")
_TIMEOUT = aiohttp.ClientTimeout(total=ANSWER_SECONDS_MAX, sock_connect=CONNECT_SECONDS_MAX)
_NORMAL = 1000
_GOING_AWAY = 1001
# These say how a connection ended and are never sent.
_CODES_NOT_SENT = (None, 0, 1005, 1006, 1015)
_PASSED = (WSMsgType.TEXT, WSMsgType.BINARY, WSMsgType.PING, WSMsgType.PONG)

Socket = web.WebSocketResponse | aiohttp.ClientWebSocketResponse


class Misdirected(Exception):
    """The process says that the request is meant for another one."""


class Unreached(Unavailable):
    """Nobody listens at the process's address."""


async def forward(request: web.Request, session: aiohttp.ClientSession, base_url: str) -> web.StreamResponse:
    """The process's answer. Raises Misdirected, Unreached, and Unavailable when it may have seen the request."""
    url = URL(base_url + request.raw_path, encoded=True)
    try:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await _pass_socket(request, session, url)
        return await _pass_http(request, session, url)
    except aiohttp.ClientConnectorError as error:
        raise Unreached(Reason.SERVICE_UNREACHABLE) from error
    except (aiohttp.ClientConnectionError, TimeoutError) as error:
        raise Unavailable(Reason.SERVICE_UNREACHABLE) from error


async def _pass_http(request: web.Request, session: aiohttp.ClientSession, url: URL) -> web.StreamResponse:
    body = await request.read() if request.body_exists else None
    headers = _headers(request, without=("Host", "Content-Length"))
    async with session.request(
        request.method, url, headers=headers, data=body, allow_redirects=False, timeout=_TIMEOUT
    ) as upstream:
        if upstream.status == MISDIRECTED:
            raise Misdirected
        answered = web.StreamResponse(status=upstream.status, reason=upstream.reason, headers=_copied(upstream.headers))
        await answered.prepare(request)
        async for piece in upstream.content.iter_chunked(PIECE_BYTES):
            await answered.write(piece)
        await answered.write_eof()
        return answered


async def _pass_socket(request: web.Request, session: aiohttp.ClientSession, url: URL) -> web.StreamResponse:
    # The process is asked first: while it may refuse, the client still waits for an HTTP answer.
    protocols = [word.strip() for word in request.headers.get("Sec-WebSocket-Protocol", "").split(",") if word.strip()]
    headers = _headers(request, without=("Host", "Content-Length", "Sec-WebSocket-Protocol", *_HANDSHAKE))
    try:
        inner = await session.ws_connect(
            url,
            headers=headers,
            protocols=protocols,
            compress=0,
            autoping=False,
            autoclose=False,
            max_msg_size=FRAME_BYTES_MAX,
        )
    except aiohttp.WSServerHandshakeError as error:
        if error.status == MISDIRECTED:
            raise Misdirected from error
        # The client library drops the body of a refused handshake; without the handshake it is told in full.
        return await _pass_http(request, session, url)
    try:
        outer = web.WebSocketResponse(
            compress=False,
            autoping=False,
            autoclose=False,
            max_msg_size=FRAME_BYTES_MAX,
            protocols=[inner.protocol] if inner.protocol else (),
        )
        await outer.prepare(request)
        await _Bridge(outer, inner).run()
    finally:
        # Also when this request is cancelled: the process then learns that nobody is there any more.
        await inner.close(code=_GOING_AWAY)
    return outer


class _Bridge:
    """Two sockets that pass frames to each other; whichever ends first says with which code both are closed."""

    def __init__(self, outer: web.WebSocketResponse, inner: aiohttp.ClientWebSocketResponse) -> None:
        self._outer = outer
        self._inner = inner
        self._code = 0

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._pump(self._outer, self._inner))
            tasks.create_task(self._pump(self._inner, self._outer))

    async def _pump(self, source: Socket, target: Socket) -> None:
        # The target may be gone: then this direction has come to its end as well.
        with contextlib.suppress(ConnectionError):
            while (message := await source.receive()).type in _PASSED:
                await _send(target, message)
            if message.type is WSMsgType.CLOSE:
                self._code = self._code or (_NORMAL if message.data in _CODES_NOT_SENT else message.data)
        self._code = self._code or _GOING_AWAY
        await target.close(code=self._code)
        await source.close(code=self._code)


async def _send(target: Socket, message: aiohttp.WSMessage) -> None:
    match message.type:
        case WSMsgType.TEXT:
            await target.send_str(message.data)
        case WSMsgType.BINARY:
            await target.send_bytes(message.data)
        case WSMsgType.PING:
            await target.ping(message.data)
        case WSMsgType.PONG:
            await target.pong(message.data)


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
