"""A WebSocket's messages out of the bytes that arrive: aiohttp's compiled parser, fed directly. See decision 17."""

from __future__ import annotations

from typing import Any, NamedTuple

from aiohttp import WSMsgType
from aiohttp._websocket.reader import WebSocketDataQueue
from aiohttp.http_websocket import WebSocketError, WebSocketReader, WSCloseCode, WSMessage, WSMessageTextBytes

MESSAGE_BYTES_MAX = 64 * 1024


class Message(NamedTuple):
    """One whole message; controls are messages of their own."""

    type: WSMsgType
    data: bytes


class Broken(NamedTuple):
    """The other side does not speak WebSocket as agreed: only closing helps, with this status."""

    status: int


class MessageReader:
    """Fragments become whole messages; nothing is compressed, texts stay bytes."""

    __slots__ = ("_parser", "_queue")

    def __init__(self) -> None:
        self._queue = _Collecting()
        self._parser = WebSocketReader(self._queue, MESSAGE_BYTES_MAX, compress=False, decode_text=False)

    def read(self, data: bytes) -> list[Message | Broken]:
        """What these bytes complete, in order; nothing follows a Broken, whatever is fed."""
        arrived = self._queue.arrived = []
        self._parser.feed_data(data)
        return arrived


class _Collecting(WebSocketDataQueue):
    """In place of the parser's own queue, which would hold messages back and wake a task for each.

    Its `__init__` is not called: what it would make is used by what is overridden here. The parser looks at the sizes
    to hold back; they stay at zero.
    """

    __slots__ = ("arrived",)
    _size = 0
    _limit = 0

    def __init__(self) -> None:
        self.arrived: list[Message | Broken] = []

    def feed_data(self, data: WSMessage | WSMessageTextBytes, size: int) -> None:
        self.arrived.append(Message(data.type, data.data))

    def set_exception(self, exc: BaseException, exc_cause: Any = None) -> None:
        self.arrived.append(Broken(exc.code if isinstance(exc, WebSocketError) else WSCloseCode.INTERNAL_ERROR))
