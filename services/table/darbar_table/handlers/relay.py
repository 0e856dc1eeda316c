"""Sockets at this process whose tables are at others. Open this when a client far from its table waits or is cut off.

A link says hello to the owner, passes on what it shows, and keeps each command until it is answered. When the owner
changes or falls silent it says hello to the next one, with the last version that the socket has, and tells it again
what has no answer: the client notices nothing but a pause.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import secrets
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple
from uuid import UUID

import msgspec
import structlog

from darbar_contracts import subjects
from darbar_contracts.frames import HEARTBEAT_SECONDS, Closing, Frame, TableReason
from darbar_contracts.tables import Person, table_socket_path
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable
from darbar_table.domain.refusals import refused
from darbar_table.engine.live_table import COMMANDS_WAITING_MAX, Connection, Reply
from darbar_table.engine.node import TableNode
from darbar_table.handlers.gateway import HELD_SECONDS_MAX, LocalGateway, TableLink
from darbar_table.handlers.relay_messages import Alive, AnyStep, Enter, Leave, Passed, Tell, ToOwner, ToRelay
from darbar_table.shards.pace import Pace
from darbar_table.shards.placement import shard_of

LOOK_SECONDS = 0.1
# An owner that does not answer a hello is asked again, or its successor is.
ASKED_SECONDS_MAX = 3.0
UNAVAILABLE_PAUSE_SECONDS = 0.5
SILENCE_SECONDS_MAX = 2.5 * HEARTBEAT_SECONDS
ALIVE_SECONDS = 2.0
MESSAGES_WAITING_MAX = 100_000
# After these another process, or the same one in a moment, has the table.
ELSEWHERE = frozenset((TableReason.MOVED, TableReason.NOT_OWNER, TableReason.UNAVAILABLE))

log = structlog.get_logger()


class _Seen(msgspec.Struct, frozen=True):
    """What is read of a frame on its way."""

    type: str
    version: int | None = None
    id: str | None = None
    code: str = ""
    retry: bool = False


_seen = msgspec.json.Decoder(_Seen).decode
_encode = msgspec.json.Encoder().encode


class OwnedHere(Exception):
    """While a hello waited for an owner, this process has become it: nothing has to go over the bus."""


class _Held(NamedTuple):
    """A command without an answer."""

    person: Person
    frame: msgspec.Raw
    reply: Reply
    until: float


class AnyGateway:
    """Tables of this process, and those of all others."""

    def __init__(self, *, node: Callable[[], TableNode], local: Callable[[], LocalGateway], relay: Relay) -> None:
        self._node = node
        self._local = local
        self._relay = relay

    async def enter(self, socket: Connection, table_id: UUID, version: int) -> TableLink:
        """A table that leaves while it is waited for is entered where it goes."""
        try:
            if self._node().holdings.state(shard_of(table_id)) is not None:
                self._relay.drop(socket)
                try:
                    return await self._local().enter(socket, table_id, version)
                except Refused as refusal:
                    if refusal.code != TableReason.NOT_OWNER:
                        raise
            try:
                return await self._relay.enter(socket, table_id, version)
            except OwnedHere:
                return await self._local().enter(socket, table_id, version)
        except Unavailable as error:
            raise refused(TableReason.UNAVAILABLE) from error


class Relay:
    """All links of a process, whatever node it is at present."""

    def __init__(self, bus: Bus, *, node: Callable[[], TableNode], clock: Callable[[], float] = monotonic) -> None:
        self._bus = bus
        self._node = node
        self.clock = clock
        self.name = f"r{secrets.token_hex(6)}"
        self._numbers = itertools.count(1)
        self._links: dict[int, RelayLink] = {}
        self._by_socket: dict[Connection, RelayLink] = {}
        self._outgoing: asyncio.Queue[tuple[str, AnyStep]] = asyncio.Queue(MESSAGES_WAITING_MAX)

    async def listen(self) -> None:
        """From now on owners are heard, until the bus is closed."""
        await self._bus.listen(subjects.relay_frames(self.name), ToRelay, self._hear)

    async def run(self) -> None:
        """For ever: sends what is to be sent, and looks after every link."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send())
            tasks.create_task(self._look())
            tasks.create_task(self._say_alive())

    async def enter(self, socket: Connection, table_id: UUID, version: int) -> RelayLink:
        """Raises Refused, and OwnedHere."""
        link = self._by_socket.get(socket)
        if link is None:
            link = self._by_socket[socket] = RelayLink(self, socket, table_id)
        try:
            await link.hello(version)
        except BaseException:
            self.drop(socket)
            raise
        return link

    def drop(self, socket: Connection) -> None:
        """The socket is gone, or has found its table here."""
        link = self._by_socket.pop(socket, None)
        if link is not None:
            link.part()

    def look(self) -> None:
        """After every socket's link: one that has no owner just now is to find the next."""
        now = self.clock()
        for link in list(self._by_socket.values()):
            link.look(now)

    @property
    def sockets(self) -> int:
        return len(self._by_socket)

    async def close(self, pace: Pace) -> None:
        """This process stops: everybody goes on at the owner of their table."""
        for socket, link in list(self._by_socket.items()):
            await pace.wait()
            if self._by_socket.get(socket) is link:
                pace.begin(1)
                link.send_away()

    def owner_of(self, table_id: UUID) -> tuple[str | None, float]:
        """Who owns it, and when that was read. Raises Unavailable between two nodes."""
        return self._node().survey.seen(shard_of(table_id))

    def is_here(self, owner: str) -> bool:
        """Whether this process is the owner. Raises Unavailable between two nodes."""
        return owner == self._node().process_id

    def begin(self, link: RelayLink) -> int:
        """A new number for a link: what comes for the old one is of no interest any more."""
        number = next(self._numbers)
        self._links[number] = link
        return number

    def end(self, number: int, owner: str | None) -> None:
        """Nobody listens to this number any more."""
        if self._links.pop(number, None) is not None and owner is not None:
            self.post(owner, Leave(number))

    def post(self, owner: str, step: AnyStep) -> None:
        """What finds no place is lost: links notice that no answer comes."""
        with contextlib.suppress(asyncio.QueueFull):
            self._outgoing.put_nowait((owner, step))

    async def _hear(self, message: ToRelay) -> None:
        for passed in message.passed:
            link = self._links.get(passed.link)
            if link is not None:
                link.hear(passed)
            elif passed.closing is None:
                self.post(message.process_id, Leave(passed.link))

    async def _send(self) -> None:
        while True:
            owner, step = await self._outgoing.get()
            try:
                await self._bus.publish(subjects.table_relay(owner), ToOwner(self.name, step))
            except Unavailable as error:
                log.warning("relay_interrupted", reason=error.message)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.look()

    async def _say_alive(self) -> None:
        while True:
            await asyncio.sleep(ALIVE_SECONDS)
            for owner in dict.fromkeys(link.owner for link in self._links.values()):
                if owner is not None:
                    self.post(owner, Alive())


