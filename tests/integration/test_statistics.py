"""What players have played, counted over the whole product, and counted again by `darbar rebuild statistics`."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import msgspec
import pytest
import pytest_asyncio
from whole_games import BACKOFF, SETTINGS, Game, game_of, new_folder

from darbar_client import Darbar
from darbar_client.demo.local_server import LocalServer
from darbar_client.demo.playing import Participant, all_leave, joined, seated
from darbar_client.proofs.verify import verify_chain, verify_deals
from darbar_contracts.api import GameStatistics, Profile
from darbar_contracts.tables import alias_of
from darbar_kit.testing import eventually
from darbar_local.servers import urls_of_running
from darbar_local.settings import GivenServers, LobbyUrls
from darbar_local.testing import run
from darbar_rules.testing import at_least

TABLES = ("game_under_way", "game_outcome", "week_statistics")


class Ended(msgspec.Struct, frozen=True):
    """How a game has ended, by its log."""

    places: tuple[int, ...]
    totals: tuple[int, ...]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def own_folder(stack_folder: Path) -> Path:
    return new_folder(stack_folder, "statistics")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def own_darbar(own_folder: Path) -> AsyncIterator[Darbar]:
    """Over a server of its own, whose rows are only ours."""
    server = LocalServer(own_folder, settings=SETTINGS)
    await server.start()
    try:
        async with Darbar(server.url, backoff=BACKOFF) as darbar:
            yield darbar
    finally:
        await server.stop()


@pytest.mark.ruling("TL-54")
@pytest.mark.ruling("TL-28")
async def test_tl_54_games_are_on_profiles_and_leaderboards_and_rebuilding_gives_the_same_rows(
    own_darbar: Darbar, own_folder: Path
) -> None:
    games = [await game_of(own_darbar, people=people, seed=people) for people in (4, 2, 1)]
    for game in games:
        await game.play()
        await all_leave(game.participants)
    for game in games[:2]:
        await check_profiles(game)
    await check_leaderboard(games)
    alone = await games[2].participants[0].player.profile()
    assert (alone.statistics, alone.last.games) == ((), ()), "a game against bots alone counts for nothing"

    before = await rows(own_folder)
    assert {row.partition(" ")[0] for row in before} == {"game_outcome", "week_statistics"}
    assert await rebuild(own_folder) == "Statistics made again from the logs of 3 tables"
    assert await rows(own_folder) == before
    await execute(own_folder, "DELETE FROM game_outcome; UPDATE week_statistics SET won = 0, points = -1")
    assert await rows(own_folder) != before
    await rebuild(own_folder)
    assert await rows(own_folder) == before


@pytest.mark.ruling("TL-54")
async def test_tl_54_a_stranger_checks_the_chain_of_a_replay_without_a_players_account(own_darbar: Darbar) -> None:
    players = [await own_darbar.guest() for _ in range(2)]
    ref = await players[0].create_table("court_piece", visibility="public")
    game = Game(await joined(players, ref, random.Random(2)))
    await seated(game.participants)
    await game.play()
    await all_leave(game.participants)
    stranger = await own_darbar.guest()
    replay = await stranger.replay(ref.table_id)
    report = verify_chain(replay)
    assert report.holds
    assert report.withheld <= 1, "only of the last bag of flags"
    assert all(not deal.differences for deal in verify_deals(replay))
    text = msgspec.json.encode(replay).decode()
    for player in players:
        assert player.account.id not in text
        assert alias_of(ref.table_id, player.account.id) in text
    naming = [event for event in replay.events if event.body is not None and '"account_id":"' in event.body]
    for event in at_least(2, naming):
        other = (event.body or "").replace('"account_id":"', '"account_id":"0')
        changed = msgspec.structs.replace(event, body=other)
        events = (*replay.events[: event.version - 1], changed, *replay.events[event.version :])
        assert verify_chain(msgspec.structs.replace(replay, events=events)).wrong_version == event.version


async def check_profiles(game: Game) -> None:
    """Everybody's is what the log says."""
    table_id = game.table.table_id
    replay = await game.participants[0].player.replay(table_id)
    [ended] = [event for event in replay.events if event.kind == "game_ended"]
    result = msgspec.json.decode(ended.body or "", type=Ended)
    for participant in game.participants:
        profile, seat = await counted(participant), seat_of(participant)
        won = int(result.places[seat] == 1)
        assert profile.statistics == (GameStatistics("court_piece", 1, won, 0, result.totals[seat]),)
        [last] = profile.last.games
        assert (last.table_id, last.game_number, last.place) == (table_id, 1, result.places[seat])
        assert last.replay == f"/v1/tables/{table_id}/replay"
        stranger = await game.participants[0].player.profile(profile.handle)
        assert stranger == msgspec.structs.replace(profile, last=stranger.last)
        assert stranger.last.games == (), "its table was private"


async def check_leaderboard(games: list[Game]) -> None:
    """Everybody who played with somebody, and no bot."""
    reader = games[0].participants[0].player
    board = await reader.leaderboard("court_piece")
    profiles = [await participant.player.profile() for game in games[:2] for participant in game.participants]
    assert sorted(leader.handle for leader in board.leaders) == sorted(profile.handle for profile in profiles)
    assert [leader.won for leader in board.leaders] == sorted((leader.won for leader in board.leaders), reverse=True)
    assert (await reader.leaderboard("court_piece", week="2020-W01")).leaders == ()


def seat_of(participant: Participant) -> int:
    """Where the last frame found them."""
    seat, _ = participant.seen[-1]
    assert seat is not None
    return seat


async def counted(participant: Participant) -> Profile:
    """As soon as the milestones have come."""

    async def is_there() -> bool:
        return bool((await participant.player.profile()).statistics)

    await eventually(is_there)
    return await participant.player.profile()


async def rebuild(folder: Path) -> str:
    """Runs the command beside the server; its last line."""
    async with run("rebuild", "statistics", "--data", str(folder / "data"), variables={}) as command:
        code, complaints = await command.end()
        assert code == 0, complaints
        return command.lines[-1]


async def rows(folder: Path) -> list[str]:
    """Every row of the statistics as the database writes it."""
    connection = await connect(folder)
    found = [
        f"{table} {row['text']}"
        for table in TABLES
        for row in await connection.fetch(f"SELECT {table}::text AS text FROM {table} ORDER BY 1")
    ]
    await connection.close()
    return found


async def execute(folder: Path, statement: str) -> None:
    connection = await connect(folder)
    await connection.execute(statement)
    await connection.close()


async def connect(folder: Path) -> asyncpg.Connection[asyncpg.Record]:
    """As the lobby."""
    return await asyncpg.connect(urls_of_running(folder / "data", GivenServers(), LobbyUrls()).database_url)
