"""Names that players have reported. Open this when one is missing in the queue, or comes back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from darbar_contracts.admin.api import ReportedName
from darbar_kit.database import Database


class Place(msgspec.Struct, frozen=True, array_like=True):
    """Where a page of the queue ends."""

    reports: int
    reported_at: datetime
    account_id: str


class NameReportStore:
    """SQL in name_reports.sql."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    async def report(self, handle: str, *, reporter_id: str) -> str | None:
        """Whose name it is; None: there is no such player. Nobody reports the own name."""
        rows = await self._database.write(self._sql["report_name"], handle, reporter_id)
        return str(rows[0]["account_id"]) if rows else None

    async def waiting(self, after: Place, limit: int) -> list[ReportedName]:
        """By account: the most reports first, then the oldest."""
        place = (after.reports, after.reported_at, after.account_id)
        rows = await self._database.read(self._sql["reported_names"], *place, limit)
        return [msgspec.convert(dict(row), ReportedName) for row in rows]

    async def dismiss(self, account_id: str, name: str) -> bool:
        """False: nobody has reported this name of this account, or it was taken back."""
        return bool(await self._database.write(self._sql["dismiss_name"], account_id, name))

    async def count_waiting(self) -> int:
        """Names that nobody has dealt with."""
        [row] = await self._database.read(self._sql["names_waiting"])
        return int(row["waiting"])
