"""Keeps a table's socket open: where to connect, hello, again after each loss. Open this when a client stays away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import msgspec

from darbar_client.connection import LOST, Broken, Connection
from darbar_client.errors import DarbarError, SocketEnded, Unreachable
from darbar_client.http import Http
from darbar_client.patience import Patience, Pauses
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


class Hearing(Protocol):
    """Whoever listens on a line."""

    @property
    def version_wanted(self) -> int:
        """The last version that is known; 0 asks for a snapshot."""

    @property
    def caught_up(self) -> bool:
        """Whether this connection has brought everything that had been missed."""

    def opening(self) -> None:
        """A new connection says hello."""

    def hear(self, frame: AnyServerFrame) -> None:
        """Raises Broken when this frame shows that others were lost."""


class Line:
    """One connection after another, to the owner of the table or to whoever passes on what it says."""

    def __init__(
        self,
        http: Http,
        tokens: Tokens,
        paths: SocketPaths,
        *,
        find: Callable[[], Awaitable[SocketPaths]],
        hearing: Hearing,
        patience: Patience,
        decoder: msgspec.json.Decoder[AnyServerFrame],
    ) -> None:
        self._http = http
        self._tokens = tokens
        self._paths = paths
        self._find = find
        self._hearing = hearing
        self._patience = patience
        self._decoder = decoder
        self._connection: Connection | None = None
        self._tries = 0
        self._token = ""
        self._token_refused = False
        self._cut = asyncio.Event()

    def post(self, content: bytes) -> None:
        """Sends on the present connection; without one nothing happens: who must be heard speaks again on the next."""
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
        pauses = self._fresh_pauses()
        unknown = 0
        while True:
            broken = await self._until_broken()
            if broken.code in ENDS:
                raise SocketEnded(broken.code, broken.message)
            unknown = unknown + 1 if broken.code == Reason.TABLE_UNKNOWN else 0
            if unknown >= TABLE_UNKNOWN_MAX:
                raise SocketEnded(broken.code, broken.message)
            if self._hearing.caught_up:
                pauses = self._fresh_pauses()
            else:
                self._tries += 1
            self._token_refused = broken.code in TOKEN_REFUSALS
            if not await pauses.pause():
                raise Unreachable(Reason.UNREACHABLE, f"no socket to the table: {broken.code} {broken.message}")

    def _fresh_pauses(self) -> Pauses:
        return Pauses(self._patience, seconds=self._patience.socket_seconds)

    async def _until_broken(self) -> Broken:
        """One connection, and why it ended. Raises DarbarError when the account itself is refused."""
        broken = Broken("closed")
        refused: DarbarError | None = None
        try:
            await self._one_connection()
        except* Broken as group:
            broken = _first(group)
        except* LOST as group:
            broken = Broken("lost", str(_first(group)))
        except* Unreachable as group:
            broken = Broken("unreachable", str(_first(group)))
        except* DarbarError as group:
            refused = _first(group)
        if refused is not None:
            raise refused
        return broken

    async def _one_connection(self) -> None:
        self._hearing.opening()
        refused, self._token_refused = self._token_refused, False
        self._token = await (self._tokens.renewed(self._token) if refused else self._tokens.access())
        self._cut.clear()
        connection = await Connection.opened(self._http.session, await self._url(), self._decoder)
        self._connection = connection
        try:
            self.hello(self._hearing.version_wanted)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(connection.write())
                tasks.create_task(self._keep_token_fresh())
                tasks.create_task(self._until_cut())
                async for frame in connection.frames():
                    if isinstance(frame, Closing):
                        raise Broken(frame.code, frame.message)
                    self._hearing.hear(frame)
                raise Broken("closed", "the table closed the connection")
        finally:
            self._connection = None
            await connection.close()

    async def _until_cut(self) -> None:
        await self._cut.wait()
        raise Broken("cut", "the connection was given up")

    async def _keep_token_fresh(self) -> None:
        """The socket ends with its token, unless a newer one comes before."""
        while True:
            await asyncio.sleep(self._tokens.seconds_to_renewal)
            try:
                self._token = await self._tokens.access()
            except Unreachable:
                # There is time left before the token ends.
                await asyncio.sleep(self._patience.pause_seconds_max)
                continue
            self.post(msgspec.json.encode(FreshToken(token=self._token)))

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
