"""The way of a move: from a command over decide and the writer to frames. Open this first when a move goes wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from darbar_contracts.frames import TableReason
from darbar_kit.errors import Refused
from darbar_rules.game import RuleRefused
from darbar_table.domain import decide
from darbar_table.domain.commands import Act, Command, Context, Create, Decide, Draft, OperatorAct
from darbar_table.domain.events import (
    Played,
    PlayerSentAway,
    RoundStarted,
    SeatFreed,
    SeatTaken,
    TableCreated,
    TableResumed,
    TableVoided,
)
from darbar_table.domain.milestones import milestone_of
from darbar_table.domain.refusals import refused
from darbar_table.domain.seat_view import SeatFrames, seat_frames
from darbar_table.domain.state import Phase, Table
from darbar_table.domain.visibility import may_look_on
from darbar_table.engine.freezer import Freezer
from darbar_table.engine.live_table import COMMANDS_WAITING_MAX, LiveTable, Reply
from darbar_table.engine.table_timers import TableTimers
from darbar_table.metrics import Metrics
from darbar_table.settings import Settings
from darbar_table.shards.holdings import ShardState
from darbar_table.store.chain import link
from darbar_table.store.writer import MOVES_ONLY, Append, Beside, Outcome, Row, Writer

CARRIES_AN_ID = (Decide, Act)
BY_OPERATORS = (TableResumed, TableVoided)


class Owner:
    """The only writer of the tables it holds. Synchronous: a move waits for nothing but its commit."""

    def __init__(
        self,
        settings: Settings,
        *,
        writer: Writer,
        metrics: Metrics,
        timers: TableTimers,
        freezer: Freezer,
        may_answer: Callable[[], bool],
        state_of: Callable[[int], ShardState | None],
        publish: Callable[[UUID, Sequence[tuple[int, str]]], None],
        after: Callable[[LiveTable, Draft], None],
        reload: Callable[[LiveTable], None],
        fresh_seed: Callable[[], str],
    ) -> None:
        self._generation = settings.generation
        self._writer = writer
        self._metrics = metrics
        self._may_answer = may_answer
        self._state_of = state_of
        self._publish = publish
        self._after = after
        self._reload = reload
        self._timers = timers
        self._freezer = freezer
        self._put_off: list[tuple[LiveTable, Command]] = []
        self._ended = False
        self.live_tables: dict[UUID, LiveTable] = {}
        # Their first event is on its way to the store, and they are not held yet.
        self.opening: dict[UUID, LiveTable] = {}
        self._context = Context(
            settings=settings,
            fresh_seed=fresh_seed,
            now=lambda: datetime.now(UTC),
        )

    def submit(self, live: LiveTable, command: Command, reply: Reply | None = None) -> None:
        """Decide now, or when the append in flight is stored, or where the table moves. Never blocks, never raises.

        A table that was let go decides nothing more: its shard may be back by now, and another be held in its place.
        """
        state, is_held = self._state_of(live.shard), self.live_tables.get(live.table_id) is live
        is_new = type(command) is Create and state is not ShardState.LEAVING
        if state is None or not (is_held or is_new):
            self._refuse(reply, refused(TableReason.NOT_OWNER), retry=True)
            return
        if live.in_flight or live.waiting or state is ShardState.LEAVING:
            if live.waiting is None:
                live.waiting = deque()
            if reply is not None and len(live.waiting) >= COMMANDS_WAITING_MAX:
                self._refuse(reply, refused(TableReason.BUSY), retry=True)
                return
            live.waiting.append((command, reply))
            return
        self._decide(live, command, reply)

    def add(self, live: LiveTable) -> None:
        """Hold a table that was loaded or created."""
        self.live_tables[live.table_id] = live
        self._metrics.tables.set(len(self.live_tables))

    def drop(self, live: LiveTable) -> None:
        """Let go of a table that is closed or belongs to another process."""
        if self.live_tables.get(live.table_id) is live:
            del self.live_tables[live.table_id]
        live.stop_timers()
        self._metrics.tables.set(len(self.live_tables))

    def take_up(self, live: LiveTable) -> None:
        """The table stays here after all: what has waited is decided."""
        self._next(live)

    def answer_repeats(self, live: LiveTable) -> None:
        """Before the table ends: what waits there and was done already hears so, and is not refused."""
        rest = [waiting for waiting in live.take_waiting() if not self._is_answered(live, *waiting)]
        live.waiting = deque(rest) if rest else None

    def go_on(self) -> None:
        """We may answer again: what was put off is done now."""
        put_off, self._put_off = self._put_off, []
        for live, command in put_off:
            if self.live_tables.get(live.table_id) is live:
                self.submit(live, command)

    def end(self) -> None:
        """Nothing more is begun, by anybody: another process goes on, or this one under another id."""
        self._ended = True
        self._put_off.clear()

    def _decide(self, live: LiveTable, command: Command, reply: Reply | None) -> None:
        """One command to its end: refused, put off, without effect, or on its way to the store."""
        try:
            self._decide_or_raise(live, command, reply)
        except (Refused, RuleRefused) as refusal:
            self._refuse(reply, refusal, retry=False)
        except Exception as error:  # noqa: BLE001  # A fault of ours freezes one table and no other.
            self._refuse(reply, refused(TableReason.TABLE_FROZEN), retry=False)
            self._freezer.failed(live, error, command)

    def _decide_or_raise(self, live: LiveTable, command: Command, reply: Reply | None) -> None:
        if live.frozen and not isinstance(command, OperatorAct):
            raise refused(TableReason.TABLE_FROZEN)
        if self._ended or not self._may_answer():
            self._not_now(live, command, reply)
            return
        if reply is not None and isinstance(command, CARRIES_AN_ID) and self._repeated(live, command, reply):
            return
        draft = decide.decide(live.table, command, self._context)
        if draft.events:
            self._append(live, draft, command, reply)
        elif reply is not None:
            reply.done(live.table.version)

    def _not_now(self, live: LiveTable, command: Command, reply: Reply | None) -> None:
        """Our lease may have run out: players are asked to try again, our own clocks and sagas wait until it holds."""
        if reply is not None:
            self._refuse(reply, refused(TableReason.UNAVAILABLE), retry=True)
        elif not self._ended:
            self._put_off.append((live, command))

    def _is_answered(self, live: LiveTable, command: Command, reply: Reply | None) -> bool:
        try:
            return reply is not None and isinstance(command, CARRIES_AN_ID) and self._repeated(live, command, reply)
        except Refused:
            return False

    def _repeated(self, live: LiveTable, command: Act | Decide, reply: Reply) -> bool:
        """A command id that this account has used, also one that has left since: its first answer again."""
        known = live.known_id(command.person.account_id, command.id)
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
        beside = self._beside(draft, rows)

        is_opening = type(command) is Create
        if is_opening:
            self.opening[live.table_id] = live

        def done(outcome: Outcome) -> None:
            live.in_flight = False
            if is_opening:
                self.opening.pop(live.table_id, None)
            try:
                if outcome is Outcome.STORED:
                    if beside.milestones:
                        self._publish(live.table_id, beside.milestones)
                    self._stored(live, draft, chain, at)
                    if reply is not None:
                        reply.stored(draft.table.version)
                else:
                    self._not_stored(live, outcome, command, reply)
            except Exception as error:  # noqa: BLE001  # A fault of ours freezes one table and no other.
                self._freezer.failed(live, error, command)
                self._refuse(reply, refused(TableReason.TABLE_FROZEN), retry=True)

        live.in_flight = True
        self._writer.offer(Append(live.table_id, rows, shard=live.shard, beside=beside, done=done))

    def _beside(self, draft: Draft, rows: Sequence[Row]) -> Beside:
        """What the database changes with these events: milestones, claims of accounts, whether the table is open."""
        if draft.is_one_move:
            return MOVES_ONLY
        every = zip(draft.events, draft.states, rows, strict=True)
        changes = [(event, after, row) for event, after, row in every if type(event) is not Played]
        if not changes:
            return MOVES_ONLY
        generation = self._generation
        opened_by = [event.host.account_id for event, _, _ in changes if isinstance(event, TableCreated)]
        told = [
            milestone_of(event, after, at=row.at, generation=generation, chain=row.chain)
            for event, after, row in changes
        ]
        return Beside(
            milestones=[(note.number, msgspec.json.encode(note).decode()) for note in told if note is not None],
            claimed=[event.account_id for event, _, _ in changes if isinstance(event, SeatTaken)] + opened_by,
            freed=[event.account_id for event, _, _ in changes if isinstance(event, SeatFreed)],
            opened=draft.table.rules.name if opened_by else None,
            closed=draft.table.phase is Phase.CLOSED,
        )

    def _stored(self, live: LiveTable, draft: Draft, chain: bytes, at: datetime) -> None:
        """The next state becomes the state; one frame a version goes to each seat."""
        before, kinds = live.table, {type(event) for event in draft.events}
        live.table, live.chain = draft.table, chain
        if type(draft.events[0]) in BY_OPERATORS:
            live.frozen = False  # And is stored so: whatever fails from here on freezes the table anew.
        remaining_ms = self._timers.set(live, keeps_turn=draft.keeps_clock)
        if RoundStarted in kinds:
            _disconnect_spectators(live, self._context.now())
        for event, after in zip(draft.events, draft.states, strict=True):
            if live.sockets:
                frames = seat_frames(before, event, after, remaining_ms, last=after is draft.table)
                _send(live, frames, before, after)
            live.remember_id(event, before, after)
            live.remember_times(event, at, after, self._context.settings)
            if type(event) is Played:
                self._metrics.moves_by[event.by] += 1
            else:
                live.remember_round(event, before)
            before = after
        if RoundStarted in kinds:
            live.round_start.pack()
        if PlayerSentAway in kinds:
            _disconnect_spectators(live, self._context.now())
        self._metrics.events += len(draft.events)
        self._after(live, draft)
        self._next(live)

    def _not_stored(self, live: LiveTable, outcome: Outcome, command: Command, reply: Reply | None) -> None:
        if outcome is Outcome.FOREIGN_VERSION:
            self._refuse(reply, refused(TableReason.UNAVAILABLE), retry=True)
            self._reload(live)
        elif outcome is Outcome.SEATED_ELSEWHERE:
            self._refuse(reply, refused(TableReason.SEATED_ELSEWHERE), retry=False)
        else:
            self._refuse(reply, refused(TableReason.TABLE_FROZEN), retry=False)
            self._freezer.freeze(live, outcome.value, command)
        self._next(live)

    def _next(self, live: LiveTable) -> None:
        while live.waiting and not live.in_flight and self._state_of(live.shard) is not ShardState.LEAVING:
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


def _disconnect_spectators(live: LiveTable, now: datetime) -> None:
    """Whoever may not look on any more (TL-44): before anything of a round is shown, and who was sent away (TL-8)."""
    for socket in list(live.sockets):
        if not may_look_on(live.table, socket.account_id, now=now):
            socket.close(TableReason.TABLE_PRIVATE, "This table is private.")


def _send(live: LiveTable, frames: SeatFrames, before: Table, after: Table) -> None:
    """Everyone at the table, with what their seat may see at this version; most see the same, encoded once."""
    seats_move = before.seats is not after.seats
    same, tails = frames.for_seat(None), frames.tails
    for socket in live.sockets:
        seat = socket.seat
        if seats_move:
            now = after.seat_of(socket.account_id)
            seat = now if seat is None else seat
            socket.seat = now
        socket.send(b"%b%b}" % (frames.head, tails[seat]) if seat in tails else same)
