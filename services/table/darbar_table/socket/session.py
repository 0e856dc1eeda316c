"""The players' socket: hello, commands, frames. Open this when a client can't connect, resume or act."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec
import structlog
from aiohttp import WSMsgType

from darbar_contracts import frames
from darbar_contracts.frames import (
    COMMAND_ID_CHARACTERS_MAX,
    COMMAND_ID_CHARACTERS_MIN,
    FRAME_BYTES_MAX,
    PROTOCOL,
    FreshToken,
    Hello,
    Ping,
    TableReason,
)
from darbar_contracts.lobby import BANNED_ROLE
from darbar_contracts.reading import UNREADABLE, command_id_in
from darbar_contracts.tables import Person
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.tokens import Claims, TokenReader
from darbar_table.domain.refusals import refused
from darbar_table.handlers.gateway import SocketReply, TableGateway, TableLink, Waiting
from darbar_table.metrics import Metrics
from darbar_table.socket.limits import SocketLimits
from darbar_table.socket.messages import Broken, Message, MessageReader
from darbar_table.socket.stages import Stages
from darbar_table.socket.transport import Pace, Transport
from darbar_table.socket.websocket import PING_FRAME, STATUS_OK, close_frame, pong_frame, text_frame

HELLO_SECONDS_MAX = 10.0
WRITE_BUFFER_BYTES_MAX = 256 * 1024
FRAMES_INVALID_MAX = 20
READ_AT_ONCE_BYTES = 4096
# A dead connection is noticed after eight looks; whoever lives has half of that time for an answer.
LOOK_SECONDS = 1.2
SILENCES_BEFORE_PING = 3
SILENCES_MAX = 7
_ID = re.compile(rf"[A-Za-z0-9_-]{{{COMMAND_ID_CHARACTERS_MIN},{COMMAND_ID_CHARACTERS_MAX}}}")
_encode = msgspec.json.Encoder().encode

log = structlog.get_logger()


class PlayerSocket(asyncio.Protocol):
    """One connection, from the end of its handshake on. `seat` is kept by the owner; whoever has none sees the public
    part only.

    A message is handled as it is read, without a task; only what has to be waited for holds back those after it.
    `address` is counted by the limits; `gone` is told when the connection has ended.
    """

    __slots__ = (
        "_closed",
        "_decoder",
        "_ends_at",
        "_gateway",
        "_gone",
        "_held",
        "_invalid",
        "_limits",
        "_link",
        "_lost",
        "_metrics",
        "_pace",
        "_person",
        "_reader",
        "_silences",
        "_stages",
        "_table_id",
        "_tokens",
        "_transport",
        "_unread",
        "_work",
        "account_id",
        "address",
        "seat",
    )

    _table_id: UUID
    _pace: Pace

    def __init__(
        self,
        transport: Transport,
        address: str,
        *,
        stages: Stages,
        gateway: TableGateway,
        metrics: Metrics,
        limits: SocketLimits,
        tokens: TokenReader,
        decoder: msgspec.json.Decoder[Any],
        gone: Callable[[PlayerSocket], None],
    ) -> None:
        self._transport = transport
        self._stages = stages
        self._gateway = gateway
        self._metrics = metrics
        self._limits = limits
        self._tokens = tokens
        self._decoder = decoder
        self._gone = gone
        self._reader = MessageReader()
        self._link: TableLink | None = None
        self._person: Person | None = None
        self._ends_at: asyncio.TimerHandle | None = None
        self._held: deque[bytes] | None = None  # None: the next message may be taken at once
        self._work: asyncio.Task[None] | None = None
        self._invalid = 0
        self._silences = 0
        self._unread = b""
        self._closed = self._lost = False
        self.account_id = ""
        self.address = address
        self.seat: int | None = None

    def send(self, frame: bytes) -> None:
        """Written with all that is sent in this turn of the loop."""
        if not self._closed:
            self._stages.send(self._transport, text_frame(frame))

    def close(self, code: str, message: str, *, path: str | None = None) -> None:
        """Say why, then end; what has arrived and waits is not done."""
        if self._closed or self._transport.is_closing():
            return
        self.send(_encode(frames.Closing(code=code, message=message, path=path)))
        self._end(STATUS_OK)

    def begin(self, table_id: UUID) -> None:
        """What arrives from now on is the player's. There is one deadline for hello, whatever comes before it."""
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES_MAX)
        self._table_id = table_id
        self._pace = self._limits.pace()
        self._ends_at = asyncio.get_running_loop().call_later(
            HELLO_SECONDS_MAX, self.close, TableReason.HELLO_EXPECTED, "No hello came."
        )

    def look(self) -> None:
        """Called every LOOK_SECONDS: who was silent for a while is pinged, who is silent then is gone (TL-41).

        While nothing is read, nobody can be heard.
        """
        if self._held is not None and not self._closed:
            return
        if self._silences >= SILENCES_MAX:
            self._transport.abort()
        elif self._silences == SILENCES_BEFORE_PING:
            self._write(PING_FRAME)
        self._silences += 1

    def data_received(self, data: bytes) -> None:
        self._stages.arrived(self, data)

    def take(self, data: bytes) -> None:
        """What has arrived is done, or held until it may be."""
        if self._closed:
            return
        self._silences = 0
        if self._held is not None:
            self._unread += data
        else:
            self._read(data)

    def pause_writing(self) -> None:
        """A socket that is too slow is cut off, and comes back to resume."""
        log.warning("socket_too_slow", account_id=self.account_id)
        self._transport.abort()

    def failed(self) -> None:
        """Called where the exception is handled: this socket ends, and no other."""
        log.exception("socket_failed", account_id=self.account_id)
        self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """What has arrived before is still done."""
        self._lost = True
        self._over()

    def _over(self) -> None:
        """Nothing more comes from here, or is heard."""
        if self._held is None:
            self._leave()
            if self._lost:
                self._gone(self)

    def _read(self, data: bytes) -> bool:
        """Whether the next bytes may be read: while messages are held, what follows stays the bytes that it is."""
        for start in range(0, len(data), READ_AT_ONCE_BYTES):
            if self._held is not None:
                self._unread = data[start:] + self._unread
                return False
            for message in self._reader.read(data[start : start + READ_AT_ONCE_BYTES]):
                if self._closed or self._transport.is_closing():
                    break
                self._arrived(message)
        return self._held is None

    def _arrived(self, message: Message | Broken) -> None:
        if isinstance(message, Broken):
            self._end(message.status)
        elif message.type is WSMsgType.TEXT:
            if self._held is not None:
                self._held.append(message.data)
            elif not self._is_through(message.data):
                self._hold()
        elif message.type is WSMsgType.BINARY:
            self.close(TableReason.FRAME_NOT_TEXT, "Only text messages are read here.")
        elif message.type is WSMsgType.PING:
            self._write(pong_frame(message.data))
        elif message.type is WSMsgType.CLOSE:
            self._end(STATUS_OK)
            self._transport.close()

    def _is_through(self, text: bytes) -> bool:
        """Takes a message; whether the next one may be taken at once. Else `_go_on` is called when it may."""
        wait = self._pace.wait_seconds()
        if wait:
            asyncio.get_running_loop().call_later(wait, self._take_late, text)
            return False
        return self._is_taken(text)

    def _is_taken(self, text: bytes) -> bool:
        waiting = self._take(text)
        if waiting is None:
            return True
        self._work = asyncio.create_task(self._wait_for(waiting, text))
        return False

    def _take_late(self, text: bytes) -> None:
        if self._is_taken(text):
            self._go_on()

    async def _wait_for(self, waiting: Waiting, text: bytes) -> None:
        try:
            await waiting
        except Refused as error:
            self._refused(error, text)
        except Unavailable as error:
            self.close(TableReason.UNAVAILABLE, error.message)
        except Exception:  # noqa: BLE001  # A fault of ours at one socket ends that socket.
            self.failed()
        self._work = None
        self._go_on()

    def _hold(self) -> None:
        """Nothing is read until `_go_on`; what has been read already is held."""
        self._held = deque()
        if not self._transport.is_closing():
            self._transport.pause_reading()

    def _go_on(self) -> None:
        while self._held and not self._closed:
            if not self._is_through(self._held.popleft()):
                return
        self._held = None
        unread, self._unread = self._unread, b""
        if not self._closed and not self._read(unread):
            return
        if self._closed or self._lost:
            self._over()
        elif not self._transport.is_closing():
            self._transport.resume_reading()

    def _take(self, text: bytes) -> Waiting | None:
        """One message; what has to be waited for is returned."""
        try:
            if len(text) > FRAME_BYTES_MAX:
                raise refused(TableReason.FRAME_TOO_LARGE, bytes_max=FRAME_BYTES_MAX)
            frame = self._decode(text)
            kind = type(frame)  # Asked so because isinstance() is slow where the answer is no, and it is for each card.
            if kind is Hello:
                return self._hello(frame)
            if self._link is None:
                self.close(TableReason.HELLO_EXPECTED, "The first message must be hello.")
            elif kind is Ping:
                self.send(_encode(frames.Heartbeat(version=self._link.version)))
            elif kind is FreshToken:
                self._fresh_token(frame)
            else:
                return self._command(self._link, frame)
        except Refused as error:
            self._refused(error, text)
        return None

    def _decode(self, text: bytes) -> Any:
        try:
            return self._decoder.decode(text)
        except msgspec.ValidationError as error:
            raise refused(TableReason.FRAME_INVALID, problem=str(error)) from error
        except UNREADABLE as error:
            raise refused(TableReason.FRAME_INVALID, problem="not JSON") from error

    def _refused(self, error: Refused, text: bytes) -> None:
        """A frame that could not be read, or a hello that is refused: the latter ends the socket."""
        if self._link is None:
            self.close(error.code, error.message)
            return
        self._metrics.refusals.labels(error.code).inc()
        SocketReply(self, command_id_in(text)).refuse(error.code, error.message, details=error.details, retry=False)
        self._invalid += 1
        if self._invalid > FRAMES_INVALID_MAX:
            self.close(TableReason.FRAMES_TOO_MANY, "Too many messages that could not be read.")

    async def _hello(self, hello: Hello) -> None:
        """Welcome, then what the client misses, or a snapshot."""
        if hello.protocol != PROTOCOL:
            raise refused(TableReason.PROTOCOL_UNKNOWN, spoken=[PROTOCOL])
        claims = self._tokens.read(hello.token)
        if claims.role == BANNED_ROLE:
            raise refused(TableReason.BANNED)
        if self.account_id and claims.account_id != self.account_id:
            raise refused(TableReason.TOKEN_INVALID)
        if self._link is not None:
            self._authenticate(claims)
            self._link = await self._gateway.enter(self, self._table_id, hello.version)
            return
        self._limits.refuse_account(claims.account_id)
        self._limits.said_hello(claims.account_id)
        try:
            self._authenticate(claims)
            self._link = await self._gateway.enter(self, self._table_id, hello.version)
        finally:
            if self._link is None:
                self._limits.ended(claims.account_id)
        self._metrics.sockets.inc()

    def _authenticate(self, claims: Claims) -> None:
        """Who this is, until the token ends."""
        self.account_id = claims.account_id
        self._person = Person(claims.account_id, claims.name, claims.avatar)
        if self._ends_at is not None:
            self._ends_at.cancel()
        seconds = (claims.expires_at - datetime.now(UTC)).total_seconds()
        loop = asyncio.get_running_loop()
        self._ends_at = loop.call_later(seconds, self.close, TableReason.TOKEN_EXPIRED, "The token has expired.")

    def _fresh_token(self, frame: FreshToken) -> None:
        claims = self._tokens.read(frame.token)
        if claims.account_id != self.account_id:
            raise refused(TableReason.TOKEN_INVALID)
        if claims.role == BANNED_ROLE:
            self.close(TableReason.BANNED, TableReason.BANNED.sentence)
            return
        self._authenticate(claims)

    def _command(self, link: TableLink, frame: Any) -> Waiting | None:
        assert self._person is not None
        if not _ID.fullmatch(frame.id):
            raise refused(TableReason.COMMAND_ID_INVALID)
        return link.command(self._person, frame, SocketReply(self, frame.id))

    def _write(self, wire: bytes) -> None:
        if not self._closed:
            self._stages.send(self._transport, wire)

    def _end(self, status: int) -> None:
        """The other side is told in WebSocket's own words, and hangs up when it has read them. Were it us, and had it
        sent something more, its system could throw away what we said. Who does not hang up is cut off by `look`."""
        self._write(close_frame(status))
        self._closed = True
        self._stages.write()  # Nothing can be after what follows.
        self._silences = SILENCES_MAX - 2
        if not self._transport.is_closing():
            if self._transport.can_write_eof():
                self._transport.write_eof()
            self._transport.resume_reading()
        # Not at once: whoever ends the sockets of a table is still looking at them.
        asyncio.get_running_loop().call_soon(self._leave_if_done)

    def _leave_if_done(self) -> None:
        if self._held is None:
            self._leave()

    def _leave(self) -> None:
        """Once: at the connection's end, or when we have ended it."""
        if self._ends_at is not None:
            self._ends_at.cancel()
        link, self._link = self._link, None
        if link is not None:
            self._limits.ended(self.account_id)
            self._metrics.sockets.dec()
            link.leave()
