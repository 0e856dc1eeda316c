"""Shards on their way to another living process: one that has come, or others when this one stops (TL-43).

A few tables at a time: nothing new is begun at them, what is under way is stored, the row names the successor, that one
loads them, and whoever is connected here is sent there. Commands that come meanwhile wait, and are answered there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

import structlog

from darbar_contracts import subjects
from darbar_contracts.tables import ShardsHanded, ShardsTaken
from darbar_kit.backoff import Backoff
from darbar_kit.bus import Bus
from darbar_kit.database import DatabaseAway
from darbar_kit.errors import Refused, Unavailable
from darbar_table.engine.freezer import Freezer
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.owner import Owner
from darbar_table.metrics import Metrics
from darbar_table.shards.holdings import Holdings, ShardState
from darbar_table.shards.pace import Pace
from darbar_table.shards.placement import Placement
from darbar_table.shards.survey import Survey

# Nobody waits longer for a table than a load of so many takes, nor do more players than theirs come at once.
TABLES_AT_ONCE = 10
SHARDS_AT_ONCE = 64
LOOK_SECONDS = 1.0
QUIET_SECONDS_MAX = 5.0
QUIET_POLL_SECONDS = 0.005
# The successor looks every second anyhow: longer than this nobody is kept from asking there.
TAKEN_SECONDS_MAX = 5.0
# What is not handed over at a stop by then goes as after a death, but at once.
LEAVING_SECONDS_MAX = 55.0
AGAIN_SECONDS_MIN = 0.05
AGAIN_SECONDS_MAX = 1.0

log = structlog.get_logger()


class _Group(NamedTuple):
    """Shards that go to one successor together."""

    successor: str
    shards: list[int]


class Handover:
    """One group at a time, also when the process is to stop while shards move to a newcomer."""

    def __init__(
        self,
        process_id: str,
        *,
        bus: Bus,
        metrics: Metrics,
        survey: Survey,
        holdings: Holdings,
        owner: Owner,
        freezer: Freezer,
        known_seconds_min: float,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._process_id = process_id
        self._bus = bus
        self._metrics = metrics
        self._survey = survey
        self._holdings = holdings
        self._owner = owner
        self._freezer = freezer
        self._places = Placement(known_seconds_min=known_seconds_min, clock=clock)
        self._handing = asyncio.Lock()
        self._pace = Pace()

    async def run(self) -> None:
        """For ever: what another process has been the better place for, long enough, goes there."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            while await self._next_gone(self._misplaced, self._pace):
                pass

    async def leave(self, pace: Pace) -> None:
        """Before a planned stop: everything goes to those who stay, as far as there are any and the time allows."""
        began, count = monotonic(), 0
        with suppress(TimeoutError, DatabaseAway):
            async with asyncio.timeout(LEAVING_SECONDS_MAX):
                await self._survey.leave()
                await self._survey.look()
                while gone := await self._next_gone(self._leaving, pace):
                    count += gone
        log.info("shards_left", count=count, seconds=round(monotonic() - began, 3))

    async def _next_gone(self, next_group: Callable[[], _Group | None], pace: Pace) -> int:
        """How many shards have gone together now; 0: there were none, or not all of them have."""
        await pace.wait()
        async with self._handing:
            group = next_group()
            if group is None:
                return 0
            pace.begin(sum(len(live.sockets) for live in self._tables_in(group.shards)))
            return len(group.shards) if await self._hand_over(group) else 0

    def _misplaced(self) -> _Group | None:
        self._places.look(self._survey.living)
        return self._group(self._places.due(self._process_id))

    def _leaving(self) -> _Group | None:
        others = [process_id for process_id in self._survey.living if process_id != self._process_id]
        return self._group(Placement.of(others))

    def _group(self, places: Sequence[str | None]) -> _Group | None:
        """The first shards with one successor; at the most TABLES_AT_ONCE tables, but one shard at least."""
        held: dict[int, int] = {}
        for live in self._owner.live_tables.values():
            held[live.shard] = held.get(live.shard, 0) + (TABLES_AT_ONCE if live.stale else 1)
        group: _Group | None = None
        count = 0
        for shard in self._holdings.with_state(ShardState.SERVING):
            successor = places[shard]
            if (
                successor is None
                or successor == self._process_id
                or (group is not None and successor != group.successor)
            ):
                continue
            count += held.get(shard, 0)
            if group is None:
                group = _Group(successor, [])
            elif count > TABLES_AT_ONCE or len(group.shards) >= SHARDS_AT_ONCE:
                break
            group.shards.append(shard)
        return group

    async def _hand_over(self, group: _Group) -> bool:
        """Whether all of it has gone; what has not is served here as before."""
        self._holdings.leave(group.shards)
        handed: list[int] = []
        began = monotonic()
        try:
            if await self._is_quiet(group.shards):
                handed = await self._given(group)
            if handed:
                await self._taken(group.successor, handed)
        finally:
            self._let_go(group.successor, handed)
            self._go_on([shard for shard in group.shards if shard not in handed])
        self._metrics.shards_handed_over.inc(len(handed))
        seconds = monotonic() - began
        self._metrics.handover_seconds.observe(seconds)
        log.info("shards_handed_over", successor=group.successor, count=len(handed), seconds=round(seconds, 3))
        return len(handed) == len(group.shards)

    async def _is_quiet(self, shards: list[int]) -> bool:
        """Waits until nothing is on its way to the store, nor the first event of a table that is just opened."""
        end = monotonic() + QUIET_SECONDS_MAX
        tables = self._tables_in(shards)
        while any(live.in_flight or live.table_id in self._freezer.unstored for live in tables):
            if monotonic() > end:
                return False
            await asyncio.sleep(QUIET_POLL_SECONDS)
        return True

    async def _given(self, group: _Group) -> list[int]:
        """Until the database says whose they are: before that nobody may answer for them."""
        backoff = Backoff(seconds_min=AGAIN_SECONDS_MIN, seconds_max=AGAIN_SECONDS_MAX)
        while True:
            try:
                return await self._survey.hand_over(group.shards, group.successor)
            except DatabaseAway as away:
                log.warning("handover_delayed", successor=group.successor, reason=away.message)
                await backoff.pause()

    async def _taken(self, successor: str, shards: list[int]) -> None:
        """Waits until the successor serves them. It finds them by itself when it does not hear us."""
        try:
            await self._bus.request(
                subjects.table_take(successor),
                ShardsHanded(tuple(shards)),
                ShardsTaken,
                timeout_seconds=TAKEN_SECONDS_MAX,
            )
        except (Refused, Unavailable) as error:
            log.warning("successor_silent", successor=successor, error=str(error))

    def _let_go(self, successor: str, shards: list[int]) -> None:
        for live in self._tables_in(shards):
            self._owner.drop(live)
            live.move(successor)
        self._holdings.forget(shards)

    def _go_on(self, shards: list[int]) -> None:
        self._holdings.stay(shards)
        for live in self._tables_in(shards):
            self._owner.take_up(live)

    def _tables_in(self, shards: list[int]) -> list[LiveTable]:
        wanted = set(shards)
        known = (*self._owner.live_tables.values(), *self._owner.opening.values())
        return [live for live in known if live.shard in wanted]
