"""Being the one wallet process that writes, or waiting to be. Open this when no wallet answers though one runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from uuid import UUID, uuid4

import asyncpg
import structlog

from darbar_kit.bus import Bus
from darbar_wallet.domain.decide import GrantTerms
from darbar_wallet.engine.lease import Lease
from darbar_wallet.engine.writer import Writer
from darbar_wallet.metrics import Metrics
from darbar_wallet.settings import Settings
from darbar_wallet.store.ledger_reader import LedgerReader
from darbar_wallet.store.ledger_store import FenceLost, LedgerStore

# After a fault of ours, so that it doesn't fill the log.
PAUSE_SECONDS = 1.0
# What is being written when the service stops gets this long; it is asked again elsewhere after that.
DRAIN_SECONDS_MAX = 5.0

_log = structlog.get_logger()


class Leader:
    """Claims the lease, writes while it has it, and begins afresh under a new id when it was lost.

    `serving` answers the bus with a writer as long as it is entered.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        pool: asyncpg.Pool[asyncpg.Record],
        queries: Mapping[str, str],
        bus: Bus,
        reader: LedgerReader,
        metrics: Metrics,
        serving: Callable[[Writer], AbstractAsyncContextManager[None]],
    ) -> None:
        self._settings = settings
        self._pool = pool
        self._queries = queries
        self._bus = bus
        self._reader = reader
        self._metrics = metrics
        self._serving = serving
        self._stopping = asyncio.Event()
        self._writer_id: UUID | None = None
        self._listens = False

    async def run(self) -> None:
        """Until stop() was called."""
        while not self._stopping.is_set():
            try:
                await self._lead_once()
            except* FenceLost as lost:
                _log.warning("leadership_lost", reason=str(lost.exceptions[0]) or "declared dead")
            except* Exception:  # noqa: BLE001  # The outermost loop of this task: the wallet must come back.
                _log.exception("leading_failed")
                await self._pause()

    def stop(self) -> None:
        """What is being written is finished, and the row given back."""
        self._stopping.set()

    async def has_leader(self) -> bool:
        """Whether some wallet writes and can be reached by others. Raises Unavailable without a database."""
        living = await self._reader.living_writer()
        return living is not None and (self._listens or living != self._writer_id)

    async def _lead_once(self) -> None:
        self._writer_id = writer_id = uuid4()
        lease = self._lease(writer_id)
        if not await lease.claim(stopping=self._stopping, able=lambda: self._bus.connected):
            return
        try:
            await self._write(lease, self._writer(writer_id))
        finally:
            self._set_listens(False)
            await lease.release()

    async def _write(self, lease: Lease, writer: Writer) -> None:
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(each) for each in (lease.keep(), writer.run(), self._watch_bus())]
            async with self._serving(writer):
                self._set_listens(True)
                await self._stopping.wait()
            with suppress(TimeoutError):
                await asyncio.wait_for(writer.drain(), DRAIN_SECONDS_MAX)
            for task in running:
                task.cancel()

    async def _watch_bus(self) -> None:
        """A writer that nobody can reach leaves the lease to one that can be. Raises FenceLost."""
        while True:
            await asyncio.sleep(self._settings.lease_seconds)
            if not self._bus.connected:
                await asyncio.sleep(self._settings.lease_seconds)
                if not self._bus.connected:
                    raise FenceLost("no connection to NATS")

    def _set_listens(self, listens: bool) -> None:
        self._listens = listens
        self._metrics.leader.set(int(listens))

    def _lease(self, writer_id: UUID) -> Lease:
        return Lease(
            self._pool,
            self._queries,
            writer_id=writer_id,
            lease_seconds=self._settings.lease_seconds,
            renew_seconds=self._settings.renew_seconds,
        )

    def _writer(self, writer_id: UUID) -> Writer:
        store = LedgerStore(self._pool, self._queries, writer_id=writer_id, generation=self._settings.generation)
        terms = GrantTerms(
            new_account_coins=self._settings.new_account_coins,
            top_up_to_coins=self._settings.top_up_to_coins,
            top_up_below_coins=self._settings.top_up_below_coins,
        )
        return Writer(store, terms=terms, metrics=self._metrics)

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), PAUSE_SECONDS)
