"""Tables whose milestones could not be applied, kept to be tried again. Open this when one is tried too often."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from darbar_kit.database import Database

PARKED_SECONDS_MIN = 1.0
PARKED_SECONDS_MAX = 300.0
# Whoever doesn't answer may do so any moment, and then players wait to see what came of their games.
AWAY_SECONDS_MAX = 5.0


class ParkedStore:
    """Every statement about parked tables; SQL in queries.sql."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    async def park(self, table_id: str, reason: str, *, seconds_max: float) -> None:
        """It is tried again in `seconds_max` at the latest, however often it was before."""
        await self._database.write(self._sql["park"], UUID(table_id), reason, PARKED_SECONDS_MIN, seconds_max)

    async def is_parked(self, table_id: str) -> bool:
        return await self._database.read_row(self._sql["parked"], UUID(table_id)) is not None

    async def due(self, count_max: int) -> list[str]:
        """Takes some and puts off the next attempt at them."""
        rows = await self._database.write(self._sql["parked_due"], count_max, PARKED_SECONDS_MIN, PARKED_SECONDS_MAX)
        return [str(row["table_id"]) for row in rows]

    async def unpark(self, table_id: str) -> None:
        await self._database.write(self._sql["unpark"], UUID(table_id))

    async def count(self) -> int:
        row = await self._database.read_row(self._sql["parked_count"])
        return 0 if row is None else int(row["count"])
