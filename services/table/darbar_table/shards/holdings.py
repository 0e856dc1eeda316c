"""Which shards this process owns, and how far it has got with each. Open this when a table belongs to nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from enum import StrEnum


class ShardState(StrEnum):
    """What can be said to those who ask for a table of a shard that we own."""

    LOADING = "loading"  # claimed: try again in a moment
    SERVING = "serving"  # all its tables are known
    LEAVING = "leaving"  # somebody else will have it: try again there


class Holdings:
    """The shards of one node. What the database says we own is loaded, however often that takes."""

    def __init__(self) -> None:
        self._states: dict[int, ShardState] = {}
        self._loading = asyncio.Event()
        self._loaded = asyncio.Event()
        self._known = False

    @property
    def is_complete(self) -> bool:
        """Whether everything that the database calls ours is in memory."""
        return self._known and ShardState.LOADING not in self._states.values()

    async def completed(self) -> None:
        """Waits until it is so."""
        while not self.is_complete:
            self._loaded.clear()
            await self._loaded.wait()

    def state(self, shard: int) -> ShardState | None:
        """None: somebody else owns it, or nobody does."""
        return self._states.get(shard)

    def with_state(self, state: ShardState) -> list[int]:
        """The shards of which this is true, in order."""
        return sorted(shard for shard, known in self._states.items() if known is state)

    def own(self, shards: Iterable[int]) -> None:
        """The database says that these are ours; those not yet known are to be loaded."""
        self._known = True
        new = [shard for shard in shards if shard not in self._states]
        self._states.update(dict.fromkeys(new, ShardState.LOADING))
        if new:
            self._loading.set()
        self._loaded.set()

    async def to_load(self, count_max: int) -> list[int]:
        """Some shards that wait to be loaded; waits until there are any."""
        while not (waiting := self.with_state(ShardState.LOADING)):
            self._loading.clear()
            await self._loading.wait()
        return waiting[:count_max]

    def loaded(self, shards: Iterable[int]) -> None:
        """Everything of these is in memory."""
        for shard in shards:
            if self._states.get(shard) is ShardState.LOADING:
                self._states[shard] = ShardState.SERVING
        self._loaded.set()

    def leave(self) -> None:
        """A planned stop: nothing new is begun."""
        self._states = dict.fromkeys(self._states, ShardState.LEAVING)
