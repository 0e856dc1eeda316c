"""Keeps the directory up to the last milestone of every table. Open this when one table lags behind."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence

import structlog

from darbar_contracts.refusals import Reason
from darbar_contracts.tables import Milestone
from darbar_kit.database import DatabaseAway
from darbar_kit.errors import Refused, Unavailable
from darbar_lobby.handlers.directory_projector import DirectoryProjector
from darbar_lobby.handlers.table_client import TableClient
from darbar_lobby.metrics import Metrics
from darbar_lobby.store.directory import DirectoryStore
from darbar_lobby.store.parked import AWAY_SECONDS_MAX, PARKED_SECONDS_MAX, ParkedStore

# Of at most MILESTONES_ANSWERED_MAX milestones each.
QUESTIONS_MAX = 1000
PARKED_AT_ONCE_MAX = 20
PARKED_POLL_SECONDS = 1.0

_log = structlog.get_logger()


class Milestones:
    """Applies what is told, asks the table service for what is missing, and parks a table for which that fails."""

    def __init__(
        self,
        *,
        directory: DirectoryStore,
        projector: DirectoryProjector,
        parked: ParkedStore,
        table_client: TableClient,
        metrics: Metrics,
    ) -> None:
        self._directory = directory
        self._projector = projector
        self._parked = parked
        self._table_client = table_client
        self._metrics = metrics

    async def take(self, table_id: str, milestones: Sequence[Milestone]) -> None:
        """Applies these and everything before them, or parks the table. Raises DatabaseAway only: then nobody knows
        more of them than before."""
        if await self._parked.is_parked(table_id):
            # Whoever tries it again asks the table service for these too.
            return
        await self._or_park(table_id, self._apply_all(table_id, milestones))

    async def park(self, table_id: str, reason: str, *, seconds_max: float = PARKED_SECONDS_MAX) -> None:
        """Puts a table aside, to be tried again in `seconds_max` at the latest. Raises DatabaseAway."""
        _log.warning("table_parked", table_id=table_id, reason=reason)
        self._metrics.milestones_failed.inc()
        await self._parked.park(table_id, reason, seconds_max=seconds_max)

    async def run(self) -> None:
        """Never ends: tries again what is parked. Raises DatabaseAway."""
        while True:
            await self.try_parked()
            await asyncio.sleep(PARKED_POLL_SECONDS)

    async def try_parked(self) -> None:
        for table_id in await self._parked.due(PARKED_AT_ONCE_MAX):
            if await self._or_park(table_id, self._unpark(table_id)):
                _log.info("table_unparked", table_id=table_id)
        self._metrics.tables_parked.set(await self._parked.count())

    async def _or_park(self, table_id: str, work: Coroutine[None, None, None]) -> bool:
        """Whether the work was done; a fault of one table must not stop the others. Raises DatabaseAway."""
        try:
            await work
        except DatabaseAway:
            raise
        except Unavailable as unavailable:
            await self.park(table_id, unavailable.code, seconds_max=AWAY_SECONDS_MAX)
        except Refused as refused:
            # The table service itself does not know this table: asking again for ever would help nobody.
            _log.error("milestones_refused", table_id=table_id, code=refused.code)
            await self._parked.unpark(table_id)
        except Exception as error:  # noqa: BLE001  # A fault of ours at this table only: logged, and tried again.
            _log.exception("milestones_failed", table_id=table_id)
            await self.park(table_id, type(error).__name__)
        else:
            return True
        return False

    async def _unpark(self, table_id: str) -> None:
        await self._catch_up(table_id)
        await self._parked.unpark(table_id)
        # What was told between the two was left to us.
        await self._catch_up(table_id)

    async def _apply_all(self, table_id: str, milestones: Sequence[Milestone]) -> None:
        if await self._apply(table_id, sorted(milestones, key=_number)) is not None:
            await self._catch_up(table_id)

    async def _catch_up(self, table_id: str) -> None:
        """Asks the table service for all that is missing. Raises Refused when it does not know the table."""
        for _ in range(QUESTIONS_MAX):
            answered = await self._table_client.milestones(table_id, await self._directory.number(table_id))
            self._metrics.milestone_gaps.inc()
            if await self._apply(table_id, answered.milestones) is not None:
                break
            if not answered.more:
                return
        raise Unavailable(Reason.MILESTONES_MISSING, f"the milestones of {table_id} have a gap that nobody fills")

    async def _apply(self, table_id: str, milestones: Sequence[Milestone]) -> int | None:
        done = await self._projector.apply(table_id, milestones)
        for kind in done.kinds:
            self._metrics.milestones_applied.labels(kind).inc()
        if done.unreadable:
            raise Refused(Reason.MILESTONE_UNREADABLE)
        return done.missing_after


def _number(milestone: Milestone) -> int:
    return milestone.number
