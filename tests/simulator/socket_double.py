"""A player's socket: what the gateway sees of it at a table process, and what the player does with it.

Frames come in their order on each side. The WebSocket itself is not simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from darbar_contracts.frames import Closing, Frame, TableReason
from darbar_kit.errors import Refused, Unavailable
from darbar_table.handlers.gateway import SocketReply, TableLink

if TYPE_CHECKING:
    from simulated_player import SimulatedPlayer
    from table_company import TableProcess


class SocketDouble:
    """A player's socket: what the gateway sees of it at the table's process, and what the player does with it."""

    def __init__(self, player: SimulatedPlayer, at: TableProcess) -> None:
        self._player = player
        self._at = at
        self._loop = player.company.loop
        self._process = at.process
        self._link: TableLink | None = None
        self._is_over = False
        self._hears_at = self._speaks_at = 0.0
        self.account_id = player.person.account_id
        self.seat: int | None = None
        self.is_told = False
        at.sockets.append(self)

    # The table's side.

    def send(self, frame: bytes) -> None:
        self._to_player(self._player.hear, self, frame)

    def close(self, code: str, message: str, *, path: str | None = None) -> None:
        if not self._is_over:
            self.send(msgspec.json.encode(Closing(code=code, message=message, path=path)))
            self._leave()

    # The player's side.

    def hello(self, version: int) -> None:
        self._to_table(self._begin, version)

    def tell(self, frame: Frame) -> None:
        self._to_table(self._take, msgspec.json.encode(frame))

    def leave(self) -> None:
        self._to_table(self._leave)

    # What the simulation does.

    def broken(self) -> None:
        """The process has died."""
        self._is_over = True
        self._to_player(self._player.lost, self)

    def _begin(self, version: int) -> None:
        self._loop.spawn(self._process, self._enter(version))

    async def _enter(self, version: int) -> None:
        handler = self._at.service.socket_handler
        assert handler is not None
        company = self._player.company
        try:
            link = await handler._gateway.enter(self, company.table_id, version)
        except Refused as refusal:
            self.close(refusal.code, refusal.message)
            return
        except Unavailable as away:
            self.close(TableReason.UNAVAILABLE, away.message)
            return
        if self._is_over:
            link.leave()
        else:
            self._link = link

    def _take(self, content: bytes) -> None:
        if self._link is None or self._is_over:
            return
        frame = self._at.service.decoder.decode(content)
        reply = SocketReply(self, frame.id)
        waiting = self._link.command(self._player.person, frame, reply)
        if waiting is not None:
            self._loop.spawn(self._process, waiting)

    def _leave(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        if self in self._at.sockets:
            self._at.sockets.remove(self)
        link, self._link = self._link, None
        if link is not None:
            link.leave()
        self._to_player(self._player.lost, self)

    def _to_player(self, act: Callable[..., None], *what: Any) -> None:
        loop, company = self._loop, self._player.company
        self._hears_at = max(self._hears_at, loop.now + company.line_seconds())
        loop.call_in(company.clients, self._hears_at, act, *what)

    def _to_table(self, act: Callable[..., None], *what: Any) -> None:
        loop = self._loop
        self._speaks_at = max(self._speaks_at, loop.now + self._player.company.line_seconds())
        loop.call_in(self._process, self._speaks_at, act, *what)
