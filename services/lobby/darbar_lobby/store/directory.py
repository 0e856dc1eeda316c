"""Tables, seats and codes in the database. Open this when a table or a code is lost or doubled."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

import asyncpg
import msgspec

from darbar_contracts.api import ListQuery, PlayerShown
from darbar_contracts.tables import Person, TableTerms
from darbar_kit.database import Connection, Database
from darbar_lobby.domain.directory_model import DirectoryEntry, Holder
from darbar_lobby.store.statistics import StatisticsChange

CODE_RESTS_SECONDS = 3600.0

Fetch = Callable[..., Awaitable[list[asyncpg.Record]]]


class DirectoryChange:
    """One table, locked until the transaction that this belongs to is over."""

    def __init__(self, connection: Connection, sql: Mapping[str, str], table_id: str) -> None:
        self._connection = connection
        self._sql = sql
        self._table_id = UUID(table_id)
        self.statistics = StatisticsChange(connection, sql, self._table_id)

    async def entry(self) -> DirectoryEntry | None:
        row = await self._connection.fetchrow(self._sql["entry_locked"], self._table_id)
        return await whole(self._connection.fetch, self._sql, row)

    async def new_entry(self, entry: DirectoryEntry) -> None:
        """Leaves an entry that is there as it is."""
        await insert_entry(self._connection, self._sql, entry)

    async def write(self, before: DirectoryEntry, after: DirectoryEntry) -> None:
        await self._connection.execute(
            self._sql["write_entry"],
            self._table_id,
            after.state,
            after.generation,
            after.number,
            after.free_seats,
            after.playing,
            after.round,
            msgspec.json.encode(after.terms.options).decode(),
            after.terms.seats,
            after.version,
            after.chain,
        )
        if set(before.holders) == set(after.holders):
            return
        await self._connection.execute(self._sql["clear_holders"], self._table_id)
        await self._connection.execute(
            self._sql["write_holders"],
            self._table_id,
            [holder.seat for holder in after.holders],
            [holder.account_id for holder in after.holders],
            [holder.taken_at for holder in after.holders],
        )
        players = [holder.account_id for holder in after.holders if holder.account_id is not None]
        await self._connection.execute(self._sql["note_players"], self._table_id, players)

    async def code(self) -> str | None:
        code: str | None = await self._connection.fetchval(self._sql["code_of"], self._table_id)
        return code

    async def give_code(self, code: str) -> bool:
        """False when the code belongs to another table, or did a moment ago."""
        given = await self._connection.fetchval(self._sql["give_code"], code, self._table_id, CODE_RESTS_SECONDS)
        return given is not None

    async def free_code(self) -> None:
        await self._connection.execute(self._sql["free_code"], self._table_id)


class DirectoryStore:
    """Every statement about tables; SQL in queries.sql."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    @asynccontextmanager
    async def changing(self, table_id: str) -> AsyncIterator[DirectoryChange]:
        """One transaction about one table."""
        async with self._database.transaction() as connection:
            change = DirectoryChange(connection, self._sql, table_id)
            yield change
            await change.statistics.recount()

    async def entry(self, table_id: str) -> DirectoryEntry | None:
        return await self._whole("entry", UUID(table_id))

    async def number(self, table_id: str) -> int:
        """The last milestone that was applied; 0 for a table that was never heard of."""
        row = await self._database.read_row(self._sql["number"], UUID(table_id))
        return 0 if row is None else int(row["number"])

    async def by_code(self, code: str) -> DirectoryEntry | None:
        return await self._whole("by_code", code)

    async def by_invite(self, invite_token: str) -> DirectoryEntry | None:
        return await self._whole("by_invite", invite_token)

    async def seated_at(self, account_id: str) -> DirectoryEntry | None:
        return await self._whole("seated_at", account_id)

    async def code_of(self, table_id: str) -> str | None:
        row = await self._database.read_row(self._sql["code_of"], UUID(table_id))
        return None if row is None else str(row["code"])

    async def people(self, account_ids: Sequence[str]) -> dict[str, Person]:
        rows = await self._database.read(self._sql["people"], list(account_ids))
        return {row["account_id"]: Person(row["account_id"], row["name"], row["avatar"]) for row in rows}

    async def listed(self, query: ListQuery) -> list[tuple[DirectoryEntry, PlayerShown | None]]:
        """Public tables with a free seat, newest first; seats are left out. One more than the page has, if there is."""
        rows = await self._database.read(
            self._sql["listed"],
            query.game,
            query.bet_coins_min,
            query.bet_coins_max,
            query.after,
            query.limit + 1,
        )
        return [(entry_of_row(row, ()), _host_shown(row)) for row in rows]

    async def _whole(self, query: str, value: object) -> DirectoryEntry | None:
        row = await self._database.read_row(self._sql[query], value)
        return await whole(self._database.read, self._sql, row)


def _host_shown(row: asyncpg.Record) -> PlayerShown | None:
    """None when the account is no more."""
    if row["host_handle"] is None:
        return None
    return PlayerShown(row["host_handle"], row["host_name"], row["host_avatar"])


async def insert_entry(connection: Connection, sql: Mapping[str, str], entry: DirectoryEntry) -> None:
    """Leaves an entry that is there as it is."""
    await connection.execute(
        sql["new_entry"],
        UUID(entry.table_id),
        entry.host_id,
        entry.terms.game,
        msgspec.json.encode(entry.terms.options).decode(),
        entry.terms.seats,
        entry.terms.bet_coins,
        entry.terms.turn_seconds,
        entry.terms.visibility,
        entry.terms.bot_level,
        entry.invite_token,
        entry.free_seats,
        entry.created_at,
    )


async def whole(fetch: Fetch, sql: Mapping[str, str], row: asyncpg.Record | None) -> DirectoryEntry | None:
    """An entry with its seats."""
    if row is None:
        return None
    holders = await fetch(sql["holders"], row["table_id"])
    return entry_of_row(row, tuple(Holder(*holder) for holder in holders))


def entry_of_row(row: asyncpg.Record, holders: tuple[Holder, ...]) -> DirectoryEntry:
    return DirectoryEntry(
        table_id=str(row["table_id"]),
        host_id=row["host_id"],
        terms=TableTerms(
            game=row["game"],
            options=msgspec.json.decode(row["options"]),
            seats=row["seats"],
            bet_coins=row["bet_coins"],
            turn_seconds=row["turn_seconds"],
            visibility=row["visibility"],
            bot_level=row["bot_level"],
        ),
        invite_token=row["invite_token"],
        free_seats=row["free_seats"],
        created_at=row["created_at"],
        sequence=row["sequence"],
        state=row["state"],
        generation=row["generation"],
        number=row["number"],
        playing=row["playing"],
        round=row["round"],
        holders=holders,
        version=row["version"],
        chain=row["chain"],
    )
