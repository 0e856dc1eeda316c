"""How long things took, in a histogram that does not grow with their number. Open this about a figure of a load run."""

from __future__ import annotations

from math import ceil, log
from time import monotonic

SMALLEST_SECONDS = 0.0001
# Neighbours differ by a tenth, so no figure is off by more.
GROWTH = 1.1
BUCKETS_MAX = 200
BARS_MAX = 60
BAR = "█"
SHARES = (0.5, 0.9, 0.99, 0.999)


class Latencies:
    """Counts in buckets whose bounds grow by a tenth, from a tenth of a millisecond to hours."""

    def __init__(self) -> None:
        self._counts = [0] * BUCKETS_MAX
        self.longest_seconds = 0.0

    @property
    def count(self) -> int:
        return sum(self._counts)

    def note(self, seconds: float) -> None:
        self.longest_seconds = max(self.longest_seconds, seconds)
        bucket = ceil(log(max(seconds, SMALLEST_SECONDS) / SMALLEST_SECONDS, GROWTH))
        self._counts[min(bucket, BUCKETS_MAX - 1)] += 1

    def note_since(self, began: float) -> None:
        """`began` by the monotonic clock."""
        self.note(monotonic() - began)

    def within_seconds(self, share: float) -> float:
        """So long, at most, took this share of them; 0 when there are none."""
        wanted, seen = share * self.count, 0
        for bucket, count in enumerate(self._counts):
            seen += count
            if count and seen >= wanted:
                return min(_bound_seconds(bucket), self.longest_seconds)
        return 0.0

    def lines(self) -> list[str]:
        """Shares first, then a bar for each doubling of the time."""
        shares = "  ".join(f"{share * 100:g} % {_told(self.within_seconds(share))}" for share in SHARES)
        doublings: dict[int, int] = {}
        for bucket, count in enumerate(self._counts):
            if count:
                doubling = ceil(log(_bound_seconds(bucket) / SMALLEST_SECONDS, 2))
                doublings[doubling] = doublings.get(doubling, 0) + count
        tallest = max(doublings.values(), default=1)
        bars = [
            f"{_told(SMALLEST_SECONDS * 2**doubling):>10}  {count:>9,}  {BAR * ceil(BARS_MAX * count / tallest)}"
            for doubling, count in sorted(doublings.items())
        ]
        return [f"{shares}  longest {_told(self.longest_seconds)}", *bars]


def _bound_seconds(bucket: int) -> float:
    return float(SMALLEST_SECONDS * GROWTH**bucket)


def _told(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
