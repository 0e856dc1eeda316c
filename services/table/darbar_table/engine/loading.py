"""From stored events to tables in memory. Open this when a restart is slow or a table does not come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import structlog

from darbar_kit.backoff import Backoff
from darbar_rules.games import BY_NAME
from darbar_table.domain import timers
from darbar_table.domain.events import Played, SeatsSwapped, TableCreated, TableEvent
from darbar_table.domain.evolve import evolve, evolve_played
from darbar_table.domain.state import Phase, unopened
from darbar_table.domain.timers import Timer
from darbar_table.engine.freezer import Freezer
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.snapshots import Snapshot, Snapshots
from darbar_table.metrics import Metrics
from darbar_table.settings import Settings
from darbar_table.shards.holdings import Holdings
from darbar_table.shards.placement import shard_of
from darbar_table.store.codec import Codecs, LogBroken
from darbar_table.store.registry import Outage, Registry
from darbar_table.store.replay import decode
from darbar_table.store.store import OpenTable, Store, StoredEvent

SHARDS_LOADED_AT_ONCE = 64
AGAIN_SECONDS_MIN = 0.1
AGAIN_SECONDS_MAX = 2.0

log = structlog.get_logger()


class Loaded(NamedTuple):
    """A table as it is stored, and when each of its clocks began."""

    live: LiveTable
    began: dict[Timer, datetime]


class Loader:
    """Loads what the holdings say is ours and not yet here, however often that takes.

    `hold` takes a loaded table into memory; a table that is held already is left as it is. `served` is called when
    more shards are: also those without an open table may have milestones that wait.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        store: Store,
        registry: Registry,
        codecs: Codecs,
        holdings: Holdings,
        freezer: Freezer,
        metrics: Metrics,
        snapshots: Snapshots,
        held: Mapping[UUID, LiveTable],
        hold: Callable[[Loaded, Iterable[Outage]], None],
        served: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._store = store
        self._registry = registry
        self._codecs = codecs
        self._holdings = holdings
        self._freezer = freezer
        self._metrics = metrics
        self._snapshots = snapshots
        self._held = held
        self._hold = hold
        self._served = served

    async def run(self) -> None:
        """For ever. What fails is counted and tried again; other shards wait no longer than the pause."""
        backoff = Backoff(seconds_min=AGAIN_SECONDS_MIN, seconds_max=AGAIN_SECONDS_MAX)
        while True:
            shards = await self._holdings.to_load(SHARDS_LOADED_AT_ONCE)
            try:
                await self._load(shards)
            except Exception as error:
                self._metrics.load_failures.inc()
                log.exception("shards_not_loaded", shards=len(shards), error=type(error).__name__)
                await backoff.pause()
            else:
                backoff.reset()
                self._holdings.loaded(shards)
                self._served()

    async def _load(self, shards: Sequence[int]) -> None:
        outages = await self._registry.outages(shards)
        tables = [table for table in await self._store.open_tables(shards) if table.table_id not in self._held]
        frozen = await self._store.frozen([table.table_id for table in tables])
        found: list[LiveTable] = []
        async for loaded in self.loaded(tables):
            loaded.live.frozen = loaded.live.table_id in frozen
            found.append(loaded.live)
            if loaded.live.table.phase is Phase.CLOSED:
                await self._store.close_table(loaded.live.table_id)
            else:
                self._hold(loaded, outages.get(loaded.live.shard, ()))
        await self._store.mend_claims(
            [live.table_id for live in found],
            [
                (account_id, live.table_id)
                for live in found
                for account_id in live.table.accounts
                if account_id is not None
            ],
        )
        await self._registry.end_outages(shards)

    async def loaded(self, tables: Sequence[OpenTable]) -> AsyncIterator[Loaded]:
        """Each of these tables that has a log; one whose log can't be taken is frozen alone."""
        known = [table for table in tables if table.game in BY_NAME]
        snapshots = await self._snapshots.find({table.table_id: BY_NAME[table.game] for table in known})
        after = {table_id: snapshot.table.version for table_id, snapshot in snapshots.items()}
        async for table, rows in self._store.logs(tables, after):
            snapshot = snapshots.get(table.table_id)
            if not rows and snapshot is None:
                continue
            try:
                loaded = replayed(table, rows, self._codecs, self._settings, snapshot=snapshot)
            except Exception as error:  # noqa: BLE001  # One log that can't be taken must not keep the others away.
                self._freezer.freeze_unread(table.table_id, error)
            else:
                yield loaded
            # A long list must not keep the tables waiting that are played at.
            await asyncio.sleep(0)


def replayed(
    table: OpenTable,
    rows: Sequence[StoredEvent],
    codecs: Codecs,
    settings: Settings,
    *,
    snapshot: Snapshot | None = None,
) -> Loaded:
    """A table as its owner holds it, with the ids of commands that may come again, and when its clocks began.

    `rows` are those after the snapshot, or all.
    """
    rules, codec = codecs.of(table.game)
    state = unopened(str(table.table_id), rules) if snapshot is None else snapshot.table
    live = LiveTable(table.table_id, shard=shard_of(table.table_id), codec=codec, table=state, chain=b"")
    if snapshot is not None:
        live.chain, live.ids, live.began, live.moved_at = snapshot[1:]
    events = list(decode(rows, codec, after=state.version))
    if events and state.version == 0 and not isinstance(events[0], TableCreated):
        raise LogBroken("a log begins with table_created")
    _catch_up(live, rows, events, settings)
    live.round_start.pack()
    return Loaded(live, {timer: live.began.get(timer, live.moved_at) for timer in timers.due(live.table, settings)})


def _catch_up(live: LiveTable, rows: Sequence[StoredEvent], events: Sequence[TableEvent], settings: Settings) -> None:
    """A table and what its owner remembers beside it, after these rows and what they say."""
    run: list[Played[Any]] = []
    unremembered: list[TableEvent] = []  # Ids are hashed when people change seats, and at the end: many are forgotten.
    for row, event in zip(rows, events, strict=True):
        if type(event) is Played:
            live.moved_at = row.at
            run.append(event)
            continue
        before = evolve_played(live.table, run)
        live.table = after = evolve(before, event)
        unremembered += run
        run = []
        live.remember_round(event, before)
        live.remember_times(event, row.at, after, settings)
        if type(event) is SeatsSwapped or (after.seats is not before.seats and after.accounts != before.accounts):
            live.remember_ids(unremembered, before)
            live.remember_id(event, before, after)
            unremembered = []
        else:
            unremembered.append(event)
    live.table = evolve_played(live.table, run)
    live.remember_ids([*unremembered, *run], live.table)
    if rows:
        live.chain = rows[-1].chain
