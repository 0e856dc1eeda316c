"""Profiles and leaderboards over real servers. Open this when a profile shows something wrong."""

from __future__ import annotations

import asyncio
import hashlib
import random
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import asyncpg
import msgspec
import pytest
import pytest_asyncio
from aiohttp.test_utils import TestClient, TestServer
from lobby_doubles import LobbyServer, open_lobby
from lobby_games import LONG_AGO, new_table, profile, rows, table_of_four

from darbar_kit.database import Database
from darbar_kit.testing import MakeDatabase, MakeNats, eventually
from darbar_lobby.app import build_app, statements
from darbar_lobby.domain.statistics import Outcome, StatisticsStep, name_of_week, statistics_of, week_of
from darbar_lobby.store.directory import DirectoryStore


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def lobby(make_database: MakeDatabase, make_nats: MakeNats) -> AsyncIterator[LobbyServer]:
    async with open_lobby(make_database, make_nats, requests_a_minute_max=0) as opened:
        yield opened


@pytest.mark.ruling("TL-54")
async def test_tl_54_a_profile_has_each_game_with_what_was_played_won_quit_and_scored(lobby: LobbyServer) -> None:
    table, (ann, bob, cyn, dan) = await table_of_four(lobby)
    table.game_played(ann, bob, cyn, dan, points=(3, 0, 3, 0), places=(1, 2, 1, 2))
    table.game_played(ann, bob, cyn, dan, points=(0, 1, 0, 1), places=(2, 1, 2, 1))
    table.quit(dan)
    await table.tell()
    shown = await profile(dan)
    assert {name: shown[name] for name in ("name", "avatar")} == {
        name: dan.account[name] for name in ("name", "avatar")
    }
    assert shown["statistics"] == [{"game": "court_piece", "played": 2, "won": 1, "quits": 1, "points": 1}]
    last = [(game["outcome"], game["game_number"], game["place"], game["points"]) for game in shown["last"]["games"]]
    assert last == [("quit", 3, None, 0), ("played", 2, 1, 1), ("played", 1, 2, 0)]
    assert {game["replay"] for game in shown["last"]["games"]} == {f"/v1/tables/{table.table_id}/replay"}


@pytest.mark.ruling("TL-54")
async def test_tl_54_a_stranger_sees_a_player_by_handle_and_no_account(lobby: LobbyServer) -> None:
    table, players = await table_of_four(lobby)
    table.at = LONG_AGO
    table.game_played(*players, points=(1, 0, 1, 0), places=(1, 2, 1, 2))
    await table.tell()
    stranger, own = lobby.stranger(), await profile(players[0])
    assert own["handle"] == hashlib.sha256(bytes.fromhex(players[0].account["id"])).hexdigest()[:20]
    seen = await stranger.get(f"/v1/players/{own['handle']}")
    assert (seen.status, seen.body) == (200, own)
    week = await stranger.get(f"/v1/leaderboards/court_piece?week={name_of_week(week_of(LONG_AGO))}")
    games = await stranger.get(f"/v1/players/{own['handle']}/games")
    said = msgspec.json.encode([seen.body, week.body, games.body]).decode()
    assert own["handle"] in said
    for player in players:
        assert player.account["id"] not in said
    assert (await stranger.get(f"/v1/players/{players[0].account['id']}")).code == "player_unknown"


@pytest.mark.parametrize("handle", ["0" * 20, "0" * 19, "x", "%F0%9F%82%A1", "0" * 5000])
async def test_nobody_is_found_by_what_is_no_handle(lobby: LobbyServer, handle: str) -> None:
    for path in (f"/v1/players/{handle}", f"/v1/players/{handle}/games"):
        reply = await lobby.stranger().get(path)
        assert (reply.status, reply.code) == (404, "player_unknown")


async def test_games_at_private_tables_are_shown_to_who_played_them_alone(lobby: LobbyServer) -> None:
    table, players = await table_of_four(lobby, visibility="private")
    table.game_played(*players, points=(1, 0, 1, 0), places=(1, 2, 1, 2))
    await table.tell()
    own = await profile(players[1])
    seen = (await lobby.stranger().get(f"/v1/players/{own['handle']}")).body
    assert (len(own["last"]["games"]), seen["last"]["games"]) == (1, [])
    assert seen["statistics"] == own["statistics"], "they count all the same"


