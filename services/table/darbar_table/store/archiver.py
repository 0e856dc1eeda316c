"""Logs of tables that closed long ago move to the archive, and replays still find them. Open this about disk space."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import structlog

from darbar_table.metrics import Metrics
from darbar_table.store.store import Store

TABLES_AT_ONCE = 20
# Of all table processes one comes first, and finds everything.
LOOK_SECONDS_MIN = 1800.0
LOOK_SECONDS_MAX = 5400.0
# Others have the database in between.
PAUSE_SECONDS = 0.2

log = structlog.get_logger()


class Archiver:
    """Any process may do it, at any time: a log is moved as a whole, by one statement."""

    def __init__(
        self,
        store: Store,
        *,
        after_days: float,
        metrics: Metrics,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._after = timedelta(days=after_days)
        self._metrics = metrics
        self._now = now

    async def run(self) -> None:
        """For ever; a database that is away ends it, and it is started again."""
        while True:
            await asyncio.sleep(random.uniform(LOOK_SECONDS_MIN, LOOK_SECONDS_MAX))
            await self.archive()

    async def archive(self) -> int:
        """Everything that is due; how many tables it were. Raises DatabaseAway."""
        total = 0
        while moved := await self._store.archive_tables(self._now() - self._after, tables_max=TABLES_AT_ONCE):
            total += moved
            self._metrics.archived.inc(moved)
            await asyncio.sleep(PAUSE_SECONDS)
        if total:
            log.info("tables_archived", count=total)
        return total
