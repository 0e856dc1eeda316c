"""What operators announce to every table (TL-40). Open this when somebody is not told of maintenance."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import msgspec
import structlog

from darbar_contracts import subjects
from darbar_contracts.frames import Announced
from darbar_contracts.lobby import Maintenance, MaintenanceRequest
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable
from darbar_table.engine.node import TableNode

LOBBY_SECONDS_MAX = 2.0
# A change is told at once; this is for a process that starts, and for one that was not told.
LOOK_AGAIN_SECONDS = 10.0
# A whole installation that starts has its lobby a moment later.
SILENT_LOOK_AGAIN_SECONDS = 1.0

log = structlog.get_logger()


class Announcer:
    """What the lobby has said last: no table waits for it, and while the lobby is silent it stays."""

    def __init__(self, *, bus: Bus, node: Callable[[], TableNode]) -> None:
        self._bus = bus
        self._node = node
        self._last = Maintenance(-1, None, draining=False)
        self._changes_told = 0
        self._is_silent = False

    @property
    def text(self) -> str | None:
        return self._last.announcement

    async def run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(SILENT_LOOK_AGAIN_SECONDS if self._is_silent else LOOK_AGAIN_SECONDS)

    async def look(self) -> None:
        """The lobby's answer counts, also one with a smaller number than before (its database may be a restored one),
        unless a change was told meanwhile."""
        changes_told = self._changes_told
        try:
            now = await self._bus.request(
                subjects.LOBBY_MAINTENANCE, MaintenanceRequest(), Maintenance, timeout_seconds=LOBBY_SECONDS_MAX
            )
        except (Refused, Unavailable) as error:
            if not self._is_silent:
                log.warning("maintenance_unknown", reason=error.message)
            self._is_silent = True
        else:
            self._is_silent = False
            if changes_told == self._changes_told:
                self._take(now)

    async def changed(self, change: Maintenance) -> None:
        """The lobby tells every process."""
        self._changes_told += 1
        if change.number > self._last.number:
            self._take(change)

    def _take(self, now: Maintenance) -> None:
        before, self._last = self._last, now
        if now.announcement != before.announcement:
            frame = msgspec.json.encode(Announced(now.announcement))
            with suppress(Unavailable):  # Between two nodes nobody is connected; whoever comes is told in the welcome.
                self._node().tell_everybody(lambda _live: frame)
