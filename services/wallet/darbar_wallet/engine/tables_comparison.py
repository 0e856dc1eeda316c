"""The ledger against the logs of tables, which the table service reads out. Open this when stakes and logs disagree.

A table stores that it asks before it asks, and that it was answered after the wallet has stored it: whatever is asked
of the other side afterwards is there, or never will be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime

from darbar_contracts.admin.disclosure import CoinsLogPage, CoinsLogRequest, LoggedCoins
from darbar_contracts.subjects import TABLE_COINS
from darbar_contracts.wallet import TablesAudit
from darbar_kit.bus import Bus
from darbar_kit.database import Database

TRANSFERS_AT_ONCE = 2_000
TABLES_ASKED_MAX = 50
ASK_SECONDS_MAX = 10.0
FOUND_TOLD_MAX = 20


class TablesComparison:
    """One pass: first every transfer, then every log. Raises DatabaseAway, and Unavailable while nobody reads logs."""

    def __init__(self, database: Database, queries: Mapping[str, str], bus: Bus) -> None:
        self._database = database
        self._queries = queries
        self._bus = bus

    async def run(self) -> TablesAudit:
        transfers, unlogged = await self._transfers()
        tables, unpaid = await self._logs()
        found = (*(f"unlogged {one}" for one in unlogged), *(f"unpaid {one}" for one in unpaid))
        return TablesAudit(datetime.now(UTC), transfers, tables, len(unlogged), len(unpaid), found[:FOUND_TOLD_MAX])

    async def _transfers(self) -> tuple[int, list[str]]:
        """How many were compared, and those for which no log has asked."""
        row = await self._database.read_row(self._queries["audit_head"])
        head, last, count = 0 if row is None else int(row["number"]), 0, 0
        unlogged: list[str] = []
        while last < head:
            through = min(last + TRANSFERS_AT_ONCE, head)
            moved: dict[str, list[str]] = defaultdict(list)
            for table_id, what in await self._database.read(self._queries["stakes_moved"], last, through):
                moved[table_id].append(what)
                count += 1
            table_ids = sorted(moved)
            for start in range(0, len(table_ids), TABLES_ASKED_MAX):
                some = table_ids[start : start + TABLES_ASKED_MAX]
                unlogged += await self._unlogged({table_id: moved[table_id] for table_id in some})
            last = through
        return count, unlogged

    async def _unlogged(self, moved: Mapping[str, list[str]]) -> list[str]:
        asked = {table.table_id: set(table.asked) async for table in self._logged(CoinsLogRequest(tuple(moved)))}
        return [
            f"{table_id} {what}"
            for table_id, moves in moved.items()
            for what in moves
            if what not in asked.get(table_id, ())
        ]

    async def _logs(self) -> tuple[int, list[str]]:
        """How many there are, and what they say was carried out and was not."""
        count = 0
        unpaid: list[str] = []
        async for table in self._logged(CoinsLogRequest()):
            count += 1
            keys = [what.partition(" ")[2] for what in table.answered]
            moved = {row["what"] for row in await self._database.read(self._queries["keys_moved"], keys)}
            unpaid += (f"{table.table_id} {what}" for what in table.answered if what not in moved)
        return count, unpaid

    async def _logged(self, request: CoinsLogRequest) -> AsyncIterator[LoggedCoins]:
        after: str | None = None
        while True:
            asked = CoinsLogRequest(request.table_ids, after)
            page = await self._bus.request(TABLE_COINS, asked, CoinsLogPage, timeout_seconds=ASK_SECONDS_MAX)
            for table in page.tables:
                yield table
            if page.next is None:
                return
            after = page.next
