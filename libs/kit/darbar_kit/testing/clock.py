"""A clock that a test moves. Open this when a test about time is slow."""

from __future__ import annotations

BEGINNING = 1000.0


class ManualClock:
    """Stands in for time.monotonic: the same moment until the test sets another one."""

    def __init__(self) -> None:
        self.now = BEGINNING

    def __call__(self) -> float:
        return self.now
