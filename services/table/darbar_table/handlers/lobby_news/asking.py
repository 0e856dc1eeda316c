"""What the lobby tells all table processes, asked for where it may have been missed. Open this when one is out of date.

NATS keeps nothing for whoever does not hear it at that moment: a process that starts, one whose connection was gone,
and all of them when the lobby dies between storing a change and telling it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

import structlog

from darbar_kit.backoff import Backoff
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable

ASK_AGAIN_SECONDS = 10.0
# A whole installation that starts has its lobby a moment later.
PAUSE_SECONDS_MIN = 0.25
PAUSE_SECONDS_MAX = 5.0

log = structlog.get_logger()
_Answer = TypeVar("_Answer")


class LobbyNews(Generic[_Answer]):
    """One thing that the lobby tells. Nobody waits for it; while the lobby is silent what was known last counts."""

    def __init__(
        self, bus: Bus, name: str, *, ask: Callable[[], Awaitable[_Answer]], take: Callable[[_Answer], None]
    ) -> None:
        self._name = name
        self._ask = ask
        self._take = take
        self._changes_told = 0
        self._soon = asyncio.Event()
        bus.on_reconnected(self._soon.set)

    def told(self) -> None:
        """A change has come by itself: an answer that is on its way may be older, and is asked for again."""
        self._changes_told += 1

    async def run(self) -> None:
        """For ever: at once, when the connection has come back, and every ASK_AGAIN_SECONDS."""
        backoff = Backoff(seconds_min=PAUSE_SECONDS_MIN, seconds_max=PAUSE_SECONDS_MAX)
        while True:
            self._soon.clear()
            seconds = ASK_AGAIN_SECONDS
            try:
                await self._look()
            except (Refused, Unavailable) as error:
                if not backoff.failures:
                    log.warning("lobby_news_unknown", news=self._name, reason=error.message)
                seconds = backoff.next_seconds()
            else:
                backoff.reset()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._soon.wait()

    async def _look(self) -> None:
        changes_told = self._changes_told
        answer = await self._ask()
        if changes_told == self._changes_told:
            self._take(answer)
        else:
            self._soon.set()
