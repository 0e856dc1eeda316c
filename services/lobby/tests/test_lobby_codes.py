"""Finding tables: by code, invite and list. Open this when people don't find each other."""

from __future__ import annotations

import asyncio
import uuid

import asyncpg
import pytest
from lobby_doubles import LobbyServer, until_free_seats

from darbar_contracts.tables import handle_of
from darbar_kit.testing import eventually


async def test_a_code_shows_the_table_and_its_socket(lobby: LobbyServer) -> None:
    host = await lobby.guest()
    made = await host.make_table(lobby.key(), visibility="private")
    seen = await lobby.stranger().get(f"/v1/codes/{made.body['code']}")
    assert seen.status == 200
    assert seen.body["table"]["table_id"] == made.body["table_id"]
    assert seen.body["table"]["seats"][0] == {
        "handle": handle_of(host.account["id"]),
        "name": host.account["name"],
        "avatar": host.account["avatar"],
    }
    assert (seen.body["fresh"], seen.body["free_seats"]) == (True, 3)
    assert seen.body["socket"] == made.body["socket"]
    assert (seen.body["code"], seen.body["invite_url"]) == (None, None), "who has the code needs no invite"


async def test_an_invite_shows_the_table(lobby: LobbyServer) -> None:
    host = await lobby.guest()
    made = await host.make_table(lobby.key(), visibility="private")
    seen = await lobby.stranger().get(f"/v1/invites/{made.body['invite_token']}")
    assert (seen.status, seen.body["table"]["table_id"]) == (200, made.body["table_id"])


@pytest.mark.parametrize("token", ["unknown", "x" * 100])
async def test_an_unknown_invite_is_refused(lobby: LobbyServer, token: str) -> None:
    answered = await lobby.stranger().get(f"/v1/invites/{token}")
    assert (answered.status, answered.code) == (404, "invite_unknown")


async def test_the_directory_answers_for_an_owner_that_does_not(lobby: LobbyServer) -> None:
    host, guest = await lobby.guest(), await lobby.guest()
    made = await host.make_table(lobby.key())
    table_id = made.body["table_id"]
    lobby.table.note(table_id, "seat_taken", free_seats=2, seat=2, account_id=guest.account["id"])
    lobby.table.note(table_id, "seat_taken", free_seats=1, seat=1, account_id=None)
    await lobby.table.tell(*lobby.table.milestones[table_id])
    await until_free_seats(lobby, host, table_id, count=1)
    lobby.table.looks_fail = True
    seen = await lobby.stranger().get(f"/v1/codes/{made.body['code']}")
    lobby.table.looks_fail = False
    assert (seen.status, seen.body["fresh"], seen.body["free_seats"]) == (200, False, 1)
    names = [seat and seat["name"] for seat in seen.body["table"]["seats"]]
    assert names == [host.account["name"], None, guest.account["name"], None]
    assert seen.body["table"]["bots"] == [1]
    assert seen.body["table"]["phase"] == "unknown"
    assert seen.body["socket"]["direct"] is None


@pytest.mark.parametrize("code", ["000", "abcdef", "1234567", "١٢٣٤٥٦"])
async def test_what_is_no_code_is_unknown(lobby: LobbyServer, code: str) -> None:
    answered = await lobby.stranger().get(f"/v1/codes/{code}")
    assert (answered.status, answered.code) == (404, "code_unknown")


@pytest.mark.ruling("TL-3")
async def test_a_code_lives_only_while_a_seat_is_free(lobby: LobbyServer) -> None:
    host = await lobby.guest()
    made = await host.make_table(lobby.key())
    table_id, code = made.body["table_id"], made.body["code"]
    for seat in (1, 2, 3):
        lobby.table.note(table_id, "seat_taken", free_seats=3 - seat, seat=seat, account_id=None)
    await lobby.table.tell(*lobby.table.milestones[table_id])
    await until_free_seats(lobby, host, table_id, count=0)
    assert (await lobby.stranger().get(f"/v1/codes/{code}")).status == 404
    # Stood up before the deal: people may still have the code, so it is the same one.
    await lobby.table.tell(lobby.table.note(table_id, "seat_freed", free_seats=1, seat=3, account_id=None))
    await until_free_seats(lobby, host, table_id, count=1)
    assert (await lobby.stranger().get(f"/v1/codes/{code}")).status == 200
    await lobby.table.tell(lobby.table.note(table_id, "seat_taken", free_seats=0, seat=3, account_id=None))
    await lobby.table.tell(lobby.table.note(table_id, "round_started", free_seats=0, game=1, round=1))
    await until_free_seats(lobby, host, table_id, count=0)
    # Freed by the deal: the next one is another.
    await lobby.table.tell(lobby.table.note(table_id, "seat_freed", free_seats=1, seat=3, account_id=None))
    await until_free_seats(lobby, host, table_id, count=1)
    assert (await lobby.stranger().get(f"/v1/codes/{code}")).code == "code_unknown"
    new_code = (await host.get(f"/v1/tables/{table_id}")).body["code"]
    assert new_code not in (None, code)
    assert (await lobby.stranger().get(f"/v1/codes/{new_code}")).body["table"]["table_id"] == table_id


