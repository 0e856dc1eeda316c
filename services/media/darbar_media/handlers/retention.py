"""Deletes what is over (TL-51). Open this when a note is kept too long, or not long enough."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

import structlog

from darbar_media.metrics import Metrics
from darbar_media.store.notes import NoteStore
from darbar_media.store.sounds import Sounds

PAUSE_SECONDS = 10.0
NOTES_AT_ONCE_MAX = 100

log = structlog.get_logger()


class Retention:
    """Sound first, then the row, each as often as it takes: any number of processes may do it at the same time."""

    def __init__(self, notes: NoteStore, sounds: Sounds, metrics: Metrics, *, now: Callable[[], datetime]) -> None:
        self._notes = notes
        self._sounds = sounds
        self._metrics = metrics
        self._now = now

    async def run(self) -> None:
        """For ever."""
        while True:
            while await self.delete_some():
                pass
            await self.count()
            await asyncio.sleep(PAUSE_SECONDS)

    async def delete_some(self) -> int:
        """The notes that are over, at most NOTES_AT_ONCE_MAX of them; how many there were."""
        now = self._now()
        over = await self._notes.over(now, NOTES_AT_ONCE_MAX)
        for note in over:
            await self._sounds.delete(note.note_id)
            if note.forgotten:
                await self._notes.forget(note.note_id, now)
            else:
                await self._notes.silence(note.note_id)
            self._metrics.notes_deleted.inc()
            log.info("note_deleted", note_id=str(note.note_id), forgotten=note.forgotten)
        return len(over)

    async def count(self) -> None:
        """How many reports wait for a moderator."""
        waiting, oldest = await self._notes.reports_waiting()
        self._metrics.reports_waiting.set(waiting)
        seconds = 0.0 if oldest is None else (self._now() - oldest).total_seconds()
        self._metrics.reports_oldest_seconds.set(seconds)
