"""Games as a table tells of them, and what the lobby has counted. Open this to test profiles and leaderboards."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import msgspec
from lobby_doubles import Caller, LobbyServer

from darbar_contracts.tables import Milestone
from darbar_kit.testing import eventually
from darbar_lobby.app import rebuild_statistics
from darbar_lobby.handlers.statistics_rebuild import RebuildProgress

# A Monday noon in weeks of their own, so that tests of one lobby do not meet on a leaderboard.
LONG_AGO = datetime(2020, 1, 6, 12, tzinfo=UTC)
TABLES = ("game_under_way", "game_outcome", "week_statistics")


class TableTold:
    """What the table double tells of one table of four, at times that the test chooses."""

    def __init__(self, lobby: LobbyServer, table_id: str, host: Caller) -> None:
        self._lobby = lobby
        self.table_id = table_id
        self.host = host
        self.at = datetime.now(UTC)
        self.game = 1

    @property
    def milestones(self) -> list[Milestone]:
        return self._lobby.table.milestones[self.table_id]

    def note(self, kind: str, **fields: Any) -> None:
        self._lobby.table.note(self.table_id, kind, free_seats=0, **fields)
        self.milestones[-1] = msgspec.structs.replace(self.milestones[-1], at=self.at)
        self.at += timedelta(seconds=1)

    def game_played(self, *players: Caller | None, points: Sequence[int], places: Sequence[int]) -> None:
        """One counted round, and the game is over."""
        accounts = [None if player is None else player.account["id"] for player in players]
        self.note("round_started", game=self.game, round=1, accounts=accounts)
        self.note("round_ended", game=self.game, round=1, accounts=accounts, points=points, counted=True)
        totals = (0,) * len(places)
        self.note("game_ended", game=self.game, accounts=accounts, places=places, totals=totals, reason="played")
        self.game += 1

    def quit(self, player: Caller) -> None:
        self.note("seat_freed", seat=1, account_id=player.account["id"], quit=True, game=self.game)

    async def tell(self, dice: random.Random | None = None) -> None:
        """All of them until they are applied; with dice in any order, some twice."""
        told = list(self.milestones)
        if dice is not None:
            told += dice.choices(told, k=len(told))
            dice.shuffle(told)
        await self._lobby.table.tell(*told)
        await self.until_applied()

    async def until_applied(self) -> None:
        async def is_so() -> bool:
            return await self._lobby.number_of(self.table_id) == len(self.milestones)

        await eventually(is_so)


async def new_table(lobby: LobbyServer, **choices: Any) -> TableTold:
    host = await lobby.guest()
    made = await host.make_table(lobby.key(), **choices)
    return TableTold(lobby, str(made.body["table_id"]), host)


async def table_of_four(lobby: LobbyServer, **choices: Any) -> tuple[TableTold, list[Caller]]:
    table = await new_table(lobby, **choices)
    return table, [table.host, *[await lobby.guest() for _ in range(3)]]


async def profile(player: Caller) -> Any:
    reply = await player.get("/v1/me/profile")
    assert reply.status == 200, reply
    return reply.body


async def rows(lobby: LobbyServer) -> list[str]:
    """Every row of the statistics as the database writes it."""
    connection = await asyncpg.connect(lobby.database.url)
    found = [
        f"{table} {row['text']}"
        for table in TABLES
        for row in await connection.fetch(f"SELECT {table}::text AS text FROM {table} ORDER BY 1")
    ]
    await connection.close()
    return found


async def execute(lobby: LobbyServer, *statements: str) -> None:
    connection = await asyncpg.connect(lobby.database.url)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


async def rebuilt(lobby: LobbyServer, told: list[RebuildProgress] | None = None) -> RebuildProgress:
    heard: list[RebuildProgress] = [] if told is None else told
    return await rebuild_statistics(lobby.settings.database_url, lobby.settings.nats_url, heard.append)
