"""Every route keeps what it promises to a client, and no request whatever is a 500. Open this when one is."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from lobby_doubles import Caller, LobbyServer, Reply, open_lobby

from darbar_contracts import documents
from darbar_contracts.public.routes import LOBBY
from darbar_contracts.refusals import REFUSALS
from darbar_contracts.route import Route
from darbar_kit.testing import MakeDatabase, MakeNats

RULES = Path(__file__).parents[3] / "docs" / "rules"
MUTATIONS = 2000
MUTATIONS_SEED = 11
PATH_VALUES = {
    "table_id": "00000000-0000-4000-8000-000000000000",
    "code": "000000",
    "token": "x",
    "game": "x",
    "handle": "0" * 20,
}
# What a client sends to be answered well; a route that is not here is not tried, and fails the test.
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/v1/guests"): {"name": "Zoya"},
    ("POST", "/v1/sessions"): {"refresh_token": "of the guest"},
    ("DELETE", "/v1/sessions"): {},
    ("GET", "/v1/me"): None,
    ("PATCH", "/v1/me"): {"avatar": "kite"},
    ("GET", "/v1/me/export"): None,
    ("DELETE", "/v1/me"): {"handle": "of the guest"},
    ("POST", "/v1/me/top-ups"): {},
    ("GET", "/v1/me/profile"): None,
    ("GET", "/v1/me/games"): None,
    ("GET", "/v1/me/blocks"): None,
    ("POST", "/v1/me/blocks"): {"handle": "of another guest"},
    ("DELETE", "/v1/me/blocks/{handle}"): None,
    ("GET", "/v1/players/{handle}"): None,
    ("GET", "/v1/players/{handle}/games"): None,
    ("POST", "/v1/players/{handle}/name-reports"): None,
    ("GET", "/v1/leaderboards/{game}"): None,
    ("GET", "/v1/games"): None,
    ("GET", "/v1/games/{game}/rules"): None,
    ("POST", "/v1/tables"): {"game": "court_piece", "bet_coins": 100},
    ("GET", "/v1/tables"): None,
    ("GET", "/v1/tables/{table_id}"): None,
    ("GET", "/v1/codes/{code}"): None,
    ("GET", "/v1/invites/{token}"): None,
    ("POST", "/v1/quick-play"): {"game": "court_piece", "bet_coins": 100},
    ("GET", "/v1/openapi.json"): None,
    ("GET", "/v1/asyncapi.json"): None,
    ("GET", "/v1/docs"): None,
}
# Encodings of bodies are the server's own, tried in the kit's tests.
# Strange values for any field, each of which some layer below has choked on somewhere.
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    2**200,
    1.5,
    1e308,
    "",
    " ",
    "\0",
    "\ufffe",
    "\u202e",
    "x" * 2000,
    "é" * 300,
    "🂡" * 40,
    [],
    {},
    [[[[[[]]]]]],
    {"a": {"b": {"c": None}}},
    ["x"] * 50,
)
ODD_BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b'"\\ud800"',
    b'{"name":"\\ud800","password":"\\udfff","name_login":"\\ud800","refresh_token":"\\ud800"}',
    b"[" * 5000,
    b'{"a":' * 2000,
    b"x" * 20_000,
    b'{"name":"a","name":"b"}',
)
ODD_SEGMENTS = ("%00", "%ff", "..", "%2e%2e", "a%2fb", "%e2%80%ae", "x" * 300, "-", "0" * 36, "%F0%9F%82%A1")
ODD_HEADERS = (
    {"Content-Type": "text/xml"},
    {"Authorization": "Bearer"},
    {"Authorization": "Bearer a.b.c"},
    {"Authorization": "Basic eA=="},
    {"Idempotency-Key": "é"},
    {"Idempotency-Key": "x" * 300},
    {"X-Forwarded-For": "a, b, ::1, 999.999.999.999"},
    {"Origin": "null"},
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def lobby(make_database: MakeDatabase, make_nats: MakeNats) -> AsyncIterator[LobbyServer]:
    limits = {"requests_a_minute_max": 0, "code_lookups_a_minute_max": 0}
    async with open_lobby(make_database, make_nats, rules_folder=str(RULES), **limits) as opened:
        yield opened


def name_of(route: Route) -> str:
    return f"{route.method} {route.path}"


JSON_ROUTES = [route for route in LOBBY if not any(isinstance(answer, str) for answer in route.answers.values())]
TEXT_ROUTES = [route for route in LOBBY if route not in JSON_ROUTES]


@pytest.mark.parametrize("route", JSON_ROUTES, ids=name_of)
async def test_a_route_answers_what_it_says(lobby: LobbyServer, route: Route) -> None:
    host = await lobby.guest()
    made = (await host.make_table(lobby.key(), bet_coins=25)).body
    values = {"table_id": made["table_id"], "code": made["code"], "token": made["invite_token"], "game": "court_piece"}
    values["handle"] = (await host.get("/v1/me/profile")).body["handle"]
    body = BODIES[route.method, route.path]
    if route.path == "/v1/sessions" and route.method == "POST":
        body = {"refresh_token": host.refresh_token}
    if route.name == "delete_me":
        body = {"handle": values["handle"]}
    if route.name == "block":
        body = {"handle": (await (await lobby.guest()).get("/v1/me/profile")).body["handle"]}
    is_anothers = route.name in ("new_table", "tables", "quick_play", "report_name")
    asking = await lobby.guest() if is_anothers else host
    keyed = {} if route.idempotency_key == "none" else {"Idempotency_Key": lobby.key()}
    reply = await asking.ask(route.method, route.path.format(**values), body, **keyed)
    assert reply.status in route.answers, reply
    answer_type = route.answers[reply.status]
    assert not isinstance(answer_type, str)
    if answer_type is None:
        assert reply.body is None
    else:
        assert msgspec.json.decode(msgspec.json.encode(msgspec.convert(reply.body, answer_type))) == reply.body


@pytest.mark.parametrize("route", TEXT_ROUTES, ids=name_of)
async def test_a_route_of_a_text_answers_with_the_media_type_that_it_says(lobby: LobbyServer, route: Route) -> None:
    async with lobby.client.get(route.path.format(game="court_piece")) as response:
        assert route.answers == {response.status: response.content_type}
        assert await response.text()


@pytest.mark.parametrize("name", ["openapi.json", "asyncapi.json", "docs.html"])
async def test_the_documents_of_the_api_are_served_as_they_are_kept(lobby: LobbyServer, name: documents.Name) -> None:
    path = "/v1/docs" if name == "docs.html" else f"/v1/{name}"
    async with lobby.client.get(path) as response:
        assert await response.read() == documents.document(name)
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'; ")
        assert response.headers["Cache-Control"] == "public, max-age=300"


@pytest.mark.parametrize("route", LOBBY, ids=name_of)
async def test_a_route_needs_a_token_when_it_says_so(lobby: LobbyServer, route: Route) -> None:
    body = BODIES[route.method, route.path]
    stranger = lobby.stranger()
    reply = await stranger.ask(route.method, route.path.format(**PATH_VALUES), body, Idempotency_Key=lobby.key())
    if route.name == "end_sessions":
        assert route.token == "optional", "a refresh token says who it is"
        return
    assert (reply.status == 401 and reply.code == "token_missing") == (route.token == "needed"), reply
    spoilt = await Caller(lobby.client, stranger.address, {}, token="spoilt").get(route.path.format(**PATH_VALUES))
    if route.token != "none" and route.method == "GET":
        assert (spoilt.status, spoilt.code) == (401, "token_invalid")


@pytest.mark.parametrize("route", [route for route in LOBBY if route.body is not None], ids=name_of)
async def test_a_route_refuses_a_field_that_it_does_not_know(lobby: LobbyServer, route: Route) -> None:
    body = dict(BODIES[route.method, route.path] or {}) | {"colour": "red"}
    reply = await (await lobby.guest()).ask(route.method, route.path, body, Idempotency_Key=lobby.key())
    assert (reply.status, reply.code, reply.body["details"]["field"]) == (400, "body_invalid", "colour")


async def test_no_request_whatever_is_a_fault_of_ours(lobby: LobbyServer, capsys: pytest.CaptureFixture[str]) -> None:
    dice = random.Random(MUTATIONS_SEED)
    statuses = [0] * 600
    for number in range(MUTATIONS):
        if number % 25 == 0:
            caller = await lobby.guest()
        reply = await mutated(caller, dice.choice(LOBBY), dice)
        statuses[reply.status] += 1
        assert reply.status < 500, (MUTATIONS_SEED, number, reply)
        if reply.status >= 400:
            assert reply.code in REFUSALS, (MUTATIONS_SEED, number, reply)
    assert "request_failed" not in capsys.readouterr().out
    assert sum(statuses[200:300]) > MUTATIONS / 20, "some are good all the same"
    assert sum(statuses[400:500]) > MUTATIONS / 4


async def mutated(caller: Caller, route: Route, dice: random.Random) -> Reply:
    """A request of this route with something strange in its path, query, headers or body."""
    path = route.path
    for name, value in PATH_VALUES.items():
        path = path.replace(f"{{{name}}}", dice.choice(ODD_SEGMENTS) if dice.random() < 0.5 else value)
    if dice.random() < 0.3:
        path += "?" + "&".join(queries(dice))
    headers = dict(dice.choice(ODD_HEADERS)) if dice.random() < 0.3 else {}
    body = BODIES[route.method, route.path]
    if dice.random() < 0.2:
        body = dice.choice(ODD_BODIES)
    elif isinstance(body, dict) and route.body is not None and dice.random() < 0.8:
        field = dice.choice([field.name for field in msgspec.structs.fields(route.body)])
        body = body | {field: dice.choice(ODD)}
    return await caller.ask(route.method, path, body, **{name.replace("-", "_"): headers[name] for name in headers})


def queries(dice: random.Random) -> Iterator[str]:
    for name in dice.sample(["game", "limit", "after", "bet_coins_min", "bet_coins_max", "x"], dice.randint(1, 3)):
        yield f"{name}={dice.choice([*ODD_SEGMENTS, '1', '-1', '1.5', '9' * 30])}"
