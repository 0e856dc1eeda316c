"""The players' socket: hello, commands, frames. Open this when a client can't connect, resume or act."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec
import structlog
from aiohttp import WSMsgType, web

from darbar_contracts import frames
from darbar_contracts.frames import (
    COMMAND_ID_CHARACTERS_MAX,
    COMMAND_ID_CHARACTERS_MIN,
    FRAME_BYTES_MAX,
    PROTOCOL,
    UNREADABLE,
    DecisionFrames,
    FreshToken,
    Hello,
    Ping,
    Sit,
    TableReason,
    command_digest,
    command_id_in,
)
from darbar_contracts.tables import Person
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.tokens import Claims, TokenReader
from darbar_table.domain.commands import Act, Decide
from darbar_table.domain.refusals import refused
from darbar_table.domain.seat_view import snapshot
from darbar_table.domain.visibility import may_look_on
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.node import TableNode
from darbar_table.handlers.questions import Questions
from darbar_table.socket.limits import SocketLimits
from darbar_table.socket.transport import Pace, Transport
from darbar_table.socket.websocket import CLOSE_FRAME, text_frame

HELLO_SECONDS_MAX = 10.0
WRITE_BUFFER_BYTES_MAX = 256 * 1024
FRAMES_INVALID_MAX = 20
_ID = re.compile(rf"[A-Za-z0-9_-]{{{COMMAND_ID_CHARACTERS_MIN},{COMMAND_ID_CHARACTERS_MAX}}}")
_encode = msgspec.json.Encoder().encode

log = structlog.get_logger()


class CommandReply:
    """The answer to one command of a socket."""

    __slots__ = ("_command_id", "_socket")

    def __init__(self, socket: PlayerSocket, command_id: str | None) -> None:
        self._socket = socket
        self._command_id = command_id

    def refuse(self, code: str, message: str, *, details: dict[str, Any], retry: bool) -> None:
        self._socket.send(
            _encode(frames.RefusedFrame(code=code, message=message, id=self._command_id, details=details, retry=retry))
        )

    def done(self, version: int) -> None:
        if self._command_id is not None:
            self._socket.send(_encode(frames.Done(id=self._command_id, version=version)))

    def stored(self, version: int) -> None:
        """The frame with the command's id is the answer."""


