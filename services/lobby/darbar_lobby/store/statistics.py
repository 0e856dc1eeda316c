"""What players have played, in the database. Open this when a profile or a leaderboard differs from the outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from darbar_contracts.api import GameStatistics, Leader
from darbar_kit.database import Connection, Database
from darbar_lobby.domain.statistics import GameUnderWay, Outcome, StatisticsStep, TableStatistics

UNCOUNTED_AT_ONCE_MAX = 500


class Week(NamedTuple):
    """A row of the counted weeks; `week` is a Monday."""

    account_id: str
    game: str
    week: date


class Player(msgspec.Struct, frozen=True):
    """An account as strangers see it, but for its id."""

    account_id: str
    handle: str
    name: str
    avatar: str


class GameKey(NamedTuple):
    """Where an outcome stands among an account's."""

    at: datetime
    table_id: UUID
    number: int


class StoredOutcome(msgspec.Struct, frozen=True):
    """An outcome with its table."""

    table_id: UUID
    game: str
    outcome: Outcome


class TableTold(NamedTuple):
    """A table and the number of the last milestone that the directory has applied."""

    table_id: str
    sequence: int
    number: int


class StatisticsChange:
    """Changes of one table's outcomes, and then of the weeks that count them, in one transaction."""

    def __init__(self, connection: Connection, sql: Mapping[str, str], table_id: UUID) -> None:
        self._connection = connection
        self._sql = sql
        self._table_id = table_id
        self._touched: set[Week] = set()

    async def under_way(self) -> GameUnderWay | None:
        row = await self._connection.fetchrow(self._sql["under_way"], self._table_id)
        if row is None:
            return None
        return GameUnderWay(row["game_number"], dict(zip(row["account_ids"], row["points"], strict=True)))

    async def write(self, game: str, step: StatisticsStep) -> None:
        if step.taken_back is not None:
            await self._take_back(step.taken_back)
        await self._add(game, step.outcomes)
        await self._write_under_way(step.under_way)

    async def replace(self, game: str, statistics: TableStatistics) -> None:
        """Whatever was there before."""
        await self._take_back(None)
        await self._add(game, statistics.outcomes)
        await self._write_under_way(statistics.under_way)

    async def recount(self, weeks: Iterable[Week] = ()) -> None:
        """Last of all in the transaction: the weeks whose outcomes have changed, and these."""
        touched = sorted({*self._touched, *weeks})
        if not touched:
            return
        accounts = [week.account_id for week in touched]
        await self._connection.execute(self._sql["statistics_locked"], sorted(set(accounts)))
        columns = (accounts, [week.game for week in touched], [week.week for week in touched])
        await self._connection.execute(self._sql["recount"], *columns)

    async def _take_back(self, game_number: int | None) -> None:
        rows = await self._connection.fetch(self._sql["take_outcomes_back"], self._table_id, game_number)
        self._touched.update(Week(*row) for row in rows)

    async def _add(self, game: str, outcomes: Sequence[Outcome]) -> None:
        if not outcomes:
            return
        columns = [list(column) for column in zip(*(msgspec.structs.astuple(one) for one in outcomes), strict=True)]
        rows = await self._connection.fetch(self._sql["new_outcomes"], self._table_id, game, *columns)
        self._touched.update(Week(*row) for row in rows)

    async def _write_under_way(self, under_way: GameUnderWay | None) -> None:
        if under_way is None:
            await self._connection.execute(self._sql["end_under_way"], self._table_id)
            return
        accounts = sorted(under_way.points)
        points = [under_way.points[account_id] for account_id in accounts]
        values = (self._table_id, under_way.game_number, accounts, points)
        await self._connection.execute(self._sql["write_under_way"], *values)


class StatisticsStore:
    """Every statement that reads statistics, and what a rebuild needs; SQL in statistics.sql."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    async def player(self, handle: str) -> Player | None:
        return _player(await self._database.read_row(self._sql["player"], handle))

    async def player_of(self, account_id: str) -> Player | None:
        return _player(await self._database.read_row(self._sql["player_of"], account_id))

    async def statistics_of(self, account_id: str) -> tuple[GameStatistics, ...]:
        rows = await self._database.read(self._sql["statistics_of"], account_id)
        return tuple(GameStatistics(*row) for row in rows)

    async def games_of(
        self, account_id: str, *, before: GameKey | None, with_private: bool, count_max: int
    ) -> list[StoredOutcome]:
        """The last one first."""
        key = (None, None, None) if before is None else before
        rows = await self._database.read(self._sql["games_of"], account_id, *key, with_private, count_max)
        return [_outcome(row) for row in rows]

    async def leaders(self, game: str, week: date, *, after: int, count_max: int) -> list[Leader]:
        """The first ones but for `after` of them."""
        rows = await self._database.read(self._sql["leaders"], game, week, after + count_max, after)
        return [Leader(*row) for row in rows]

    async def tables_told_count(self) -> tuple[int, int]:
        """How many tables the directory knows, and the last one's place in it."""
        row = await self._database.read_row(self._sql["tables_told_count"])
        assert row is not None, "a count has a row"
        return row["tables"], row["last"]

    async def tables_told(self, after: int, last: int, count_max: int) -> list[TableTold]:
        """Some of the directory's tables, in its order."""
        rows = await self._database.read(self._sql["tables_told"], after, last, count_max)
        return [TableTold(str(row["table_id"]), row["sequence"], row["number"]) for row in rows]

    async def drop_uncounted(self) -> bool:
        """Counts weeks again for which there is no outcome. Whether there were any."""
        rows = await self._database.read(self._sql["uncounted_weeks"], UNCOUNTED_AT_ONCE_MAX)
        async with self._database.transaction() as connection:
            # Of no table: only the weeks are counted.
            await StatisticsChange(connection, self._sql, UUID(int=0)).recount(Week(*row) for row in rows)
        return bool(rows)


def _player(row: asyncpg.Record | None) -> Player | None:
    return None if row is None else Player(*row)


def _outcome(row: asyncpg.Record) -> StoredOutcome:
    outcome = Outcome(
        number=row["number"],
        account_id=row["account_id"],
        game_number=row["game_number"],
        kind=row["kind"],
        at=row["at"],
        place=row["place"],
        points=row["points"],
    )
    return StoredOutcome(row["table_id"], row["game"], outcome)
