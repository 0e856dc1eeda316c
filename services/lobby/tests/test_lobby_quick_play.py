"""Quick play: who is sent where, and that those who seek the same meet. Open this when people sit apart."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Any

import asyncpg
import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from lobby_doubles import PROCESS, Caller, LobbyServer, Reply, until_free_seats

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused
from darbar_kit.testing import eventually
from darbar_lobby.app import build_app

Client = TestClient[web.Request, web.Application]

SEATS = 4
RACES = 100
RACES_SEED = 7
# Each race seeks another game and bet, so that no race finds the tables of another.
RACE_GAMES = ("court_piece", "king_20")
RACE_BETS_COINS = range(100, 1000)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def other(lobby: LobbyServer) -> AsyncIterator[Client]:
    """A second lobby over the same database and bus."""
    async with TestClient(TestServer(build_app(lobby.settings))) as client:
        yield client


async def quick_play(player: Caller, *, bet_coins: int, game: str = "court_piece", **headers: str) -> Reply:
    return await player.post("/v1/quick-play", {"game": game, "bet_coins": bet_coins}, **headers)


async def all_at_once(players: Sequence[Caller], *, bet_coins: int, game: str = "court_piece") -> list[Reply]:
    return await asyncio.gather(*(quick_play(player, bet_coins=bet_coins, game=game) for player in players))


async def run(lobby: LobbyServer, statement: str, *values: Any) -> None:
    connection = await asyncpg.connect(lobby.database.url)
    await connection.execute(statement, *values)
    await connection.close()


async def let_places_go(lobby: LobbyServer) -> None:
    """As if everybody's time to sit down were over."""
    await run(lobby, "UPDATE quick_play_place SET held_until = now()")


async def sit(lobby: LobbyServer, player: Caller, table_id: str, seat: int) -> None:
    """As the table does when somebody takes a seat."""
    lobby.table.seat(table_id, seat, player.person)
    free = sum(person is None for person in lobby.table.tables[table_id].seats)
    lobby.table.note(table_id, "seat_taken", free_seats=free, seat=seat, account_id=player.account["id"])
    await lobby.table.tell(*lobby.table.milestones[table_id])
    await until_free_seats(lobby, player, table_id, count=free)


async def host_alone(lobby: LobbyServer, *, bet_coins: int) -> tuple[Caller, str]:
    """Somebody at a public table of their own."""
    host = await lobby.guest()
    made = await host.make_table(lobby.key(), bet_coins=bet_coins)
    return host, str(made.body["table_id"])


@pytest.mark.ruling("TL-7")
async def test_quick_play_opens_a_public_table_when_there_is_none(lobby: LobbyServer) -> None:
    player = await lobby.guest()
    played = await quick_play(player, bet_coins=25)
    assert (played.status, played.body["made"]) == (201, True)
    terms = lobby.table.asked[-1].terms
    assert (terms.visibility, terms.bet_coins, terms.bot_level) == ("public", 25, "normal")
    again = await quick_play(player, bet_coins=25)
    assert (again.status, again.body["made"]) == (200, False)
    assert again.body["table_id"] == played.body["table_id"]
    assert again.body["socket"]["direct"] == f"/play/at/{PROCESS}/tables/{played.body['table_id']}/socket"


@pytest.mark.ruling("TL-7")
async def test_quick_play_finds_the_fullest_table_that_has_a_free_seat(lobby: LobbyServer) -> None:
    emptier = (await host_alone(lobby, bet_coins=26))[1]
    fuller = (await host_alone(lobby, bet_coins=26))[1]
    await sit(lobby, await lobby.guest(), fuller, 2)
    assert (await quick_play(await lobby.guest(), bet_coins=26)).body["table_id"] == fuller
    for seat in (1, 3):
        # The directory does not know yet that it is full, but its owner does.
        lobby.table.seat(fuller, seat, None, bot=True)
    assert (await quick_play(await lobby.guest(), bet_coins=26)).body["table_id"] == emptier


async def test_quick_play_prefers_a_table_that_waits_to_one_that_plays(lobby: LobbyServer) -> None:
    playing = (await host_alone(lobby, bet_coins=27))[1]
    lobby.table.note(playing, "round_started", free_seats=3, game=1, round=1, accounts=(None,) * SEATS)
    waiting = (await host_alone(lobby, bet_coins=27))[1]
    await lobby.table.tell(*lobby.table.milestones[playing])
    await eventually(lambda: knows(lobby, playing, 2))
    assert (await quick_play(await lobby.guest(), bet_coins=27)).body["table_id"] == waiting


