"""How often somebody may ask, and how many at once. Open this about `too_many_requests` and `busy`."""

import asyncio
import math
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256

from darbar_kit.errors import KitReason, Refused, Unavailable

# A key whose bucket is full again needs no entry; past this many the longest unused one is dropped.
KEYS_MAX = 100_000

KEY_CHARACTERS_MAX = 128

Clock = Callable[[], float]


class Buckets:
    """A token bucket for each key: `count_max` at once, refilled evenly over `window_seconds`."""

    def __init__(self, count_max: int, window_seconds: float, *, clock: Clock, keys_max: int = KEYS_MAX) -> None:
        self._count_max = count_max
        self._seconds_each = window_seconds / count_max if count_max else 0.0
        self._window_seconds = window_seconds
        self._clock = clock
        self._keys_max = keys_max
        # For each key the moment at which its bucket is full again.
        self._full_at: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        """The keys that are remembered."""
        return len(self._full_at)

    def take(self, key: str) -> float:
        """Take one; 0 when there was one, else the seconds until there is. A count of 0 means no limit."""
        if not self._count_max:
            return 0.0
        key = bounded_key(key)
        now = self._clock()
        full_at = max(self._full_at.get(key, now), now) + self._seconds_each
        wait_seconds = full_at - now - self._window_seconds
        # Sums of seconds are not exact: a millionth too much is no reason to refuse.
        if wait_seconds > 1e-6:
            return wait_seconds
        self._full_at[key] = full_at
        self._full_at.move_to_end(key)
        if len(self._full_at) > self._keys_max:
            self._full_at.popitem(last=False)
        return 0.0


def bounded_key(key: str) -> str:
    """The key itself, or for a long one its hash: what callers send must not fill the memory."""
    if len(key) <= KEY_CHARACTERS_MAX:
        return key
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class TooManyRequests(Refused):
    """`limit`: which one; `seconds`: when it may be tried again, in the header Retry-After over HTTP."""

    def __init__(self, limit: str, seconds: float) -> None:
        self.limit = limit
        self.seconds = math.ceil(seconds)
        super().__init__(KitReason.TOO_MANY_REQUESTS, details={"limit": limit, "retry_seconds": self.seconds})


class Rate:
    """So many in a while, for each key; a maximum of 0 is no limit."""

    def __init__(self, name: str, count_max: int, window_seconds: float, *, clock: Clock) -> None:
        self.name = name
        self._buckets = Buckets(count_max, window_seconds, clock=clock)

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, key: str) -> None:
        """Raises TooManyRequests."""
        wait_seconds = self._buckets.take(key)
        if wait_seconds > 0:
            raise TooManyRequests(self.name, wait_seconds)


class AtOnce:
    """At most `running_max` run at once; `waiting_max` more wait, and beyond that callers are sent away."""

    def __init__(self, *, running_max: int, waiting_max: int) -> None:
        self._free = asyncio.Semaphore(running_max)
        self._callers_max = running_max + waiting_max
        self._callers = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Whoever came first runs first. Raises Unavailable `busy`."""
        if self._callers >= self._callers_max:
            raise Unavailable(KitReason.BUSY)
        self._callers += 1
        try:
            async with self._free:
                yield
        finally:
            self._callers -= 1
