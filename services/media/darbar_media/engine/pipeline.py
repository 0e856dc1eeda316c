"""Recordings wait for a process that takes them. Open this about `busy`, or when one takes too long."""

from __future__ import annotations

import asyncio
from time import monotonic

import structlog

from darbar_contracts.refusals import REFUSALS, Reason
from darbar_kit.errors import KitReason, Refused, Unavailable
from darbar_kit.offload import Offload
from darbar_media.engine.work import NoteRefused, NoteSound, limited_work
from darbar_media.metrics import Metrics

# Twenty notes at once wait four seconds for one process; the player waits no longer than that.
WAITING_MAX = 40
SECONDS_MAX = 12.0
# What a decoder has kept of bad files goes with its process.
NOTES_A_PROCESS_MAX = 200
# Idle for five minutes, a process is ended.
WARM_SECONDS = 120.0

log = structlog.get_logger()


class Pipeline:
    """From a recording to a note, beside the loop that serves."""

    def __init__(self, metrics: Metrics, *, processes: int) -> None:
        self._metrics = metrics
        self._offload = Offload(
            running_max=processes, waiting_max=WAITING_MAX, seconds_max=SECONDS_MAX, pieces_max=NOTES_A_PROCESS_MAX
        )

    async def keep_warm(self) -> None:
        """For ever: a process waits, so that nobody's note waits for one to start."""
        while True:
            await self._offload.run(limited_work, b"")
            await asyncio.sleep(WARM_SECONDS)

    async def run(self, recording: bytes) -> NoteSound:
        """Raises Refused with why it is no note, and Unavailable when too many wait."""
        began = monotonic()
        try:
            made = await self._offload.run(limited_work, recording)
        except Unavailable as unavailable:
            if unavailable.code != KitReason.SERVICE_FAILED:
                raise
            # It has ended two processes, one of them fresh.
            log.warning("recording_ended_its_process", bytes=len(recording))
            raise Refused(Reason.NOTE_UNREADABLE, details={"problem": "ended"}) from unavailable
        self._metrics.pipeline_seconds.observe(monotonic() - began)
        if isinstance(made, NoteRefused):
            raise Refused(made.code, REFUSALS[made.code].sentence, made.details, REFUSALS[made.code].status)
        return made
