"""The way of a player's socket to its table. Open this to let sockets live in another process than their tables."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID

import msgspec

from darbar_contracts.frames import PROTOCOL, TableReason, Welcome
from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused, Unavailable
from darbar_table.domain.commands import Act, Decide
from darbar_table.domain.refusals import refused
from darbar_table.domain.seat_view import snapshot
from darbar_table.domain.visibility import may_look_on
from darbar_table.engine.live_table import Connection, LiveTable, Reply
from darbar_table.engine.node import TableNode
from darbar_table.handlers.questions import Questions

_encode = msgspec.json.Encoder().encode


class TableLink(Protocol):
    """A socket that has said hello, at its table."""

    @property
    def version(self) -> int: ...

    def submit(self, command: Act | Decide, reply: Reply) -> None:
        """Never blocks, never raises: `reply` hears what became of it."""

    async def sit(self, act: Act, reply: Reply) -> None:
        """Like `submit`, for a sit without its balance."""

    def leave(self) -> None:
        """The socket is gone."""


class TableGateway(Protocol):
    """Where sockets find tables."""

    def enter(self, socket: Connection, table_id: UUID, version: int) -> TableLink:
        """A hello, the first or a later one: sends the welcome and what the client misses since `version`, or a
        snapshot, and keeps `socket.seat`. Raises Refused."""


class LocalGateway:
    """Tables of this process."""

    def __init__(self, node: TableNode, questions: Questions) -> None:
        self._node = node
        self._questions = questions

    def enter(self, socket: Connection, table_id: UUID, version: int) -> TableLink:
        if not self._node.lease.may_answer:
            raise refused(TableReason.UNAVAILABLE)
        live = self._node.find(table_id)
        if live.frozen:
            raise refused(TableReason.TABLE_FROZEN)
        with self._node.freezer.answering(live):
            self._let_in(live, socket, version)
        return LocalLink(self._node, live, socket, questions=self._questions)

    def _let_in(self, live: LiveTable, socket: Connection, version: int) -> None:
        if not may_look_on(live.table, socket.account_id, now=datetime.now(UTC)):
            raise refused(TableReason.TABLE_PRIVATE)
        seat, is_new = live.table.seat_of(socket.account_id), socket not in live.sockets
        if is_new and seat is None:
            self._refuse_crowd(live)
        socket.seat = seat
        for frame in self._welcome(live, seat, version):
            socket.send(frame)
        if is_new:
            self._node.presence.attach(live, socket)

    def _refuse_crowd(self, live: LiveTable) -> None:
        """Who has no seat looks on; a table has room for so many. 0 is no limit."""
        count_max = self._node.settings.spectators_a_table_max
        if count_max and sum(socket.seat is None for socket in live.sockets) >= count_max:
            raise refused(Reason.SOCKETS_TOO_MANY, of="table", count_max=count_max)

    def _welcome(self, live: LiveTable, seat: int | None, version: int) -> list[bytes]:
        table, timers = live.table, self._node.timers
        welcome = Welcome(protocol=PROTOCOL, table_id=table.table_id, seat=seat, version=table.version)
        missed = live.frames_after(version) if version > 0 else None
        if missed is None:
            return [_encode(welcome), snapshot(table, seat, timers.remaining_ms(live), timers.vote_remaining_ms(live))]
        return [_encode(welcome), *(frame.for_seat(seat) for frame in missed)]


class LocalLink:
    """At a table of this process."""

    __slots__ = ("_live", "_node", "_questions", "_socket")

    def __init__(self, node: TableNode, live: LiveTable, socket: Connection, *, questions: Questions) -> None:
        self._node = node
        self._live = live
        self._socket = socket
        self._questions = questions

    @property
    def version(self) -> int:
        return self._live.table.version

    def submit(self, command: Act | Decide, reply: Reply) -> None:
        self._node.owner.submit(self._live, command, reply)

    async def sit(self, act: Act, reply: Reply) -> None:
        """Sitting down asks the wallet and the claims first; only this socket waits."""
        account_id = act.person.account_id
        try:
            if self._live.known_id(account_id, act.id) is None:
                balance = await self._questions.may_sit(self._live.table_id, account_id)
                act = msgspec.structs.replace(act, balance_coins=balance)
        except Refused as error:
            reply.refuse(error.code, error.message, details=error.details, retry=False)
        except Unavailable as error:
            reply.refuse(TableReason.UNAVAILABLE, error.message, details={}, retry=True)
        else:
            self.submit(act, reply)

    def leave(self) -> None:
        with self._node.freezer.guard(self._live):
            self._node.presence.detach(self._live, self._socket)
