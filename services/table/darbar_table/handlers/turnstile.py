"""Lets a few pass in each turn of the event loop, in their order. Open this when thousands come at once.

What each of them does afterwards costs a little; all of it in one turn would keep the lease from being renewed and
moves from being stored, and a process that has just taken tables over would be taken for dead.
"""

from __future__ import annotations

import asyncio
from collections import deque


class Turnstile:
    """`count_max` at the most pass between two looks at whatever else is ready."""

    def __init__(self, count_max: int) -> None:
        self._count_max = count_max
        self._left = count_max
        self._is_turning = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def passed(self) -> None:
        """Returns at once where nobody waits."""
        self._turn_later()
        if self._left > 0 and not self._waiting:
            self._left -= 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        await place

    def _turn_later(self) -> None:
        if not self._is_turning:
            self._is_turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._is_turning = False
        self._left = self._count_max
        while self._waiting and self._left > 0:
            place = self._waiting.popleft()
            if not place.done():  # Who is not there any more has no turn.
                place.set_result(None)
                self._left -= 1
        if self._waiting:
            self._turn_later()
