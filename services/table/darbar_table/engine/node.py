"""What one process id stands for: its row, its writer, its tables. Open this about taking and losing tables."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any
from uuid import UUID

import msgspec
import structlog

from darbar_contracts.frames import Heartbeat, TableReason
from darbar_kit.bus import Bus
from darbar_table.domain import events
from darbar_table.domain.commands import Command, Draft
from darbar_table.domain.events import Played
from darbar_table.domain.milestones import counts
from darbar_table.domain.refusals import refused
from darbar_table.domain.state import Phase
from darbar_table.domain.visibility import may_look_on
from darbar_table.engine.effects import Effects
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.loading import live_table_of, load
from darbar_table.engine.owner import Owner
from darbar_table.engine.presence import Presence
from darbar_table.metrics import Metrics
from darbar_table.settings import Settings
from darbar_table.shards.lease import Lease, new_process_id
from darbar_table.shards.placement import shard_of
from darbar_table.store.codec import Codecs
from darbar_table.store.outbox import Outbox
from darbar_table.store.store import AWAY, Store
from darbar_table.store.writer import Writer

log = structlog.get_logger()
READ_AGAIN_SECONDS = 0.25
# A database that is away longer than this at a planned stop has what it has; the clients ask again elsewhere.
DRAIN_SECONDS_MAX = 5.0


class TableNode:
    """What belongs to one process id. `run` ends when the fence is lost or the process ends."""

    def __init__(
        self, settings: Settings, *, store: Store, bus: Bus, metrics: Metrics, queries: Mapping[str, str]
    ) -> None:
        self.settings = settings
        self.store = store
        self.bus = bus
        self.metrics = metrics
        self.codecs = Codecs()
        self.process_id = new_process_id()
        self.lease = Lease(store, self.process_id, address=settings.process_address)
        self.writer = Writer(
            settings.database_url,
            queries,
            process_id=self.process_id,
            connections=settings.writer_connections,
            metrics=metrics,
        )
        self.owner = Owner(
            settings,
            writer=self.writer,
            metrics=metrics,
            may_answer=lambda: self.lease.may_answer,
            after=self._after,
            reload=self._reload,
            freeze=self._freeze,
        )
        self.presence = Presence(settings, lambda: self.owner)
        self.outbox = Outbox(
            store, bus, generation=settings.generation, metrics=metrics, shards=lambda: sorted(self.shards)
        )
        self.shards: set[int] = set()
        self._effects: Effects | None = None
        self._tasks: asyncio.TaskGroup | None = None

    async def run(self, opened: Callable[[], Awaitable[None]]) -> None:
        """`opened` is called when the first shards are loaded. Raises an ExceptionGroup with FenceLost at the end."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            self._effects = Effects(
                self.settings, bus=self.bus, tasks=tasks, metrics=self.metrics, owner=lambda: self.owner
            )
            await self.lease.begin()
            tasks.create_task(self.lease.keep())
            tasks.create_task(self.writer.run())
            await self.lease.reassign(self.take)
            tasks.create_task(self.lease.survey(self.take))
            tasks.create_task(self.owner.wheel.run())
            tasks.create_task(self.outbox.run())
            await opened()

    async def take(self, shards: list[int]) -> None:
        """Load the open tables of shards that are now ours, and go on where they stood; then their tables are known."""
        for live in await load(self.store, self.codecs, shards):
            self.activate(live)
            await self.store.mend_claims(live.table_id, _accounts(live))
        self.shards.update(shards)
        self.outbox.stored()

    def activate(self, live: LiveTable) -> None:
        """Hold a table: its clock, its absent players, what it waits for."""
        if not live.frozen:
            self.owner.add(live)
            self.presence.loaded(live)
            self._start_effects(live)
        else:
            self.owner.live_tables[live.table_id] = live

    async def read(self, live: LiveTable) -> LiveTable:
        """A table as it is stored, in place of what was held."""
        logs = await self.store.events_of([live.table_id])
        fresh = live_table_of(live.table_id, logs[live.table_id], self.codecs, live.table.rules.name)
        self.activate(fresh)
        return fresh

    def beat(self) -> None:
        """Tell every socket its table's version."""
        for live in self.owner.live_tables.values():
            if live.sockets:
                frame = msgspec.json.encode(Heartbeat(version=live.table.version))
                for socket in live.sockets:
                    socket.send(frame)

    def find(self, table_id: UUID) -> LiveTable:
        """A table this process holds; refuses with what the caller should do instead."""
        live = self.owner.live_tables.get(table_id)
        if live is not None and live.stale:
            raise refused(TableReason.UNAVAILABLE)
        if live is not None:
            return live
        if shard_of(table_id) not in self.shards:
            raise refused(TableReason.NOT_OWNER)
        raise refused(TableReason.TABLE_UNKNOWN)

    async def end(self) -> None:
        """Planned: everything offered is stored, then the row goes away."""
        await self.writer.drained(seconds_max=DRAIN_SECONDS_MAX)
        await self.lease.end()

    def close_sockets(self) -> None:
        """This node is over: whoever is connected comes back to the next owner."""
        for live in self.owner.live_tables.values():
            for socket in list(live.sockets):
                socket.close(TableReason.NOT_OWNER, "Another process serves this table now.")

    def _start_effects(self, live: LiveTable) -> None:
        assert self._effects is not None
        self._effects.wallet(live)
        self._effects.bots(live)

    def _after(self, live: LiveTable, draft: Draft) -> None:
        """What a stored command sets going. A plain card goes the short way."""
        assert self._effects is not None
        self._effects.bots(live)
        if len(draft.events) == 1 and type(draft.events[0]) is Played:
            return
        if type(draft.events[0]) is events.TableCreated:
            self.activate(live)
        self._effects.wallet(live)
        if any(isinstance(event, events.RoundStarted) for event in draft.events):
            self._disconnect_spectators(live)
        if any(counts(event) for event in draft.events):
            self.outbox.stored()
        if live.table.phase is Phase.CLOSED:
            self._close(live)

    def _disconnect_spectators(self, live: LiveTable) -> None:
        """Whoever may not look on any more (TL-44)."""
        for socket in list(live.sockets):
            if not may_look_on(live.table, socket.account_id):
                socket.close(TableReason.TABLE_PRIVATE, "This table is private.")

    def _close(self, live: LiveTable) -> None:
        self.owner.drop(live)
        for socket in list(live.sockets):
            socket.close(TableReason.TABLE_CLOSED, "This table is closed.")

    def _reload(self, live: LiveTable) -> None:
        """Somebody else stored a version: what we hold is not the table any more, and answers nobody."""
        log.error("table_reloading", table_id=str(live.table_id), version=live.table.version)
        live.in_flight = live.stale = True
        self.owner.wheel.set(live, None)
        for socket in list(live.sockets):
            socket.close(TableReason.UNAVAILABLE, "This table is read again.")
        for _, reply in live.waiting or ():
            if reply is not None:
                reply.refuse(TableReason.UNAVAILABLE, "Try again.", details={}, retry=True)
        live.waiting = None
        self._spawn(self._read_again(live))

    async def _read_again(self, live: LiveTable) -> None:
        """Until the database answers: a table that is not read is not served."""
        while True:
            try:
                await self.read(live)
            except AWAY:
                await asyncio.sleep(READ_AGAIN_SECONDS)
            else:
                return

    def _freeze(self, live: LiveTable, reason: str, command: Command) -> None:
        """A fault of ours at one table: it stops, everybody there is told, an admin can look."""
        live.frozen = True
        self.metrics.frozen.inc()
        self.owner.wheel.set(live, None)
        log.error("table_frozen", table_id=str(live.table_id), reason=reason)
        for socket in list(live.sockets):
            socket.close(TableReason.TABLE_FROZEN, "This table has been stopped because of a fault of ours.")
        self._spawn(self.store.freeze(live.table_id, reason=reason, command=_readable(command)))

    def _spawn(self, effect: Coroutine[Any, Any, None]) -> None:
        assert self._tasks is not None
        self._tasks.create_task(_logged(effect))


async def _logged(effect: Coroutine[Any, Any, None]) -> None:
    """Small writes that loading mends later: a fault is logged and costs nothing else."""
    try:
        await effect
    except AWAY as error:
        log.warning("effect_failed", error=type(error).__name__)


def _accounts(live: LiveTable) -> list[str]:
    return [account for account in live.table.accounts if account is not None]


def _readable(command: Command) -> str:
    """The command as JSON for an admin; what JSON can't say is written as text."""
    return msgspec.json.encode(command, enc_hook=repr).decode()
