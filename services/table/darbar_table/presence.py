"""Who is here: sockets come and go, absences are noticed after a grace, seats are kept for a time (TL-29..43)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from darbar_table.commands import Connected, Disconnected, KeepExpired
from darbar_table.entry import Entry, Socketed
from darbar_table.settings import Settings
from darbar_table.state import Phase

if TYPE_CHECKING:
    from darbar_table.owner import Owner


class Presence:
    """Turns sockets into commands. A short loss of the connection is nothing (TL-42)."""

    def __init__(self, settings: Settings, owner: Callable[[], Owner]) -> None:
        self._settings = settings
        self._owner = owner

    def attach(self, entry: Entry, socket: Socketed) -> None:
        """A socket has said hello."""
        socket.seat = entry.table.seat_of(socket.account_id)
        entry.sockets.append(socket)
        if socket.seat is not None and not entry.table.seats[socket.seat].online:
            self._owner().submit(entry, Connected(account_id=socket.account_id))

    def detach(self, entry: Entry, socket: Socketed) -> None:
        """A socket has closed; its account may have others."""
        if socket in entry.sockets:
            entry.sockets.remove(socket)
        if not entry.connected(socket.account_id):
            self._later(self._settings.offline_grace_seconds, self._gone, entry, socket.account_id)

    def loaded(self, entry: Entry) -> None:
        """A new owner: every seat that was present counts as present for a while (TL-43)."""
        for seat in entry.table.seats:
            if seat.player is not None and seat.online:
                self._later(self._settings.present_after_load_seconds, self._gone, entry, seat.player.account_id)
        self.keep_seats(entry)

    def keep_seats(self, entry: Entry) -> None:
        """Absent players' seats are kept for ten minutes inside a game, for one before it (TL-32, TL-36, TL-38)."""
        waiting = entry.table.phase is Phase.WAITING
        for number, seat in enumerate(entry.table.seats):
            absent = waiting and seat.player is not None and not seat.online
            timer = entry.keep_timers.get(number)
            if absent and timer is None:
                in_game = entry.table.started
                seconds = self._settings.keep_in_game_seconds if in_game else self._settings.keep_before_game_seconds
                entry.keep_timers[number] = self._later(seconds, self._kept_long_enough, entry, (number, seat.since))
            elif not absent and timer is not None:
                timer.cancel()
                del entry.keep_timers[number]

    def forget(self, entry: Entry) -> None:
        """The table is closed or goes elsewhere."""
        for timer in entry.keep_timers.values():
            timer.cancel()
        entry.keep_timers.clear()

    def _gone(self, entry: Entry, account_id: str) -> None:
        if not entry.connected(account_id) and self._held(entry):
            self._owner().submit(entry, Disconnected(account_id=account_id))

    def _kept_long_enough(self, entry: Entry, sitting: tuple[int, int]) -> None:
        seat, since = sitting
        entry.keep_timers.pop(seat, None)
        if self._held(entry):
            self._owner().submit(entry, KeepExpired(seat=seat, since=since))

    def _held(self, entry: Entry) -> bool:
        return self._owner().entries.get(entry.table_id) is entry

    def _later(self, seconds: float, call: Callable[..., None], *arguments: object) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, call, *arguments)
