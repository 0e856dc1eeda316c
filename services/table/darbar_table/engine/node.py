"""What one process id stands for: its row, its writer, its tables. Open this about taking and losing tables."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from functools import partial
from uuid import UUID

import msgspec
import structlog

from darbar_contracts import subjects
from darbar_contracts.frames import Heartbeat, TableReason
from darbar_kit.backoff import Backoff
from darbar_kit.bus import Bus
from darbar_kit.database import DatabaseAway, Lease, LeaseQueries
from darbar_kit.errors import Unavailable
from darbar_kit.supervisor import Supervisor
from darbar_table.domain import events
from darbar_table.domain.commands import Command, Draft
from darbar_table.domain.refusals import refused
from darbar_table.domain.state import Phase
from darbar_table.engine.effects import Effects
from darbar_table.engine.freezer import Freezer
from darbar_table.engine.handover import Handover
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.loading import Loaded, Loader
from darbar_table.engine.microphones import Microphones
from darbar_table.engine.owner import Owner
from darbar_table.engine.presence import Presence
from darbar_table.engine.snapshots import Snapshots
from darbar_table.engine.table_timers import UNHEARD_SECONDS, TableTimers
from darbar_table.engine.timer_wheel import TICK_SECONDS
from darbar_table.metrics import Metrics
from darbar_table.settings import Settings
from darbar_table.shards.cells import Cells
from darbar_table.shards.holdings import Holdings, ShardState
from darbar_table.shards.pace import Pace
from darbar_table.shards.placement import shard_of
from darbar_table.shards.survey import Survey
from darbar_table.store.codec import Codecs
from darbar_table.store.outbox import Outbox
from darbar_table.store.registry import Outage, Registry
from darbar_table.store.store import Store
from darbar_table.store.writer import Writer

READ_AGAIN_SECONDS_MIN = 0.1
READ_AGAIN_SECONDS_MAX = 2.0
# A database that is away longer than this at a planned stop has what it has; the clients ask again elsewhere.
DRAIN_SECONDS_MAX = 5.0

log = structlog.get_logger()


def new_process_id(name: str = "t") -> str:
    """Unguessable and fit for a NATS subject; begins with `name`, so that a path with it can be routed."""
    return f"{name}-{secrets.token_hex(6)}"


class TableNode:
    """What belongs to one process id. `run` ends when the fence is lost or the process ends."""

    def __init__(
        self,
        settings: Settings,
        *,
        store: Store,
        registry: Registry,
        bus: Bus,
        metrics: Metrics,
        queries: Mapping[str, str],
        supervisor: Supervisor,
        fresh_seed: Callable[[], str],
        cells: Cells,
    ) -> None:
        self.settings = settings
        self.metrics = metrics
        self.codecs = Codecs()
        self.process_id = new_process_id(settings.process_name)
        self.store = store
        self._registry = registry
        self._supervisor = supervisor
        self._tasks: asyncio.TaskGroup | None = None
        self.holdings = Holdings()
        self.lease = _lease(settings, queries, self.process_id, was_silent=self._after_silence)
        tell = partial(bus.publish, subjects.TABLE_SERVED)
        self.survey = Survey(registry, self.process_id, own=self.holdings.own, cells=cells, tell=tell)
        self.writer = _writer(settings, queries, self.process_id, metrics=metrics)
        self.outbox = self._outbox(bus)
        self.freezer = Freezer(store, metrics=metrics, spawn=self.spawn)
        self.timers = TableTimers(settings, self.lease.clock, submit=self._submit, guard=self.freezer.guard)
        self.owner = self._owner(fresh_seed)
        self.presence = Presence(settings, owner=self.owner, timers=self.timers)
        self.effects = Effects(
            settings, bus=bus, metrics=metrics, owner=self.owner, freezer=self.freezer, spawn=self.spawn
        )
        self.microphones = Microphones(settings, bus=bus, find=self.find, spawn=self.spawn)
        self.snapshots = Snapshots(store, metrics=metrics)
        self.loader = self._loader()
        self.handover = self._handover(bus)

    async def run(self, began: Callable[[], Awaitable[None]]) -> None:
        """`began` is called when the process is known. Raises an ExceptionGroup with FenceLost at the end."""
        works = {
            "survey": self.survey.run,
            "loader": self.loader.run,
            "timers": self._turn_timers,
            "outbox": self.outbox.run,
            "handover": self.handover.run,
            "snapshots": self.snapshots.run,
        }
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                await self.lease.claim()
                tasks.create_task(self.lease.keep())
                tasks.create_task(self.writer.run())
                try:
                    async with self._supervisor.watching(works):
                        await began()
                        await asyncio.get_running_loop().create_future()
                finally:
                    self._tasks = None
        finally:
            self.owner.end()

    async def stop(self, pace: Pace) -> None:
        """Planned: tables move to who stays, if there is somebody. Of those left here what was offered is stored, and
        the row goes away; then others have them, whoever is still connected here."""
        await self.handover.leave(pace)
        self.holdings.leave_all()
        self.owner.end()
        if not await self.writer.drained(seconds_max=DRAIN_SECONDS_MAX):
            log.error("stopped_with_appends_waiting", process_id=self.process_id)
        await self.lease.release()
        self.close_sockets()

    @property
    def sockets(self) -> int:
        """How many players and spectators our tables have, wherever they are connected."""
        return sum(len(live.sockets) for live in self.owner.live_tables.values())

    @property
    def shards_served(self) -> int:
        """How many shards are ours, with every table of theirs known."""
        return len(self.holdings.with_state(ShardState.SERVING))

    @property
    def tables_frozen(self) -> int:
        """How many of our tables are stopped, those that could not be held with them."""
        stopped = {table_id for table_id, live in self.owner.live_tables.items() if live.frozen}
        unreadable = {table_id for table_id in self.freezer.unreadable if self.holdings.state(shard_of(table_id))}
        return len(stopped | unreadable)

    def activate(self, live: LiveTable) -> None:
        """Hold a table: its absent players, and what it waits for."""
        self.owner.add(live)
        if not live.frozen:
            self.presence.loaded(live)
            self.effects.wallet(live)
            self.effects.bots(live)

    def beat(self, part: int, parts: int) -> None:
        """Tell every socket its table's version; only at the tables of one part, which are always the same."""
        self.tell_everybody(lambda live: msgspec.json.encode(Heartbeat(version=live.table.version)), part, parts)

    def tell_everybody(self, frame_of: Callable[[LiveTable], bytes], part: int = 0, parts: int = 1) -> None:
        """A frame for every socket of each table; a table that fails keeps nothing from the others."""
        for live in self.owner.live_tables.values():
            if live.sockets and live.shard % parts == part:
                with self.freezer.guard(live):
                    frame = frame_of(live)
                    for socket in live.sockets:
                        socket.send(frame)

    async def take(self, shards: Collection[int]) -> None:
        """Shards that another process has given us: they are served when this returns."""
        await self.survey.look()
        await self.holdings.settled(shards)

    def find(self, table_id: UUID) -> LiveTable:
        """A table this process holds; refuses with what the caller should do instead."""
        live = self.owner.live_tables.get(table_id)
        if live is not None:
            if live.stale or self.holdings.state(live.shard) is ShardState.LEAVING:
                raise refused(TableReason.UNAVAILABLE)
            return live
        if table_id in self.freezer.unreadable:
            raise refused(TableReason.TABLE_FROZEN)
        self.require_shard(table_id)
        raise refused(TableReason.TABLE_UNKNOWN)

    async def find_to_operate(self, table_id: UUID) -> LiveTable:
        """A table for its operator: one that is stopped, or could not be held, is read again, and stays stopped until
        what the operator does is stored. Raises Refused and Unavailable."""
        self.require_shard(table_id)
        live = self.owner.live_tables.get(table_id)
        if live is not None and not (live.frozen or live.stale):
            return live
        if table_id in self.freezer.unstored or (live is not None and live.in_flight):
            raise Unavailable(TableReason.UNAVAILABLE, "something is under way at this table")
        live = await self._read(table_id)
        if live is None:
            raise refused(
                TableReason.TABLE_UNREADABLE if table_id in self.freezer.unreadable else TableReason.TABLE_UNKNOWN
            )
        return live

    def require_shard(self, table_id: UUID) -> None:
        """Refuses unless this process knows every table of the shard where this one lies."""
        state = self.holdings.state(shard_of(table_id))
        if state is None:
            raise refused(TableReason.NOT_OWNER)
        if state is not ShardState.SERVING:
            raise refused(TableReason.UNAVAILABLE)

    def close_sockets(self) -> None:
        """This node is over: whoever is connected comes back to the next owner."""
        for live in self.owner.live_tables.values():
            live.stop_timers()
            live.dismiss(TableReason.NOT_OWNER, "Another process serves this table now.", retry=True)

    def _outbox(self, bus: Bus) -> Outbox:
        return Outbox(
            self.store,
            bus,
            writer=self.writer,
            generation=self.settings.generation,
            metrics=self.metrics,
            shards=lambda: self.holdings.with_state(ShardState.SERVING),
        )

    def _handover(self, bus: Bus) -> Handover:
        return Handover(
            self.process_id,
            bus=bus,
            metrics=self.metrics,
            survey=self.survey,
            holdings=self.holdings,
            owner=self.owner,
            freezer=self.freezer,
            known_seconds_min=self.settings.better_place_seconds,
        )

    def _owner(self, fresh_seed: Callable[[], str]) -> Owner:
        return Owner(
            self.settings,
            writer=self.writer,
            metrics=self.metrics,
            timers=self.timers,
            freezer=self.freezer,
            may_answer=lambda: self.lease.may_answer,
            state_of=self.holdings.state,
            publish=self.outbox.put,
            after=self._after,
            reload=self._reload,
            fresh_seed=fresh_seed,
        )

    def _loader(self) -> Loader:
        return Loader(
            self.settings,
            store=self.store,
            registry=self._registry,
            codecs=self.codecs,
            holdings=self.holdings,
            freezer=self.freezer,
            metrics=self.metrics,
            snapshots=self.snapshots,
            held=self.owner.live_tables,
            hold=self._hold,
            served=self.outbox.look,
        )

    def _hold(self, loaded: Loaded, outages: Iterable[Outage]) -> None:
        """A table as it is stored: it goes on where it stood."""
        live = loaded.live
        with self.freezer.guard(live):
            if not live.frozen:
                self.timers.set_loaded(live, loaded.began, outages)
            self.activate(live)

    async def _turn_timers(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self.timers.turn()

    def _after_silence(self, seconds: float) -> None:
        """Our clocks stood still; what another owner may have to know is noted."""
        self.timers.after_silence(self.owner.live_tables.values())
        self.owner.go_on()
        self.survey.look_soon()
        serving = self.holdings.with_state(ShardState.SERVING)
        self.spawn(self._registry.note_outage(serving, seconds=seconds + UNHEARD_SECONDS))

    def _after(self, live: LiveTable, draft: Draft) -> None:
        """What a stored command sets going. A plain card goes the short way."""
        self.effects.bots(live)
        if draft.is_one_move:
            return
        if isinstance(draft.events[0], events.TableCreated | events.OperatorEvent):
            self.activate(live)
        self.effects.wallet(live)
        if any(type(event) is events.SeedsShown for event in draft.events):
            self.snapshots.note(live)
        if live.table.phase is Phase.CLOSED:
            self._close(live)

    def _close(self, live: LiveTable) -> None:
        self.owner.answer_repeats(live)
        self.owner.drop(live)
        live.dismiss(TableReason.TABLE_CLOSED, "This table is closed.")

    def _reload(self, live: LiveTable) -> None:
        """Somebody else stored a version: what we hold is not the table any more, and answers nobody."""
        log.error("table_reloading", table_id=str(live.table_id), version=live.table.version)
        live.in_flight = live.stale = True
        live.stop_timers()
        live.dismiss(TableReason.UNAVAILABLE, "This table is read again.", retry=True)
        self.spawn(self._read_again(live))

    async def _read_again(self, live: LiveTable) -> None:
        """Until the database answers: a table that is not read is not served."""
        backoff = Backoff(seconds_min=READ_AGAIN_SECONDS_MIN, seconds_max=READ_AGAIN_SECONDS_MAX)
        while True:
            try:
                await self._read(live.table_id)
            except DatabaseAway:
                await backoff.pause()
            else:
                return

    async def _read(self, table_id: UUID) -> LiveTable | None:
        """The table as it is stored, in place of the one we held; one that is stopped stays so. None: not open, or
        its log can't be taken."""
        before = self.owner.live_tables.get(table_id)
        is_stopped = before.frozen if before is not None else table_id in self.freezer.unreadable
        table = await self.store.open_table(table_id)
        found = [loaded async for loaded in self.loader.loaded([table])] if table is not None else []
        self.require_shard(table_id)
        if self.owner.live_tables.get(table_id) is not before:
            raise Unavailable(TableReason.UNAVAILABLE, "somebody else has read this table meanwhile")
        if before is not None:
            self.owner.drop(before)
        for loaded in found:
            self.freezer.unreadable.discard(table_id)
            loaded.live.frozen = is_stopped
            self._hold(loaded, ())
            # What became of an append that was not answered is not known.
            self.outbox.look()
        return self.owner.live_tables.get(table_id)

    def _submit(self, live: LiveTable, command: Command) -> None:
        self.owner.submit(live, command)

    def spawn(self, effect: Coroutine[None, None, None]) -> None:
        """Work of one table, or small writes that loading mends later: a fault costs nothing else."""
        if self._tasks is None:
            effect.close()  # This node is over: whoever has the table next begins it anew.
        else:
            self._tasks.create_task(_logged(effect))


def _lease(
    settings: Settings, queries: Mapping[str, str], process_id: str, *, was_silent: Callable[[float], None]
) -> Lease:
    statements = LeaseQueries(claim=queries["register"], renew=queries["renew"], release=queries["retire"])
    return Lease(
        settings.database_url,
        statements,
        holder_id=process_id,
        added=(settings.process_address,),
        was_silent=was_silent,
    )


def _writer(settings: Settings, queries: Mapping[str, str], process_id: str, *, metrics: Metrics) -> Writer:
    return Writer(
        settings.database_url,
        queries,
        process_id=process_id,
        connections=settings.writer_connections,
        metrics=metrics,
    )


async def _logged(effect: Coroutine[None, None, None]) -> None:
    try:
        await effect
    except DatabaseAway as away:
        log.warning("effect_failed", reason=away.message)
    except Exception:
        log.exception("effect_failed")
