"""How a process comes to own shards, and knows that it still does. Open this about leases and expired processes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from time import monotonic

import structlog

from darbar_table.shards.placement import SHARDS, should_own
from darbar_table.store.store import AWAY, Store
from darbar_table.store.writer import FenceLost

RENEW_SECONDS = 1.0
EXPIRY_SECONDS = 4.0
# Shorter than the expiry, and counted from when the renewal was sent: we fall silent before anybody may expire us.
ANSWERING_SECONDS = 3.0
SURVEY_SECONDS = 1.0

log = structlog.get_logger()


def new_process_id() -> str:
    """Unguessable and fit for a NATS subject."""
    return f"t{secrets.token_hex(6)}"


class Lease:
    """The process row: its existence is the fence. `may_answer` is looked at before anything is said from memory."""

    def __init__(self, store: Store, process_id: str, *, address: str) -> None:
        self._store = store
        self.process_id = process_id
        self._address = address
        self._good_until = 0.0
        self.owners: list[str | None] = [None] * SHARDS

    @property
    def may_answer(self) -> bool:
        return monotonic() < self._good_until

    def owner_of(self, shard: int) -> str | None:
        """Who owned a shard when this process last looked: only a hint, for routing."""
        return self.owners[shard]

    async def begin(self) -> None:
        """Write the process row."""
        sent = monotonic()
        await self._store.register(self.process_id, address=self._address, seconds=EXPIRY_SECONDS)
        self._good_until = sent + ANSWERING_SECONDS

    async def keep(self) -> None:
        """Renew for ever. Raises FenceLost when the row is gone; a database that is away only makes us silent."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            sent = monotonic()
            try:
                alive = await asyncio.wait_for(
                    self._store.renew(self.process_id, seconds=EXPIRY_SECONDS), ANSWERING_SECONDS
                )
            except AWAY as error:
                log.warning("lease_not_renewed", error=type(error).__name__)
                continue
            if not alive:
                raise FenceLost(self.process_id)
            self._good_until = sent + ANSWERING_SECONDS

    async def survey(self, take: Callable[[list[int]], Awaitable[None]]) -> None:
        """Expire processes and reassign shards, for ever; `take` loads the tables of those that are newly ours."""
        while True:
            try:
                await self.reassign(take)
            except AWAY as error:
                log.warning("survey_failed", error=type(error).__name__)
            await asyncio.sleep(SURVEY_SECONDS)

    async def reassign(self, take: Callable[[list[int]], Awaitable[None]]) -> None:
        """Expire what did not renew, and take what has no owner and should be ours."""
        for process_id in await self._store.expire_processes():
            log.info("process_expired", process_id=process_id)
        self.owners = await self._store.shards()
        ownerless = [shard for shard, owner in enumerate(self.owners) if owner is None]
        if not ownerless:
            return
        living = await self._store.processes()
        mine = [shard for shard in ownerless if should_own(shard, living or [self.process_id]) == self.process_id]
        claimed = await self._store.claim_shards(self.process_id, mine) if mine else []
        if claimed:
            log.info("shards_taken", count=len(claimed))
            await take(claimed)
            for shard in claimed:
                self.owners[shard] = self.process_id

    async def end(self) -> None:
        """The row goes away: others may take the shards at once."""
        self._good_until = 0.0
        await self._store.retire(self.process_id)
