"""The timers of the tables in memory, on time in which we could answer. Open this when one rings at a wrong time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime

from darbar_kit.database.lease import ANSWERING_SECONDS, RENEW_SECONDS
from darbar_table.domain import timers
from darbar_table.domain.commands import Command, Disconnected, TimerRang
from darbar_table.domain.timers import (
    BESIDE,
    SAME_TURN_SECONDS_MIN,
    CountInTimer,
    SeedsTimer,
    Timer,
    TurnTimer,
    VoteTimer,
)
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.timer_wheel import TimerWheel
from darbar_table.settings import Settings
from darbar_table.shards.outages import served_seconds
from darbar_table.store.registry import Outage

# After an outage of ours whoever is on turn has this at least.
TURN_SECONDS_MIN = 5.0
# The lease falls silent only so long after the first renewal that was not answered: nothing was stored in that time
# either, and nobody shown anything.
UNHEARD_SECONDS = ANSWERING_SECONDS - RENEW_SECONDS
# Players need their sockets again for these, so they begin anew with a new owner.
BEGUN_ANEW = (CountInTimer, SeedsTimer)


class TableTimers:
    """One wheel for all tables. What rings becomes a command; a late one finds that it was for something else.

    `now` is the lease's clock, which stands still while nobody may be answered.
    """

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], float],
        *,
        submit: Callable[[LiveTable, Command], None],
        guard: Callable[[LiveTable], AbstractContextManager[None]],
    ) -> None:
        self._settings = settings
        self._now = now
        self._submit = submit
        self._guard = guard
        self._wheel: TimerWheel[LiveTable] = TimerWheel(self._rang, start=now())

    def turn(self) -> None:
        """Rings what is due."""
        self._wheel.turn(self._now())

    def set(self, live: LiveTable, *, keeps_turn: bool = False) -> int | None:
        """After an event: clocks of the new state begin, those of both states run on. Returns what `remaining_ms` does.

        `keeps_turn`: the same seat decides again, with what was left of its time (CP-16).
        """
        now, before = self._now(), live.timers
        live.timers = timers.due(live.table, self._settings)
        for timer, seconds in live.timers.items():
            live.timers[timer] = before[timer] if timer in before else now + seconds
        if keeps_turn:
            left = max((deadline for timer, deadline in before.items() if isinstance(timer, TurnTimer)), default=now)
            left = max(left, now + SAME_TURN_SECONDS_MIN)
            live.timers |= {timer: left for timer in live.timers if isinstance(timer, TurnTimer)}
        self._arm(live)
        return _shown_ms(live, now)

    def set_loaded(self, live: LiveTable, began: Mapping[Timer, datetime], outages: Iterable[Outage]) -> None:
        """After loading: each clock has what was left, less the time in which nobody could answer (TL-43)."""
        now, today = self._now(), datetime.now(UTC)
        for timer, seconds in timers.due(live.table, self._settings).items():
            left = seconds
            if timer in began and not isinstance(timer, BEGUN_ANEW):
                left = seconds - served_seconds(began[timer], today, outages)
            if isinstance(timer, TurnTimer):
                left = max(left, min(seconds, TURN_SECONDS_MIN))
            live.timers[timer] = now + left
        self._arm(live)

    def expect(self, live: LiveTable, account_id: str, *, seconds: float) -> None:
        """An account without a socket: unless it comes back within this time, it is gone."""
        live.absences[account_id] = self._now() + seconds
        self._arm(live)

    def after_silence(self, live_tables: Iterable[LiveTable]) -> None:
        """We can answer again: everybody has what was left of their time, and time to notice."""
        now = self._now()
        present = now + self._settings.present_after_load_seconds
        for live in live_tables:
            with self._guard(live):
                turn = now + min(TURN_SECONDS_MIN, live.table.terms.turn_seconds)
                for timer, deadline in live.timers.items():
                    left = deadline + UNHEARD_SECONDS
                    live.timers[timer] = max(left, turn) if isinstance(timer, TurnTimer) else left
                live.absences = {account_id: max(gone, present) for account_id, gone in live.absences.items()}
                self._arm(live)

    def remaining_ms(self, live: LiveTable) -> int | None:
        """What is left on the clock that everybody at the table sees."""
        return _shown_ms(live, self._now())

    def vote_remaining_ms(self, live: LiveTable) -> int | None:
        """What is left for the answers to a vote."""
        for timer, deadline in live.timers.items():
            if isinstance(timer, VoteTimer):
                return _left_ms(deadline, self._now())
        return None

    def _arm(self, live: LiveTable) -> None:
        self._wheel.set(live, live.next_deadline())

    def _rang(self, live: LiveTable) -> None:
        with self._guard(live):
            now = self._now()
            for timer in [timer for timer, deadline in live.timers.items() if deadline <= now]:
                del live.timers[timer]
                self._submit(live, TimerRang(timer))
            for account_id in [account_id for account_id, deadline in live.absences.items() if deadline <= now]:
                del live.absences[account_id]
                if not live.connected(account_id):
                    self._submit(live, Disconnected(account_id=account_id))
            self._arm(live)


def _shown_ms(live: LiveTable, now: float) -> int | None:
    for timer, deadline in live.timers.items():
        if type(timer) not in BESIDE:
            return _left_ms(deadline, now)
    return None


def _left_ms(deadline: float, now: float) -> int:
    return max(0, int((deadline - now) * 1000))
