"""Group commit: what waits while one batch commits is the next batch. Open this when writes are slow or lost."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Generic, Protocol, TypeVar

import structlog

from darbar_kit.backoff import Backoff
from darbar_kit.database.away import DatabaseAway
from darbar_kit.database.lease import FenceLost

PAUSE_SECONDS_MIN = 0.01
PAUSE_SECONDS_MAX = 1.0
# Nobody notices a shorter outage, and readiness does not speak of it.
STUCK_SECONDS = 2.0

_Item = TypeVar("_Item")
_log = structlog.get_logger()


class Storage(Protocol[_Item]):
    """How a service stores its batches. Whoever waits for an item is answered here, and nowhere else."""

    async def store(self, batch: Sequence[_Item]) -> None:
        """Stores all or none, and answers all. Raises FenceLost, or DatabaseAway and nobody has been answered.

        Any other error says that something in the batch is impossible: its halves are tried by themselves.
        """

    async def unstored(self, batch: Sequence[_Item]) -> Sequence[_Item]:
        """After an unknown outcome: waits until it can be known, answers what is stored, returns the rest.

        Raises FenceLost or DatabaseAway. A storage that recognises what it has stored before may return everything.
        """

    def refuse(self, item: _Item, error: Exception) -> None:
        """Answers an item that can't be stored even by itself."""

    def give_up(self, item: _Item) -> None:
        """Answers an item whose time is over while the database was away: it may be stored or not."""


class _Group(Generic[_Item]):
    """A part of a batch. `is_unknown`: it was sent before, and may be stored."""

    def __init__(self, items: Sequence[_Item], *, is_unknown: bool) -> None:
        self.items = items
        self.is_unknown = is_unknown


class GroupCommit(Generic[_Item]):
    """The queue before the writers of one process. Each `run` has one batch in flight and starts the next at once.

    `waiting_max`: more than that is not taken. `batch_seconds_max`: a batch that can't be stored for so long is given
    up (None: never).
    """

    def __init__(self, *, batch_max: int, waiting_max: int, batch_seconds_max: float | None = None) -> None:
        self._batch_max = batch_max
        self._waiting_max = waiting_max
        self._batch_seconds_max = batch_seconds_max
        self._waiting: deque[_Item] = deque()
        self._in_flight: dict[int, list[_Item]] = {}  # by the identity of the batch
        self._free: list[tuple[int, asyncio.Event]] = []  # writers, and for how many waiting items each is woken
        self._idle = asyncio.Event()
        self._idle.set()
        self._failing_since: float | None = None

    @property
    def waiting(self) -> int:
        """How many items are in no batch yet."""
        return len(self._waiting)

    @property
    def is_stuck(self) -> bool:
        """Whether something waits, and the database has stored nothing for STUCK_SECONDS: it is away, or full."""
        since = self._failing_since
        return since is not None and not self._idle.is_set() and time.monotonic() - since >= STUCK_SECONDS

    def offer(self, item: _Item) -> bool:
        """Stored as soon as a writer is free. False: too many wait, and nothing was taken."""
        if len(self._waiting) >= self._waiting_max:
            return False
        self._waiting.append(item)
        self._idle.clear()
        for waiting_min, some_wait in self._free:
            if len(self._waiting) >= waiting_min:
                some_wait.set()
        return True

    async def run(self, storage: Storage[_Item], *, waiting_min: int = 1) -> None:
        """One writer; ends only when it is cancelled, or with FenceLost. Its batch is then among `abandoned`.

        `waiting_min` is for a second one: it helps only when the first has more to do than it gets done.
        """
        while True:
            if len(self._waiting) < waiting_min:
                await self._enough(waiting_min)
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._batch_max))]
            self._in_flight[id(batch)] = batch
            await self._store(storage, batch)
            del self._in_flight[id(batch)]
            if not self._waiting and not self._in_flight:
                self._idle.set()
                self._failing_since = None

    async def _enough(self, waiting_min: int) -> None:
        """Until so many wait: the writer is free meanwhile."""
        some_wait = asyncio.Event()
        free = (waiting_min, some_wait)
        self._free.append(free)
        try:
            while len(self._waiting) < waiting_min:
                some_wait.clear()
                await some_wait.wait()
        finally:
            self._free.remove(free)

    async def drained(self, seconds_max: float) -> bool:
        """Whether everything that was offered has its answer, at the latest after `seconds_max`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds_max):
                await self._idle.wait()
        return self._idle.is_set()

    def abandoned(self) -> list[_Item]:
        """Takes what nobody stores any more, after every `run` has ended; those in flight may be stored or not."""
        left = [*chain.from_iterable(self._in_flight.values()), *self._waiting]
        self._in_flight.clear()
        self._waiting.clear()
        self._idle.set()
        return left

    async def _store(self, storage: Storage[_Item], batch: Sequence[_Item]) -> None:
        """Ends when every item of the batch has its answer."""
        end = None if self._batch_seconds_max is None else time.monotonic() + self._batch_seconds_max
        groups = deque([_Group(batch, is_unknown=False)])
        backoff: Backoff | None = None
        while groups:
            group = groups.popleft()
            try:
                await _attempt(storage, group)
                backoff = self._failing_since = None
            except FenceLost:
                raise
            except DatabaseAway as away:
                group.is_unknown = group.is_unknown or away.maybe_done
                groups.appendleft(group)
                self._failing_since = self._failing_since or time.monotonic()
                _log.warning("batch_delayed", items=len(group.items), maybe_done=away.maybe_done, reason=away.message)
                if end is not None and time.monotonic() > end:
                    _give_up(storage, groups)
                    return
                backoff = backoff or Backoff(seconds_min=PAUSE_SECONDS_MIN, seconds_max=PAUSE_SECONDS_MAX)
                await backoff.pause()
            except Exception as error:  # noqa: BLE001  # One impossible item must not hurt its batch.
                groups.extendleft(reversed(_halves(storage, group, error)))


async def _attempt(storage: Storage[_Item], group: _Group[_Item]) -> None:
    if group.is_unknown:
        group.items = await storage.unstored(group.items)
        group.is_unknown = False
    if group.items:
        await storage.store(group.items)


def _halves(storage: Storage[_Item], group: _Group[_Item], error: Exception) -> list[_Group[_Item]]:
    """Finds the impossible item in a few steps."""
    if len(group.items) == 1:
        storage.refuse(group.items[0], error)
        return []
    _log.warning("batch_split", items=len(group.items), error=type(error).__name__)
    middle = len(group.items) // 2
    return [_Group(part, is_unknown=group.is_unknown) for part in (group.items[:middle], group.items[middle:])]


def _give_up(storage: Storage[_Item], groups: Iterable[_Group[_Item]]) -> None:
    for group in groups:
        for item in group.items:
            storage.give_up(item)
