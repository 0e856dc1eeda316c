"""Phrases and reactions at a table, and who does not want to hear them (TL-45). Open this when one is not shown."""

from __future__ import annotations

from time import monotonic

import msgspec

from darbar_contracts.frames import Mute, Said, Say, TableReason
from darbar_kit.limits import Rate
from darbar_table.domain.refusals import refused
from darbar_table.engine.live_table import LiveTable

MINUTE_SECONDS = 60.0
# Of one table; the oldest is forgotten first.
MUTES_MAX = 256
_encode = msgspec.json.Encoder().encode


class Talk:
    """No events: shown to whoever is there at that moment, and kept nowhere."""

    def __init__(self, *, phrases_a_minute_max: int) -> None:
        self._phrases = Rate("phrases", phrases_a_minute_max, MINUTE_SECONDS, clock=monotonic)

    def hear(self, live: LiveTable, account_id: str, frame: Say | Mute) -> None:
        """Raises Refused: not_seated, seat_unknown, nobody_else_there, too_many_requests."""
        if isinstance(frame, Say):
            self._say(live, account_id, frame)
        else:
            _mute(live, account_id, frame)

    def _say(self, live: LiveTable, account_id: str, frame: Say) -> None:
        seat = live.table.seat_of(account_id)
        if seat is None:
            raise refused(TableReason.NOT_SEATED)
        self._phrases.take(account_id)
        said = _encode(Said(seat=seat, phrase=frame.phrase))
        for socket in list(live.sockets):
            if (socket.account_id, account_id) not in live.mutes:
                socket.send(said)


def _mute(live: LiveTable, account_id: str, frame: Mute) -> None:
    """Whoever sits there now, wherever they sit later."""
    if not 0 <= frame.seat < len(live.table.seats):
        raise refused(TableReason.SEAT_UNKNOWN)
    other = live.table.accounts[frame.seat]
    if other is None or other == account_id:
        raise refused(TableReason.NOBODY_ELSE_THERE)
    live.mutes.pop((account_id, other), None)
    if frame.muted:
        live.mutes[account_id, other] = None
        if len(live.mutes) > MUTES_MAX:
            del live.mutes[next(iter(live.mutes))]
