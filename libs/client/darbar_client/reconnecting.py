"""Keeps a table's socket open: where to connect, hello, again after each loss. Open this when a client stays away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import msgspec

from darbar_client.backoff import Attempts, Backoff
from darbar_client.connection import LOST, Connection, ConnectionLost
from darbar_client.errors import DarbarError, SocketEnded, Unreachable
from darbar_client.http import Http
from darbar_client.tokens import Tokens
from darbar_contracts.api import SocketPaths
from darbar_contracts.frames import PROTOCOL, AnyServerFrame, Closing, FreshToken, Hello
from darbar_contracts.refusals import Reason

# After these nothing is better on another connection.
ENDS = frozenset({Reason.TABLE_CLOSED, Reason.TABLE_PRIVATE, Reason.PROTOCOL_UNKNOWN})
TOKEN_REFUSALS = frozenset({Reason.TOKEN_INVALID, Reason.TOKEN_EXPIRED})
# A process that takes a table over may for a moment not know it.
TABLE_UNKNOWN_MAX = 5

_Error = TypeVar("_Error", bound=BaseException)


class FrameListener(Protocol):
    """Takes what the table sends, over one connection after another."""

    @property
    def version_wanted(self) -> int:
        """The last version that is known; 0 asks for a snapshot."""

    @property
    def caught_up(self) -> bool:
        """Whether this connection has brought everything that had been missed."""

    def opening(self) -> None:
        """A new connection says hello."""

    def receive(self, frame: AnyServerFrame) -> None:
        """Raises ConnectionLost when this frame shows that others were lost."""


class ReconnectingSocket:
    """One connection after another, to the owner of the table or to whoever passes on what it says."""

    def __init__(
        self,
        http: Http,
        tokens: Tokens,
        paths: SocketPaths,
        *,
        find: Callable[[], Awaitable[SocketPaths]],
        listener: FrameListener,
        backoff: Backoff,
        decoder: msgspec.json.Decoder[AnyServerFrame],
    ) -> None:
        self._http = http
        self._tokens = tokens
        self._paths = paths
        self._find = find
        self._listener = listener
        self._backoff = backoff
        self._decoder = decoder
        self._connection: Connection | None = None
        self._tries = 0
        self._token = ""
        self._token_refused = False
        self._cut = asyncio.Event()

    def post(self, content: bytes) -> None:
        """Sends on the present connection; without one nothing happens: what must arrive is sent again on the next."""
        if self._connection is not None:
            self._connection.post(content)

    def hello(self, version: int) -> None:
        """Asks for what came after this version, or with 0 for a snapshot."""
        self.post(msgspec.json.encode(Hello(protocol=PROTOCOL, token=self._token, version=version)))

    def cut(self) -> None:
        """Gives the present connection up, as if it had been lost."""
        self._cut.set()

    async def run(self) -> None:
        """Raises SocketEnded when the table says that it is over, Unreachable when nobody can be reached any more."""
        attempts = self._fresh_attempts()
        unknown = 0
        while True:
            lost = await self._until_lost()
            if lost.code in ENDS:
                raise SocketEnded(lost.code, lost.message)
            # What is lost on another way says nothing about the table.
            unknown += lost.code == Reason.TABLE_UNKNOWN
            if unknown >= TABLE_UNKNOWN_MAX:
                raise SocketEnded(lost.code, lost.message)
            if self._listener.caught_up:
                attempts, unknown = self._fresh_attempts(), 0
                if lost.code == Reason.MOVED:
                    continue
            else:
                self._tries += 1
            self._token_refused = lost.code in TOKEN_REFUSALS
            if not await attempts.pause():
                raise Unreachable(Reason.UNREACHABLE, f"no socket to the table: {lost.code} {lost.message}")

    def _fresh_attempts(self) -> Attempts:
        return Attempts(self._backoff, seconds=self._backoff.socket_seconds)

    async def _until_lost(self) -> ConnectionLost:
        """One connection, and why it ended. Raises DarbarError when the account itself is refused."""
        lost = ConnectionLost("closed")
        refused: DarbarError | None = None
        try:
            await self._one_connection()
        except* ConnectionLost as group:
            lost = _first(group)
        except* LOST as group:
            lost = ConnectionLost("lost", str(_first(group)))
        except* Unreachable as group:
            lost = ConnectionLost("unreachable", str(_first(group)))
        except* DarbarError as group:
            refused = _first(group)
        if refused is not None:
            raise refused
        return lost

    async def _one_connection(self) -> None:
        self._listener.opening()
        refused, self._token_refused = self._token_refused, False
        self._token = await (self._tokens.renewed(self._token) if refused else self._tokens.access())
        self._cut.clear()
        connection = await Connection.opened(self._http.session, await self._url(), self._decoder)
        self._connection = connection
        try:
            self.hello(self._listener.version_wanted)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(connection.write())
                tasks.create_task(self._keep_token_fresh())
                tasks.create_task(self._until_cut())
                async for frame in connection.frames():
                    if isinstance(frame, Closing):
                        if frame.path is not None:
                            self._moved_to(frame.path)
                        raise ConnectionLost(frame.code, frame.message)
                    self._listener.receive(frame)
                raise ConnectionLost("closed", "the table closed the connection")
        finally:
            self._connection = None
            await connection.close()

    async def _until_cut(self) -> None:
        await self._cut.wait()
        raise ConnectionLost("cut", "the connection was given up")

    async def _keep_token_fresh(self) -> None:
        """The socket ends with its token, unless a newer one comes before."""
        while True:
            await asyncio.sleep(self._tokens.seconds_to_renewal)
            try:
                self._token = await self._tokens.access()
            except Unreachable:
                # There is time left before the token ends.
                await asyncio.sleep(self._backoff.pause_seconds_max)
                continue
            self.post(msgspec.json.encode(FreshToken(token=self._token)))

    def _moved_to(self, path: str) -> None:
        """The table says who owns it now."""
        self._paths, self._tries = SocketPaths(direct=path, any=self._paths.any), 0

    async def _url(self) -> str:
        """The owner first, then whoever passes on; when both have failed, the lobby is asked who owns the table now."""
        ways = [path for path in (self._paths.direct, self._paths.any) if path is not None]
        if self._tries and self._tries % len(ways) == 0:
            # When the lobby does not know either, the old ways may work again.
            with contextlib.suppress(DarbarError):
                self._paths = await self._find()
            ways = [path for path in (self._paths.direct, self._paths.any) if path is not None]
        return self._http.url(ways[self._tries % len(ways)])


def _first(group: BaseExceptionGroup[_Error]) -> _Error:
    """The first of what went wrong, however deep it lies."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
