"""Making tables, once. Open this when a table is made twice, or not at all."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import msgspec
import pytest
from lobby_doubles import PROCESS, LobbyServer, open_lobby

from darbar_contracts.refusals import Reason
from darbar_contracts.tables import TermsLimits
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.testing import MakeDatabase, MakeNats, eventually


async def test_the_catalogue_says_what_can_be_chosen(lobby: LobbyServer) -> None:
    answered = await lobby.stranger().get("/v1/games")
    assert answered.status == 200
    game = next(game for game in answered.body["games"] if game["name"] == "court_piece")
    assert (game["direction"], game["stake_unit"], game["seats"]) == ("anticlockwise", "round", [4])
    properties = game["options"]["properties"]
    assert sorted(properties["trump"]["enum"]) == ["hidden", "kaat", "open"]
    assert properties["trump"]["default"] == "hidden"
    points = {"type": "integer", "default": 10, "minimum": 10, "maximum": 100}
    assert properties["winning_points"] == {
        "description": "The first team with so many points wins the game.",
        **points,
    }
    assert len(answered.body["avatars"]) == 16


async def test_a_table_is_made_with_a_code_an_invite_and_a_socket(lobby: LobbyServer) -> None:
    host = await lobby.guest()
    made = await host.make_table(lobby.key(), options={"trump": "open"}, turn_seconds=20, bot_level="strong")
    assert made.status == 201
    table_id, process = made.body["table_id"], lobby.table.tables[made.body["table_id"]].process_id
    assert process == PROCESS
    assert len(made.body["code"]) == 6
    assert made.body["code"].isdigit()
    assert len(made.body["invite_token"]) >= 22
    assert made.body["invite_url"] == f"https://darbar.example/join/{made.body['invite_token']}"
    assert made.body["socket"] == {
        "direct": f"/play/at/{PROCESS}/tables/{table_id}/socket",
        "any": f"/play/tables/{table_id}/socket",
    }
    asked = lobby.table.asked[-1]
    assert asked.host == host.person
    assert (asked.terms.seats, asked.terms.turn_seconds, asked.terms.bot_level) == (4, 20, "strong")
    assert asked.terms.options["trump"] == "open"
    assert asked.terms.options["winning_points"] == 10, "every default is filled in"


async def test_the_host_has_the_name_of_now(lobby: LobbyServer) -> None:
    host = await lobby.guest(name="Before")
    await host.ask("PATCH", "/v1/me", {"name": "After"})
    await host.make_table(lobby.key())
    assert lobby.table.asked[-1].host.name == "After"


@pytest.mark.parametrize(
    ("choices", "status", "code", "fields"),
    [
        ({"game": "snap"}, 422, "game_unknown", None),
        ({"options": {"trump": "none"}}, 422, "option_invalid", ["trump"]),
        ({"options": {"trump": 5, "jokers": True}}, 422, "option_invalid", ["jokers", "trump"]),
        ({"options": {"winning_points": 9}}, 422, "option_invalid", ["winning_points"]),
        ({"options": {"six_point_finish": True}}, 422, "option_invalid", ["six_point_finish"]),
        ({"seats": 5}, 422, "option_invalid", ["seats"]),
        ({"bet_coins": 24}, 422, "option_invalid", ["bet_coins"]),
        ({"bet_coins": 1001}, 422, "option_invalid", ["bet_coins"]),
        ({"bet_coins": "100"}, 400, "body_invalid", None),
        ({"turn_seconds": 4}, 422, "option_invalid", ["turn_seconds"]),
        (
            {"turn_seconds": 31, "bet_coins": 0, "seats": 9},
            422,
            "option_invalid",
            ["bet_coins", "seats", "turn_seconds"],
        ),
        ({"visibility": "secret"}, 400, "body_invalid", None),
        ({"bot_level": "perfect"}, 400, "body_invalid", None),
        ({"spectators": True}, 400, "body_invalid", None),
    ],
)
async def test_a_table_is_refused(
    lobby: LobbyServer, choices: dict[str, Any], status: int, code: str, fields: list[str] | None
) -> None:
    host = await lobby.guest()
    asked_before = len(lobby.table.asked)
    answered = await host.make_table(lobby.key(), **choices)
    assert (answered.status, answered.code) == (status, code)
    if fields is not None:
        assert sorted(answered.body["details"]["fields"]) == fields
    assert len(lobby.table.asked) == asked_before


async def test_the_operator_says_what_a_table_may_agree_on(make_database: MakeDatabase, make_nats: MakeNats) -> None:
    terms = TermsLimits(bet_coins_min=1, bet_coins_max=2, turn_seconds_min=1, turn_seconds_max=3)
    async with open_lobby(make_database, make_nats, terms=terms) as lobby:
        told = (await lobby.stranger().get("/v1/games")).body["terms"]
        assert told == msgspec.to_builtins(terms)
        host = await lobby.guest()
        assert (await host.make_table(lobby.key(), bet_coins=2, turn_seconds=1)).status == 201
        assert (await host.make_table(lobby.key(), bet_coins=3)).code == "option_invalid"
        assert (await host.make_table(lobby.key(), bet_coins=1)).status == 201
        asked = [(table.terms.bet_coins, table.terms.turn_seconds) for table in lobby.table.asked]
        assert asked == [(2, 1), (1, 3)], "the usual time is not offered here: the nearest one is"
        played = {"game": "court_piece", "bet_coins": 3}
        assert (await (await lobby.guest()).post("/v1/quick-play", played)).code == "option_invalid"


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("", "idempotency_key_missing"),
        ("short", "idempotency_key_invalid"),
        ("x" * 65, "idempotency_key_invalid"),
        ("with blank in it", "idempotency_key_invalid"),
    ],
)
async def test_a_table_needs_an_idempotency_key(lobby: LobbyServer, key: str, code: str) -> None:
    host = await lobby.guest()
    answered = await host.make_table(key)
    assert (answered.status, answered.code) == (400, code)


async def test_a_table_needs_a_token(lobby: LobbyServer) -> None:
    answered = await lobby.stranger().make_table(lobby.key())
    assert (answered.status, answered.code) == (401, "token_missing")


async def test_the_same_key_and_body_get_the_same_table(lobby: LobbyServer) -> None:
    host, key = await lobby.guest(), lobby.key()
    first = await host.make_table(key, options={"trump": "open", "piles": "5-3-3"})
    asked = len(lobby.table.asked)
    again = await host.make_table(key, options={"piles": "5-3-3", "trump": "open"})
    assert (again.status, again.body) == (first.status, first.body)
    assert len(lobby.table.asked) == asked


async def test_the_same_key_with_another_body_is_refused(lobby: LobbyServer) -> None:
    host, key = await lobby.guest(), lobby.key()
    await host.make_table(key)
    answered = await host.make_table(key, bet_coins=200)
    assert (answered.status, answered.code) == (409, "idempotency_key_reused")


async def test_a_key_belongs_to_its_account(lobby: LobbyServer) -> None:
    key = lobby.key()
    tables = [(await (await lobby.guest()).make_table(key)).body["table_id"] for _ in range(2)]
    assert len(set(tables)) == 2


async def test_repeats_at_once_make_one_table(lobby: LobbyServer) -> None:
    host, key = await lobby.guest(), lobby.key()
    answered = await asyncio.gather(*(host.make_table(key) for _ in range(5)))
    assert {answer.status for answer in answered} == {201}
    assert len({answer.body["table_id"] for answer in answered}) == 1
    assert len({answer.body["code"] for answer in answered}) == 1


async def test_the_owner_is_looked_for_again_while_it_changes(lobby: LobbyServer) -> None:
    host = await lobby.guest()
    lobby.table.nowhere_times = 1
    lobby.table.refusals = [Refused(Reason.NOT_OWNER), Unavailable("unavailable"), Refused(Reason.BUSY)]
    before = len(lobby.table.asked)
    made = await host.make_table(lobby.key())
    assert made.status == 201
    asked = lobby.table.asked[before:]
    assert len(asked) == 4
    assert len({table.table_id for table in asked}) == 1


@pytest.mark.parametrize("reason", [Reason.SHORT_OF_COINS, Reason.SEATED_ELSEWHERE])
async def test_a_refusal_by_the_table_passes_through_and_is_kept(lobby: LobbyServer, reason: Reason) -> None:
    host, key = await lobby.guest(), lobby.key()
    lobby.table.refusals = [Refused(reason, "no", {"needed_coins": 200})]
    refused = await host.make_table(key)
    assert (refused.status, refused.code, refused.body["details"]) == (409, str(reason), {"needed_coins": 200})
    again = await host.make_table(key)
    assert (again.status, again.body) == (refused.status, refused.body)
    assert (await host.make_table(lobby.key())).status == 201
    me = await host.get("/v1/me")
    assert me.body["table"] is not None


async def test_a_creation_that_found_no_owner_is_finished_by_its_repeat(
    make_database: MakeDatabase, make_nats: MakeNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_lobby.handlers.table_client.CREATING_SECONDS_MAX", 0.3)
    async with open_lobby(make_database, make_nats) as lobby:
        host, key = await lobby.guest(), lobby.key()
        lobby.table.nowhere_times = 1_000_000
        away = await host.make_table(key)
        assert (away.status, away.code) == (503, "tables_unavailable")
        assert "Retry-After" in away.headers
        assert (await host.get("/v1/me")).body["table"] is None
        lobby.table.nowhere_times = 0
        await host.ask("PATCH", "/v1/me", {"name": "Renamed"})
        made = await host.make_table(key)
        assert made.status == 201
        assert [(asked.table_id, asked.host.name) for asked in lobby.table.asked] == [
            (made.body["table_id"], host.account["name"])
        ], "word for word what was asked the first time"


async def test_a_table_whose_answer_was_lost_is_opened_by_its_milestone_and_named_by_the_repeat(
    lobby: LobbyServer,
) -> None:
    host, key = await lobby.guest(), lobby.key()
    made = await host.make_table(key)
    table_id = made.body["table_id"]
    connection = await asyncpg.connect(lobby.database.url)
    # As if this process had died between the table's answer and its own.
    await connection.execute(
        "UPDATE idempotency SET status = NULL, answer = NULL, making_until = now() WHERE key = $1", key
    )
    await connection.execute("DELETE FROM code")
    await connection.execute("DELETE FROM seat_holder WHERE table_id = $1", table_id)
    await connection.execute("UPDATE directory SET state = 'asked' WHERE table_id = $1", table_id)
    await connection.close()
    assert (await host.get("/v1/me")).body["table"] is None
    await lobby.table.tell(*lobby.table.milestones[table_id])

    async def seated() -> bool:
        return (await host.get("/v1/me")).body["table"] is not None

    await eventually(seated)
    again = await host.make_table(key)
    assert again.status == 201
    assert again.body["table_id"] == table_id
    assert again.body["invite_token"] == made.body["invite_token"]
    assert (await lobby.stranger().get(f"/v1/codes/{again.body['code']}")).status == 200


async def test_me_names_the_table_one_sits_at(lobby: LobbyServer) -> None:
    host = await lobby.guest()
    made = await host.make_table(lobby.key())
    me = await host.get("/v1/me")
    assert me.body["table"] == {
        "table_id": made.body["table_id"],
        "game": "court_piece",
        "socket": made.body["socket"],
    }


async def test_too_many_tables_in_a_minute_are_refused(lobby: LobbyServer) -> None:
    host = await lobby.guest()
    made = [await host.make_table(lobby.key()) for _ in range(11)]
    assert [answer.status for answer in made] == [201] * 10 + [429]
    assert made[-1].code == "too_many_requests"
    assert int(made[-1].headers["Retry-After"]) == made[-1].body["details"]["retry_seconds"] > 0
