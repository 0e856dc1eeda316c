"""Being the one wallet process that writes, or waiting to be. Open this when no wallet answers though one runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from uuid import UUID, uuid4

import structlog

from darbar_contracts.refusals import Reason
from darbar_kit.bus import Bus
from darbar_kit.database import Database, FenceLost, Lease, LeaseQueries
from darbar_kit.errors import Unavailable
from darbar_wallet.domain.decide import GrantTerms
from darbar_wallet.engine.writer import Writer
from darbar_wallet.metrics import Metrics
from darbar_wallet.settings import Settings
from darbar_wallet.store.ledger_store import LedgerStore

# How often a standby looks whether the writer is gone.
CLAIM_SECONDS = 0.5
# What is being written when the service stops gets this long; it is asked again elsewhere after that.
DRAIN_SECONDS_MAX = 5.0
STOP_SECONDS_MAX = DRAIN_SECONDS_MAX + 3.0

_log = structlog.get_logger()


class Leader:
    """Claims the lease, writes while it has it, and begins afresh under a new id when it was lost.

    `serving` answers the bus with a writer as long as it is entered.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        database: Database,
        queries: Mapping[str, str],
        bus: Bus,
        metrics: Metrics,
        serving: Callable[[Writer], AbstractAsyncContextManager[None]],
    ) -> None:
        self._settings = settings
        self._database = database
        self._queries = queries
        self._bus = bus
        self._metrics = metrics
        self._serving = serving
        self._stopping = asyncio.Event()
        self._stopped = asyncio.Event()
        self._writer_id: UUID | None = None
        self._listens = False
        self._leading: Writer | None = None

    @property
    def is_stuck(self) -> bool:
        """Whether requests wait here whose answers the database doesn't store."""
        return self._leading is not None and self._leading.is_stuck

    async def run(self) -> None:
        """For ever: a standby or the writer, and nothing any more after stop(). Raises what ends neither."""
        while not self._stopping.is_set():
            try:
                await self._lead_once()
            except* FenceLost:
                _log.warning("leadership_lost")
        self._stopped.set()
        await asyncio.get_running_loop().create_future()

    async def stop(self) -> None:
        """What is being written is finished, and the lease given back, so that a standby need not wait for it."""
        self._stopping.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS_MAX):
                await self._stopped.wait()

    async def has_leader(self) -> bool:
        """Whether some wallet writes and can be reached by others. Raises DatabaseAway."""
        row = await self._database.read_row(self._queries["living_writer"])
        return row is not None and (self._listens or row["writer_id"] != self._writer_id)

    async def _lead_once(self) -> None:
        self._writer_id = writer_id = uuid4()
        lease = self._lease(writer_id)
        try:
            if await self._claimed(lease):
                _log.info("leading_began", writer_id=str(writer_id))
                self._leading = writer = self._writer(writer_id)
                await self._lead(lease, writer)
        finally:
            self._leading = None
            self._set_listens(False)
            await lease.release()

    async def _claimed(self, lease: Lease) -> bool:
        """Waits as a standby until the lease is ours; False when we are to stop. Who has no NATS waits too."""
        while not self._stopping.is_set():
            if self._bus.connected and await lease.claim():
                return True
            with suppress(TimeoutError):
                async with asyncio.timeout(CLAIM_SECONDS):
                    await self._stopping.wait()
        return False

    async def _lead(self, lease: Lease, writer: Writer) -> None:
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(each) for each in (lease.keep(), writer.run(), self._watch_bus())]
            async with self._serving(writer):
                self._set_listens(True)
                await self._stopping.wait()
            await writer.drained(DRAIN_SECONDS_MAX)
            for task in running:
                task.cancel()

    async def _watch_bus(self) -> None:
        """A writer that nobody can reach leaves the lease to one that can be. Raises Unavailable."""
        while True:
            await asyncio.sleep(self._settings.lease_seconds)
            if not self._bus.connected:
                await asyncio.sleep(self._settings.lease_seconds)
                if not self._bus.connected:
                    raise Unavailable(Reason.BUS_UNREACHABLE)

    def _set_listens(self, listens: bool) -> None:
        self._listens = listens
        self._metrics.leader.set(int(listens))

    def _lease(self, writer_id: UUID) -> Lease:
        queries = LeaseQueries(
            expire=self._queries["expire_writer"],
            claim=self._queries["claim_writer"],
            renew=self._queries["renew_writer"],
            release=self._queries["release_writer"],
        )
        settings = self._settings
        return Lease(settings.database_url, queries, holder_id=writer_id, seconds=settings.lease)

    def _writer(self, writer_id: UUID) -> Writer:
        settings = self._settings
        store = LedgerStore(settings.database_url, self._queries, writer_id=writer_id, generation=settings.generation)
        terms = GrantTerms(
            new_account_coins=settings.new_account_coins,
            top_up_to_coins=settings.top_up_to_coins,
            top_up_below_coins=settings.top_up_below_coins,
        )
        return Writer(store, terms=terms, metrics=self._metrics)