@pytest.mark.ruling("TL-54")
async def test_tl_54_a_leaderboard_ranks_games_won_then_points_and_bots_are_not_on_it(lobby: LobbyServer) -> None:
    table, (ann, bob, cyn, dan) = await table_of_four(lobby)
    table.at = LONG_AGO + timedelta(days=7)
    table.game_played(ann, bob, None, dan, points=(4, 1, 9, 1), places=(1, 3, 2, 3))
    table.game_played(cyn, bob, None, dan, points=(2, 5, 9, 5), places=(1, 2, 4, 2))
    table.quit(ann)
    await table.tell()
    await ann.ask("PATCH", "/v1/me", {"name": "Renamed Ann"})
    path = "/v1/leaderboards/court_piece?week=2020-W03"
    board = (await lobby.stranger().get(path)).body
    assert (board["game"], board["week"], board["next"]) == ("court_piece", "2020-W03", None)
    found = [
        (leader["place"], leader["name"], leader["played"], leader["won"], leader["points"])
        for leader in board["leaders"]
    ]
    equal = sorted([(3, bob.account["name"], 2, 0, 6), (3, dan.account["name"], 2, 0, 6)])
    assert found[:2] == [(1, "Renamed Ann", 1, 1, 4), (2, cyn.account["name"], 1, 1, 2)]
    assert sorted(found[2:]) == equal
    first = (await lobby.stranger().get(f"{path}&limit=3")).body
    rest = (await lobby.stranger().get(f"{path}&limit=3&after={first['next']}")).body
    assert first["leaders"] + rest["leaders"] == board["leaders"]
    assert [leader["place"] for leader in rest["leaders"]] == [3]
    for empty in ("/v1/leaderboards/court_piece?week=2020-W04", "/v1/leaderboards/king_short?week=2020-W03"):
        assert (await lobby.stranger().get(empty)).body["leaders"] == []


async def test_a_leaderboard_is_of_this_week_unless_another_is_asked_for(lobby: LobbyServer) -> None:
    table, players = await table_of_four(lobby)
    this_week, last_week = (name_of_week(week_of(table.at - timedelta(days=days))) for days in (0, 7))
    table.game_played(*players, points=(1, 0, 1, 0), places=(1, 2, 1, 2))
    await table.tell()
    board = (await lobby.stranger().get("/v1/leaderboards/court_piece?limit=100")).body
    assert board["week"] in (this_week, name_of_week(week_of(datetime.now(UTC))))
    handle = (await profile(players[0]))["handle"]
    named = (await lobby.stranger().get(f"/v1/leaderboards/court_piece?week={this_week}&limit=100")).body
    assert handle in {leader["handle"] for leader in named["leaders"]}
    before = (await lobby.stranger().get(f"/v1/leaderboards/court_piece?week={last_week}&limit=100")).body
    assert handle not in {leader["handle"] for leader in before["leaders"]}


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/v1/leaderboards/whist", 422, "game_unknown"),
        *(
            (f"/v1/leaderboards/court_piece?{query}", 400, "query_invalid")
            for query in ("week=2026-W54", "week=2026-48", "week=", "limit=0", "limit=101", "after=-1", "after=1000")
        ),
    ],
)
async def test_a_leaderboard_that_there_is_not_is_refused(
    lobby: LobbyServer, path: str, status: int, code: str
) -> None:
    reply = await lobby.stranger().get(path)
    assert (reply.status, reply.code) == (status, code)


async def test_a_players_games_come_in_pages(lobby: LobbyServer) -> None:
    table, players = await table_of_four(lobby)
    for _ in range(7):
        table.game_played(*players, points=(1, 0, 1, 0), places=(1, 2, 1, 2))
    await table.tell()
    for path in ("/v1/me/games", f"/v1/players/{(await profile(players[0]))['handle']}/games"):
        numbers: list[int] = []
        after = ""
        while True:
            page = (await players[0].get(f"{path}?limit=3{after}")).body
            numbers += [game["game_number"] for game in page["games"]]
            if page["next"] is None:
                break
            after = f"&after={page['next']}"
        assert numbers == [7, 6, 5, 4, 3, 2, 1]
    for wrong in ("x", "1_2_3", "99999999999999999999", f"1_{uuid.uuid4()}_99999999999"):
        assert (await players[0].get(f"/v1/me/games?after={wrong}")).code == "query_invalid"