async def knows(lobby: LobbyServer, table_id: str, number: int) -> bool:
    return await lobby.number_of(table_id) == number


async def test_quick_play_says_when_one_sits_elsewhere(lobby: LobbyServer) -> None:
    player, table_id = await host_alone(lobby, bet_coins=28)
    answered = await quick_play(player, bet_coins=29)
    assert (answered.status, answered.code) == (409, "seated_elsewhere")
    assert answered.body["details"] == {"table_id": table_id}
    lobby.table.seat(table_id, 0, None)
    assert (await quick_play(player, bet_coins=29)).status == 201, "left a moment ago"


async def test_quick_play_of_an_unknown_game_is_refused(lobby: LobbyServer) -> None:
    player = await lobby.guest()
    answered = await player.post("/v1/quick-play", {"game": "snap", "bet_coins": 100})
    assert (answered.status, answered.code) == (422, "game_unknown")


async def test_a_private_table_is_nobodys_goal(lobby: LobbyServer) -> None:
    hidden = await (await lobby.guest()).make_table(lobby.key(), bet_coins=30, visibility="private")
    played = await quick_play(await lobby.guest(), bet_coins=30)
    assert (played.status, played.body["table_id"] == hidden.body["table_id"]) == (201, False)


async def test_those_who_were_sent_to_a_table_hold_a_place_there_for_a_moment(lobby: LobbyServer) -> None:
    table_id = (await host_alone(lobby, bet_coins=31))[1]
    sent = [await lobby.guest() for _ in range(3)]
    for player in sent:
        assert (await quick_play(player, bet_coins=31)).body["table_id"] == table_id
    late = await lobby.guest()
    elsewhere = await quick_play(late, bet_coins=31)
    assert (elsewhere.status, elsewhere.body["made"]) == (201, True)
    assert (await quick_play(sent[0], bet_coins=31)).body["table_id"] == table_id, "one's own place is kept"
    await sit(lobby, sent[0], table_id, 2)
    assert (await quick_play(await lobby.guest(), bet_coins=31)).body["table_id"] == elsewhere.body["table_id"]
    await let_places_go(lobby)
    assert (await quick_play(await lobby.guest(), bet_coins=31)).body["table_id"] == table_id


async def test_the_same_key_gets_the_table_that_it_made(lobby: LobbyServer) -> None:
    player, key = await lobby.guest(), lobby.key()
    first = await quick_play(player, bet_coins=32, Idempotency_Key=key)
    await run(lobby, "UPDATE directory SET state = 'asked' WHERE table_id = $1", first.body["table_id"])
    await run(lobby, "DELETE FROM seat_holder WHERE table_id = $1", first.body["table_id"])
    again = await quick_play(player, bet_coins=32, Idempotency_Key=key)
    assert (again.status, again.body) == (201, first.body)


async def test_who_is_sent_to_a_table_that_is_being_made_waits_for_it(lobby: LobbyServer, other: Client) -> None:
    maker, follower = await lobby.guest(), await lobby.guest()
    lobby.table.gate.clear()
    making = asyncio.create_task(quick_play(maker, bet_coins=33))
    await eventually(lambda: lobby.table.asked and lobby.table.asked[-1].host == maker.person)
    following = asyncio.create_task(quick_play(follower.at(other), bet_coins=33))
    await eventually(lambda: holds_a_place(lobby, follower))
    lobby.table.gate.set()
    made, found = await making, await following
    assert (made.status, found.status) == (201, 200)
    assert (found.body["table_id"], found.body["made"]) == (made.body["table_id"], False)
    assert found.body["code"] is None
    assert [asked.host for asked in lobby.table.asked].count(maker.person) == 1


async def holds_a_place(lobby: LobbyServer, player: Caller) -> bool:
    connection = await asyncpg.connect(lobby.database.url)
    held = await connection.fetchval(
        "SELECT count(*) FROM quick_play_place WHERE account_id = $1", player.account["id"]
    )
    await connection.close()
    return bool(held)


async def test_who_is_sent_to_a_table_whose_maker_has_died_makes_it(lobby: LobbyServer) -> None:
    maker, follower = await lobby.guest(), await lobby.guest()
    made = await quick_play(maker, bet_coins=34)
    table_id = made.body["table_id"]
    # As if the maker's lobby had died before it asked.
    await run(
        lobby, "UPDATE idempotency SET status = NULL, answer = NULL, making_until = now() WHERE table_id = $1", table_id
    )
    await run(lobby, "UPDATE directory SET state = 'asked' WHERE table_id = $1", table_id)
    await run(lobby, "DELETE FROM seat_holder WHERE table_id = $1", table_id)
    found = await quick_play(follower, bet_coins=34)
    assert (found.status, found.body["table_id"]) == (200, table_id)
    assert [asked.table_id for asked in lobby.table.asked].count(table_id) == 2


