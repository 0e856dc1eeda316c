"""How long to wait before something that failed is tried again. Open this when retries come too fast or too late."""

from __future__ import annotations

import asyncio
import random

# Beyond this a longer exponent only makes numbers that the maximum cuts off again.
DOUBLINGS_MAX = 32


class Backoff:
    """Pauses that grow: anything from nothing to a ceiling that doubles with each failure, up to `seconds_max`.

    The whole range is drawn from, so that many who failed together do not come back together. A test passes a seeded
    `chance`. One for each thing that is retried; `reset` when it has worked.
    """

    def __init__(self, *, seconds_min: float, seconds_max: float, chance: random.Random | None = None) -> None:
        if not 0 < seconds_min <= seconds_max:
            raise ValueError(f"a back-off needs 0 < seconds_min <= seconds_max, not {seconds_min} and {seconds_max}")
        self._seconds_min = seconds_min
        self._seconds_max = seconds_max
        self._uniform = random.uniform if chance is None else chance.uniform  # Nobody gains by guessing it.
        self.failures = 0

    def next_seconds(self) -> float:
        """The pause after one more failure."""
        ceiling = min(self._seconds_min * 2.0 ** min(self.failures, DOUBLINGS_MAX), self._seconds_max)
        self.failures += 1
        return self._uniform(0.0, ceiling)

    async def pause(self) -> None:
        """Sleeps for the next pause."""
        await asyncio.sleep(self.next_seconds())

    def reset(self) -> None:
        """It worked: the next failure is the first one again."""
        self.failures = 0