async def test_a_closed_table_has_neither_code_nor_invite(lobby: LobbyServer) -> None:
    host = await lobby.guest()
    made = await host.make_table(lobby.key())
    table_id = made.body["table_id"]
    lobby.table.note(table_id, "table_closed", free_seats=0, reason="nobody_left")
    await lobby.table.tell(*lobby.table.milestones[table_id])

    async def nobody_sits() -> bool:
        return (await host.get("/v1/me")).body["table"] is None

    await eventually(nobody_sits)
    assert (await lobby.stranger().get(f"/v1/codes/{made.body['code']}")).code == "code_unknown"
    assert (await lobby.stranger().get(f"/v1/invites/{made.body['invite_token']}")).code == "invite_unknown"
    closed = await host.get(f"/v1/tables/{table_id}")
    assert (closed.status, closed.code) == (410, "table_closed")


async def test_ten_codes_a_minute_may_be_looked_up(lobby: LobbyServer) -> None:
    host, looker = await lobby.guest(), lobby.stranger()
    made = await host.make_table(lobby.key())
    looked = [await looker.get(f"/v1/codes/{made.body['code']}") for _ in range(11)]
    assert [answer.status for answer in looked] == [200] * 10 + [429]
    assert looked[-1].code == "too_many_requests"
    assert 0 < int(looked[-1].headers["Retry-After"]) <= 6
    assert (await lobby.stranger().get(f"/v1/codes/{made.body['code']}")).status == 200, "another address may"


async def test_after_three_wrong_codes_an_address_waits(lobby: LobbyServer) -> None:
    guesser = lobby.stranger()
    guessed = [await guesser.get("/v1/codes/00000x") for _ in range(4)]
    assert [answer.status for answer in guessed] == [404, 404, 404, 429]
    assert int(guessed[-1].headers["Retry-After"]) == 5


async def test_ten_wrong_codes_at_once_are_no_more_free(lobby: LobbyServer) -> None:
    guesser = lobby.stranger()
    connection = await asyncpg.connect(lobby.database.url)
    given = {row["code"] for row in await connection.fetch("SELECT code FROM code")}
    await connection.close()
    wrong = [code for code in (f"{number:06d}" for number in range(10 + len(given))) if code not in given][:10]
    guessed = await asyncio.gather(*(guesser.get(f"/v1/codes/{code}") for code in wrong))
    assert sorted(answer.status for answer in guessed) == [404] * 3 + [429] * 7
    assert {answer.body["details"]["limit"] for answer in guessed if answer.status == 429} == {"codes_wrong"}


async def test_a_public_table_can_be_looked_at_by_anybody(lobby: LobbyServer) -> None:
    host = await lobby.guest()
    made = await host.make_table(lobby.key())
    seen = await lobby.stranger().get(f"/v1/tables/{made.body['table_id']}")
    assert (seen.status, seen.body["fresh"], seen.body["code"]) == (200, True, None)
    own = await host.get(f"/v1/tables/{made.body['table_id']}")
    for shared in ("code", "invite_token", "invite_url"):
        assert own.body[shared] == made.body[shared]


