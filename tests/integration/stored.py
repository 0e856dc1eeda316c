"""What the databases hold, asked as the admin. Open this to look at something else after a fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from darbar_kit.testing import eventually

ARRIVED_SECONDS_MAX = 30.0
MILESTONES = (
    "table_created",
    "seat_taken",
    "bot_seated",
    "seat_freed",
    "bot_sent_away",
    "round_started",
    "seeds_shown",
    "game_ended",
    "table_closed",
)
# After the last game nobody plays any more.
_TURNS_LOST = """
SELECT table_id::text, version, body FROM event e
 WHERE table_id = ANY($1::text[]::uuid[]) AND body->>'by' IN ('clock', 'bot')
   AND version < (SELECT max(version) FROM event WHERE table_id = e.table_id AND kind = 'game_ended')
"""
_NUMBERS_STORED = "SELECT count(*) AS number FROM event WHERE table_id = $1::text::uuid AND kind = ANY($2::text[])"
_NUMBERS_APPLIED = "SELECT number FROM directory WHERE table_id = $1::text::uuid AND state = 'closed'"


class Stored:
    """The databases of a PostgreSQL, at the URL of its admin."""

    def __init__(self, admin_url: str) -> None:
        self._admin_url = admin_url

    def url(self, database: str) -> str:
        """Of this database, as the admin."""
        return urlunsplit(urlsplit(self._admin_url)._replace(path=f"/{database}"))

    async def connect(self, database: str) -> asyncpg.Connection[asyncpg.Record]:
        return await asyncpg.connect(self.url(database))

    async def ask(self, database: str, statement: str, *arguments: Any) -> list[asyncpg.Record]:
        """One statement."""
        connection = await self.connect(database)
        try:
            return await connection.fetch(statement, *arguments)
        finally:
            await connection.close()

    async def turns_lost(self, table_ids: Sequence[str]) -> list[dict[str, object]]:
        """What a clock or a bot has decided at these tables; for tables where people sit, and stay to the end."""
        return [dict(row) for row in await self.ask("tables", _TURNS_LOST, table_ids)]

    async def milestones_arrived(self, table_ids: Sequence[str]) -> int:
        """Waits until the lobby has applied every milestone that these closed tables have stored; how many it were."""
        total = 0
        for table_id in table_ids:
            stored = (await self.ask("tables", _NUMBERS_STORED, table_id, list(MILESTONES)))[0]["number"]

            async def applied(table_id: str = table_id, number: int = stored) -> bool:
                rows = await self.ask("lobby", _NUMBERS_APPLIED, table_id)
                return bool(rows) and rows[0]["number"] == number

            await eventually(applied, seconds=ARRIVED_SECONDS_MAX)
            total += stored
        await eventually(self._outbox_is_empty, seconds=ARRIVED_SECONDS_MAX)
        return total

    async def _outbox_is_empty(self) -> bool:
        return not (await self.ask("tables", "SELECT 1 FROM outbox LIMIT 1"))
