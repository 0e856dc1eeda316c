"""What operators have said about maintenance. Open this when a drain is forgotten."""

from __future__ import annotations

from collections.abc import Mapping

import asyncpg
from msgspec import UNSET

from darbar_contracts.lobby import ChangeMaintenance, Maintenance
from darbar_kit.database import Database


class MaintenanceStore:
    """Every statement about maintenance; SQL in queries.sql. Whether it drains is asked where a table is intended."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    async def change(self, change: ChangeMaintenance) -> Maintenance:
        """What is true afterwards; the number stays where nothing changes."""
        announces, drains = change.announcement is not UNSET, change.draining is not UNSET
        values = (announces, change.announcement if announces else None, change.draining if drains else None)
        await self._database.write(self._sql["change_maintenance"], *values, change.operator)
        return await self.current()

    async def current(self) -> Maintenance:
        return _maintenance(await self._database.read_row(self._sql["maintenance"]))


def _maintenance(row: asyncpg.Record | None) -> Maintenance:
    assert row is not None, "the migration puts the row there"
    return Maintenance(row["number"], row["announcement"], row["draining"])
