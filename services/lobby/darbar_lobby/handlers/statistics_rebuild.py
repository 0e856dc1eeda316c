"""Makes all statistics again from the milestones of every table. Open this when a rebuild gives other rows.

Out of what the table service has stored, never out of the stream, which keeps a month. Each table is done in one
transaction of its own while the lobby goes on: a rebuild that is broken off has left every table either as it was or
as it should be, and the next one begins again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec
import structlog

from darbar_contracts.refusals import Reason
from darbar_contracts.tables import Milestone
from darbar_kit.backoff import Backoff
from darbar_kit.errors import Refused, Unavailable
from darbar_lobby.domain.statistics import statistics_of
from darbar_lobby.handlers.table_client import TableClient
from darbar_lobby.store.directory import DirectoryStore
from darbar_lobby.store.statistics import StatisticsStore

TABLES_READ_AT_ONCE = 100
# What does not answer is asked again so often, a minute or two in all; then the rebuild ends, to be begun again.
ATTEMPTS_MAX = 20
FAULTS_MAX = 2
PAUSE_SECONDS_MIN = 0.2
PAUSE_SECONDS_MAX = 10.0

_log = structlog.get_logger()

Result = Literal["rebuilt", "unknown", "failed"]


class RebuildProgress(msgspec.Struct, frozen=True):
    """`tables` is how many there are to do. Of those `done`, `unknown` are not known to the table service, and it
    `failed` to read others; what stood there of them is left as it was."""

    tables: int
    done: int = 0
    unknown: int = 0
    failed: int = 0

    def after(self, result: Result) -> RebuildProgress:
        return RebuildProgress(
            self.tables, self.done + 1, self.unknown + (result == "unknown"), self.failed + (result == "failed")
        )


class StatisticsRebuild:
    """One run over the directory."""

    def __init__(self, *, directory: DirectoryStore, statistics: StatisticsStore, table_client: TableClient) -> None:
        self._directory = directory
        self._statistics = statistics
        self._table_client = table_client
        self._backoff = Backoff(seconds_min=PAUSE_SECONDS_MIN, seconds_max=PAUSE_SECONDS_MAX)

    async def run(self, tell: Callable[[RebuildProgress], None]) -> RebuildProgress:
        """Tells after every table. Raises Unavailable when the database or the table service stays away."""
        count, last = await self._statistics.tables_told_count()
        progress = RebuildProgress(tables=count)
        sequence = 0
        while tables := await self._statistics.tables_told(sequence, last, TABLES_READ_AT_ONCE):
            for table in tables:
                progress = progress.after(await self._try_to_rebuild(table.table_id))
                tell(progress)
            sequence = tables[-1].sequence
        while await self._statistics.drop_uncounted():
            pass
        return progress

    async def _try_to_rebuild(self, table_id: str) -> Result:
        self._backoff.reset()
        while True:
            try:
                return await self._rebuild(table_id)
            except Unavailable as unavailable:
                if unavailable.code == Reason.SERVICE_FAILED and self._backoff.failures >= FAULTS_MAX:
                    # A fault at this table must not keep the others.
                    _log.error("table_not_rebuilt", table_id=table_id, code=unavailable.code)
                    return "failed"
                if self._backoff.failures >= ATTEMPTS_MAX:
                    raise
            await self._backoff.pause()

    async def _rebuild(self, table_id: str) -> Result:
        milestones: list[Milestone] = []
        while True:
            try:
                later = await self._later(table_id, len(milestones))
            except Refused as refused:
                _log.warning("table_not_rebuilt", table_id=table_id, code=refused.code)
                return "unknown"
            milestones += later
            if await self._replace(table_id, milestones, is_all=not later):
                return "rebuilt"

    async def _replace(self, table_id: str, milestones: list[Milestone], *, is_all: bool) -> bool:
        """False when the directory has applied later ones by now, which are not read yet. Those that it has not
        applied come to the statistics with it."""
        async with self._directory.changing(table_id) as change:
            entry = await change.entry()
            assert entry is not None, "a table of which a milestone has told is never forgotten"
            if entry.number > len(milestones) and not is_all:
                return False
            await change.statistics.replace(entry.terms.game, statistics_of(milestones[: entry.number]))
            return True

    async def _later(self, table_id: str, after: int) -> list[Milestone]:
        """All that the table service has after one. Raises Refused and Unavailable."""
        found: list[Milestone] = []
        while True:
            answer = await self._table_client.milestones(table_id, after + len(found))
            found += answer.milestones
            if not answer.more:
                return found
