"""Opens players' sockets over aiohttp. Open this about the upgrade, the limits of messages and the heartbeats."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any
from uuid import UUID

import msgspec
from aiohttp import web

from darbar_contracts import frames
from darbar_kit.errors import Unavailable
from darbar_kit.http.client_address import ClientAddresses
from darbar_kit.tokens import TokenReader
from darbar_table.engine.node import TableNode
from darbar_table.handlers.gateway import TableGateway
from darbar_table.handlers.questions import table_id_of
from darbar_table.settings import Settings
from darbar_table.socket.limits import SocketLimits
from darbar_table.socket.session import PlayerSocket

PING_SECONDS = 4.0
MESSAGE_BYTES_MAX = 64 * 1024


class SocketHandler:
    """Opens sockets: the same parts for every connection of a process."""

    def __init__(
        self,
        settings: Settings,
        *,
        node: Callable[[], TableNode],
        gateway: TableGateway,
        decoder: msgspec.json.Decoder[Any],
        tokens: TokenReader,
    ) -> None:
        self._addresses = ClientAddresses(settings.trusted_proxies)
        self._limits = SocketLimits(settings)
        self._node = node
        self._gateway = gateway
        self._tokens = tokens
        self._decoder = decoder

    async def open(self, request: web.Request) -> web.StreamResponse:
        """GET /play/tables/{id}/socket and /play/at/{process}/tables/{id}/socket."""
        table_id = table_id_of(request.match_info["table_id"])
        with self._limits.upgraded(self._addresses.of(request)):
            return await self._serve(request, table_id)

    async def _serve(self, request: web.Request, table_id: UUID) -> web.StreamResponse:
        web_socket = web.WebSocketResponse(
            compress=False, max_msg_size=MESSAGE_BYTES_MAX, heartbeat=PING_SECONDS, decode_text=False
        )
        with contextlib.suppress(ConnectionError):
            await web_socket.prepare(request)
        transport = request.transport
        if not web_socket.prepared or transport is None:
            return web.Response()  # The client hung up before its handshake was answered: nobody reads this.
        node = self._node()
        player = PlayerSocket(
            web_socket,
            transport,
            gateway=self._gateway,
            metrics=node.metrics,
            limits=self._limits,
            tokens=self._tokens,
            decoder=self._decoder,
        )
        await player.serve(table_id)
        return web_socket

    async def beat(self) -> None:
        """Every socket hears its table's version often enough to notice a lost last frame."""
        while True:
            await asyncio.sleep(frames.HEARTBEAT_SECONDS)
            # Between two nodes there is none, and no socket either.
            with contextlib.suppress(Unavailable):
                self._node().beat()
