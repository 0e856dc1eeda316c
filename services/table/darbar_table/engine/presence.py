"""Who is here: sockets come and go, and absences are noticed after a grace (TL-29..43)."""

from __future__ import annotations

from darbar_table.domain.commands import Connected
from darbar_table.engine.live_table import Connection, LiveTable
from darbar_table.engine.owner import Owner
from darbar_table.engine.table_timers import TableTimers
from darbar_table.settings import Settings


class Presence:
    """Turns sockets into commands. A short loss of the connection is nothing (TL-42)."""

    def __init__(self, settings: Settings, *, owner: Owner, timers: TableTimers) -> None:
        self._settings = settings
        self._owner = owner
        self._timers = timers

    def attach(self, live: LiveTable, socket: Connection) -> None:
        """A socket has said hello."""
        socket.seat = live.table.seat_of(socket.account_id)
        live.sockets.append(socket)
        live.absences.pop(socket.account_id, None)
        if socket.seat is not None and not live.table.seats[socket.seat].online:
            self._owner.submit(live, Connected(account_id=socket.account_id))

    def detach(self, live: LiveTable, socket: Connection) -> None:
        """A socket has closed; its account may have others."""
        if socket in live.sockets:
            live.sockets.remove(socket)
        if not live.connected(socket.account_id):
            self._timers.expect(live, socket.account_id, seconds=self._settings.offline_grace_seconds)

    def loaded(self, live: LiveTable) -> None:
        """A new owner: every seat that was present counts as present for a while (TL-43)."""
        for seat in live.table.seats:
            if seat.player is not None and seat.online:
                self._timers.expect(live, seat.player.account_id, seconds=self._settings.present_after_load_seconds)
