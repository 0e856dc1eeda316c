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
    FreshToken,
    Hello,
    Ping,
    TableReason,
)
from darbar_contracts.lobby import BANNED_ROLE
from darbar_contracts.reading import UNREADABLE, command_id_in
from darbar_contracts.tables import Person
from darbar_kit.errors import Refused
from darbar_kit.tokens import Claims, TokenReader
from darbar_table.domain.refusals import refused
from darbar_table.handlers.gateway import SocketReply, TableGateway, TableLink
from darbar_table.metrics import Metrics
from darbar_table.socket.limits import SocketLimits
from darbar_table.socket.transport import Transport
from darbar_table.socket.websocket import CLOSE_FRAME, text_frame

HELLO_SECONDS_MAX = 10.0
WRITE_BUFFER_BYTES_MAX = 256 * 1024
FRAMES_INVALID_MAX = 20
_ID = re.compile(rf"[A-Za-z0-9_-]{{{COMMAND_ID_CHARACTERS_MIN},{COMMAND_ID_CHARACTERS_MAX}}}")
_encode = msgspec.json.Encoder().encode

log = structlog.get_logger()


class PlayerSocket:
    """One connection. `seat` is kept by the owner; whoever has none sees the public part only."""

    __slots__ = (
        "_closed",
        "_decoder",
        "_expiry",
        "_gateway",
        "_invalid",
        "_limits",
        "_link",
        "_metrics",
        "_person",
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
        gateway: TableGateway,
        metrics: Metrics,
        limits: SocketLimits,
        tokens: TokenReader,
        decoder: msgspec.json.Decoder[Any],
    ) -> None:
        self._web_socket = web_socket
        self._transport = transport
        self._gateway = gateway
        self._metrics = metrics
        self._limits = limits
        self._tokens = tokens
        self._decoder = decoder
        self._link: TableLink | None = None
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

    def close(self, code: str, message: str, *, path: str | None = None) -> None:
        """Say why, then end; the reader notices."""
        if self._closed or self._transport.is_closing():
            return
        self._closed = True
        self.send(_encode(frames.Closing(code=code, message=message, path=path)))
        self._transport.write(CLOSE_FRAME)
        self._transport.close()

    async def serve(self, table_id: UUID) -> None:
        """From hello to the end."""
        pace = self._limits.pace()
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
            if self._link is not None:
                message = await self._web_socket.receive()
            else:
                async with asyncio.timeout_at(hello_until):
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
                await self._hello(table_id, frame)
            elif self._link is None:
                self.close(TableReason.HELLO_EXPECTED, "The first message must be hello.")
            elif isinstance(frame, Ping):
                self.send(_encode(frames.Heartbeat(version=self._link.version)))
            elif isinstance(frame, FreshToken):
                self._fresh_token(frame)
            else:
                await self._command(self._link, frame)
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
        if self._link is None:
            self.close(error.code, error.message)
            return
        self._metrics.refusals.labels(error.code).inc()
        SocketReply(self, command_id_in(text)).refuse(error.code, error.message, details=error.details, retry=False)
        self._invalid += 1
        if self._invalid > FRAMES_INVALID_MAX:
            self.close(TableReason.FRAMES_TOO_MANY, "Too many messages that could not be read.")

    async def _hello(self, table_id: UUID, hello: Hello) -> None:
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
            self._link = await self._gateway.enter(self, table_id, hello.version)
            return
        self._limits.refuse_account(claims.account_id)
        self._limits.said_hello(claims.account_id)
        try:
            self._authenticate(claims)
            self._link = await self._gateway.enter(self, table_id, hello.version)
        finally:
            if self._link is None:
                self._limits.ended(claims.account_id)
        self._metrics.sockets.inc()

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

    async def _command(self, link: TableLink, frame: Any) -> None:
        assert self._person is not None
        if not _ID.fullmatch(frame.id):
            raise refused(TableReason.COMMAND_ID_INVALID)
        await link.command(self._person, frame, SocketReply(self, frame.id))

    def _leave(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
        if self._link is not None:
            self._limits.ended(self.account_id)
            self._metrics.sockets.dec()
            self._link.leave()