class PlayerSocket:
    """One connection. `seat` is kept by the owner; whoever has none sees the public part only."""

    __slots__ = (
        "_closed",
        "_decisions",
        "_decoder",
        "_expiry",
        "_invalid",
        "_limits",
        "_live",
        "_node",
        "_person",
        "_questions",
        "_tokens",
        "_transport",
        "_web_socket",
        "account_id",
        "seat",
    )

    def __init__(
        self,
        web_socket: web.WebSocketResponse,
        transport: Transport,
        *,
        node: TableNode,
        questions: Questions,
        limits: SocketLimits,
        tokens: TokenReader,
        decisions: DecisionFrames,
        decoder: msgspec.json.Decoder[Any],
    ) -> None:
        self._web_socket = web_socket
        self._transport = transport
        self._node = node
        self._questions = questions
        self._limits = limits
        self._tokens = tokens
        self._decisions = decisions
        self._decoder = decoder
        self._live: LiveTable | None = None
        self._person: Person | None = None
        self._expiry: asyncio.TimerHandle | None = None
        self._invalid = 0
        self._closed = False
        self.account_id = ""
        self.seat: int | None = None

    def send(self, frame: bytes) -> None:
        """Queue a frame; a socket that is too slow is cut off, and comes back to resume."""
        if self._transport.is_closing():
            return
        if self._transport.get_write_buffer_size() > WRITE_BUFFER_BYTES_MAX:
            log.warning("socket_too_slow", account_id=self.account_id)
            self._transport.abort()
            return
        self._transport.write(text_frame(frame))

    def close(self, code: str, message: str) -> None:
        """Say why, then end; the reader notices."""
        if self._closed or self._transport.is_closing():
            return
        self._closed = True
        self.send(_encode(frames.Closing(code=code, message=message)))
        self._transport.write(CLOSE_FRAME)
        self._transport.close()

    async def serve(self, table_id: UUID) -> None:
        """From hello to the end."""
        pace = Pace(self._node.settings.frames_a_second_max)
        hello_until = asyncio.get_running_loop().time() + HELLO_SECONDS_MAX
        try:
            while (text := await self._next(hello_until)) is not None:
                wait = pace.wait_seconds()
                if wait:
                    await asyncio.sleep(wait)
                await self._take(table_id, text)
        finally:
            self._leave()

    async def _next(self, hello_until: float) -> bytes | None:
        """The next message; None at the end. One deadline for hello, whatever pings and pongs come before it."""
        try:
            async with asyncio.timeout_at(hello_until if self._live is None else None):
                message = await self._web_socket.receive()
        except TimeoutError:
            self.close(TableReason.HELLO_EXPECTED, "No hello came.")
            return None
        except ConnectionError:
            return None  # It went away while a pong was on its way.
        if message.type is WSMsgType.TEXT:
            return bytes(message.data)
        if message.type is WSMsgType.BINARY:
            self.close(TableReason.FRAME_NOT_TEXT, "Only text messages are read here.")
        return None

    async def _take(self, table_id: UUID, text: bytes) -> None:
        try:
            if len(text) > FRAME_BYTES_MAX:
                raise refused(TableReason.FRAME_TOO_LARGE, bytes_max=FRAME_BYTES_MAX)
            frame = self._decode(text)
            if isinstance(frame, Hello):
                self._hello(table_id, frame)
            elif self._live is None:
                self.close(TableReason.HELLO_EXPECTED, "The first message must be hello.")
            elif isinstance(frame, Ping):
                self.send(_encode(frames.Heartbeat(version=self._live.table.version)))
            elif isinstance(frame, FreshToken):
                self._fresh_token(frame)
            else:
                await self._command(self._live, frame)
        except Refused as error:
            self._refused(error, text)

    def _decode(self, text: bytes) -> Any:
        try:
            return self._decoder.decode(text)
        except msgspec.ValidationError as error:
            raise refused(TableReason.FRAME_INVALID, problem=str(error)) from error
        except UNREADABLE as error:
            raise refused(TableReason.FRAME_INVALID, problem="not JSON") from error

    def _refused(self, error: Refused, text: bytes) -> None:
        """A frame that could not be read, or a hello that is refused: the latter ends the socket."""
        if self._live is None:
            self.close(error.code, error.message)
            return
        self._node.metrics.refusals.labels(error.code).inc()
        CommandReply(self, command_id_in(text)).refuse(error.code, error.message, details=error.details, retry=False)
        self._invalid += 1
        if self._invalid > FRAMES_INVALID_MAX:
            self.close(TableReason.FRAMES_TOO_MANY, "Too many messages that could not be read.")

    def _hello(self, table_id: UUID, hello: Hello) -> None:
        """Welcome, then what the client misses, or a snapshot."""
        if hello.protocol != PROTOCOL:
            raise refused(TableReason.PROTOCOL_UNKNOWN, spoken=[PROTOCOL])
        claims = self._tokens.read(hello.token)
        if self.account_id and claims.account_id != self.account_id:
            raise refused(TableReason.TOKEN_INVALID)
        if not self._node.lease.may_answer:
            raise refused(TableReason.UNAVAILABLE)
        live = self._node.find(table_id)
        if live.frozen:
            raise refused(TableReason.TABLE_FROZEN)
        with self._node.freezer.answering(live):
            self._enter(live, claims, hello.version)

    def _enter(self, live: LiveTable, claims: Claims, version: int) -> None:
        if not may_look_on(live.table, claims.account_id):
            raise refused(TableReason.TABLE_PRIVATE)
        if self._live is None:
            self._refuse_crowd(live, claims.account_id)
        self._authenticate(claims)
        self.seat = live.table.seat_of(self.account_id)
        for frame in self._welcome(live, version):
            self.send(frame)
        if self._live is None:
            self._live = live
            self._limits.said_hello(self.account_id)
            self._node.metrics.sockets.inc()
            self._node.presence.attach(live, self)

    def _refuse_crowd(self, live: LiveTable, account_id: str) -> None:
        self._limits.refuse_account(account_id)
        if live.table.seat_of(account_id) is None:
            self._limits.refuse_spectator(sum(socket.seat is None for socket in live.sockets))

    def _welcome(self, live: LiveTable, version: int) -> list[bytes]:
        table = live.table
        welcome = frames.Welcome(protocol=PROTOCOL, table_id=table.table_id, seat=self.seat, version=table.version)
        missed = live.frames_after(version) if version > 0 else None
        if missed is None:
            timers = self._node.timers
            left = timers.remaining_ms(live), timers.vote_remaining_ms(live)
            return [_encode(welcome), snapshot(table, self.seat, *left)]
        return [_encode(welcome), *(frame.for_seat(self.seat) for frame in missed)]

    def _authenticate(self, claims: Claims) -> None:
        """Who this is, until the token ends."""
        self.account_id = claims.account_id
        self._person = Person(claims.account_id, claims.name, claims.avatar)
        if self._expiry is not None:
            self._expiry.cancel()
        seconds = (claims.expires_at - datetime.now(UTC)).total_seconds()
        loop = asyncio.get_running_loop()
        self._expiry = loop.call_later(seconds, self.close, TableReason.TOKEN_EXPIRED, "The token has expired.")

    def _fresh_token(self, frame: FreshToken) -> None:
        claims = self._tokens.read(frame.token)
        if claims.account_id != self.account_id:
            raise refused(TableReason.TOKEN_INVALID)
        self._authenticate(claims)

    async def _command(self, live: LiveTable, frame: Any) -> None:
        assert self._person is not None
        if not _ID.fullmatch(frame.id):
            raise refused(TableReason.COMMAND_ID_INVALID)
        reply = CommandReply(self, frame.id)
        digest = command_digest(frame)
        decision = self._decisions.decision_of(frame)
        if decision is not None:
            kind = frame.__struct_config__.tag
            command = Decide(self._person, frame.id, digest, frame.round, frame.turn, kind, decision)
            self._node.owner.submit(live, command, reply)
        elif isinstance(frame, Sit):
            await self._sit(live, frame, digest=digest, reply=reply)
        else:
            self._node.owner.submit(live, Act(person=self._person, frame=frame, digest=digest), reply)

    async def _sit(self, live: LiveTable, frame: Sit, *, digest: int, reply: CommandReply) -> None:
        """Sitting down asks the wallet and the claims first; only this socket waits."""
        assert self._person is not None
        balance, account_id = 0, self._person.account_id
        try:
            if live.known_id(account_id, frame.id) is None:
                balance = await self._questions.may_sit(live.table_id, account_id)
        except Refused as error:
            reply.refuse(error.code, error.message, details=error.details, retry=False)
            return
        except Unavailable as error:
            reply.refuse(TableReason.UNAVAILABLE, error.message, details={}, retry=True)
            return
        act = Act(person=self._person, frame=frame, digest=digest, balance_coins=balance)
        self._node.owner.submit(live, act, reply)

    def _leave(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
        if self._live is not None:
            self._limits.ended(self.account_id)
            self._node.metrics.sockets.dec()
            with self._node.freezer.guard(self._live):
                self._node.presence.detach(self._live, self)