async def test_a_private_table_is_unknown_to_all_but_those_who_sit_there(lobby: LobbyServer) -> None:
    host, friend, other = await lobby.guest(), await lobby.guest(), await lobby.guest()
    made = await host.make_table(lobby.key(), visibility="private")
    table_id = made.body["table_id"]
    path = f"/v1/tables/{table_id}"
    for caller in (lobby.stranger(), other, friend):
        answered = await caller.get(path)
        assert (answered.status, answered.code) == (404, "table_unknown")
    assert (await host.get(path)).body["code"] == made.body["code"]
    # Sat down a moment ago: the owner knows it before the milestone is here.
    lobby.table.seat(table_id, 2, friend.person)
    assert (await friend.get(path)).body["code"] == made.body["code"]
    lobby.table.looks_fail = True
    without_owner = [(await caller.get(path)).status for caller in (host, friend, other)]
    lobby.table.looks_fail = False
    assert without_owner == [200, 404, 404]


@pytest.mark.parametrize("table_id", ["x", "0" * 32, str(uuid.UUID(int=1)), str(uuid.UUID(int=1)).upper() + "A"])
async def test_an_unknown_table_is_refused(lobby: LobbyServer, table_id: str) -> None:
    answered = await lobby.stranger().get(f"/v1/tables/{table_id}")
    assert (answered.status, answered.code) == (404, "table_unknown")


@pytest.mark.ruling("TL-7")
async def test_public_tables_are_listed_by_game_and_bet_newest_first(lobby: LobbyServer) -> None:
    made = []
    for bet_coins in (610, 620, 630, 620):
        host = await lobby.guest()
        made.append((await host.make_table(lobby.key(), bet_coins=bet_coins)).body["table_id"])
    hidden = await (await lobby.guest()).make_table(lobby.key(), bet_coins=620, visibility="private")
    path = "/v1/tables?game=court_piece&bet_coins_min=610&bet_coins_max=620"
    page = await lobby.stranger().get(f"{path}&limit=2")
    assert [table["table_id"] for table in page.body["tables"]] == [made[3], made[1]]
    first = page.body["tables"][0]
    assert (first["free_seats"], first["playing"]) == (3, False)
    assert (first["terms"]["seats"], first["terms"]["bet_coins"]) == (4, 620)
    shown = {name: host.account[name] for name in ("name", "avatar")}
    assert first["host"] == {"handle": handle_of(host.account["id"]), **shown}
    assert first["socket"] == {"direct": None, "any": f"/play/tables/{made[3]}/socket"}
    rest = await lobby.stranger().get(f"{path}&limit=2&after={page.body['next']}")
    assert ([table["table_id"] for table in rest.body["tables"]], rest.body["next"]) == ([made[0]], None)
    everything = await lobby.stranger().get("/v1/tables?limit=50")
    listed = {table["table_id"] for table in everything.body["tables"]}
    assert set(made) <= listed
    assert hidden.body["table_id"] not in listed
    assert (await lobby.stranger().get("/v1/tables?game=snap")).body == {"tables": [], "next": None}


async def test_a_full_table_is_not_listed(lobby: LobbyServer) -> None:
    host = await lobby.guest()
    table_id = (await host.make_table(lobby.key(), bet_coins=640)).body["table_id"]
    for seat in (1, 2, 3):
        lobby.table.note(table_id, "seat_taken", free_seats=3 - seat, seat=seat, account_id=None)
    await lobby.table.tell(*lobby.table.milestones[table_id])

    async def is_gone() -> bool:
        return not (await lobby.stranger().get("/v1/tables?bet_coins_min=640&bet_coins_max=640")).body["tables"]

    await eventually(is_gone)


@pytest.mark.parametrize("query", ["limit=0", "limit=51", "limit=many", "after=-1", "after=x", "colour=red"])
async def test_a_query_is_refused(lobby: LobbyServer, query: str) -> None:
    answered = await lobby.stranger().get(f"/v1/tables?{query}")
    assert (answered.status, answered.code) == (400, "query_invalid")


async def test_a_table_that_its_owner_does_not_know_any_more_is_closed_before_the_directory_hears_of_it(
    lobby: LobbyServer,
) -> None:
    host = await lobby.guest()
    made = await host.make_table(lobby.key())
    del lobby.table.tables[made.body["table_id"]]
    looks = [f"/v1/tables/{made.body['table_id']}", f"/v1/codes/{made.body['code']}"]
    looks.append(f"/v1/invites/{made.body['invite_token']}")
    answered = [await lobby.stranger().get(path) for path in looks]
    assert [answer.code for answer in answered] == ["table_closed", "code_unknown", "invite_unknown"]