async def test_who_is_sent_to_a_table_that_is_refused_to_its_maker_makes_another(lobby: LobbyServer) -> None:
    maker, follower = await lobby.guest(), await lobby.guest()
    lobby.table.refusals = [Refused(Reason.SHORT_OF_COINS)]
    lobby.table.gate.clear()
    making = asyncio.create_task(quick_play(maker, bet_coins=35))
    await eventually(lambda: lobby.table.asked and lobby.table.asked[-1].host == maker.person)
    following = asyncio.create_task(quick_play(follower, bet_coins=35))
    await eventually(lambda: holds_a_place(lobby, follower))
    lobby.table.gate.set()
    refused, made = await making, await following
    assert (refused.status, refused.code) == (409, "short_of_coins")
    assert (made.status, made.body["made"]) == (201, True)


@pytest.mark.ruling("TL-7")
@pytest.mark.ruling("TL-7")
@pytest.mark.ruling("TL-8")
async def test_tl_8_nobody_is_sent_to_a_table_that_keeps_them_out(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    tables = [(await host_alone(lobby, bet_coins=43))[1] for _ in range(2)]
    assert (await quick_play(guest, bet_coins=43)).body["table_id"] == tables[0]
    # They sat down, and were sent away; then from the next one too.
    lobby.table.kept_out.add((tables[0], guest.account["id"]))
    assert (await quick_play(guest, bet_coins=43)).body["table_id"] == tables[1]
    lobby.table.kept_out.add((tables[1], guest.account["id"]))
    made = await quick_play(guest, bet_coins=43)
    assert (made.status, made.body["table_id"] in tables) == (201, False)
    assert (await quick_play(await lobby.guest(), bet_coins=43)).body["table_id"] == tables[0]


async def test_a_host_who_sits_alone_and_asks_again_is_brought_to_an_older_table(lobby: LobbyServer) -> None:
    _, older = await host_alone(lobby, bet_coins=36)
    host, own = await host_alone(lobby, bet_coins=36)
    moved = await quick_play(host, bet_coins=36)
    assert (moved.status, moved.body["table_id"], moved.body["made"]) == (200, older, False)
    assert own not in lobby.table.tables, "it was left, and closed"
    await lobby.table.tell(*lobby.table.milestones[own])

    async def sits_nowhere() -> bool:
        return (await host.get("/v1/me")).body["table"] is None

    await eventually(sits_nowhere)
    assert (await quick_play(host, bet_coins=36)).body["table_id"] == older


async def test_the_host_of_the_oldest_table_stays(lobby: LobbyServer) -> None:
    host, oldest = await host_alone(lobby, bet_coins=37)
    await host_alone(lobby, bet_coins=37)
    assert (await quick_play(host, bet_coins=37)).body["table_id"] == oldest
    assert oldest in lobby.table.tables


async def test_a_host_to_whom_somebody_is_on_the_way_stays(lobby: LobbyServer) -> None:
    older_host, older = await host_alone(lobby, bet_coins=38)
    host, own = await host_alone(lobby, bet_coins=38)
    lobby.table.seat(older, 0, None)
    lobby.table.seat(older, 0, older_host.person)
    for seat in (1, 2, 3):
        lobby.table.seat(older, seat, None, bot=True)
    assert (await quick_play(await lobby.guest(), bet_coins=38)).body["table_id"] == own
    for seat in (1, 2, 3):
        lobby.table.seat(older, seat, None)
    assert (await quick_play(host, bet_coins=38)).body["table_id"] == own
    await let_places_go(lobby)
    assert (await quick_play(host, bet_coins=38)).body["table_id"] == older


async def test_a_host_with_company_stays(lobby: LobbyServer) -> None:
    await host_alone(lobby, bet_coins=39)
    host, own = await host_alone(lobby, bet_coins=39)
    lobby.table.seat(own, 2, (await lobby.guest()).person)
    assert (await quick_play(host, bet_coins=39)).body["table_id"] == own
    lobby.table.seat(own, 2, None, bot=True)
    assert (await quick_play(host, bet_coins=39)).body["table_id"] == own


async def test_a_host_whom_the_table_does_not_let_go_stays_and_is_found_again(lobby: LobbyServer) -> None:
    _, older = await host_alone(lobby, bet_coins=40)
    host, own = await host_alone(lobby, bet_coins=40)
    lobby.table.stays = True
    answered = await quick_play(host, bet_coins=40)
    lobby.table.stays = False
    assert answered.body["table_id"] == own
    assert not await holds_a_place(lobby, host)
    for seat in (1, 2, 3):
        lobby.table.seat(older, seat, None, bot=True)
    assert (await quick_play(await lobby.guest(), bet_coins=40)).body["table_id"] == own


async def test_nobody_is_sent_to_a_table_that_its_host_is_leaving(lobby: LobbyServer) -> None:
    _, older = await host_alone(lobby, bet_coins=41)
    host, own = await host_alone(lobby, bet_coins=41)
    assert (await quick_play(host, bet_coins=41)).body["table_id"] == older
    # The directory has not heard yet that it is closed, and an owner may not know it any more.
    players = [await lobby.guest() for _ in range(3)]
    answers = await all_at_once(players, bet_coins=41)
    assert own not in {answer.body["table_id"] for answer in answers}


async def test_of_hosts_alone_who_all_ask_at_once_all_but_the_oldest_move(lobby: LobbyServer, other: Client) -> None:
    hosts = [await host_alone(lobby, bet_coins=42) for _ in range(SEATS)]
    callers = [host if number % 2 else host.at(other) for number, (host, _) in enumerate(hosts)]
    answers = await all_at_once(callers, bet_coins=42)
    assert {answer.status for answer in answers} == {200}
    rounds = 1
    while len({answer.body["table_id"] for answer in answers}) > 1:
        rounds += 1
        assert rounds <= SEATS
        answers = await all_at_once(callers, bet_coins=42)
    assert {answer.body["table_id"] for answer in answers} == {hosts[0][1]}


@pytest.mark.ruling("TL-7")
@pytest.mark.parametrize("count", [2, 4, 5, 8, 9])
async def test_those_who_seek_the_same_at_once_meet(lobby: LobbyServer, other: Client, count: int) -> None:
    players = [await lobby.guest() for _ in range(count)]
    callers = [player if number % 2 else player.at(other) for number, player in enumerate(players)]
    check_meeting(await all_at_once(callers, bet_coins=50 + count))


def check_meeting(answers: Sequence[Reply]) -> None:
    """As few tables as hold them, each made once, and never more people than seats."""
    assert {answer.status for answer in answers} <= {200, 201}, [answer.body for answer in answers]
    sent = Counter(answer.body["table_id"] for answer in answers)
    made = Counter(answer.body["table_id"] for answer in answers if answer.body["made"])
    assert len(sent) == -(-len(answers) // SEATS), sent
    assert max(sent.values()) <= SEATS, sent
    assert set(made) == set(sent)
    assert set(made.values()) == {1}


async def test_in_seeded_races_those_who_seek_the_same_meet(lobby: LobbyServer, other: Client) -> None:
    sought = itertools.islice(itertools.product(RACE_GAMES, RACE_BETS_COINS), RACES)
    for number, (game, bet_coins) in enumerate(sought):
        dice = random.Random(RACES_SEED + number)
        players = [await lobby.guest() for _ in range(dice.randint(2, 6))]
        # Some ask twice, as impatient people do.
        asking = [*players, *(player for player in players if dice.random() < 0.2)]
        callers = [dice.choice((player, player.at(other))) for player in asking]
        answers = await all_at_once(callers, bet_coins=bet_coins, game=game)
        assert {answer.status for answer in answers} <= {200, 201}, (number, [answer.body for answer in answers])
        sent = {(player.account["id"], answer.body["table_id"]) for player, answer in zip(asking, answers, strict=True)}
        tables = Counter(table_id for _, table_id in sent)
        assert sum(tables.values()) == len(players), (number, "asking twice leads to the same table")
        assert (len(tables), max(tables.values()) <= SEATS) == (-(-len(players) // SEATS), True), (number, tables)


@pytest.mark.ruling("TL-7")
@pytest.mark.parametrize(("bet_coins", "status"), [(71, 200), (72, 409)])
async def test_a_seat_of_which_only_its_table_knows_yet_is_found_when_it_is_what_is_sought(
    lobby: LobbyServer, bet_coins: int, status: int
) -> None:
    _, table_id = await host_alone(lobby, bet_coins=71)
    player = await lobby.guest()
    for seat in range(1, SEATS):
        await sit(lobby, await lobby.guest(), table_id, seat)
    lobby.table.seat(table_id, SEATS - 1, player.person)  # No milestone has told of it.
    lobby.table.refusals = [Refused(Reason.SEATED_ELSEWHERE, "no", {"table_id": table_id})]
    played = await quick_play(player, bet_coins=bet_coins)
    assert played.status == status
    assert status != 200 or (played.body["table_id"], played.body["made"]) == (table_id, False)
