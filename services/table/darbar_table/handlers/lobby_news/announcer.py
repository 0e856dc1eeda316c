"""What operators announce to every table (TL-40). Open this when somebody is not told of maintenance."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import msgspec

from darbar_contracts import subjects
from darbar_contracts.frames import Announced
from darbar_contracts.lobby import Maintenance, MaintenanceRequest
from darbar_kit.bus import Bus
from darbar_kit.errors import Unavailable
from darbar_table.engine.node import TableNode
from darbar_table.handlers.lobby_news.asking import LobbyNews

LOBBY_SECONDS_MAX = 2.0


class Announcer:
    """What the lobby has said last: no table waits for it, and while the lobby is silent it stays."""

    def __init__(self, *, bus: Bus, node: Callable[[], TableNode]) -> None:
        self._bus = bus
        self._node = node
        self._last = Maintenance(-1, None, draining=False)
        self._news = LobbyNews(bus, "maintenance", ask=self._ask, take=self._take)

    @property
    def text(self) -> str | None:
        return self._last.announcement

    async def run(self) -> None:
        """For ever."""
        await self._news.run()

    async def changed(self, change: Maintenance) -> None:
        """The lobby tells every process."""
        self._news.told()
        if change.number > self._last.number:
            self._take(change)

    async def _ask(self) -> Maintenance:
        return await self._bus.request(
            subjects.LOBBY_MAINTENANCE, MaintenanceRequest(), Maintenance, timeout_seconds=LOBBY_SECONDS_MAX
        )

    def _take(self, now: Maintenance) -> None:
        """The lobby's answer counts, also one with a smaller number than before: its database may be a restored one."""
        before, self._last = self._last, now
        if now.announcement != before.announcement:
            frame = msgspec.json.encode(Announced(now.announcement))
            with suppress(Unavailable):  # Between two nodes nobody is connected; whoever comes is told in the welcome.
                self._node().tell_everybody(lambda _live: frame)
