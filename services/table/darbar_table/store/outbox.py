"""Milestones on their way to JetStream: published until acknowledged, then deleted. Open this when the lobby lags."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from time import monotonic
from uuid import UUID

import nats.errors
import structlog

from darbar_contracts import subjects
from darbar_kit.backoff import Backoff
from darbar_kit.bus import Bus, Stream, ensure_stream
from darbar_kit.cancelling import stop_if_cancelled
from darbar_kit.database import DatabaseAway
from darbar_table.metrics import Metrics
from darbar_table.store.store import Store
from darbar_table.store.writer import Writer

PUBLISHED_AT_ONCE = 100
ACKNOWLEDGED_SECONDS_MAX = 5.0
AGAIN_SECONDS_MIN = 0.1
AGAIN_SECONDS_MAX = 2.0
# Published ones are deleted by the next append that has more to say than moves; when none comes, after this.
DELETED_SECONDS_MAX = 1.0

MILESTONES = Stream(
    name=subjects.MILESTONE_STREAM,
    subjects=(subjects.MILESTONE_SUBJECTS,),
    seconds_kept=subjects.MILESTONE_SECONDS_KEPT,
    duplicates_seconds=subjects.MILESTONE_DUPLICATES_SECONDS,
)

log = structlog.get_logger()

Note = tuple[UUID, int, str]


class Outbox:
    """One task a node. What is stored now is published out of memory; after a fault, and for tables that were
    another process's, the rows are read."""

    def __init__(
        self,
        store: Store,
        bus: Bus,
        *,
        writer: Writer,
        generation: int,
        metrics: Metrics,
        shards: Callable[[], list[int]],
    ) -> None:
        self._store = store
        self._bus = bus
        self._writer = writer
        self._generation = generation
        self._metrics = metrics
        self._shards = shards
        self._notes: list[Note] = []
        self._rows_wait = False
        self._stream_known = False
        self._waiting_since: float | None = None
        self._work = asyncio.Event()

    @property
    def oldest_seconds(self) -> float:
        """How long there has been something to publish."""
        return 0.0 if self._waiting_since is None else monotonic() - self._waiting_since

    def put(self, table_id: UUID, milestones: Iterable[tuple[int, str]]) -> None:
        """These (number, message) have just been stored."""
        if not self._rows_wait:
            self._notes.extend((table_id, number, message) for number, message in milestones)
        self._begin()

    def look(self) -> None:
        """There may be rows that nobody has told us of."""
        self._rows_wait = True
        self._begin()

    async def run(self) -> None:
        """Publish for ever. Whoever begins anew does not know what came through before."""
        self._notes, self._rows_wait = [], True
        backoff = Backoff(seconds_min=AGAIN_SECONDS_MIN, seconds_max=AGAIN_SECONDS_MAX)
        while True:
            try:
                await self._publish_all()
                backoff.reset()
                await self._until_work()
            except (DatabaseAway, TimeoutError, nats.errors.Error) as error:
                stop_if_cancelled()
                log.warning("milestones_waiting", error=type(error).__name__, seconds=round(self.oldest_seconds))
                # Which of them came through is not known; the rows of all are still there.
                self._notes, self._rows_wait, self._stream_known = [], True, False
                await backoff.pause()

    def _begin(self) -> None:
        if self._waiting_since is None:
            self._waiting_since = monotonic()
        self._work.set()

    async def _publish_all(self) -> None:
        while self._rows_wait or self._notes:
            if not self._stream_known:
                await self._ensure_stream()
            if self._rows_wait:
                await self._publish_rows()
            else:
                notes, self._notes = self._notes[:PUBLISHED_AT_ONCE], self._notes[PUBLISHED_AT_ONCE:]
                await self._publish(notes)
                self._writer.forget([(table_id, number) for table_id, number, _ in notes])
        self._waiting_since = None

    async def _publish_rows(self) -> None:
        # Before the look: what is put from now on stays in memory, and may be sent twice.
        self._rows_wait = False
        rows = await self._store.outbox_of(self._shards())
        for start in range(0, len(rows), PUBLISHED_AT_ONCE):
            notes = rows[start : start + PUBLISHED_AT_ONCE]
            await self._publish(notes)
            await self._store.outbox_done([(table_id, number) for table_id, number, _ in notes])
        self._rows_wait = self._rows_wait or bool(rows)

    async def _publish(self, notes: Sequence[Note]) -> None:
        await asyncio.gather(*(self._publish_one(*note) for note in notes))
        self._metrics.milestones.inc(len(notes))

    async def _publish_one(self, table_id: UUID, number: int, message: str) -> None:
        try:
            await self._bus.jetstream.publish(
                subjects.milestone(str(table_id)),
                message.encode(),
                timeout=ACKNOWLEDGED_SECONDS_MAX,
                headers={"Nats-Msg-Id": f"{self._generation}:{table_id}:{number}"},
            )
        except nats.errors.MaxPayloadError:
            # It would keep the milestones of every table back for ever. Whoever hears the next one of this table misses
            # this one, and asks for it.
            log.error("milestone_too_long", table_id=str(table_id), number=number, characters=len(message))

    async def _ensure_stream(self) -> None:
        await ensure_stream(self._bus.jetstream, MILESTONES)
        self._stream_known = True

    async def _until_work(self) -> None:
        while not self._work.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(DELETED_SECONDS_MAX):
                    await self._work.wait()
            published = self._writer.take_published()
            if published:
                await self._store.outbox_done(published)
        self._work.clear()