@pytest.mark.parametrize("seed", range(5))
async def test_milestones_in_any_order_and_twice_give_the_same_rows(lobby: LobbyServer, seed: int) -> None:
    dice = random.Random(seed)
    table, players = await table_of_four(lobby)
    for _ in range(dice.randint(1, 3)):
        if dice.random() < 0.5:
            table.quit(dice.choice(players))
        if dice.random() < 0.3:
            table.note("game_ended", game=table.game, reason="voided")
            table.game += 1
        table.game_played(*dice.sample([*players, None], 4), points=(2, 0, 1, 0), places=(1, 2, 1, 2))
    await table.tell(dice)
    expected = statistics_of(table.milestones).outcomes
    connection = await asyncpg.connect(lobby.database.url)
    found = await connection.fetch(
        "SELECT number, account_id, game_number, kind, at, place, points FROM game_outcome WHERE table_id = $1",
        table.table_id,
    )
    await connection.close()
    by_milestone = sorted((one.number, one.account_id) for one in expected)
    assert sorted((row["number"], row["account_id"]) for row in found) == by_milestone, seed
    assert {tuple(row) for row in found} == {msgspec.structs.astuple(one) for one in expected}, seed
    before = await rows(lobby)
    await table.tell(dice)
    assert await rows(lobby) == before, "told once more"
    for player in players:
        own = [one for one in expected if one.account_id == player.account["id"]]
        counts = (await profile(player))["statistics"]
        assert (counts[0]["played"] + counts[0]["quits"] if counts else 0) == len(own), seed


async def test_two_lobbies_that_count_for_the_same_players_at_once_lose_nothing(
    make_database: MakeDatabase, make_nats: MakeNats
) -> None:
    async with open_lobby(make_database, make_nats) as lobby, TestClient(TestServer(build_app(lobby.settings))):
        players = [await lobby.guest() for _ in range(4)]
        tables = [await new_table(lobby) for _ in range(12)]
        for number, table in enumerate(tables):
            for _ in range(4):
                # In another order of seats at every table, so that none waits for the other.
                seated = players[number % 4 :] + players[: number % 4]
                table.game_played(*seated, points=(1, 1, 1, 1), places=(1, 1, 1, 1))
        told = [milestone for table in tables for milestone in table.milestones]
        random.Random(3).shuffle(told)
        await lobby.table.tell(*told)
        for table in tables:
            await table.until_applied()
        for player in players:
            assert (await profile(player))["statistics"] == [
                {"game": "court_piece", "played": 48, "won": 48, "quits": 0, "points": 48}
            ]


async def test_who_counts_waits_for_who_counts_for_the_same_player(lobby: LobbyServer) -> None:
    tables = [await new_table(lobby) for _ in range(2)]
    player = tables[0].host
    step = StatisticsStep(None, (Outcome(1, player.account["id"], 1, "played", LONG_AGO, place=1, points=1),))
    database = await Database.open(lobby.settings.database_url, size_max=2, unsafe_storage=True)
    directory = DirectoryStore(database, statements())

    async def second() -> None:
        async with directory.changing(tables[1].table_id) as change:
            await change.statistics.write("king_short", step)

    async with directory.changing(tables[0].table_id) as change:
        await change.statistics.write("king_short", step)
        await change.statistics.recount()
        waiting = asyncio.create_task(second())
        # Counted, and not stored yet: the other one must not count without it.
        await eventually(lambda: somebody_waits(lobby))
    await waiting
    await database.close()
    assert [(one["game"], one["played"], one["points"]) for one in (await profile(player))["statistics"]] == [
        ("king_short", 2, 2)
    ]


async def somebody_waits(lobby: LobbyServer) -> bool:
    """For a lock in this database."""
    connection = await asyncpg.connect(lobby.database.url)
    waits: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database())"
    )
    await connection.close()
    return waits
