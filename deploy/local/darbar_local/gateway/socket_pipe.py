"""Passes a WebSocket on as the bytes that it is, both ways. Open this when a frame gets lost, or a close code."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import cast

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from darbar_kit.http.handshake import Switched, hand_over

HEAD_BYTES_MAX = 16 * 1024
CONNECT_SECONDS_MAX = 5.0
ANSWER_SECONDS_MAX = 20.0
# After one side has ended the other one has so long to hang up.
END_SECONDS_MAX = 10.0
SWITCHING = 101
_END_OF_HEAD = b"\r\n\r\n"
_PROTOCOL = "Sec-WebSocket-Protocol"
# "Going away" (1001). What clients send is masked, with a key that need not be secret here.
_AWAY = b"\x88\x02\x03\xe9"
_AWAY_MASKED = b"\x88\x82\x00\x00\x00\x00\x03\xe9"


class NotReached(Exception):
    """Nobody listens at the process's address."""


class NotOpened(Exception):
    """The process does not open this socket; `status` is what it says in HTTP."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class End(asyncio.Protocol):
    """One of a pipe's two connections; what it reads the other one writes. A slow one holds the other one up."""

    def __init__(self, last_words: bytes) -> None:
        self._last_words = last_words
        self._transport: asyncio.Transport | None = None
        self._has_heard_all = self._has_said_all = False
        self.other: End | None = None
        self.read = b""
        self.changed = asyncio.Event()
        self.gone: Callable[[], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self.other is not None:
            self.other.write(data)
            return
        self.read += data
        self.changed.set()
        if len(self.read) > HEAD_BYTES_MAX:
            self.close()

    def eof_received(self) -> bool:
        """It says nothing more, and may have died without a word; it may still hear what the other one says."""
        self._has_heard_all = True
        if self.other is not None:
            self.other.end()
        return self.other is not None and not self._has_said_all and self._can_say_less

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self.changed.set()
        if self.other is not None:
            self.other.end()
        if self.gone is not None:
            self.gone()

    def pause_writing(self) -> None:
        if self.other is not None and self.other._transport is not None:
            self.other._transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None and self.other._transport is not None:
            self.other._transport.resume_reading()

    @property
    def is_over(self) -> bool:
        return self._transport is None

    def write(self, data: bytes) -> None:
        if self._transport is not None and not (self._has_said_all or self._transport.is_closing()):
            self._transport.write(data)

    def join(self, other: End) -> None:
        """From now on, and with what has been read already."""
        self.other = other
        read, self.read = self.read, b""
        if read:
            other.write(read)
        if self._has_heard_all or self.is_over:
            other.end()

    def end(self) -> None:
        """Whoever has been told of the end in WebSocket's own words does not read these any more."""
        if self._transport is None or self._has_said_all:
            return
        self.write(self._last_words)
        self._has_said_all = True
        if self._has_heard_all or not self._can_say_less:
            self.close()
            return
        self._transport.write_eof()
        asyncio.get_running_loop().call_later(END_SECONDS_MAX, self._abort)

    def close(self) -> None:
        """When everything is written."""
        if self._transport is not None:
            self._transport.close()

    @property
    def _can_say_less(self) -> bool:
        """TLS has no end in one direction alone."""
        return self._transport is not None and self._transport.can_write_eof()

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


class SocketPipes:
    """All open ones of a gateway."""

    def __init__(self) -> None:
        self._outer: set[End] = set()

    async def open(self, request: web.Request, url: URL, headers: Mapping[str, str]) -> web.StreamResponse:
        """To the process of this URL, which is asked first: while it may refuse, the client still waits for an answer
        of HTTP. Raises NotReached, NotOpened, and ClientConnectionError or TimeoutError when it may have been seen."""
        inner, protocol = await _asked(url, headers)
        try:
            switched = Switched(request, {} if protocol is None else {_PROTOCOL: protocol})
            with contextlib.suppress(ConnectionError):
                await switched.prepare(request)
        except BaseException:
            inner.close()
            raise
        if not switched.prepared or request.transport is None:
            inner.close()
            return web.Response()  # The client hung up before its handshake was answered: nobody reads this.
        outer = End(_AWAY)
        outer.gone = lambda: self._outer.discard(outer)
        outer.connection_made(request.transport)
        self._outer.add(outer)
        hand_over(request, outer)
        inner.join(outer)
        outer.join(inner)
        return switched

    def close(self) -> None:
        """The gateway stops: both sides hear that."""
        for outer in list(self._outer):
            if outer.other is not None:
                outer.other.end()
            outer.end()


async def _asked(url: URL, headers: Mapping[str, str]) -> tuple[End, str | None]:
    """A connection that has switched, and the protocol that was chosen; what follows the answer waits."""
    inner = End(_AWAY_MASKED)
    try:
        async with asyncio.timeout(CONNECT_SECONDS_MAX):
            await asyncio.get_running_loop().create_connection(lambda: inner, str(url.host), url.port or 80)
    except TimeoutError:
        raise
    except OSError as error:
        raise NotReached from error
    try:
        inner.write(_head(url, headers))
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            status, protocol = await _answer(inner)
        if status != SWITCHING:
            raise NotOpened(status)
    except BaseException:
        inner.close()
        raise
    return inner, protocol


def _head(url: URL, headers: Mapping[str, str]) -> bytes:
    words = CIMultiDict(headers)
    words.update({"Host": f"{url.host}:{url.port}", "Connection": "Upgrade", "Upgrade": "websocket"})
    lines = [f"GET {url.raw_path_qs} HTTP/1.1", *(f"{name}: {value}" for name, value in words.items())]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")


async def _answer(inner: End) -> tuple[int, str | None]:
    while _END_OF_HEAD not in inner.read:
        if inner.is_over:
            raise aiohttp.ServerDisconnectedError
        inner.changed.clear()
        await inner.changed.wait()
    head, _, inner.read = inner.read.partition(_END_OF_HEAD)
    first, *lines = head.decode("latin-1").split("\r\n")
    named = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    protocol = next((value for name, value in named if name.lower() == _PROTOCOL.lower()), None)
    return int(first.split(" ", 2)[1]), protocol
