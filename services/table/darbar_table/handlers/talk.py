"""Phrases and reactions at a table, and who does not want to hear them (TL-45). Open this when one is not shown."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from time import monotonic

import msgspec

from darbar_contracts.frames import Mute, Said, Say, TableReason
from darbar_kit.limits import Rate
from darbar_table.domain.refusals import refused
from darbar_table.engine.live_table import LiveTable
from darbar_table.handlers.lobby_news.blocks import Blocks

MINUTE_SECONDS = 60.0
# Of one table; the oldest is forgotten first.
MUTES_MAX = 256
_encode = msgspec.json.Encoder().encode


class Talk:
    """No events: shown to whoever is there at that moment, and kept nowhere. One for all sockets of a process."""

    def __init__(self, *, phrases_a_minute_max: int, blocks: Blocks) -> None:
        self._blocks = blocks
        self._phrases = Rate("phrases", phrases_a_minute_max, MINUTE_SECONDS, clock=monotonic)

    def hear(
        self,
        live: LiveTable,
        account_id: str,
        frame: Say | Mute,
        *,
        done: Callable[[], None],
        spawn: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        """Raises Refused: not_seated, seat_unknown, nobody_else_there, too_many_requests. `done` is called when it is
        heard, which for a phrase may be a question to the lobby later."""
        if isinstance(frame, Mute):
            _mute(live, account_id, frame)
            done()
            return
        said = self._said(live, account_id, frame)
        blockers = self._blocks.known_blockers(account_id, _there(live))
        if blockers is None:
            spawn(self._show_later(live, account_id, said, done))
        else:
            _show(live, account_id, said, blockers)
            done()

    async def _show_later(self, live: LiveTable, account_id: str, said: bytes, done: Callable[[], None]) -> None:
        _show(live, account_id, said, await self._blocks.blockers(account_id, _there(live)))
        done()

    def _said(self, live: LiveTable, account_id: str, frame: Say) -> bytes:
        seat = live.table.seat_of(account_id)
        if seat is None:
            raise refused(TableReason.NOT_SEATED)
        self._phrases.take(account_id)
        return _encode(Said(seat=seat, phrase=frame.phrase))


def _there(live: LiveTable) -> set[str]:
    return {socket.account_id for socket in live.sockets}


def _show(live: LiveTable, account_id: str, said: bytes, blockers: frozenset[str]) -> None:
    """To whoever is there and wants to hear this player."""
    for socket in list(live.sockets):
        if socket.account_id not in blockers and (socket.account_id, account_id) not in live.mutes:
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
