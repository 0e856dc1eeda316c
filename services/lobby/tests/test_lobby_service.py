"""Health, metrics, limits, proxies, other origins, outages. Open this when the lobby as a whole misbehaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
import pytest_asyncio
from aiohttp.test_utils import TestClient, TestServer
from lobby_doubles import (
    MIGRATIONS,
    Caller,
    LobbyServer,
    open_doubles,
    open_lobby,
    rights,
    settings_for,
)

from darbar_kit.testing import MakeDatabase, MakeNats, closed_database, eventually
from darbar_lobby.app import LIMITS, STORE, build_app

ORIGIN = "https://play.example"
CUTS = 50
# An account may ask 300 times a minute.
CUTS_BY_GUEST = 200


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def lobby(make_database: MakeDatabase, make_nats: MakeNats) -> AsyncIterator[LobbyServer]:
    async with open_lobby(make_database, make_nats, guests_an_hour_max=5, cors_origins=(ORIGIN,)) as opened:
        yield opened


async def until_ready(lobby: LobbyServer) -> None:
    async def is_ready() -> bool:
        return (await lobby.stranger().get("/readyz")).status == 200

    await eventually(is_ready, seconds=30)


async def test_it_is_ready_with_database_bus_and_milestones(lobby: LobbyServer) -> None:
    await until_ready(lobby)
    assert (await lobby.stranger().get("/readyz")).body == {"status": "ready", "missing": []}
    assert (await lobby.stranger().get("/healthz")).body == {"status": "alive"}


async def test_five_guests_an_hour_may_come_from_an_address(lobby: LobbyServer) -> None:
    stranger = lobby.stranger()
    answered = [await stranger.post("/v1/guests", {}) for _ in range(6)]
    assert [answer.status for answer in answered] == [201] * 5 + [429]
    assert answered[-1].code == "too_many_requests"
    assert 0 < int(answered[-1].headers["Retry-After"]) <= 720
    assert (await lobby.stranger().post("/v1/guests", {})).status == 201


async def test_a_refused_name_or_avatar_uses_no_guest_up(lobby: LobbyServer) -> None:
    stranger = lobby.stranger()
    refused = [await stranger.post("/v1/guests", body) for body in ({"name": "admin"}, {"avatar": "robot"}) * 3]
    assert [answer.code for answer in refused] == ["name_not_allowed", "avatar_unknown"] * 3
    made = [await stranger.post("/v1/guests", {}) for _ in range(6)]
    assert [answer.status for answer in made] == [201] * 5 + [429]


async def test_six_hundred_requests_a_minute_may_come_from_an_address(lobby: LobbyServer) -> None:
    stranger = lobby.stranger()
    count = 0
    # Ten more come back each second while this runs.
    while (answered := await stranger.get("/v1/games")).status == 200 and count < 3000:
        count += 1
    assert count >= 600
    assert (answered.status, answered.code) == (429, "too_many_requests")
    assert (await stranger.get("/healthz")).status == 200


async def test_passwords_cannot_be_tried_without_end(lobby: LobbyServer) -> None:
    guesser, body = lobby.stranger(), {"name_login": "Victim", "password": "a wrong one"}
    answered = [await guesser.post("/v1/sessions", body) for _ in range(4)]
    assert [answer.status for answer in answered] == [401] * 3 + [429]
    assert answered[-1].body["details"]["limit"] == "passwords_wrong"
    assert int(answered[-1].headers["Retry-After"]) <= 2
    assert (await guesser.post("/v1/sessions", body | {"name_login": "victim"})).status == 429, "the same name"


async def test_nobody_keeps_the_owner_of_an_account_from_signing_in(lobby: LobbyServer) -> None:
    owner = await lobby.guest()
    credentials = {"name_login": "wanted-by-all", "password": "only the owner knows"}
    assert (await owner.ask("PATCH", "/v1/me", credentials)).status == 200
    for guesser in [lobby.stranger() for _ in range(5)]:
        for _ in range(4):
            await guesser.post("/v1/sessions", credentials | {"password": "a wrong one"})
    assert (await owner.post("/v1/sessions", credentials)).status == 201


async def test_passwords_tried_all_at_once_are_no_more_free(lobby: LobbyServer) -> None:
    guesser, body = lobby.stranger(), {"name_login": "victim-too", "password": "a wrong one"}
    answered = await asyncio.gather(*(guesser.post("/v1/sessions", body) for _ in range(10)))
    assert sorted(answer.status for answer in answered) == [401] * 3 + [429] * 7


async def test_a_stolen_access_token_does_not_help_to_guess_the_password(lobby: LobbyServer) -> None:
    owner = await lobby.guest()
    credentials = {"name_login": "token-stolen", "password": "only the owner knows"}
    assert (await owner.ask("PATCH", "/v1/me", credentials)).status == 200
    guess = {"password": "my own password", "password_current": "a wrong one"}
    answered = [await owner.ask("PATCH", "/v1/me", guess) for _ in range(4)]
    assert [answer.status for answer in answered] == [401] * 3 + [429]
    assert (await owner.ask("PATCH", "/v1/me", {"avatar": "lotus"})).status == 200


async def test_login_names_are_remembered_in_few_words(lobby: LobbyServer) -> None:
    guesser, body = lobby.stranger(), {"password": "a wrong one"}
    for number in range(3):
        await guesser.post("/v1/sessions", body | {"name_login": str(number) * 10_000})
    answered = await guesser.post("/v1/sessions", body | {"name_login": "x" * 10_000})
    assert (answered.status, answered.body["details"]["limit"]) == (429, "passwords_wrong")
    assert max(len(key) for key in lobby.app[LIMITS].passwords_wrong.keys) < 100
    assert await lobby.metric("lobby_limit_keys") > 0


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/nothing", 404, "not_found"),
        ("GET", "/v1/guests", 405, "method_not_allowed"),
        ("POST", "/v1/me", 405, "method_not_allowed"),
    ],
)
async def test_what_is_not_there_has_the_usual_form(
    lobby: LobbyServer, method: str, path: str, status: int, code: str
) -> None:
    answered = await lobby.stranger().ask(method, path)
    assert (answered.status, answered.code) == (status, code)


async def test_requests_are_counted_by_route_and_status(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    await guest.get("/v1/tables/00000000-0000-4000-8000-000000000000")
    async with lobby.client.get("/metrics") as response:
        text = await response.text()
    assert 'lobby_requests_total{method="GET",route="/v1/tables/{table_id}",status="404"}' in text
    assert 'lobby_refusals_total{reason="table_unknown"}' in text
    assert "lobby_guests_total" in text
    assert guest.account["id"] not in text


async def test_pages_of_a_known_origin_may_ask(lobby: LobbyServer) -> None:
    preflight = await lobby.stranger().ask("OPTIONS", "/v1/tables", Origin=ORIGIN, Access_Control_Request_Method="POST")
    assert preflight.status == 204
    assert preflight.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "Idempotency-Key" in preflight.headers["Access-Control-Allow-Headers"]
    answered = await lobby.stranger().ask("GET", "/v1/games", Origin=ORIGIN)
    assert (answered.status, answered.headers["Access-Control-Allow-Origin"]) == (200, ORIGIN)
    refused = await lobby.stranger().ask("GET", "/v1/me", Origin=ORIGIN)
    assert (refused.status, refused.headers["Access-Control-Allow-Origin"]) == (401, ORIGIN)


async def test_pages_of_other_origins_may_not(lobby: LobbyServer) -> None:
    answered = await lobby.stranger().ask("GET", "/v1/games", Origin="https://evil.example")
    assert "Access-Control-Allow-Origin" not in answered.headers
    preflight = await lobby.stranger().ask(
        "OPTIONS", "/v1/tables", Origin="https://evil.example", Access_Control_Request_Method="POST"
    )
    assert (preflight.status, "Access-Control-Allow-Origin" in preflight.headers) == (405, False)


async def test_without_trusted_proxies_a_forwarded_address_is_only_a_word(
    make_database: MakeDatabase, make_nats: MakeNats
) -> None:
    async with open_lobby(make_database, make_nats, guests_an_hour_max=2, trusted_proxies=()) as lobby:
        statuses = [(await lobby.stranger().post("/v1/guests", {})).status for _ in range(3)]
    assert statuses == [201, 201, 429]


async def test_a_lost_database_is_unavailable_and_then_there_again(lobby: LobbyServer, postgres_server: str) -> None:
    guest = await lobby.guest()
    async with closed_database(postgres_server, lobby.database):
        answered = await guest.get("/v1/me")
        assert (answered.status, answered.code) == (503, "storage_unavailable")
        assert "Retry-After" in answered.headers
        ready = await lobby.stranger().get("/readyz")
        assert (ready.status, "database" in ready.body["missing"]) == (503, True)
    assert (await guest.get("/v1/me")).status == 200


async def test_connections_cut_again_and_again_end_nothing_for_good(lobby: LobbyServer, postgres_server: str) -> None:
    admin = await asyncpg.connect(postgres_server)
    name = lobby.database.rpartition("/")[2]
    answers = []
    for number in range(CUTS):
        if number % CUTS_BY_GUEST == 0:
            guest = await lobby.guest()
        cut = await admin.fetch("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
        answers.append((len(cut), await guest.get("/v1/me")))
    await admin.close()
    assert sum(count for count, _ in answers) >= CUTS
    assert {answer.status for _, answer in answers} <= {200, 503}
    assert [answer.status for _, answer in answers].count(200) > CUTS / 2, "a dead connection costs nobody an answer"
    await until_ready(lobby)
    assert (await lobby.stranger().get("/healthz")).status == 200
    made = await guest.make_table(lobby.key())
    await until_told(lobby, made.body["table_id"])


async def test_a_bus_that_was_restarted_brings_milestones_again(
    make_database: MakeDatabase, make_nats: MakeNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_kit.bus.consumer.FETCH_SECONDS", 0.2)
    nats = await make_nats(rights())
    database = await make_database("lobby", MIGRATIONS)
    async with open_doubles(nats) as (table, wallet):
        settings = settings_for(database, nats)
        async with TestClient(TestServer(build_app(settings))) as client:
            lobby = LobbyServer(
                client=client, table=table, wallet=wallet, database=database, nats=nats, settings=settings
            )
            await until_ready(lobby)
            host = await lobby.guest()
            made = await host.make_table(lobby.key())
            await nats.stop()

            async def is_away() -> bool:
                return "nats" in (await lobby.stranger().get("/readyz")).body["missing"]

            await eventually(is_away)
            assert (await host.get("/v1/me")).body["table"]["socket"]["direct"] is None
            await nats.start()
            await until_ready(lobby)
            await until_told(lobby, made.body["table_id"])


async def until_told(lobby: LobbyServer, table_id: str) -> None:
    async def told_and_applied() -> bool:
        await lobby.table.tell_if_it_can(*lobby.table.milestones[table_id])
        return await lobby.number_of(table_id) == 1

    await eventually(told_and_applied, seconds=30)


async def test_tidying_forgets_only_what_is_old(lobby: LobbyServer) -> None:
    guest: Caller = await lobby.guest()
    made = await guest.make_table(key := lobby.key())
    connection = await asyncpg.connect(lobby.database.url)
    tables = ("idempotency", "refresh_token", "directory")
    counted = "SELECT " + ", ".join(f"(SELECT count(*) FROM {name})" for name in tables)
    before = tuple(await connection.fetchrow(counted) or ())
    await lobby.app[STORE].tidy()
    assert tuple(await connection.fetchrow(counted) or ()) == before
    await connection.execute("UPDATE idempotency SET created_at = now() - interval '31 days' WHERE key = $1", key)
    await connection.execute("UPDATE directory SET state = 'asked', created_at = now() - interval '2 days'")
    await connection.execute("UPDATE refresh_token SET expires_at = now() - interval '8 days'")
    await connection.execute("UPDATE token_family SET created_at = now() - interval '200 days'")
    await lobby.app[STORE].tidy()
    assert await connection.fetchval("SELECT count(*) FROM idempotency WHERE key = $1", key) == 0
    assert await connection.fetchval("SELECT count(*) FROM directory WHERE table_id = $1", made.body["table_id"]) == 0
    assert await connection.fetchval("SELECT count(*) FROM refresh_token") == 0
    assert await connection.fetchval("SELECT count(*) FROM token_family") == 0
    await connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE account SET role = 'king'",
        "UPDATE account SET name_login = 'x'",
        "INSERT INTO code (code, table_id) SELECT '12345', table_id FROM directory",
        "UPDATE directory SET free_seats = -1",
        "UPDATE directory SET state = 'lost'",
        "UPDATE idempotency SET status = 201, answer = NULL",
    ],
)
async def test_the_database_itself_refuses_nonsense(lobby: LobbyServer, statement: str) -> None:
    guest = await lobby.guest()
    await guest.make_table(lobby.key())
    connection = await asyncpg.connect(lobby.database.url)
    with pytest.raises(asyncpg.CheckViolationError):
        await connection.execute(statement)
    await connection.close()


async def test_the_service_owns_no_table(lobby: LobbyServer) -> None:
    connection = await asyncpg.connect(lobby.database.url)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute("DROP TABLE account")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute("CREATE TABLE mine (x int)")
    await connection.close()
