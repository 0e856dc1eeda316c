"""Who seeks a table, and where they are sent: one decision at a time for a game and bet. Open this about quick play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from darbar_kit.database import Connection, Database
from darbar_lobby.domain.directory_model import DirectoryEntry
from darbar_lobby.store.directory import entry_of_row
from darbar_lobby.store.intentions import Intention, NewIntention, insert_intention

# How long a place waits for who was sent to it, and an abandoned table is left alone.
PLACE_SECONDS = 15.0
# A table that was asked for longer ago, and of which nothing was heard, is nobody's goal.
ASKED_SECONDS_MAX = 15.0


class Place(msgspec.Struct, frozen=True):
    """A place at a table that is open or being made. `held_by`: the others who are on their way to it."""

    entry: DirectoryEntry
    held_by: tuple[str, ...]


class QuickPlayStore:
    """Every statement of quick play; SQL in queries.sql."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    async def find_or_intend(self, new: NewIntention, *, tried: Sequence[str]) -> Place | Intention:
        """A place at the best table but those tried, or else the intention to make `new`."""
        async with self._database.transaction() as connection:
            await self._lock(connection, new)
            place = await self._take_best(connection, new, tried=tried, older_than=None)
            return place or await insert_intention(connection, self._sql, new)

    async def find_older(self, new: NewIntention, own: DirectoryEntry, *, tried: Sequence[str]) -> Place | None:
        """For a host who sits alone at `own`: a place at an older table, and from now on nobody is sent to `own`. None
        when there is no older one, or somebody is on the way to `own`."""
        async with self._database.transaction() as connection:
            await self._lock(connection, new)
            if await self._held_by(connection, own.table_id, new.account_id):
                return None
            place = await self._take_best(connection, new, tried=(*tried, own.table_id), older_than=own.sequence)
            if place is not None:
                await connection.execute(self._sql["abandon"], UUID(own.table_id), PLACE_SECONDS)
            return place

    async def stay(self, account_id: str, own: DirectoryEntry) -> None:
        """The host stays after all."""
        await self._database.write(self._sql["stay"], UUID(own.table_id), account_id)

    async def _lock(self, connection: Connection, new: NewIntention) -> None:
        await connection.execute(self._sql["quick_play_locked"], new.entry.terms.game, new.entry.terms.bet_coins)

    async def _take_best(
        self, connection: Connection, new: NewIntention, *, tried: Sequence[str], older_than: int | None
    ) -> Place | None:
        row = await connection.fetchrow(
            self._sql["quick_play_best"],
            new.entry.terms.game,
            new.entry.terms.bet_coins,
            new.account_id,
            ASKED_SECONDS_MAX,
            [UUID(table_id) for table_id in tried],
            older_than,
        )
        if row is None:
            return None
        await connection.execute(self._sql["hold_place"], new.account_id, row["table_id"], PLACE_SECONDS)
        held_by = await self._held_by(connection, str(row["table_id"]), new.account_id)
        return Place(entry_of_row(row, ()), held_by)

    async def _held_by(self, connection: Connection, table_id: str, account_id: str) -> tuple[str, ...]:
        rows = await connection.fetch(self._sql["quick_play_held"], UUID(table_id), account_id)
        return tuple(row["account_id"] for row in rows)
