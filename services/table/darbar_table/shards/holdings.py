"""Which shards this process owns, and how far it has got with each. Open this when a table belongs to nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
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
        self._changed = asyncio.Event()
        self._known = False

    @property
    def is_complete(self) -> bool:
        """Whether everything that the database calls ours is in memory."""
        return self._known and ShardState.LOADING not in self._states.values()

    async def completed(self) -> None:
        """Waits until it is so."""
        await self._until(lambda: self.is_complete)

    async def settled(self, shards: Collection[int]) -> None:
        """Waits until each of these is served here, or is another process's."""
        await self._until(lambda: all(self._states.get(shard) in (ShardState.SERVING, None) for shard in shards))

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
        self._changed.set()

    async def to_load(self, count_max: int) -> list[int]:
        """Some shards that wait to be loaded; waits until there are any."""
        await self._until(lambda: ShardState.LOADING in self._states.values())
        return self.with_state(ShardState.LOADING)[:count_max]

    def loaded(self, shards: Iterable[int]) -> None:
        """Everything of these is in memory."""
        self._turn(shards, ShardState.LOADING, ShardState.SERVING)

    def leave(self, shards: Iterable[int]) -> None:
        """Another process is to have these: nothing new is begun."""
        self._turn(shards, ShardState.SERVING, ShardState.LEAVING)

    def stay(self, shards: Iterable[int]) -> None:
        """They were to leave, and do not."""
        self._turn(shards, ShardState.LEAVING, ShardState.SERVING)

    def forget(self, shards: Iterable[int]) -> None:
        """These are another process's."""
        for shard in shards:
            self._states.pop(shard, None)
        self._changed.set()

    def leave_all(self) -> None:
        """The end: nothing new is begun anywhere."""
        self._states = dict.fromkeys(self._states, ShardState.LEAVING)

    def _turn(self, shards: Iterable[int], before: ShardState, after: ShardState) -> None:
        for shard in shards:
            if self._states.get(shard) is before:
                self._states[shard] = after
        self._changed.set()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()
