"""What the owner holds of one table in memory, beside its state: sockets, where to resume, ids, clocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from struct import Struct
from typing import Any, Protocol
from uuid import UUID

import structlog

from darbar_contracts.frames import TableReason
from darbar_contracts.tables import table_socket_path
from darbar_table.domain.commands import Command
from darbar_table.domain.events import (
    CountInStarted,
    Played,
    RoundStarted,
    SeatEvent,
    SeatsSwapped,
    TableEvent,
    TableResumed,
)
from darbar_table.domain.microphone import FREE
from darbar_table.domain.state import Table
from darbar_table.domain.timers import Timer, beside
from darbar_table.engine.round_start import RoundStart
from darbar_table.settings import Settings
from darbar_table.store.codec import EventCodec

log = structlog.get_logger()

COMMANDS_WAITING_MAX = 64
IDS_REMEMBERED_MAX = 16
COMMANDS_REMEMBERED_MAX = 1024
DONE_BY_A_SEAT = (Played, SeatEvent)
_HASH_BYTES = 8
_REMEMBERED = Struct(f"<{_HASH_BYTES}sIi")
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class Reply(Protocol):
    """Who asked: told of a refusal, that nothing had to happen, or that it is stored (a seat has its frame then)."""

    def refuse(self, code: str, message: str, *, details: dict[str, Any], retry: bool) -> None: ...

    def done(self, version: int) -> None: ...

    def stored(self, version: int) -> None: ...


class Connection(Protocol):
    """A socket at a table, as the owner sees it."""

    account_id: str
    seat: int | None

    def send(self, frame: bytes) -> None: ...

    def close(self, code: str, message: str, *, path: str | None = None) -> None: ...


class Ids:
    """The last ids of an account: hash of the id, digest of the body, version. `seat` is the one it holds or held last.

    One string of bytes, the newest last: there is one such object for every seat in memory, and it is asked for every
    command.
    """

    __slots__ = ("remembered", "seat")

    def __init__(self, seat: int, remembered: bytes = b"") -> None:
        self.seat = seat
        self.remembered = remembered

    def remember(self, newest: bytes) -> None:
        """Some that were made by `remembered`."""
        self.remembered = (self.remembered + newest)[-IDS_REMEMBERED_MAX * _REMEMBERED.size :]

    def find(self, command_id: str) -> tuple[int, int] | None:
        """The digest and the version of a command with this id."""
        wanted = _hash_of(command_id)
        if wanted in self.remembered:
            for known, digest, version in _REMEMBERED.iter_unpack(self.remembered):
                if known == wanted:
                    return digest, version
        return None


# Asked when a command comes and when it is stored, a moment later.
@lru_cache(maxsize=COMMANDS_REMEMBERED_MAX)
def _hash_of(command_id: str) -> bytes:
    """The same in every process, as it is kept."""
    return blake2b(command_id.encode(), digest_size=_HASH_BYTES).digest()


def remembered(command_id: str, digest: int, version: int) -> bytes:
    """A command as `Ids` keeps it."""
    return _REMEMBERED.pack(_hash_of(command_id), digest, version)


class LiveTable:
    """One table in memory. Only the owner changes it; one append is in flight at most.

    Times are of the lease's clock: `timers` says when each clock of the table rings, `absences` when an account
    without a socket counts as gone, `deadline` and `tick` belong to the wheel. `began` and `moved_at` are of
    the wall: since when the clocks run that are beside the turn's, and when the last card was played. `mutes`:
    who does not want to hear whom, the oldest first.
    """

    __slots__ = (
        "absences",
        "asked_bots",
        "asked_key",
        "began",
        "chain",
        "codec",
        "count_in_start",
        "deadline",
        "frozen",
        "ids",
        "in_flight",
        "microphone",
        "moved_at",
        "mutes",
        "round_start",
        "shard",
        "sockets",
        "stale",
        "table",
        "table_id",
        "tick",
        "timers",
        "waiting",
    )

    def __init__(self, table_id: UUID, *, shard: int, codec: EventCodec, table: Table, chain: bytes) -> None:
        self.table_id = table_id
        self.shard = shard
        self.codec = codec
        self.table = table
        self.chain = chain
        self.in_flight = False
        self.frozen = False
        self.stale = False
        self.waiting: deque[tuple[Command, Reply | None]] | None = None
        self.sockets: list[Connection] = []
        self.round_start = self.count_in_start = RoundStart(table)
        self.ids: dict[str, Ids] = {}
        self.microphone = FREE
        self.mutes: dict[tuple[str, str], None] = {}
        self.timers: dict[Timer, float] = {}
        self.began: dict[Timer, datetime] = {}
        self.moved_at = _NEVER
        self.absences: dict[str, float] = {}
        self.deadline: float | None = None
        self.tick: int | None = None
        self.asked_key: str | None = None
        self.asked_bots: tuple[int, int, tuple[int, ...]] | None = None

    def connected(self, account_id: str) -> bool:
        """Whether an account has an open socket here."""
        return any(socket.account_id == account_id for socket in self.sockets)

    def dismiss(self, code: str, message: str, *, retry: bool = False) -> None:
        """Whoever waits for an answer is refused, and everybody goes; one who can't be told keeps nobody else."""
        for _, reply in self.take_waiting():
            if reply is not None:
                self._tell(reply.refuse, code, message, details={}, retry=retry)
        for socket in list(self.sockets):
            self._tell(socket.close, code, message)

    def move(self, successor: str) -> None:
        """Another process serves the table: players find their way there, and their commands are answered there. A
        socket that is closing hears no refusal; a service that waits asks again."""
        path = table_socket_path(str(self.table_id), successor)
        for socket in list(self.sockets):
            self._tell(socket.close, TableReason.MOVED, TableReason.MOVED.sentence, path=path)
        self.dismiss(TableReason.NOT_OWNER, TableReason.NOT_OWNER.sentence, retry=True)

    def _tell(self, tell: Callable[..., None], *words: object, **more: object) -> None:
        try:
            tell(*words, **more)
        except Exception:  # The others still have to be told.
            log.exception("not_told", table_id=str(self.table_id))

    def next_deadline(self) -> float | None:
        """When something is due here."""
        deadlines: Iterable[float] = self.timers.values()
        if self.absences:
            deadlines = (*deadlines, *self.absences.values())
        return min(deadlines, default=None)

    def stop_timers(self) -> None:
        """Nothing rings here any more."""
        self.timers, self.absences, self.deadline = {}, {}, None

    def take_waiting(self) -> list[tuple[Command, Reply | None]]:
        """The commands that wait; none do afterwards."""
        waiting, self.waiting = self.waiting, None
        return list(waiting or ())

    def remember_round(self, event: TableEvent, before: Table) -> None:
        """Keep the state before the first count-in of the round: until the next deal, frames after it can be made."""
        if type(event) is CountInStarted and event.attempt == 1:
            self.count_in_start = RoundStart(before)
        elif type(event) is RoundStarted:
            self.round_start = self.count_in_start

    def remember_times(self, event: TableEvent, at: datetime, after: Table, settings: Settings) -> None:
        """Since when what is waited for is waited for (TL-43); `at` is when the event was stored."""
        kind = type(event)
        if kind is Played or kind is TableResumed or self.moved_at is _NEVER:
            self.moved_at = at
        if kind is TableResumed:
            self.began = {}
        if kind is not Played:
            self.began = {timer: self.began.get(timer, at) for timer in beside(after, settings)}

    def start_before(self, version: int) -> RoundStart | None:
        """The newest start kept from which a client that has `version` can be told the rest; None if there is none."""
        if version > self.table.version:
            return None
        starts = (self.count_in_start, self.round_start)
        return next((start for start in starts if 0 < version >= start.version), None)

    def known_id(self, account_id: str, command_id: str) -> tuple[int, int] | None:
        """The digest and the version of a command that this account has sent before."""
        ids = self.ids.get(account_id)
        return None if ids is None else ids.find(command_id)

    def remember_id(self, event: TableEvent, before: Table, after: Table) -> None:
        """Keep the command id of a stored event with the account that did it, until somebody else has its seat."""
        if type(event) is SeatsSwapped:
            self._swap(*event.seats)
        seat = event.actor
        if seat is None or not isinstance(event, DONE_BY_A_SEAT) or event.id is None:
            return
        holder = after.seats[seat].player or before.seats[seat].player
        assert holder is not None
        self._ids_of(holder.account_id, seat).remember(remembered(event.id, event.digest, after.version))

    def remember_ids(self, events: Sequence[TableEvent], after: Table) -> None:
        """The ids of the last events before a version, among which nobody took or left a seat; those that would be
        forgotten again at once are left out."""
        newest: list[list[bytes]] = [[] for _ in after.seats]
        room = IDS_REMEMBERED_MAX * len(newest)
        for version, event in zip(count(after.version, -1), reversed(events)):
            if not isinstance(event, DONE_BY_A_SEAT) or event.id is None:
                continue
            seat = event.actor
            if seat is None or len(newest[seat]) == IDS_REMEMBERED_MAX:
                continue
            newest[seat].append(remembered(event.id, event.digest, version))
            room -= 1
            if not room:
                break
        for seat, commands in enumerate(newest):
            if commands:
                holder = after.seats[seat].player
                assert holder is not None
                self._ids_of(holder.account_id, seat).remember(b"".join(reversed(commands)))

    def _ids_of(self, account_id: str, seat: int) -> Ids:
        """What is remembered of an account that has this seat; whoever had it before is forgotten."""
        ids = self.ids.get(account_id) or Ids(seat)
        if ids.seat != seat or account_id not in self.ids:
            ids.seat = seat
            others = {other_id: other for other_id, other in self.ids.items() if other.seat != seat}
            self.ids = {**others, account_id: ids}
        return ids

    def _swap(self, first: int, second: int) -> None:
        """Ids go with their players."""
        for ids in self.ids.values():
            ids.seat = {first: second, second: first}.get(ids.seat, ids.seat)
