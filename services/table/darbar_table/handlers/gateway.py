"""The way of a player's socket to its table. Open this to let sockets live in another process than their tables."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias
from uuid import UUID

import msgspec

from darbar_contracts.frames import (
    PROTOCOL,
    AskMicrophone,
    CancelNote,
    Done,
    Leave,
    Mute,
    RefusedFrame,
    Say,
    Sit,
    TableReason,
    Welcome,
)
from darbar_contracts.reading import DecisionFrames, command_digest
from darbar_contracts.refusals import Reason
from darbar_contracts.tables import JsonObject, Person
from darbar_kit.database import DatabaseAway
from darbar_kit.errors import Refused, Unavailable
from darbar_table.domain.commands import Act, Decide
from darbar_table.domain.refusals import refused
from darbar_table.domain.seat_view import snapshot
from darbar_table.domain.visibility import may_look_on
from darbar_table.engine.live_table import Connection, LiveTable, Reply
from darbar_table.engine.node import TableNode
from darbar_table.engine.resuming import EVENTS_TO_RESUME_MAX, Past, frames_after
from darbar_table.handlers.lobby_news.announcer import Announcer
from darbar_table.handlers.questions import Questions
from darbar_table.handlers.talk import Talk
from darbar_table.handlers.turnstile import Turnstile
from darbar_table.shards.placement import shard_of
from darbar_table.store.codec import LogBroken
from darbar_table.store.replay import decode

# So long a player waits while a table changes its owner; then they are asked to try again.
HELD_SECONDS_MAX = 10.0
# A snapshot takes less than half a millisecond to make.
HELLOS_AT_ONCE_MAX = 20
_encode = msgspec.json.Encoder().encode
Waiting: TypeAlias = Coroutine[None, None, None]


class TableLink(Protocol):
    """A socket that has said hello, at its table."""

    @property
    def version(self) -> int: ...

    def command(self, person: Person, frame: Any, reply: Reply) -> Waiting | None:
        """A frame that has an id. Never raises: `reply` hears what became of it. What is to be waited for before this
        socket's next frame is returned; of most commands nothing is."""

    def leave(self) -> None:
        """The socket is gone."""


class TableGateway(Protocol):
    """Where sockets find tables."""

    async def enter(self, socket: Connection, table_id: UUID, version: int) -> TableLink:
        """A hello, the first or a later one: sends the welcome and what the client misses since `version`, or a
        snapshot, and keeps `socket.seat`. Raises Refused."""


