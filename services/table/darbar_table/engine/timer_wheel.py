"""One wheel for the clocks of all tables: what is due next at each table. Open this when a turn ends too late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

TICK_SECONDS = 0.05


class Timed(Protocol):
    """What the wheel turns; `deadline` is in seconds of the clock it is turned by, None when nothing is due."""

    deadline: float | None
    tick: int | None


T = TypeVar("T", bound=Timed)


class TimerWheel(Generic[T]):
    """Buckets of a tick each. A deadline that moves later costs nothing: its old bucket puts the item on again."""

    def __init__(self, rang: Callable[[T], None], *, start: float) -> None:
        self._rang = rang
        self._buckets: dict[int, set[T]] = {}
        self._next = int(start / TICK_SECONDS)

    def set(self, item: T, deadline: float | None) -> None:
        """The item rings once at its deadline, at most a tick late; None takes it off."""
        item.deadline = deadline
        if deadline is None:
            return
        tick = max(int(deadline / TICK_SECONDS) + 1, self._next)
        if item.tick is None or tick < item.tick:
            if item.tick is not None:
                self._buckets[item.tick].discard(item)
            item.tick = tick
            self._buckets.setdefault(tick, set()).add(item)

    def turn(self, now: float) -> None:
        """Ring all that is due at `now`."""
        last = int(now / TICK_SECONDS)
        while self._next <= last:
            if last - self._next > len(self._buckets):
                # A machine that slept: rather look at every bucket than at every tick.
                self._next = min((tick for tick in self._buckets if tick <= last), default=last)
            tick, self._next = self._next, self._next + 1
            for item in self._buckets.pop(tick, ()):
                self._ring_or_put_on(item, now)

    def _ring_or_put_on(self, item: T, now: float) -> None:
        item.tick = None
        deadline = item.deadline
        if deadline is None:
            return
        if deadline > now:
            self.set(item, deadline)
            return
        item.deadline = None
        self._rang(item)
