"""Which wallet process writes. Open this when two do, or none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import asyncpg
import structlog

from darbar_wallet.store.ledger_store import UNREACHABLE, FenceLost

# How often a standby looks whether the writer is gone.
CLAIM_SECONDS = 0.5

_log = structlog.get_logger()


class Lease:
    """The row of the writer. That it exists is the fence; its expiry only says when a standby may remove it."""

    def __init__(
        self,
        pool: asyncpg.Pool[asyncpg.Record],
        queries: Mapping[str, str],
        *,
        writer_id: UUID,
        lease_seconds: float,
        renew_seconds: float,
    ) -> None:
        self._pool = pool
        self._queries = queries
        self._writer_id = writer_id
        self._lease = timedelta(seconds=lease_seconds)
        self._renew_seconds = renew_seconds

    async def claim(self, *, stopping: asyncio.Event, able: Callable[[], bool]) -> bool:
        """Waits as a standby until the row is ours; False when `stopping` came first. Tries only while it is `able`."""
        while not stopping.is_set():
            if able() and await self._claimed():
                _log.info("leading_began", writer_id=str(self._writer_id))
                return True
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), CLAIM_SECONDS)
        return False

    async def keep(self) -> None:
        """Renews for ever. Raises FenceLost when the row is gone; a server out of reach is no reason to give up."""
        while True:
            await asyncio.sleep(self._renew_seconds)
            try:
                renewed = await self._pool.fetchval(self._queries["renew_writer"], self._writer_id, self._lease)
            except UNREACHABLE as error:
                _log.warning("lease_not_renewed", reason=f"{type(error).__name__}: {error}")
                continue
            if renewed is None:
                raise FenceLost

    async def release(self) -> None:
        """Lets a standby begin at once. Without it the standby waits for the expiry, which is no harm."""
        try:
            await self._pool.execute(self._queries["release_writer"], self._writer_id)
        except UNREACHABLE as error:
            _log.warning("lease_not_released", reason=f"{type(error).__name__}: {error}")

    async def _claimed(self) -> bool:
        try:
            await self._pool.execute(self._queries["expire_writer"])
            claimed = await self._pool.fetchval(self._queries["claim_writer"], self._writer_id, self._lease)
        except UNREACHABLE as error:
            _log.warning("lease_not_claimed", reason=f"{type(error).__name__}: {error}")
            return False
        return claimed is not None
