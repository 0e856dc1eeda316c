"""Who does not want to meet whom. Open this when a block is lost."""

from __future__ import annotations

from collections.abc import Mapping

from darbar_contracts.api import BLOCKS_MAX
from darbar_kit.database import Database
from darbar_lobby.store.statistics import Player


class BlockStore:
    """Every statement about blocks; SQL in queries.sql."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    async def block(self, account_id: str, blocked_id: str) -> None:
        """Changes nothing where the list is full."""
        await self._database.write(self._sql["block"], account_id, blocked_id, BLOCKS_MAX)

    async def unblock(self, account_id: str, handle: str) -> str | None:
        """Whom, by the account's id; None when nobody with this handle was blocked."""
        rows = await self._database.write(self._sql["unblock"], account_id, handle)
        return str(rows[0]["blocked_id"]) if rows else None

    async def blockers(self, account_id: str, among: tuple[str, ...]) -> tuple[str, ...]:
        rows = await self._database.read(self._sql["blockers"], account_id, among)
        return tuple(row["account_id"] for row in rows)

    async def blocked(self, account_id: str) -> list[Player]:
        """The last one first."""
        return [Player(*row) for row in await self._database.read(self._sql["blocked"], account_id)]