class LocalGateway:
    """Tables of this process."""

    def __init__(
        self, node: TableNode, *, questions: Questions, announcer: Announcer, talk: Talk, decisions: DecisionFrames
    ) -> None:
        self._node = node
        self._questions = questions
        self._announcer = announcer
        self._talk = talk
        self._decisions = decisions
        self._hellos = Turnstile(HELLOS_AT_ONCE_MAX)

    async def enter(self, socket: Connection, table_id: UUID, version: int) -> TableLink:
        """Only the log is waited for. A socket that is here already has every frame: what it lacks is a snapshot."""
        await self._held(table_id)
        await self._hellos.passed()
        live = self._find(socket, table_id)
        past = None
        if socket not in live.sockets:
            with contextlib.suppress(DatabaseAway):
                past = await self._past(live, version)
            if self._find(socket, table_id) is not live:
                raise refused(TableReason.UNAVAILABLE)
        with self._node.freezer.answering(live):
            self._let_in(live, socket, version, past)
        return LocalLink(
            self._node, live, socket, questions=self._questions, talk=self._talk, decisions=self._decisions
        )

    async def _held(self, table_id: UUID) -> None:
        """A shard that comes or goes is waited for."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HELD_SECONDS_MAX):
                await self._node.holdings.settled([shard_of(table_id)])

    async def _past(self, live: LiveTable, version: int) -> Past | None:
        """What has happened since a version and before it; None when that is too much, or not known any more.

        What is stored beyond the table in memory nobody has been shown yet. Nothing happens between the last reading
        and the answer.
        """
        start = live.start_before(version)
        if start is None:
            return None
        past = Past(start.table() if version < live.table.version else live.table, [])
        while version < live.table.version > past.version:
            if live.table.version - start.version > EVENTS_TO_RESUME_MAX:
                return None
            rows = await self._node.store.log_page(
                live.table_id, after=past.version, last=live.table.version, rows_max=EVENTS_TO_RESUME_MAX
            )
            with self._node.freezer.answering(live):
                if not rows:
                    raise LogBroken(f"version {past.version + 1} is missing")
                past.events.extend(decode(rows, live.codec, after=past.version))
        return past

    def _find(self, socket: Connection, table_id: UUID) -> LiveTable:
        """The table, for somebody who may see it."""
        if not self._node.lease.may_answer:
            raise refused(TableReason.UNAVAILABLE)
        live = self._node.find(table_id)
        if live.frozen:
            raise refused(TableReason.TABLE_FROZEN)
        with self._node.freezer.answering(live):
            if not may_look_on(live.table, socket.account_id, now=datetime.now(UTC)):
                raise refused(TableReason.TABLE_PRIVATE)
            if socket not in live.sockets and live.table.seat_of(socket.account_id) is None:
                self._refuse_crowd(live)
        return live

    def _refuse_crowd(self, live: LiveTable) -> None:
        """Who has no seat looks on; a table has room for so many. 0 is no limit."""
        count_max = self._node.settings.spectators_a_table_max
        if count_max and sum(socket.seat is None for socket in live.sockets) >= count_max:
            raise refused(Reason.SOCKETS_TOO_MANY, of="table", count_max=count_max)

    def _let_in(self, live: LiveTable, socket: Connection, version: int, past: Past | None) -> None:
        table, account_id, remaining_ms = live.table, socket.account_id, self._node.timers.remaining_ms(live)
        seat, missed = table.seat_of(account_id), None
        if past is not None:
            now = datetime.now(UTC)
            missed = frames_after(version, past, table, account_id=account_id, now=now, remaining_ms=remaining_ms)
        if missed is None:
            missed = [snapshot(table, seat, remaining_ms, self._node.timers.vote_remaining_ms(live))]
        socket.seat = seat
        socket.send(_encode(Welcome(PROTOCOL, table.table_id, seat, table.version, self._announcer.text)))
        for frame in missed:
            socket.send(frame)
        self._node.microphones.show(live, socket)
        if socket not in live.sockets:
            self._node.presence.attach(live, socket)


class LocalLink:
    """At a table of this process."""

    __slots__ = ("_decisions", "_live", "_node", "_questions", "_socket", "_talk")

    def __init__(
        self,
        node: TableNode,
        live: LiveTable,
        socket: Connection,
        *,
        questions: Questions,
        talk: Talk,
        decisions: DecisionFrames,
    ) -> None:
        self._node = node
        self._talk = talk
        self._live = live
        self._socket = socket
        self._questions = questions
        self._decisions = decisions

    @property
    def version(self) -> int:
        return self._live.table.version

    def command(self, person: Person, frame: Any, reply: Reply) -> Waiting | None:
        digest = command_digest(frame)
        decision = self._decisions.decision_of(frame)
        if decision is not None:
            kind = frame.__struct_config__.tag
            named = (frame.round, frame.turn, kind, decision, frame.game)
            self._node.owner.submit(self._live, Decide(person, frame.id, digest, *named), reply)
            return None
        if isinstance(frame, Say | Mute):
            self._talk_of(frame, reply)
            return None
        if isinstance(frame, AskMicrophone | CancelNote):
            self._node.microphones.hear(self._live, self._socket, frame, reply)
            return None
        act = Act(person=person, frame=frame, digest=digest)
        if isinstance(frame, Sit):
            return self._sit(act, reply)
        self._node.owner.submit(self._live, act, reply)
        return None

    async def _sit(self, act: Act, reply: Reply) -> None:
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
            self._node.owner.submit(
                self._live, act, SeatReply(reply, lambda: self._node.spawn(self._leave_one_of_two(act)))
            )

    async def _leave_one_of_two(self, act: Act) -> None:
        """TL-8: of two seats that were taken at the same moment in two databases, whoever finds the other one leaves
        this one."""
        if await self._questions.seat_elsewhere(act.person.account_id) is not None:
            frame = Leave(secrets.token_hex(16))
            self._node.owner.submit(self._live, Act(act.person, frame, command_digest(frame)))

    def _talk_of(self, frame: Say | Mute, reply: Reply) -> None:
        try:
            self._talk.hear(
                self._live,
                self._socket.account_id,
                frame,
                done=lambda: reply.done(self.version),
                spawn=self._node.spawn,
            )
        except Refused as error:
            reply.refuse(error.code, error.message, details=error.details, retry=False)

    def leave(self) -> None:
        with self._node.freezer.guard(self._live):
            self._node.presence.detach(self._live, self._socket)


class SocketReply:
    """The answer to one command, sent to its socket. Without an id only a refusal can be told."""

    __slots__ = ("_command_id", "_socket")

    def __init__(self, socket: Connection, command_id: str | None) -> None:
        self._socket = socket
        self._command_id = command_id

    def refuse(self, code: str, message: str, *, details: JsonObject, retry: bool) -> None:
        self._socket.send(
            _encode(RefusedFrame(code=code, message=message, id=self._command_id, details=details, retry=retry))
        )

    def done(self, version: int) -> None:
        if self._command_id is not None:
            self._socket.send(_encode(Done(id=self._command_id, version=version)))

    def stored(self, version: int) -> None:
        """The frame with the command's id is the answer."""


class SeatReply:
    """The answer to who sits down, and what is done when the seat is stored."""

    __slots__ = ("_reply", "_then", "done", "refuse")

    def __init__(self, reply: Reply, then: Callable[[], None]) -> None:
        self._reply = reply
        self._then = then
        self.done = reply.done
        self.refuse = reply.refuse

    def stored(self, version: int) -> None:
        self._reply.stored(version)
        self._then()
