"""The end of HTTP on a connection: aiohttp answers 101 and lets go of it (decision 17). Open this about the upgrade."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Mapping
from typing import Any, cast

from aiohttp import web
from aiohttp.http_websocket import WS_KEY


class Switched(web.StreamResponse):
    """101 Switching Protocols, with more headers. Raises HTTPBadRequest for what is no handshake of WebSocket."""

    def __init__(self, request: web.Request, more: Mapping[str, str] | None = None) -> None:
        if not web.WebSocketResponse(compress=False).can_prepare(request):
            raise web.HTTPBadRequest(text="a WebSocket of version 13 is opened here")
        key = request.headers["Sec-WebSocket-Key"].encode()
        accept = base64.b64encode(hashlib.sha1(key + WS_KEY, usedforsecurity=False).digest()).decode()
        headers = {"Upgrade": "websocket", "Connection": "upgrade", "Sec-WebSocket-Accept": accept, **(more or {})}
        super().__init__(status=101, headers=headers)

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing follows that is HTTP."""


def hand_over(request: web.Request, successor: asyncio.Protocol) -> None:
    """The connection belongs to `successor`; to aiohttp it is as if it were lost, so nothing of it is held any more."""
    http, transport = request.protocol, cast(Any, request.transport)
    rest = _Rest()
    http.set_parser(cast(Any, rest))
    transport.set_protocol(successor)
    http.transport = None  # Which it would close.
    http.connection_lost(None)
    if rest.data:
        successor.data_received(rest.data)


class _Rest:
    """Takes what came with the handshake's request, in place of a parser of aiohttp's."""

    def __init__(self) -> None:
        self.data = b""

    def feed_data(self, data: bytes) -> None:
        self.data += data

    def feed_eof(self) -> None:
        """The successor hears of the end itself."""
