"""The audit as a job: one pass at a time, whoever asks. Open this when its result is old."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Unavailable
from darbar_wallet.store.ledger_audit import REST_FACTOR, SECONDS_WITHOUT_REST

# Also when nobody asks, so that the metric is never older.
PASS_EVERY_SECONDS = 60.0
PASS_PAUSE_SECONDS_MIN = 0.2
# Who asks waits so long for the pass that his question began; then the last result is what there is.
WAIT_SECONDS_MAX = 6.0
# Reading the logs of all tables is much work for the table service.
TABLES_PASS_EVERY_SECONDS = 6 * 3600.0
TABLES_WAIT_SECONDS_MAX = 110.0

_Found = TypeVar("_Found")


class Auditor(Generic[_Found]):
    """Keeps the last result. Whoever asks gets that of a pass which began afterwards, when it doesn't take too long."""

    def __init__(
        self,
        look: Callable[[], Awaitable[_Found]],
        note: Callable[[_Found, float], None],
        *,
        every_seconds: float = PASS_EVERY_SECONDS,
        wait_seconds_max: float = WAIT_SECONDS_MAX,
    ) -> None:
        """`note` is told the result and how many seconds it took."""
        self._look = look
        self._note = note
        self._every_seconds = every_seconds
        self._wait_seconds_max = wait_seconds_max
        self._wanted = asyncio.Event()
        self._last: _Found | None = None
        self._next: asyncio.Future[_Found] | None = None  # the result of the pass that has not begun yet

    async def run(self) -> None:
        """For ever. Raises DatabaseAway, and Unavailable when somebody else is away."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every_seconds):
                    await self._wanted.wait()
            self._wanted.clear()
            waited_for, self._next = self._next, None
            started = time.monotonic()
            try:
                self._last = await self._look()
            except Unavailable as away:
                if waited_for is not None:
                    waited_for.set_exception(away)
                    waited_for.exception()  # Whoever waits for it may have given up.
                raise
            taken = time.monotonic() - started
            self._note(self._last, taken)
            if waited_for is not None:
                waited_for.set_result(self._last)
            # However many ask, the database is read for a tenth of the time.
            await asyncio.sleep(max(PASS_PAUSE_SECONDS_MIN, REST_FACTOR * min(taken, SECONDS_WITHOUT_REST)))

    async def result(self) -> _Found:
        """Raises Unavailable before the first pass has ended."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        self._wanted.set()
        done, _ = await asyncio.wait({self._next}, timeout=self._wait_seconds_max)
        if done:
            return done.pop().result()
        if self._last is None:
            raise Unavailable(Reason.STORAGE_UNAVAILABLE)
        return self._last
