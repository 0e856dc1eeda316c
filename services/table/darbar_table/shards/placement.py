"""Which shard a table lies in, and which process should own a shard. Open this when tables are unevenly spread."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from uuid import UUID

from darbar_contracts import tables

SHARDS = tables.SHARDS


def shard_of(table_id: UUID) -> int:
    """The shard of a table, for ever."""
    return tables.shard_of(table_id, SHARDS)


def should_own(shard: int, process_ids: Sequence[str]) -> str:
    """Rendezvous hashing: the process with the highest hash for this shard; few shards move when one comes or goes."""
    return max(process_ids, key=lambda process_id: hashlib.sha256(f"{shard}/{process_id}".encode()).digest())


class Placement:
    """Which process each shard should be with, and for how long it has been so.

    A place has to be known for `known_seconds_min` before anything moves there: a process that comes and goes at once
    moves nothing.
    """

    def __init__(self, *, known_seconds_min: float, clock: Callable[[], float]) -> None:
        self._known_seconds_min = known_seconds_min
        self._clock = clock
        self._living: tuple[str, ...] = ()
        self._places: list[str | None] = [None] * SHARDS
        self._since = [0.0] * SHARDS

    @staticmethod
    def of(process_ids: Sequence[str]) -> list[str | None]:
        """By shard; None for all of them where there is nobody."""
        return [should_own(shard, process_ids) if process_ids else None for shard in range(SHARDS)]

    def look(self, living: tuple[str, ...]) -> None:
        """These live now."""
        if living == self._living:
            return
        places, now = self.of(living), self._clock()
        self._since = [
            since if place == before else now
            for place, before, since in zip(places, self._places, self._since, strict=True)
        ]
        self._living, self._places = living, places

    def due(self, process_id: str) -> list[str | None]:
        """By shard: another process that has been its place for long enough."""
        known = self._clock() - self._known_seconds_min
        return [
            place if place != process_id and since <= known else None
            for place, since in zip(self._places, self._since, strict=True)
        ]
