"""Finds tables for those who run Darbar. Open this when a search is slow or misses one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import asyncpg
import msgspec

from darbar_contracts.admin.api import AccountNamed
from darbar_contracts.admin.disclosure import ChainsPage, ChainsRequest, VerifyLog
from darbar_kit.database import Database
from darbar_lobby.domain.directory_model import DirectoryEntry, State
from darbar_lobby.store.directory import entry_of_row

CHAINS_MAX = 500


class Place(msgspec.Struct, frozen=True):
    """A place in the order of all tables."""

    created_at: datetime
    sequence: int


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Tables of a game (None: of any), in one of these states (with whether they are playing), before a place,
    since a time."""

    game: str | None
    states: tuple[tuple[State, bool], ...]
    before: Place
    since: datetime
    account_id: str | None = None


class Found(msgspec.Struct, frozen=True):
    """A table of the directory."""

    entry: DirectoryEntry
    closed_at: datetime | None


class TableSearch:
    """Every statement of the search; SQL in search.sql."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    async def found(self, wanted: Wanted, count_max: int) -> list[Found]:
        """Newest first."""
        states, playing = [state for state, _ in wanted.states], [is_playing for _, is_playing in wanted.states]
        before = wanted.before
        values = (wanted.game, states, playing, before.created_at, before.sequence, wanted.since, count_max)
        if wanted.account_id is None:
            rows = await self._database.read(self._sql["find_tables"], *values)
        else:
            rows = await self._database.read(self._sql["find_tables_of_player"], *values, wanted.account_id)
        return [_found(row) for row in rows]

    async def named(self, table_ids: Sequence[UUID]) -> list[Found]:
        """Those of these that the directory has, newest first."""
        return [_found(row) for row in await self._database.read(self._sql["tables_named"], list(table_ids))]

    async def with_code(self, code: str) -> list[UUID]:
        """The table that this code opens, or opened until lately."""
        return [row["table_id"] for row in await self._database.read(self._sql["table_with_code"], code)]

    async def chains(self, request: ChainsRequest) -> ChainsPage:
        """The versions of which milestones have told, table by table."""
        after = None if request.after is None else UUID(request.after)
        rows = await self._database.read(self._sql["chains_after"], after, CHAINS_MAX)
        tables = tuple(VerifyLog(str(row["table_id"]), row["version"], row["chain"]) for row in rows)
        return ChainsPage(tables, tables[-1].table_id if len(tables) == CHAINS_MAX else None)

    async def account_of_handle(self, handle: str) -> str | None:
        row = await self._database.read_row(self._sql["account_of_handle"], handle)
        return None if row is None else str(row["account_id"])

    async def players(self, table_ids: Sequence[str]) -> dict[str, list[AccountNamed]]:
        """Everybody who has ever sat at each of these tables."""
        players: dict[str, list[AccountNamed]] = {table_id: [] for table_id in table_ids}
        for table_id, *account in await self._database.read(self._sql["players_of_tables"], list(map(UUID, table_ids))):
            players[str(table_id)].append(AccountNamed(*account))
        return players


def _found(row: asyncpg.Record) -> Found:
    return Found(entry_of_row(row, ()), row["closed_at"])
