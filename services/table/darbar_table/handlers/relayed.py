"""Players at tables of this process whose sockets are at others. Open this when somebody is shown too much, or nothing.

For the table they are sockets like all others: what they are sent is made here, for their seat alone.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any
from uuid import UUID

import msgspec
import structlog

from darbar_contracts import subjects
from darbar_contracts.frames import Closing, TableReason
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable
from darbar_table.domain.refusals import refused
from darbar_table.handlers.gateway import SocketReply, TableGateway, TableLink
from darbar_table.handlers.relay_messages import NO_FRAME, Enter, Leave, Passed, Tell, ToOwner, ToRelay

# A process that has sockets here says so every two seconds.
SILENCE_SECONDS_MAX = 8.0
LOOK_SECONDS = 1.0
# Of one socket; a client that sends faster than its table decides is cut off, as the pace of its socket allows fewer.
MESSAGES_WAITING_MAX = 256
FRAMES_WAITING_MAX = 200_000
FRAMES_AT_ONCE = 50

log = structlog.get_logger()


class RelayedSockets:
    """Those of one node."""

    def __init__(
        self,
        process_id: str,
        *,
        bus: Bus,
        gateway: TableGateway,
        decoder: msgspec.json.Decoder[Any],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._process_id = process_id
        self._bus = bus
        self.gateway = gateway
        self.decoder = decoder
        self._clock = clock
        self._sockets: dict[tuple[str, int], RelayedSocket] = {}
        self._heard_at: dict[str, float] = {}
        self._outgoing: asyncio.Queue[tuple[str, Passed]] = asyncio.Queue(FRAMES_WAITING_MAX)
        self._tasks: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """For ever."""
        try:
            async with asyncio.TaskGroup() as self._tasks:
                self._tasks.create_task(self._send())
                self._tasks.create_task(self._forget_the_silent())
        finally:
            self._tasks = None
            for socket in list(self._sockets.values()):
                self.gone(socket)

    async def hear(self, message: ToOwner) -> None:
        """From another process, in order; waits for nobody."""
        self._heard_at[message.relay] = self._clock()
        match message.step:
            case Enter() as step:
                socket = RelayedSocket(self, message.relay, step)
                self._sockets[message.relay, step.link] = socket
                self._put(socket, step)
            case Tell() as step:
                told = self._sockets.get((message.relay, step.link))
                if told is None:
                    closing = Closing(TableReason.NOT_OWNER, TableReason.NOT_OWNER.sentence)
                    self.post(message.relay, Passed(step.link, 1, closing=closing))
                else:
                    self._put(told, step)
            case Leave() as step:
                left = self._sockets.get((message.relay, step.link))
                if left is not None:
                    self.gone(left)
            case _:
                pass

    def post(self, relay: str, passed: Passed) -> None:
        """What finds no place is missing in its socket's count, and its client says hello again."""
        with contextlib.suppress(asyncio.QueueFull):
            self._outgoing.put_nowait((relay, passed))

    def gone(self, socket: RelayedSocket) -> None:
        """Nobody is there any more."""
        if self._sockets.pop((socket.relay, socket.number), None) is not None:
            socket.end()

    def _put(self, socket: RelayedSocket, step: Enter | Tell) -> None:
        if len(socket.waiting) >= MESSAGES_WAITING_MAX or self._tasks is None:
            socket.close(TableReason.FRAMES_TOO_MANY, TableReason.FRAMES_TOO_MANY.sentence)
            return
        socket.waiting.append(step)
        if not socket.is_working:
            socket.is_working = True
            self._tasks.create_task(socket.work())

    async def _send(self) -> None:
        while True:
            relay, passed = await self._outgoing.get()
            by_relay = {relay: [passed]}
            for _ in range(min(self._outgoing.qsize(), FRAMES_AT_ONCE - 1)):
                relay, passed = self._outgoing.get_nowait()
                by_relay.setdefault(relay, []).append(passed)
            for relay, group in by_relay.items():
                try:
                    await self._bus.publish(subjects.relay_frames(relay), ToRelay(self._process_id, tuple(group)))
                except Unavailable as error:
                    log.warning("relay_interrupted", reason=error.message)

    async def _forget_the_silent(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            limit = self._clock() - SILENCE_SECONDS_MAX
            silent = {relay for relay, heard_at in self._heard_at.items() if heard_at < limit}
            for socket in [socket for socket in self._sockets.values() if socket.relay in silent]:
                self.gone(socket)
            for relay in silent:
                del self._heard_at[relay]


class RelayedSocket:
    """One link, as its table sees a socket. Its messages are done one after the other."""

    def __init__(self, sockets: RelayedSockets, relay: str, entered: Enter) -> None:
        self._sockets = sockets
        self._sent = 0
        self._link: TableLink | None = None
        self._is_closed = False
        self.relay = relay
        self.number = entered.link
        self.account_id = entered.account_id
        self.seat: int | None = None
        self.waiting: deque[Enter | Tell] = deque()
        self.is_working = False

    def send(self, frame: bytes) -> None:
        """To this link alone."""
        self._post(frame=msgspec.Raw(frame))

    def close(self, code: str, message: str, *, path: str | None = None) -> None:
        """The other process hears why; the table has a socket less as soon as it is done with this."""
        if not self._is_closed:
            self._post(closing=Closing(code, message, path))
            self._is_closed = True
            asyncio.get_running_loop().call_soon(self._sockets.gone, self)

    def end(self) -> None:
        """Also while a message is being done."""
        self._is_closed = True
        self.waiting.clear()
        link, self._link = self._link, None
        if link is not None:
            link.leave()

    async def work(self) -> None:
        """Whatever waits."""
        try:
            while self.waiting:
                await self._do(self.waiting.popleft())
        except Exception:  # The outermost loop of a link: its client says hello again.
            log.exception("relayed_socket_failed")
            self.close(TableReason.UNAVAILABLE, TableReason.UNAVAILABLE.sentence)
        finally:
            self.is_working = False

    async def _do(self, step: Enter | Tell) -> None:
        try:
            if isinstance(step, Enter):
                await self._enter(step)
            elif self._link is not None:
                frame = self._sockets.decoder.decode(bytes(step.frame))
                waiting = self._link.command(step.person, frame, SocketReply(self, frame.id))
                if waiting is not None:
                    await waiting
        except Refused as error:
            self.close(error.code, error.message)
        except msgspec.ValidationError:
            # The other process is of another version, and knows frames that we do not.
            self.close(TableReason.FRAME_INVALID, TableReason.FRAME_INVALID.sentence)

    async def _enter(self, step: Enter) -> None:
        link = await self._sockets.gateway.enter(self, UUID(step.table_id), step.version)
        if self._is_closed:
            link.leave()
            raise refused(TableReason.UNAVAILABLE)
        self._link = link

    def _post(self, *, frame: msgspec.Raw = NO_FRAME, closing: Closing | None = None) -> None:
        if not self._is_closed:
            self._sent += 1
            self._sockets.post(self.relay, Passed(self.number, self._sent, frame, closing))
