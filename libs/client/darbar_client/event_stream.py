"""The events of a table for whoever reads them. Open this when an event is missing or comes late."""

from __future__ import annotations

import asyncio
from collections import deque

from darbar_client.errors import DarbarError, EventsMissed
from darbar_contracts.frames import EventFrame, Snapshot
from darbar_contracts.refusals import Reason

# A reader who is further behind is told, and loses the oldest.
EVENTS_UNREAD_MAX = 1000


class EventStream:
    """What came and was not read yet, for one reader. A snapshot stands for events that were never received."""

    def __init__(self, unread_max: int = EVENTS_UNREAD_MAX) -> None:
        self._unread: deque[EventFrame | Snapshot] = deque(maxlen=unread_max)
        self._unread_max = unread_max
        self._missed = 0
        self._ended = False
        self._failure: DarbarError | None = None
        self._some = asyncio.Event()

    def put(self, frame: EventFrame | Snapshot) -> None:
        if len(self._unread) == self._unread_max:
            self._missed += 1
        self._unread.append(frame)
        self._some.set()

    def end(self, failure: DarbarError | None) -> None:
        """Nothing more will come: the reader gets what is there, then the end or the failure."""
        self._ended = True
        self._failure = failure
        self._some.set()

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> EventFrame | Snapshot:
        while not self._unread and not self._ended:
            self._some.clear()
            await self._some.wait()
        if self._missed:
            missed, self._missed = self._missed, 0
            raise EventsMissed(Reason.EVENTS_MISSED, "the reader was too slow", {"count": missed})
        if self._unread:
            return self._unread.popleft()
        if self._failure is not None:
            raise self._failure
        raise StopAsyncIteration
