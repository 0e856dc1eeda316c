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
from darbar_table.domain import decide, timers
from darbar_table.domain.commands import Act, Command, Context, Decide, Draft, OperatorAct, TimerRang
from darbar_table.domain.events import Played, SeatFreed, SeatTaken, TableCreated
from darbar_table.domain.milestones import milestone_of
from darbar_table.domain.refusals import refused
from darbar_table.domain.seat_view import SeatFrames, seat_frames
from darbar_table.domain.state import Phase, Table
from darbar_table.domain.timers import KeptSeatTimer, TurnTimer
from darbar_table.engine.live_table import COMMANDS_WAITING_MAX, LiveTable, Reply
from darbar_table.engine.timer_wheel import TimerWheel
from darbar_table.metrics import Metrics
from darbar_table.settings import Settings
from darbar_table.store.chain import link
from darbar_table.store.writer import MOVES_ONLY, Append, Beside, Outcome, Row, Writer

log = structlog.get_logger()
SEED_BYTES = 32
SILENT_SECONDS = 0.25


class Owner:
    """The only writer of the tables it holds. Synchronous: a move waits for nothing but its commit."""

    def __init__(
        self,
        settings: Settings,
        *,
        writer: Writer,
        metrics: Metrics,
        may_answer: Callable[[], bool],
        after: Callable[[LiveTable, Draft], None],
        reload: Callable[[LiveTable], None],
        freeze: Callable[[LiveTable, str, Command], None],
    ) -> None:
        self._settings = settings
        self._writer = writer
        self._metrics = metrics
        self._may_answer = may_answer
        self._after = after
        self._reload = reload
        self._freeze = freeze
        self.live_tables: dict[UUID, LiveTable] = {}
        self.wheel: TimerWheel[LiveTable] = TimerWheel(self._timers_rang)
        self._context = Context(
            settings=settings,
            fresh_seed=lambda: secrets.token_hex(SEED_BYTES),
            now=lambda: datetime.now(UTC),
        )

    def submit(self, live: LiveTable, command: Command, reply: Reply | None = None) -> None:
        """Decide now, or when the table's append in flight is stored. Never blocks, never raises."""
        if live.in_flight or live.waiting:
            if live.waiting is None:
                live.waiting = deque()
            if reply is not None and len(live.waiting) >= COMMANDS_WAITING_MAX:
                self._refuse(reply, refused(TableReason.BUSY), retry=True)
                return
            live.waiting.append((command, reply))
            return
        self._decide(live, command, reply)

    def add(self, live: LiveTable) -> None:
        """Hold a table that was loaded or created, and set its timers."""
        self.live_tables[live.table_id] = live
        self._metrics.tables.set(len(self.live_tables))
        self.set_timers(live)

    def drop(self, live: LiveTable) -> None:
        """Let go of a table that is closed or belongs to another process."""
        self.live_tables.pop(live.table_id, None)
        self.wheel.set(live, None)
        self._metrics.tables.set(len(self.live_tables))

    def _decide(self, live: LiveTable, command: Command, reply: Reply | None) -> None:
        """One command to its end: refused, put off, without effect, or on its way to the store."""
        try:
            self._decide_or_raise(live, command, reply)
        except (Refused, RuleRefused) as refusal:
            self._refuse(reply, refusal, retry=False)
        except Exception as error:
            log.exception("table_failed", table_id=str(live.table_id))
            self._refuse(reply, refused(TableReason.TABLE_FROZEN), retry=False)
            self._freeze(live, type(error).__name__, command)

    def _decide_or_raise(self, live: LiveTable, command: Command, reply: Reply | None) -> None:
        if live.frozen and not isinstance(command, OperatorAct):
            raise refused(TableReason.TABLE_FROZEN)
        if not self._may_answer():
            self._put_off(live, command, reply)
            return
        if isinstance(command, Act | Decide) and reply is not None and self._repeated(live, command, reply):
            return
        draft = decide.decide(live.table, command, self._context)
        if draft.events:
            self._append(live, draft, command, reply)
        elif reply is not None:
            reply.done(live.table.version)

    def _put_off(self, live: LiveTable, command: Command, reply: Reply | None) -> None:
        """Our lease may have run out: players are asked to try again, our own clocks and sagas do so by themselves."""
        if reply is None:
            asyncio.get_running_loop().call_later(SILENT_SECONDS, self.submit, live, command)
        else:
            self._refuse(reply, refused(TableReason.UNAVAILABLE), retry=True)

    def _repeated(self, live: LiveTable, command: Act | Decide, reply: Reply) -> bool:
        """A command id that this seat has used: its first answer again."""
        seat = live.table.seat_of(command.person.account_id)
        ids = live.ids.get(seat) if seat is not None else None
        known = ids.find(command.id) if ids is not None else None
        if known is None:
            return False
        digest, version = known
        if digest != command.digest:
            raise refused(TableReason.COMMAND_ID_REUSED)
        reply.done(version)
        return True

    def _append(self, live: LiveTable, draft: Draft, command: Command, reply: Reply | None) -> None:
        at = datetime.now(UTC)
        rows: list[Row] = []
        chain, version = live.chain, live.table.version
        for event in draft.events:
            version += 1
            kind, body = live.codec.kind_of(event), live.codec.encode(event)
            chain = link(chain, live.table_id, version, kind=kind, at=at, body=body)
            rows.append(Row(version, kind, body.decode(), at, chain))
        beside = self._beside(draft, at)

        def done(outcome: Outcome) -> None:
            try:
                if outcome is Outcome.STORED:
                    self._stored(live, draft, chain)
                    if reply is not None:
                        reply.stored(draft.table.version)
                else:
                    self._not_stored(live, outcome, command, reply)
            except Exception as error:
                log.exception("table_failed", table_id=str(live.table_id))
                self._freeze(live, type(error).__name__, command)

        live.in_flight = True
        self._writer.offer(Append(live.table_id, rows, shard=live.shard, beside=beside, done=done))

    def _beside(self, draft: Draft, at: datetime) -> Beside:
        """What the database changes with these events: milestones, claims of accounts, whether the table is open."""
        changes = [
            (event, after) for event, after in zip(draft.events, draft.states, strict=True) if type(event) is not Played
        ]
        if not changes:
            return MOVES_ONLY
        generation = self._settings.generation
        opened_by = [event.host.account_id for event, _ in changes if isinstance(event, TableCreated)]
        told = [milestone_of(event, after, at=at, generation=generation) for event, after in changes]
        return Beside(
            milestones=[(note.number, msgspec.json.encode(note).decode()) for note in told if note is not None],
            claimed=[event.account_id for event, _ in changes if isinstance(event, SeatTaken)] + opened_by,
            freed=[event.account_id for event, _ in changes if isinstance(event, SeatFreed)],
            opened=draft.table.rules.name if opened_by else None,
            closed=draft.table.phase is Phase.CLOSED,
        )

    def _stored(self, live: LiveTable, draft: Draft, chain: bytes) -> None:
        """The next state becomes the state; one frame a version goes to each seat."""
        before = live.table
        live.table, live.chain, live.in_flight = draft.table, chain, False
        self.set_timers(live, keeps_turn=draft.keeps_clock)
        remaining_ms = self.remaining_ms(live)
        shown: list[SeatFrames] = []
        for event, after in zip(draft.events, draft.states, strict=True):
            if live.sockets:
                frames = seat_frames(before, event, after, remaining_ms, last=after is draft.table)
                _send(live, frames, before, after)
                shown.append(frames)
            live.remember_id(event, after.version)
            if type(event) is Played:
                self._metrics.moves_by[event.by].inc()
            before = after
        self._metrics.events.inc(len(draft.events))
        live.keep_frames(shown)
        self._after(live, draft)
        self._next(live)

    def _not_stored(self, live: LiveTable, outcome: Outcome, command: Command, reply: Reply | None) -> None:
        live.in_flight = False
        if outcome is Outcome.FOREIGN_VERSION:
            self._refuse(reply, refused(TableReason.UNAVAILABLE), retry=True)
            self._reload(live)
        elif outcome is Outcome.SEATED_ELSEWHERE:
            self._refuse(reply, refused(TableReason.SEATED_ELSEWHERE), retry=False)
        else:
            self._refuse(reply, refused(TableReason.TABLE_FROZEN), retry=False)
            self._freeze(live, outcome.value, command)
        self._next(live)

    def _next(self, live: LiveTable) -> None:
        while live.waiting and not live.in_flight:
            command, reply = live.waiting.popleft()
            self._decide(live, command, reply)
        if not live.waiting:
            live.waiting = None

    def _refuse(self, reply: Reply | None, error: Refused | RuleRefused, *, retry: bool) -> None:
        if reply is None:
            return
        code = str(error.code)
        message = error.message if isinstance(error, Refused) else error.code.sentence
        self._metrics.refusals.labels(code).inc()
        reply.refuse(code, message, details=error.details, retry=retry)

    def set_timers(self, live: LiveTable, *, keeps_turn: bool = False) -> None:
        """Arm what is due at this table; what was due before runs on, with CP-16 the turn too."""
        now, before = monotonic(), live.timers
        live.timers = {
            timer: before[timer] if timer in before else now + seconds
            for timer, seconds in timers.due(live.table, self._settings).items()
        }
        if keeps_turn:
            left = max((deadline for timer, deadline in before.items() if isinstance(timer, TurnTimer)), default=0.0)
            live.timers = dict.fromkeys(live.timers, max(left, now + timers.SAME_TURN_SECONDS_MIN))
        self.wheel.set(live, min(live.timers.values(), default=None))

    def remaining_ms(self, live: LiveTable) -> int | None:
        """What is left of the time that clients count."""
        counted = [deadline for timer, deadline in live.timers.items() if not isinstance(timer, KeptSeatTimer)]
        return max(0, int((counted[0] - monotonic()) * 1000)) if counted else None

    def _timers_rang(self, live: LiveTable) -> None:
        now = monotonic()
        for timer in [timer for timer, deadline in live.timers.items() if deadline <= now]:
            del live.timers[timer]
            self.submit(live, TimerRang(timer))
        if live.timers and live.deadline is None:
            self.wheel.set(live, min(live.timers.values()))


def _send(live: LiveTable, frames: SeatFrames, before: Table, after: Table) -> None:
    """Everyone at the table, with what their seat may see at this version; most see the same, encoded once."""
    seats_move = before.seats is not after.seats
    same = frames.for_seat(None)
    for socket in live.sockets:
        seat = socket.seat
        if seats_move:
            now = after.seat_of(socket.account_id)
            seat = now if seat is None else seat
            socket.seat = now
        own = frames.tail_of(seat)
        socket.send(b"%b%b}" % (frames.head, own) if own else same)
