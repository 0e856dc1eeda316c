"""How fast a process sends its players elsewhere. Open this when those who play wait while others come.

Whoever is sent away has to connect, say hello and be told the table, on machines on which others play meanwhile.
"""

from __future__ import annotations

import asyncio
import math
from time import monotonic

# So many come without a move that waits. At a stop with more, all go within these seconds.
SOCKETS_A_SECOND = 150
SPREAD_SECONDS_MAX = 40.0


class Pace:
    """Of all who go, for whatever reason."""

    def __init__(self, sockets: int = 0) -> None:
        """`sockets`: how many there are to go; 0 when that is not to be known."""
        self._a_second = max(SOCKETS_A_SECOND, sockets / SPREAD_SECONDS_MAX)
        self._next_at = -math.inf

    async def wait(self) -> None:
        """Until those who were sent before have had their time."""
        await asyncio.sleep(max(0.0, self._next_at - monotonic()))

    def begin(self, sockets: int) -> None:
        """So many are sent away now."""
        self._next_at = max(self._next_at, monotonic()) + sockets / self._a_second
