"""Tells a table what becomes of a recording. Open this when a table does not hear of one."""

from __future__ import annotations

import asyncio

from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import TABLE_WHERE, table_note
from darbar_contracts.tables import WhereAnswer, WhereRequest
from darbar_contracts.voice import NoteStep, NoteStepTaken
from darbar_kit.backoff import Backoff
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable

ASK_SECONDS_MAX = 1.0
PAUSE_SECONDS_MIN = 0.05
PAUSE_SECONDS_MAX = 0.5
# These say nothing about the recording: another process, or the same one in a moment, may take it.
_ASK_AGAIN = frozenset((Reason.NOT_OWNER, Reason.BUSY, Reason.UNAVAILABLE))


class TableClient:
    """Asks the table's owner, whoever that is by then."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def tell(self, step: NoteStep, *, seconds_max: float) -> NoteStepTaken:
        """Raises Refused with the table's reason, or Unavailable when no owner has answered in time."""
        backoff = Backoff(seconds_min=PAUSE_SECONDS_MIN, seconds_max=PAUSE_SECONDS_MAX)
        clock = asyncio.get_running_loop().time
        end = clock() + seconds_max
        while True:
            try:
                return await self._tell(step)
            except Refused as refused:
                if refused.code not in _ASK_AGAIN or clock() >= end:
                    raise
            except Unavailable:
                if clock() >= end:
                    raise
            await backoff.pause()

    async def _tell(self, step: NoteStep) -> NoteStepTaken:
        request = WhereRequest(step.ticket.table_id)
        where = await self._bus.request(TABLE_WHERE, request, WhereAnswer, timeout_seconds=ASK_SECONDS_MAX)
        if where.process_id is None:
            raise Unavailable(Reason.TABLES_UNAVAILABLE)
        subject = table_note(where.process_id)
        return await self._bus.request(subject, step, NoteStepTaken, timeout_seconds=ASK_SECONDS_MAX)
