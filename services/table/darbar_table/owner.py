"""The way of a move: from a command over decide and the writer to frames. Open this first when a move goes wrong."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from uuid import UUID

import msgspec
import structlog

from darbar_contracts.frames import TableReason
from darbar_kit.errors import Refused
from darbar_rules.game import RuleRefused
from darbar_table import domain
from darbar_table.chain import link
from darbar_table.clocks import Wheel
from darbar_table.commands import Act, ClockRang, Command, Context, Draft
from darbar_table.entry import COMMANDS_WAITING_MAX, Answering, Entry
from darbar_table.events import Played
from darbar_table.metrics import Metrics
from darbar_table.milestones import milestone_of
from darbar_table.projection import SeatFrames, seat_frames
from darbar_table.refusals import refused
from darbar_table.settings import Settings
from darbar_table.state import Phase, Table
from darbar_table.wire import text_frame
from darbar_table.writer import Append, Outcome, Row, Writer

log = structlog.get_logger()
SEED_BYTES = 32
SILENT_SECONDS = 0.25
SAME_CLOCK_SECONDS_MIN = 5.0


class Owner:
    """The only writer of the tables it holds. Synchronous: a move waits for nothing but its commit."""

    def __init__(
        self,
        settings: Settings,
        *,
        writer: Writer,
        metrics: Metrics,
        may_answer: Callable[[], bool],
        after: Callable[[Entry, Draft], None],
        reload: Callable[[Entry], None],
        freeze: Callable[[Entry, str, Command], None],
    ) -> None:
        self._settings = settings
        self._writer = writer
        self._metrics = metrics
        self._may_answer = may_answer
        self._after = after
        self._reload = reload
        self._freeze = freeze
        self.entries: dict[UUID, Entry] = {}
        self.wheel: Wheel[Entry] = Wheel(self._clock_rang)
        self._context = Context(
            generation=settings.generation,
            count_in_seconds=settings.count_in_seconds,
            fresh_seed=lambda: secrets.token_hex(SEED_BYTES),
        )

    def submit(self, entry: Entry, command: Command, answering: Answering | None = None) -> None:
        """Decide now, or when the table's append in flight is stored. Never blocks, never raises."""
        if entry.in_flight or entry.waiting:
            if entry.waiting is None:
                entry.waiting = deque()
            if answering is not None and len(entry.waiting) >= COMMANDS_WAITING_MAX:
                self._refuse(answering, refused(TableReason.BUSY), retry=True)
                return
            entry.waiting.append((command, answering))
            return
        self._decide(entry, command, answering)

    def add(self, entry: Entry) -> None:
        """Hold a table that was loaded or created, and set its clock."""
        self.entries[entry.table_id] = entry
        self._metrics.tables.set(len(self.entries))
        self.set_clock(entry)

    def drop(self, entry: Entry) -> None:
        """Let go of a table that is closed or belongs to another process."""
        self.entries.pop(entry.table_id, None)
        self.wheel.set(entry, None)
        self._metrics.tables.set(len(self.entries))

    def _decide(self, entry: Entry, command: Command, answering: Answering | None) -> None:
        """One command to its end: refused, put off, without effect, or on its way to the store."""
        try:
            self._decide_or_raise(entry, command, answering)
        except (Refused, RuleRefused) as refusal:
            self._refuse(answering, refusal, retry=False)
        except Exception as error:
            log.exception("table_failed", table_id=str(entry.table_id))
            self._refuse(answering, refused(TableReason.TABLE_FROZEN), retry=False)
            self._freeze(entry, type(error).__name__, command)

    def _decide_or_raise(self, entry: Entry, command: Command, answering: Answering | None) -> None:
        if entry.frozen:
            raise refused(TableReason.TABLE_FROZEN)
        if not self._may_answer():
            self._put_off(entry, command, answering)
            return
        if isinstance(command, Act) and answering is not None and self._repeated(entry, command, answering):
            return
        draft = domain.decide(entry.table, command, self._context)
        if draft.events:
            self._append(entry, draft, command, answering)
        elif answering is not None:
            answering.done(entry.table.version)

    def _put_off(self, entry: Entry, command: Command, answering: Answering | None) -> None:
        """Our lease may have run out: players are asked to try again, our own clocks and sagas do so by themselves."""
        if answering is None:
            asyncio.get_running_loop().call_later(SILENT_SECONDS, self.submit, entry, command)
        else:
            self._refuse(answering, refused(TableReason.UNAVAILABLE), retry=True)

    def _repeated(self, entry: Entry, command: Act, answering: Answering) -> bool:
        """A command id that this seat has used: its first answer again."""
        seat = entry.table.seat_of(command.person.account_id)
        ids = entry.ids.get(seat) if seat is not None else None
        known = ids.find(command.frame.id) if ids is not None else None
        if known is None:
            return False
        digest, version = known
        if digest != command.digest:
            raise refused(TableReason.COMMAND_ID_REUSED)
        answering.done(version)
        return True

    def _append(self, entry: Entry, draft: Draft, command: Command, answering: Answering | None) -> None:
        at = datetime.now(UTC)
        rows: list[Row] = []
        outbox: list[tuple[int, str]] = []
        chain, version = entry.chain, entry.table.version
        for event, after in zip(draft.events, draft.states, strict=True):
            version += 1
            kind, body = entry.codec.kind_of(event), entry.codec.encode(event)
            chain = link(chain, entry.table_id, version, kind=kind, at=at, body=body)
            rows.append(Row(version, kind, body.decode(), at, chain))
            if type(event) is not Played:
                told = milestone_of(event, after, at=at, generation=self._settings.generation)
                if told is not None:
                    outbox.append((told.number, msgspec.json.encode(told).decode()))

        def done(outcome: Outcome) -> None:
            try:
                if outcome is Outcome.STORED:
                    self._stored(entry, draft, chain)
                else:
                    self._not_stored(entry, outcome, command, answering)
            except Exception as error:
                log.exception("table_failed", table_id=str(entry.table_id))
                self._freeze(entry, type(error).__name__, command)

        entry.in_flight = True
        self._writer.offer(Append(entry.table_id, rows, shard=entry.shard, outbox=outbox, done=done))

    def _stored(self, entry: Entry, draft: Draft, chain: bytes) -> None:
        """The next state becomes the state; one frame a version goes to each seat."""
        before = entry.table
        entry.table, entry.chain, entry.in_flight = draft.table, chain, False
        if draft.keeps_clock:
            self._go_on_with_clock(entry)
        else:
            self.set_clock(entry)
        remaining_ms = self.remaining_ms(entry)
        shown: list[SeatFrames] = []
        for event, after in zip(draft.events, draft.states, strict=True):
            if entry.sockets:
                frames = seat_frames(before, event, after, remaining_ms, last=after is draft.table)
                _send(entry, frames, before, after)
                shown.append(frames)
            entry.remember_id(event, after.version)
            if type(event) is Played:
                self._metrics.moves_by[event.by].inc()
            before = after
        self._metrics.events.inc(len(draft.events))
        entry.keep_frames(shown)
        self._after(entry, draft)
        self._next(entry)

    def _not_stored(self, entry: Entry, outcome: Outcome, command: Command, answering: Answering | None) -> None:
        entry.in_flight = False
        if outcome is Outcome.FOREIGN_VERSION:
            self._refuse(answering, refused(TableReason.UNAVAILABLE), retry=True)
            self._reload(entry)
        else:
            self._refuse(answering, refused(TableReason.TABLE_FROZEN), retry=False)
            self._freeze(entry, outcome.value, command)
        self._next(entry)

    def _next(self, entry: Entry) -> None:
        while entry.waiting and not entry.in_flight:
            command, answering = entry.waiting.popleft()
            self._decide(entry, command, answering)
        if not entry.waiting:
            entry.waiting = None

    def _refuse(self, answering: Answering | None, error: Refused | RuleRefused, *, retry: bool) -> None:
        if answering is None:
            return
        code = str(error.code)
        message = error.message if isinstance(error, Refused) else error.code.sentence
        self._metrics.refusals.labels(code).inc()
        answering.refuse(code, message, details=error.details, retry=retry)

    def set_clock(self, entry: Entry, *, seconds_min: float = 0.0) -> None:
        """Arm what is due next at this table; the same decision keeps its clock."""
        clock, seconds = self._due(entry.table)
        if clock != entry.clock:
            entry.clock = clock
            self.wheel.set(entry, None if clock is None else monotonic() + max(seconds, seconds_min))

    def _go_on_with_clock(self, entry: Entry) -> None:
        """CP-16: what was left of the turn's time, with at least five seconds."""
        entry.clock, _ = self._due(entry.table)
        left = entry.deadline or 0.0
        self.wheel.set(entry, max(left, monotonic() + SAME_CLOCK_SECONDS_MIN))

    def remaining_ms(self, entry: Entry) -> int | None:
        """What is left on the table's clock."""
        return None if entry.deadline is None else max(0, int((entry.deadline - monotonic()) * 1000))

    def _due(self, table: Table) -> tuple[tuple[str, tuple[int, int]] | None, float]:
        match table.phase:
            case Phase.PLAYING:
                turn = table.rules.turn(table.state)
                return ("turn", (turn.round, turn.turn)), float(table.turn_seconds)
            case Phase.COUNTING_IN:
                return ("count_in", (table.round, table.attempt)), self._settings.count_in_seconds
            case Phase.OPENING_SEEDS:
                return ("seeds", (table.round, table.attempt)), self._settings.seeds_open_seconds
        return None, 0.0

    def _clock_rang(self, entry: Entry) -> None:
        if entry.clock is not None:
            kind, mark = entry.clock
            self.submit(entry, ClockRang(kind=kind, mark=mark))  # type: ignore[arg-type]


def _send(entry: Entry, frames: SeatFrames, before: Table, after: Table) -> None:
    """Everyone at the table, with what their seat may see at this version; most see the same, encoded once."""
    seats_move = before.seats is not after.seats
    same = text_frame(frames.for_seat(None))
    for socket in entry.sockets:
        seat = socket.seat
        if seats_move:
            now = after.seat_of(socket.account_id)
            seat = now if seat is None else seat
            socket.seat = now
        own = frames.tail_of(seat)
        socket.write(text_frame(b"%b%b}" % (frames.head, own)) if own else same)


def at_rest(table: Table) -> bool:
    """Whether nothing of a round is under way, so that the whole log may be looked at."""
    return table.phase in (Phase.WAITING, Phase.COUNTING_IN, Phase.CLOSED) and not table.staked
