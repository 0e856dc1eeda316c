"""Milestones on their way to JetStream: published until acknowledged, then deleted. Open this when the lobby lags."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from uuid import UUID

import nats.errors
import structlog

from darbar_contracts import subjects
from darbar_kit.bus import Bus, Stream, ensure_stream
from darbar_kit.cancelling import stop_if_cancelled
from darbar_table.metrics import Metrics
from darbar_table.store.store import AWAY, Store

PUBLISHED_AT_ONCE = 100
ACKNOWLEDGED_SECONDS_MAX = 5.0
PAUSE_SECONDS = 1.0

MILESTONES = Stream(
    name=subjects.MILESTONE_STREAM,
    subjects=(subjects.MILESTONE_SUBJECTS,),
    seconds_kept=subjects.MILESTONE_SECONDS_KEPT,
    duplicates_seconds=subjects.MILESTONE_DUPLICATES_SECONDS,
)

log = structlog.get_logger()


class Outbox:
    """One task a process; it sleeps until something is stored, and looks again after a fault."""

    def __init__(
        self, store: Store, bus: Bus, *, generation: int, metrics: Metrics, shards: Callable[[], list[int]]
    ) -> None:
        self._store = store
        self._bus = bus
        self._generation = generation
        self._metrics = metrics
        self._shards = shards
        self._stored = asyncio.Event()

    def stored(self) -> None:
        """Something was put into the outbox."""
        self._stored.set()

    async def run(self) -> None:
        """Publish for ever."""
        while True:
            self._stored.clear()
            try:
                await ensure_stream(self._bus.jetstream, MILESTONES)
                while await self._publish_some():
                    pass
            except (*AWAY, nats.errors.Error) as error:
                stop_if_cancelled()
                log.warning("milestones_waiting", error=type(error).__name__)
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            await self._stored.wait()

    async def _publish_some(self) -> bool:
        waiting = await self._store.outbox_of(self._shards())
        for start in range(0, len(waiting), PUBLISHED_AT_ONCE):
            group = waiting[start : start + PUBLISHED_AT_ONCE]
            await asyncio.gather(*(self._publish(*note) for note in group))
            await self._store.outbox_done([(table_id, number) for table_id, number, _ in group])
            self._metrics.milestones.inc(len(group))
        return bool(waiting)

    async def _publish(self, table_id: UUID, number: int, message: str) -> None:
        await self._bus.jetstream.publish(
            subjects.milestone(str(table_id)),
            message.encode(),
            timeout=ACKNOWLEDGED_SECONDS_MAX,
            headers={"Nats-Msg-Id": f"{self._generation}:{table_id}:{number}"},
        )