class RelayLink:
    """One socket's way to its table. Its socket sees what the owner makes for it, frame by frame, and nothing else."""

    def __init__(self, relay: Relay, socket: Connection, table_id: UUID) -> None:
        self._relay = relay
        self._socket = socket
        self._table_id = table_id
        self._number = 0
        self._heard = 0  # the number of the last frame of this link
        self._held: dict[str, _Held] = {}
        self._welcomed: int | None = None
        self._is_asked = False  # the client has said hello, and hears the welcome
        self._answer: asyncio.Future[None] | None = None
        now = relay.clock()
        self._asked_at = self._heard_at = self._lost_at = now
        self._again_at = 0.0  # 0: nothing has to be told again
        self._missed_at = -math.inf
        self.owner: str | None = None
        self.version = 0

    async def hello(self, version: int) -> None:
        """The client's own: it gets a welcome. Raises OwnedHere, Refused, and `unavailable` when no owner is found in
        time."""
        self._is_asked, self.version = True, version
        self._answer = asyncio.get_running_loop().create_future()
        self._lose()
        try:
            async with asyncio.timeout(HELD_SECONDS_MAX):
                await self._answer
        except TimeoutError as error:
            raise refused(TableReason.UNAVAILABLE) from error
        finally:
            self._answer = None

    def command(self, person: Person, frame: Frame, reply: Reply) -> None:
        """Passed on, and kept until it is answered."""
        if len(self._held) >= COMMANDS_WAITING_MAX:
            _refuse(reply, TableReason.BUSY)
            return
        held = _Held(person, msgspec.Raw(_encode(frame)), reply, self._relay.clock() + HELD_SECONDS_MAX)
        command_id: str = getattr(frame, "id")  # noqa: B009  # Every command has one; `Frame` itself has none.
        self._held[command_id] = held
        if self._is_caught_up:
            self._tell(held)

    def leave(self) -> None:
        """The socket is gone."""
        self._relay.drop(self._socket)

    def part(self) -> None:
        """Nothing more comes of this link."""
        self._relay.end(self._number, self.owner)
        self._held.clear()

    def send_away(self) -> None:
        """This process stops."""
        path = None if self.owner is None else table_socket_path(str(self._table_id), self.owner)
        self._socket.close(TableReason.MOVED, TableReason.MOVED.sentence, path=path)

    def hear(self, passed: Passed) -> None:
        """What the owner says for this socket, in order."""
        self._heard += 1
        self._heard_at = self._relay.clock()
        if passed.number != self._heard:
            self._missed()
        elif passed.closing is not None:
            self._closed(passed.closing)
        else:
            self._pass(bytes(passed.frame))

    def look(self, now: float) -> None:
        """Whether the owner is still the owner, whether it is heard, and what has waited for too long."""
        for command_id in [command_id for command_id, held in self._held.items() if held.until <= now]:
            _refuse(self._held.pop(command_id).reply, TableReason.UNAVAILABLE)
        if self._welcomed is None:
            self._look_for_owner(now)
            return
        with contextlib.suppress(Unavailable):
            owner, read_at = self._relay.owner_of(self._table_id)
            has_changed = owner not in (None, self.owner) and read_at > self._asked_at
            if has_changed or now - self._heard_at > SILENCE_SECONDS_MAX:
                self._lose()
                return
        if self._held and self._again_at and self._again_at <= now:
            self._again_at = 0.0
            self._tell_again()

    @property
    def _is_caught_up(self) -> bool:
        return self._welcomed is not None and self.version >= self._welcomed

    def _look_for_owner(self, now: float) -> None:
        if now - self._lost_at > HELD_SECONDS_MAX and self._answer is None:
            self._socket.close(TableReason.UNAVAILABLE, TableReason.UNAVAILABLE.sentence)
            self._relay.drop(self._socket)
            return
        with contextlib.suppress(Unavailable):
            owner, read_at = self._relay.owner_of(self._table_id)
            is_other = owner not in (None, self.owner) and read_at > self._asked_at
            if is_other or (owner is not None and now - self._asked_at > ASKED_SECONDS_MAX):
                self._ask(owner)

    def _lose(self, successor: str | None = None) -> None:
        """The way to the table is lost; the next one begins at once where an owner is known."""
        self._lost_at = self._relay.clock()
        self._welcomed = None
        if successor is None:
            with contextlib.suppress(Unavailable):
                successor = self._relay.owner_of(self._table_id)[0]
        if successor is None:
            self._relay.end(self._number, self.owner)
            self.owner = None
        else:
            self._ask(successor)

    def _missed(self) -> None:
        """Something between was lost. Hello is said again at once, but only when that helps: else a look says it."""
        now = self._relay.clock()
        if now - self._missed_at > ASKED_SECONDS_MAX:
            self._missed_at = now
            self._lose()
            return
        self._relay.end(self._number, self.owner)
        self._lost_at, self._welcomed = now, None

    def _ask(self, owner: str | None) -> None:
        assert owner is not None
        self._relay.end(self._number, self.owner)
        if self._answer is not None and not self._answer.done() and self._relay.is_here(owner):
            self._answer.set_exception(OwnedHere())
            return
        self._number, self._heard = self._relay.begin(self), 0
        self.owner, self._asked_at = owner, self._relay.clock()
        enter = Enter(self._number, str(self._table_id), self._socket.account_id, self.version)
        self._relay.post(owner, enter)

    def _closed(self, closing: Closing) -> None:
        if closing.code == TableReason.MOVED and closing.path is not None:
            self._lose(closing.path.split("/")[3])
        elif closing.code in ELSEWHERE:
            # Asked again when the owner is known anew, or in a moment.
            self._lost_at = self._lost_at if self._welcomed is None else self._relay.clock()
            self._welcomed = None
        elif self._answer is not None and not self._answer.done():
            self._answer.set_exception(Refused(closing.code, closing.message, {}, 409))
        else:
            self._socket.close(closing.code, closing.message)
            self._relay.drop(self._socket)

    def _pass(self, frame: bytes) -> None:
        seen = _seen(frame)
        if seen.type == "refused" and seen.id in self._held and seen.retry and seen.code in ELSEWHERE:
            self._again_at = self._relay.clock() + UNAVAILABLE_PAUSE_SECONDS
            return
        if seen.id is not None:
            self._held.pop(seen.id, None)
        if seen.type == "welcome":
            self._welcomed = seen.version
            is_asked, self._is_asked = self._is_asked, False
            if self._answer is not None and not self._answer.done():
                self._answer.set_result(None)
            if not is_asked:
                self._tell_again()
                return
        self._socket.send(frame)
        was_caught_up = self._is_caught_up
        if seen.type in ("event", "snapshot") and seen.version is not None:
            self.version = seen.version
        if self._is_caught_up and not was_caught_up:
            self._tell_again()

    def _tell_again(self) -> None:
        """With the same ids: what was done already is only answered."""
        if self._is_caught_up:
            for held in self._held.values():
                self._tell(held)

    def _tell(self, held: _Held) -> None:
        assert self.owner is not None
        self._relay.post(self.owner, Tell(self._number, held.person, held.frame))


def _refuse(reply: Reply, reason: TableReason) -> None:
    reply.refuse(reason, reason.sentence, details={}, retry=True)
