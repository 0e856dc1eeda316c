"""How a process comes to own shards: it looks who lives, and takes what nobody owns. Open this about takeovers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from time import monotonic

import structlog

from darbar_contracts.tables import ShardsServed
from darbar_kit.database.lease import EXPIRY_SECONDS
from darbar_kit.errors import Unavailable
from darbar_table.shards.cells import Cells
from darbar_table.shards.placement import SHARDS, should_own
from darbar_table.store.registry import Registry

SURVEY_SECONDS = 1.0

log = structlog.get_logger()


class Survey:
    """Looks again and again; `own` hears each time which shards are this process's, and `tell` tells other cells."""

    def __init__(
        self,
        registry: Registry,
        process_id: str,
        *,
        own: Callable[[Iterable[int]], None],
        cells: Cells,
        tell: Callable[[ShardsServed], Awaitable[None]],
    ) -> None:
        self._registry = registry
        self._process_id = process_id
        self._own = own
        self._cells = cells
        self._tell = tell
        self._soon = asyncio.Event()
        self._looking = asyncio.Lock()
        self._is_leaving = False
        self.owners: list[str | None] = [None] * SHARDS
        self.living: tuple[str, ...] = ()
        self.looked_at = 0.0
        self._has_told = False

    def owner_of(self, shard: int) -> str | None:
        """Who owned a shard when this process last looked, or was last told: only a hint, for routing."""
        return self.seen(shard)[0]

    def seen(self, shard: int) -> tuple[str | None, float]:
        """The same, and when that was."""
        served = self._cells.elsewhere(shard)
        return (self.owners[shard], self.looked_at) if served is None else (served.owner, served.heard_at)

    def look_soon(self) -> None:
        """Somebody says that something has changed."""
        self._soon.set()

    async def run(self) -> None:
        """For ever; a look that fails raises, and whoever runs this begins anew."""
        while True:
            self._soon.clear()
            await self.look()
            await self._tell_others()
            try:
                async with asyncio.timeout(SURVEY_SECONDS):
                    await self._soon.wait()
            except TimeoutError:
                continue

    async def look(self) -> None:
        """Expire who did not renew, and take what has no owner and should be ours."""
        async with self._looking:
            for process_id in await self._registry.expire(self._process_id, seconds=EXPIRY_SECONDS):
                log.info("process_expired", process_id=process_id)
            await self._read()
            ownerless = [shard for shard in sorted(self._cells.here) if self.owners[shard] is None]
            if ownerless and not self._is_leaving:
                await self._take(ownerless)
            self._own([shard for shard, owner in enumerate(self.owners) if owner == self._process_id])

    async def leave(self) -> None:
        """We are about to stop: nobody gives us shards, and we take none."""
        self._is_leaving = True
        await self._registry.begin_leaving(self._process_id)

    async def hand_over(self, shards: Iterable[int], successor: str) -> list[int]:
        """Gives shards to a living process; which of them are not ours any more.

        No look is under way meanwhile: what it has read before could not be believed after. Raises DatabaseAway, and
        nobody knows then whose they are until it is asked again.
        """
        async with self._looking:
            await self._registry.hand_over(self._process_id, shards, successor)
            await self._read()
        return [shard for shard in shards if self.owners[shard] != self._process_id]

    async def _read(self) -> None:
        self.looked_at = monotonic()
        owners = await self._registry.owners()
        self.owners = [owners.get(shard) for shard in range(SHARDS)]
        self.living = tuple(await self._registry.living())
        before = self._cells.contested
        self._cells.look(owners, {*self.living, *filter(None, owners.values()), self._process_id})
        if new := self._cells.contested - before:
            log.error("shards_in_two_databases", count=len(new), first=min(new))

    async def _tell_others(self) -> None:
        """Each process once, so that two databases with the same shards are noticed; then one for its cell."""
        speaks = self._cells.is_split and self.living[:1] == (self._process_id,)
        if self._has_told and not speaks:
            return
        owners: dict[str, list[int]] = {}
        for shard, owner in enumerate(self.owners):
            if owner is not None:
                owners.setdefault(owner, []).append(shard)
        with suppress(Unavailable):  # The next look tells it again.
            await self._tell(ShardsServed(self._process_id, {owner: tuple(owned) for owner, owned in owners.items()}))
            self._has_told = True

    async def _take(self, ownerless: list[int]) -> None:
        living = self.living or (self._process_id,)
        mine = [shard for shard in ownerless if should_own(shard, living) == self._process_id]
        claimed = await self._registry.claim(self._process_id, mine) if mine else []
        if claimed:
            log.info("shards_taken", count=len(claimed))
        for shard in claimed:
            self.owners[shard] = self._process_id
