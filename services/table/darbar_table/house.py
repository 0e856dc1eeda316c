"""One life of a table process: its row, its writer, its tables. A process that is declared dead begins a new life."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any
from uuid import UUID

import msgspec
import structlog

from darbar_contracts.frames import Heartbeat, TableReason
from darbar_kit.bus import Bus
from darbar_table import events
from darbar_table.commands import Command, Draft
from darbar_table.entry import Entry
from darbar_table.errands import Errands
from darbar_table.events import Played
from darbar_table.loading import Codecs, entry_of, load
from darbar_table.metrics import Metrics
from darbar_table.milestones import counts
from darbar_table.outbox import Outbox
from darbar_table.owner import Owner
from darbar_table.presence import Presence
from darbar_table.refusals import refused
from darbar_table.settings import Settings
from darbar_table.shards import shard_of
from darbar_table.state import Phase
from darbar_table.store import AWAY, Store
from darbar_table.tenure import Tenure, new_process_id
from darbar_table.writer import Writer

log = structlog.get_logger()
TURN_SECONDS_AFTER_LOAD_MIN = 5.0
READ_AGAIN_SECONDS = 0.25


class House:
    """What belongs to one process id. `live` runs until the fence is lost or the process ends."""

    def __init__(
        self, settings: Settings, *, store: Store, bus: Bus, metrics: Metrics, queries: Mapping[str, str]
    ) -> None:
        self.settings = settings
        self.store = store
        self.bus = bus
        self.metrics = metrics
        self.codecs = Codecs()
        self.process_id = new_process_id()
        self.tenure = Tenure(store, self.process_id, address=settings.process_address)
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
            may_answer=lambda: self.tenure.may_answer,
            after=self._after,
            reload=self._reload,
            freeze=self._freeze,
        )
        self.presence = Presence(settings, lambda: self.owner)
        self.outbox = Outbox(
            store, bus, generation=settings.generation, metrics=metrics, shards=lambda: sorted(self.shards)
        )
        self.shards: set[int] = set()
        self._errands: Errands | None = None
        self._tasks: asyncio.TaskGroup | None = None

    async def live(self, opened: Callable[[], Awaitable[None]]) -> None:
        """`opened` is called when the first shards are loaded. Raises an ExceptionGroup with FenceLost at the end."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            self._errands = Errands(
                self.settings, bus=self.bus, tasks=tasks, metrics=self.metrics, owner=lambda: self.owner
            )
            await self.tenure.begin()
            tasks.create_task(self.tenure.keep())
            tasks.create_task(self.writer.run())
            await self.tenure.inherit(self.take)
            tasks.create_task(self.tenure.survey(self.take))
            tasks.create_task(self.owner.wheel.run())
            tasks.create_task(self.outbox.run())
            await opened()

    async def take(self, shards: list[int]) -> None:
        """Load the open tables of shards that are now ours, and go on where they stood; then their tables are known."""
        for entry in await load(self.store, self.codecs, shards):
            self.settle_in(entry)
            await self.store.mend_claims(entry.table_id, _accounts(entry))
        self.shards.update(shards)
        self.outbox.stored()

    def settle_in(self, entry: Entry) -> None:
        """Hold a table: its clock, its absent players, what it waits for."""
        if not entry.frozen:
            self.owner.add(entry)
            self.owner.set_clock(entry, seconds_min=TURN_SECONDS_AFTER_LOAD_MIN)
            self.presence.loaded(entry)
            self._errand(entry)
        else:
            self.owner.entries[entry.table_id] = entry

    async def read(self, entry: Entry) -> Entry:
        """A table as it is stored, in place of what was held."""
        logs = await self.store.events_of([entry.table_id])
        fresh = entry_of(entry.table_id, logs[entry.table_id], self.codecs, entry.table.rules.name)
        self.settle_in(fresh)
        return fresh

    def beat(self) -> None:
        """Tell every socket its table's version."""
        for entry in self.owner.entries.values():
            if entry.sockets:
                frame = msgspec.json.encode(Heartbeat(version=entry.table.version))
                for socket in entry.sockets:
                    socket.send(frame)

    def free_claim(self, entry: Entry, account_id: str) -> None:
        """An account that claimed this table does not sit here after all."""
        self._spawn(self.store.free_claims(entry.table_id, [account_id]))

    def find(self, table_id: UUID) -> Entry:
        """A table this process holds; refuses with what the caller should do instead."""
        entry = self.owner.entries.get(table_id)
        if entry is not None and entry.stale:
            raise refused(TableReason.UNAVAILABLE)
        if entry is not None:
            return entry
        if shard_of(table_id) not in self.shards:
            raise refused(TableReason.NOT_OWNER)
        raise refused(TableReason.TABLE_UNKNOWN)

    async def end(self) -> None:
        """Planned: everything offered is stored, then the row goes away."""
        await self.writer.drained()
        await self.tenure.end()

    def close_sockets(self) -> None:
        """This life is over: whoever is connected comes back to the next owner."""
        for entry in self.owner.entries.values():
            self.presence.forget(entry)
            for socket in list(entry.sockets):
                socket.close(TableReason.NOT_OWNER, "Another process serves this table now.")

    def _errand(self, entry: Entry) -> None:
        assert self._errands is not None
        self._errands.wallet(entry)
        self._errands.bots(entry)

    def _after(self, entry: Entry, draft: Draft) -> None:
        """What a stored command sets going. A plain card goes the short way."""
        assert self._errands is not None
        self._errands.bots(entry)
        if len(draft.events) == 1 and type(draft.events[0]) is Played:
            return
        self._errands.wallet(entry)
        self.presence.keep_seats(entry)
        freed = [event.account_id for event in draft.events if isinstance(event, events.SeatFreed)]
        if freed:
            self._spawn(self.store.free_claims(entry.table_id, freed))
        if any(isinstance(event, events.RoundBegan) for event in draft.events):
            self._show_out(entry)
        if any(counts(event) for event in draft.events):
            self.outbox.stored()
        if entry.table.phase is Phase.CLOSED:
            self._close(entry)

    def _show_out(self, entry: Entry) -> None:
        """At a private table nobody looks on while a round is played."""
        if entry.table.visibility != "private":
            return
        for socket in list(entry.sockets):
            if socket.seat is None:
                socket.close(TableReason.TABLE_PRIVATE, "This table is private.")

    def _close(self, entry: Entry) -> None:
        self.presence.forget(entry)
        self.owner.drop(entry)
        for socket in list(entry.sockets):
            socket.close(TableReason.TABLE_CLOSED, "This table is closed.")
        self._spawn(self.store.close_table(entry.table_id))

    def _reload(self, entry: Entry) -> None:
        """Somebody else stored a version: what we hold is not the table any more, and answers nobody."""
        log.error("table_reloading", table_id=str(entry.table_id), version=entry.table.version)
        entry.in_flight = entry.stale = True
        self.presence.forget(entry)
        self.owner.wheel.set(entry, None)
        for socket in list(entry.sockets):
            socket.close(TableReason.UNAVAILABLE, "This table is read again.")
        for _, answering in entry.waiting or ():
            if answering is not None:
                answering.refuse(TableReason.UNAVAILABLE, "Try again.", details={}, retry=True)
        entry.waiting = None
        self._spawn(self._read_again(entry))

    async def _read_again(self, entry: Entry) -> None:
        """Until the database answers: a table that is not read is not served."""
        while True:
            try:
                await self.read(entry)
            except AWAY:
                await asyncio.sleep(READ_AGAIN_SECONDS)
            else:
                return

    def _freeze(self, entry: Entry, reason: str, command: Command) -> None:
        """A fault of ours at one table: it stops, everybody there is told, an admin can look."""
        entry.frozen = True
        self.metrics.frozen.inc()
        self.owner.wheel.set(entry, None)
        log.error("table_frozen", table_id=str(entry.table_id), reason=reason)
        for socket in list(entry.sockets):
            socket.close(TableReason.TABLE_FROZEN, "This table has been stopped because of a fault of ours.")
        self._spawn(self.store.freeze(entry.table_id, reason=reason, command=_readable(command)))

    def _spawn(self, errand: Coroutine[Any, Any, None]) -> None:
        assert self._tasks is not None
        self._tasks.create_task(_logged(errand))


async def _logged(errand: Coroutine[Any, Any, None]) -> None:
    """Small writes that loading mends later: a fault is logged and costs nothing else."""
    try:
        await errand
    except AWAY as error:
        log.warning("errand_failed", error=type(error).__name__)


def _accounts(entry: Entry) -> list[str]:
    return [seat.player.account_id for seat in entry.table.seats if seat.player is not None]


def _readable(command: Command) -> str:
    """The command as JSON for an admin; what JSON can't say is written as text."""
    return msgspec.json.encode(command, enc_hook=repr).decode()
