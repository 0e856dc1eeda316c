"""Opens players' sockets over aiohttp. Open this about what all sockets share, and the heartbeats."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from aiohttp import web

from darbar_contracts import frames
from darbar_contracts.frames import TableReason
from darbar_contracts.lobby import AccountShutOut
from darbar_kit.errors import Unavailable
from darbar_kit.http.client_address import ClientAddresses
from darbar_kit.http.handshake import Switched, hand_over
from darbar_kit.tokens import TokenReader
from darbar_table.engine.node import TableNode
from darbar_table.handlers.gateway import TableGateway
from darbar_table.handlers.questions import table_id_of
from darbar_table.metrics import Metrics
from darbar_table.settings import Settings
from darbar_table.socket import session
from darbar_table.socket.limits import SocketLimits
from darbar_table.socket.session import PlayerSocket
from darbar_table.socket.stages import Stages

# What is done with every socket again and again is done with a part of them at a time: thousands that have to answer at
# once keep each other, and whatever lies on the way, from answering in time.
PARTS = 24


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
        metrics: Metrics,
    ) -> None:
        self._addresses = ClientAddresses(settings.trusted_proxies)
        self._limits = SocketLimits(settings)
        self._stages = Stages(asyncio.get_running_loop().call_soon)
        self._node = node
        self._gateway = gateway
        self._tokens = tokens
        self._decoder = decoder
        self._metrics = metrics
        self._open: tuple[set[PlayerSocket], ...] = tuple(set() for _ in range(PARTS))
        self._next = itertools.cycle(self._open)
        self._gone = self._forget  # One for all sockets.

    async def open(self, request: web.Request) -> web.StreamResponse:
        """GET /play/tables/{id}/socket and /play/at/{process}/tables/{id}/socket."""
        table_id = table_id_of(request.match_info["table_id"])
        address = self._addresses.of(request)
        switched = Switched(request)
        self._limits.upgraded(address)
        try:
            with contextlib.suppress(ConnectionError):
                await switched.prepare(request)
        except BaseException:
            self._limits.closed(address)
            raise
        transport: Any = request.transport
        if not switched.prepared or transport is None:
            self._limits.closed(address)
            return web.Response()  # The client hung up before its handshake was answered: nobody reads this.
        player = PlayerSocket(
            transport,
            address,
            stages=self._stages,
            gateway=self._gateway,
            metrics=self._metrics,
            limits=self._limits,
            tokens=self._tokens,
            decoder=self._decoder,
            gone=self._gone,
        )
        self._admit(player)
        player.begin(table_id)
        hand_over(request, player)
        return switched

    def close(self) -> None:
        """This process stops: whoever is left, before hello too, is sent away."""
        for player in list(itertools.chain(*self._open)):
            player.close(TableReason.UNAVAILABLE, TableReason.UNAVAILABLE.sentence)

    def close_those(self, shut_out: Mapping[str, AccountShutOut]) -> None:
        """Sockets of these accounts, by their ids, wherever their tables are; also one that is being let in."""
        for player in [player for player in itertools.chain(*self._open) if player.account_id in shut_out]:
            why = shut_out[player.account_id]
            player.close(why.code, why.message)

    def _admit(self, player: PlayerSocket) -> None:
        next(self._next).add(player)

    def _forget(self, player: PlayerSocket) -> None:
        for part in self._open:
            part.discard(player)
        self._limits.closed(player.address)

    async def look(self) -> None:
        """Dead connections are found."""
        while True:
            for part in self._open:
                await asyncio.sleep(session.LOOK_SECONDS / PARTS)
                for player in list(part):
                    player.look()

    async def beat(self) -> None:
        """Every socket hears its table's version often enough to notice a lost last frame."""
        while True:
            for part in range(PARTS):
                await asyncio.sleep(frames.HEARTBEAT_SECONDS / PARTS)
                # Between two nodes there is none, and no socket either.
                with contextlib.suppress(Unavailable):
                    self._node().beat(part, PARTS)
