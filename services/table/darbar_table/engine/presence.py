"""Who is here: sockets come and go, absences are noticed after a grace (TL-29..43)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from darbar_table.domain.commands import Connected, Disconnected
from darbar_table.engine.live_table import Connection, LiveTable
from darbar_table.engine.owner import Owner
from darbar_table.settings import Settings


class Presence:
    """Turns sockets into commands. A short loss of the connection is nothing (TL-42)."""

    def __init__(self, settings: Settings, owner: Callable[[], Owner]) -> None:
        self._settings = settings
        self._owner = owner

    def attach(self, live: LiveTable, socket: Connection) -> None:
        """A socket has said hello."""
        socket.seat = live.table.seat_of(socket.account_id)
        live.sockets.append(socket)
        if socket.seat is not None and not live.table.seats[socket.seat].online:
            self._owner().submit(live, Connected(account_id=socket.account_id))

    def detach(self, live: LiveTable, socket: Connection) -> None:
        """A socket has closed; its account may have others."""
        if socket in live.sockets:
            live.sockets.remove(socket)
        if not live.connected(socket.account_id):
            self._later(self._settings.offline_grace_seconds, self._gone, live, socket.account_id)

    def loaded(self, live: LiveTable) -> None:
        """A new owner: every seat that was present counts as present for a while (TL-43)."""
        for seat in live.table.seats:
            if seat.player is not None and seat.online:
                self._later(self._settings.present_after_load_seconds, self._gone, live, seat.player.account_id)

    def _gone(self, live: LiveTable, account_id: str) -> None:
        if not live.connected(account_id) and self._held(live):
            self._owner().submit(live, Disconnected(account_id=account_id))

    def _held(self, live: LiveTable) -> bool:
        return self._owner().live_tables.get(live.table_id) is live

    def _later(self, seconds: float, call: Callable[..., None], *arguments: object) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, call, *arguments)
