"""The audit as a job: one pass at a time, whoever asks. Open this when its result is old."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress

from darbar_contracts.refusals import Reason
from darbar_contracts.wallet import WalletAudit
from darbar_kit.errors import Unavailable
from darbar_wallet.metrics import Metrics
from darbar_wallet.store.ledger_audit import REST_FACTOR, SECONDS_WITHOUT_REST, audited

# Also when nobody asks, so that the metric is never older.
PASS_EVERY_SECONDS = 60.0
PASS_PAUSE_SECONDS_MIN = 0.2
# Who asks waits so long for the pass that his question began; then the last result is what there is.
WAIT_SECONDS_MAX = 6.0


class Auditor:
    """Keeps the last result. Whoever asks gets that of a pass which began afterwards, when it doesn't take too long."""

    def __init__(
        self,
        database_url: str,
        queries: Mapping[str, str],
        metrics: Metrics,
        *,
        wait_seconds_max: float = WAIT_SECONDS_MAX,
    ) -> None:
        self._database_url = database_url
        self._queries = queries
        self._metrics = metrics
        self._wait_seconds_max = wait_seconds_max
        self._wanted = asyncio.Event()
        self._last: WalletAudit | None = None
        self._next: asyncio.Future[WalletAudit] | None = None  # the result of the pass that has not begun yet

    async def run(self) -> None:
        """For ever. Raises DatabaseAway."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), PASS_EVERY_SECONDS)
            self._wanted.clear()
            waited_for, self._next = self._next, None
            started = time.monotonic()
            self._last = await audited(self._database_url, self._queries)
            taken = time.monotonic() - started
            self._metrics.note_audit(self._last, seconds=taken)
            if waited_for is not None:
                waited_for.set_result(self._last)
            # However many ask, the database is read for a tenth of the time.
            await asyncio.sleep(max(PASS_PAUSE_SECONDS_MIN, REST_FACTOR * min(taken, SECONDS_WITHOUT_REST)))

    async def result(self) -> WalletAudit:
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
