"""Who is here: sockets come and go, absences are noticed after a grace, seats are kept for a time (TL-29..43)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from darbar_table.domain.commands import Connected, Disconnected, KeepExpired
from darbar_table.domain.state import Phase
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
        self.keep_seats(live)

    def keep_seats(self, live: LiveTable) -> None:
        """Absent players' seats are kept for ten minutes inside a game, for one before it (TL-32, TL-36, TL-38)."""
        waiting = live.table.phase is Phase.WAITING
        for number, seat in enumerate(live.table.seats):
            absent = waiting and seat.player is not None and not seat.online
            timer = live.keep_timers.get(number)
            if absent and timer is None:
                in_game = live.table.started
                seconds = self._settings.keep_in_game_seconds if in_game else self._settings.keep_before_game_seconds
                live.keep_timers[number] = self._later(seconds, self._kept_long_enough, live, (number, seat.since))
            elif not absent and timer is not None:
                timer.cancel()
                del live.keep_timers[number]

    def forget(self, live: LiveTable) -> None:
        """The table is closed or goes elsewhere."""
        for timer in live.keep_timers.values():
            timer.cancel()
        live.keep_timers.clear()

    def _gone(self, live: LiveTable, account_id: str) -> None:
        if not live.connected(account_id) and self._held(live):
            self._owner().submit(live, Disconnected(account_id=account_id))

    def _kept_long_enough(self, live: LiveTable, sitting: tuple[int, int]) -> None:
        seat, since = sitting
        live.keep_timers.pop(seat, None)
        if self._held(live):
            self._owner().submit(live, KeepExpired(seat=seat, since=since))

    def _held(self, live: LiveTable) -> bool:
        return self._owner().live_tables.get(live.table_id) is live

    def _later(self, seconds: float, call: Callable[..., None], *arguments: object) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, call, *arguments)
