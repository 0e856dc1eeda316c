"""`darbar rebuild statistics`: the same rows, from whatever was there. Open this when a rebuild loses a game."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio
from lobby_doubles import LobbyServer, open_lobby
from lobby_games import LONG_AGO, TABLES, execute, new_table, profile, rebuilt, rows, table_of_four

from darbar_kit.testing import MakeDatabase, MakeNats
from darbar_lobby.app import rebuild_statistics
from darbar_lobby.handlers.statistics_rebuild import RebuildProgress


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def played(make_database: MakeDatabase, make_nats: MakeNats) -> AsyncIterator[LobbyServer]:
    """A lobby of its own, with games of every sort told."""
    async with open_lobby(make_database, make_nats, requests_a_minute_max=0) as opened:
        players = [await opened.guest() for _ in range(6)]
        dice = random.Random(8)
        for number in range(6):
            table = await new_table(opened, game="court_piece")
            table.at = LONG_AGO + timedelta(days=4 * number)
            for _ in range(3):
                table.game_played(*dice.sample([*players, None], 4), points=(2, 0, 1, 0), places=(1, 2, 1, 2))
            table.quit(dice.choice(players))
            if number % 2:
                table.note("game_ended", game=table.game, reason="voided")
            else:
                seated = [player.account["id"] for player in players[:4]]
                table.note("round_ended", game=table.game, accounts=seated, points=(5, 6, 7, 8), counted=True)
            await table.tell()
        yield opened


@pytest.mark.ruling("TL-54")
@pytest.mark.parametrize(
    "damage",
    [
        ("SELECT 1",),
        ("DELETE FROM game_outcome", "DELETE FROM week_statistics", "DELETE FROM game_under_way"),
        ("UPDATE week_statistics SET played = played + 7, won = 0",),
        ("UPDATE game_outcome SET at = at + interval '30 days'", "DELETE FROM game_under_way"),
        ("INSERT INTO week_statistics VALUES ('nobody', 'king', '2020-01-06', 1, 1, 0, 0)",),
        ("UPDATE game_under_way SET points = '{}', account_ids = '{}'",),
    ],
    ids=["none", "all", "counts", "outcomes", "strange", "under_way"],
)
async def test_tl_54_the_same_rows_come_out_byte_for_byte(played: LobbyServer, damage: tuple[str, ...]) -> None:
    before = await rows(played)
    assert {row.partition(" ")[0] for row in before} == set(TABLES)
    await execute(played, *damage)
    told: list[RebuildProgress] = []
    assert await rebuilt(played, told) == RebuildProgress(tables=6, done=6)
    assert [progress.done for progress in told] == [1, 2, 3, 4, 5, 6]
    assert await rows(played) == before


async def test_broken_off_and_begun_again_it_ends_right(played: LobbyServer) -> None:
    before = await rows(played)
    await execute(played, "DELETE FROM game_outcome", "UPDATE week_statistics SET points = 1000000")

    def break_off(progress: RebuildProgress) -> None:
        if progress.done == 3:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await rebuild_statistics(played.settings.database_url, played.settings.nats_url, break_off)
    assert await rows(played) != before
    await rebuilt(played)
    assert await rows(played) == before


async def test_what_happens_meanwhile_is_counted_once(played: LobbyServer) -> None:
    table, players = await table_of_four(played)
    tables = [table, *[(await table_of_four(played))[0] for _ in range(5)]]
    for each in tables:
        each.game_played(*players, points=(1, 0, 1, 0), places=(1, 2, 1, 2))
        await each.tell()

    async def goes_on() -> None:
        for _ in range(20):
            for each in tables:
                each.game_played(*players, points=(1, 0, 1, 0), places=(1, 2, 1, 2))
                await played.table.tell(*each.milestones[-3:])
        for each in tables:
            await each.until_applied()

    async def is_rebuilt() -> None:
        for _ in range(4):
            await rebuilt(played)

    await asyncio.gather(goes_on(), is_rebuilt())
    for player in players:
        assert (await profile(player))["statistics"][0]["played"] == 126
    before = await rows(played)
    await rebuilt(played)
    assert await rows(played) == before


async def test_a_table_that_the_table_service_does_not_know_is_told_and_left_as_it_was(played: LobbyServer) -> None:
    table, players = await table_of_four(played)
    table.game_played(*players, points=(1, 0, 1, 0), places=(1, 2, 1, 2))
    await table.tell()
    before = await rows(played)
    del played.table.milestones[table.table_id]
    assert (await rebuilt(played)).unknown == 1
    assert await rows(played) == before
