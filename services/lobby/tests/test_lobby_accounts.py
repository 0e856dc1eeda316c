"""Guests, names, sessions, passwords. Open this when somebody can't come in, or the wrong one can."""

from __future__ import annotations

import uuid

import asyncpg
import pytest
from lobby_doubles import GRANT_COINS, LobbyServer, signed_in

from darbar_contracts.refusals import Reason
from darbar_kit.testing import eventually
from darbar_kit.tokens import ACCESS_SECONDS, TokenReader, public_key_pem
from darbar_lobby.app import GRANTS
from darbar_lobby.domain.names import AVATARS, name_is_allowed
from darbar_lobby.handlers.grants import new_account_key


async def test_a_guest_gets_an_account_with_one_request(lobby: LobbyServer) -> None:
    answered = await lobby.stranger().post("/v1/guests", {"name": "  Amina   Begum ", "avatar": "lotus"})
    assert answered.status == 201
    account = answered.body["account"]
    assert account == {
        "id": account["id"],
        "name": "Amina Begum",
        "avatar": "lotus",
        "role": "player",
        "name_login": None,
    }
    assert answered.body["access_seconds"] == ACCESS_SECONDS
    claims = TokenReader(public_key_pem(lobby.settings.token_private_key)).read(answered.body["access_token"])
    assert (claims.account_id, claims.name, claims.avatar, claims.role) == (
        account["id"],
        "Amina Begum",
        "lotus",
        "player",
    )


async def test_a_guest_who_brings_nothing_gets_a_pleasant_name_and_an_avatar(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    assert name_is_allowed(guest.account["name"])
    assert guest.account["avatar"] in AVATARS


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"name": "A"}, 422, "name_not_allowed"),
        ({"name": "a" * 21}, 422, "name_not_allowed"),
        ({"name": "Admin"}, 422, "name_not_allowed"),
        ({"name": "f.u.c.k you"}, 422, "name_not_allowed"),
        ({"name": "1234"}, 422, "name_not_allowed"),
        ({"name": "Ann\u202e"}, 400, "text_invalid"),
        ({"name": "Ann\x00"}, 400, "text_invalid"),
        ({"avatar": "robot"}, 422, "avatar_unknown"),
        ({"nickname": "Ann"}, 400, "body_invalid"),
        ({"name": 5}, 400, "body_invalid"),
        (b"{", 400, "body_not_json"),
        (b'{"name":"' + b"a" * 17000 + b'"}', 413, "body_too_large"),
    ],
)
async def test_a_guest_is_refused(lobby: LobbyServer, body: object, status: int, code: str) -> None:
    answered = await lobby.stranger().post("/v1/guests", body)
    assert (answered.status, answered.code) == (status, code)


async def test_a_new_account_is_granted_its_coins_once(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    assert lobby.wallet.balances[guest.account["id"]] == GRANT_COINS
    asked = [grant for grant in lobby.wallet.asked if grant.account_id == guest.account["id"]]
    assert [(grant.key, grant.kind) for grant in asked] == [(new_account_key(guest.account["id"]), "new_account")]
    assert await owed(lobby) == []


async def test_a_wallet_that_is_away_costs_nobody_their_coins(lobby: LobbyServer) -> None:
    await lobby.wallet.go_away()
    guest = await lobby.guest()
    assert await owed(lobby) == [guest.account["id"]]
    assert guest.account["id"] not in lobby.wallet.balances
    await lobby.wallet.start()
    await make_due(lobby)
    await eventually(lambda: guest.account["id"] in lobby.wallet.balances)

    async def nothing_is_owed() -> bool:
        return await owed(lobby) == []

    await eventually(nothing_is_owed)


async def test_a_refused_grant_is_kept_to_be_looked_at(lobby: LobbyServer) -> None:
    lobby.wallet.refusal = refusal = "key_reused"  # type: ignore[assignment]
    guest = await lobby.guest()
    lobby.wallet.refusal = None
    assert await owed(lobby) == [guest.account["id"]]
    await make_due(lobby)
    await lobby.app[GRANTS].ask_due()
    connection = await asyncpg.connect(lobby.database.url)
    reason = await connection.fetchval("SELECT refused_reason FROM grant_due")
    await connection.execute("DELETE FROM grant_due")
    await connection.close()
    assert reason == refusal
    assert guest.account["id"] not in lobby.wallet.balances


async def test_a_top_up_asks_the_wallet(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    answered = await guest.post("/v1/me/top-ups", {})
    assert (answered.status, answered.body) == (201, {"balance_coins": 2 * GRANT_COINS})
    lobby.wallet.refusal = "already_granted"  # type: ignore[assignment]
    answered = await guest.post("/v1/me/top-ups", {})
    lobby.wallet.refusal = None
    assert (answered.status, answered.code) == (409, "already_granted")
    assert answered.body["message"] == Reason.ALREADY_GRANTED.sentence


async def test_me_says_who_i_am(lobby: LobbyServer) -> None:
    guest = await lobby.guest(name="Zoya")
    answered = await guest.get("/v1/me")
    assert answered.body == {"account": guest.account, "table": None}
    assert answered.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(("token", "code"), [("", "token_missing"), ("abc", "token_invalid")])
async def test_me_needs_a_token(lobby: LobbyServer, token: str, code: str) -> None:
    stranger = lobby.stranger()
    caller = signed_in(stranger, {"account": {}, "access_token": token, "refresh_token": ""})
    answered = await caller.get("/v1/me")
    assert (answered.status, answered.code) == (401, code)


async def test_a_token_that_outlived_its_account_is_refused(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    connection = await asyncpg.connect(lobby.database.url)
    await connection.execute("DELETE FROM token_family WHERE account_id = $1", guest.account["id"])
    await connection.execute("DELETE FROM account WHERE account_id = $1", guest.account["id"])
    await connection.close()
    answered = await guest.get("/v1/me")
    assert (answered.status, answered.code) == (401, "account_unknown")


async def test_a_new_name_and_avatar_come_with_a_new_access_token(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    answered = await guest.ask("PATCH", "/v1/me", {"name": "Bilal", "avatar": "kite"})
    assert answered.status == 200
    assert (answered.body["account"]["name"], answered.body["account"]["avatar"]) == ("Bilal", "kite")
    assert answered.body["refresh_token"] is None
    claims = TokenReader(public_key_pem(lobby.settings.token_private_key)).read(answered.body["access_token"])
    assert (claims.name, claims.avatar) == ("Bilal", "kite")
    refused = await guest.ask("PATCH", "/v1/me", {"name": "moderator"})
    assert (refused.status, refused.code) == (422, "name_not_allowed")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"refresh_token": "unknown"}, 401, "refresh_token_invalid"),
        ({"refresh_token": "x" * 500}, 401, "refresh_token_invalid"),
        ({}, 400, "session_body_invalid"),
        ({"name_login": "ann"}, 400, "session_body_invalid"),
        ({"refresh_token": "x", "name_login": "ann", "password": "y"}, 400, "session_body_invalid"),
        ({"name_login": "nobody", "password": "long enough"}, 401, "credentials_wrong"),
    ],
)
async def test_a_session_is_refused(lobby: LobbyServer, body: object, status: int, code: str) -> None:
    answered = await lobby.stranger().post("/v1/sessions", body)
    assert (answered.status, answered.code) == (status, code)


async def test_the_database_holds_no_token_and_no_password(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    await set_password(lobby, guest.token, "purdah-and-piles", "tokenless")
    connection = await asyncpg.connect(lobby.database.url)
    rows = await connection.fetch(
        "SELECT account::text FROM account UNION ALL SELECT refresh_token::text FROM refresh_token"
    )
    await connection.close()
    content = "".join(row[0] for row in rows)
    assert guest.refresh_token not in content
    assert "purdah-and-piles" not in content
    assert "$argon2id$v=19$m=19456,t=2,p=1$" in content


async def set_password(lobby: LobbyServer, token: str, password: str, name_login: str) -> None:
    caller = signed_in(lobby.stranger(), {"account": {}, "access_token": token, "refresh_token": ""})
    answered = await caller.ask("PATCH", "/v1/me", {"name_login": name_login, "password": password})
    assert answered.status == 200, answered


async def test_a_guest_can_add_a_name_and_password_and_sign_in_with_them(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    await set_password(lobby, guest.token, "teen-patti-no-more", "Amina.Begum")
    answered = await lobby.stranger().post(
        "/v1/sessions", {"name_login": "amina.begum", "password": "teen-patti-no-more"}
    )
    assert answered.status == 201
    assert answered.body["account"] == dict(guest.account) | {"name_login": "amina.begum"}
    wrong = await lobby.stranger().post("/v1/sessions", {"name_login": "amina.begum", "password": "teen-patti-no-mor"})
    assert (wrong.status, wrong.code) == (401, "credentials_wrong")


async def test_a_login_name_belongs_to_one_account(lobby: LobbyServer) -> None:
    first, second = await lobby.guest(), await lobby.guest()
    await set_password(lobby, first.token, "long enough", "only-mine")
    answered = await second.ask("PATCH", "/v1/me", {"name_login": "only-mine", "password": "long enough"})
    assert (answered.status, answered.code) == (409, "name_login_taken")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"name_login": "ab", "password": "long enough"}, 422, "name_login_invalid"),
        ({"name_login": "with blank", "password": "long enough"}, 422, "name_login_invalid"),
        ({"name_login": "short-password", "password": "123456789"}, 422, "password_invalid"),
        ({"name_login": "long-password", "password": "x" * 129}, 400, "text_invalid"),
        ({"name_login": "no-password"}, 400, "password_missing"),
        ({"password": "long enough"}, 400, "password_missing"),
    ],
)
async def test_a_password_is_refused(lobby: LobbyServer, body: object, status: int, code: str) -> None:
    guest = await lobby.guest()
    answered = await guest.ask("PATCH", "/v1/me", body)
    assert (answered.status, answered.code) == (status, code)


async def test_a_new_password_needs_the_current_one_and_ends_older_sessions(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    await set_password(lobby, guest.token, "the first one", "changes-it")
    refused = await guest.ask("PATCH", "/v1/me", {"password": "the second one"})
    assert (refused.status, refused.code) == (401, "credentials_wrong")
    changed = await guest.ask("PATCH", "/v1/me", {"password": "the second one", "password_current": "the first one"})
    assert changed.status == 200
    old = await guest.post("/v1/sessions", {"refresh_token": guest.refresh_token})
    assert (old.status, old.code) == (401, "refresh_token_revoked")
    new = await guest.post("/v1/sessions", {"refresh_token": changed.body["refresh_token"]})
    assert new.status == 201
    signed = await guest.post("/v1/sessions", {"name_login": "changes-it", "password": "the second one"})
    assert signed.status == 201


async def test_logging_out_ends_one_session_or_all(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    await set_password(lobby, guest.token, "long enough", "logs-out")
    signed = await guest.post("/v1/sessions", {"name_login": "logs-out", "password": "long enough"})
    one = await lobby.stranger().ask("DELETE", "/v1/sessions", {"refresh_token": guest.refresh_token})
    assert (one.status, one.body) == (204, None)
    ended = await guest.post("/v1/sessions", {"refresh_token": guest.refresh_token})
    assert ended.code == "refresh_token_revoked"
    refreshed = await guest.post("/v1/sessions", {"refresh_token": signed.body["refresh_token"]})
    assert refreshed.status == 201
    assert (await guest.ask("DELETE", "/v1/sessions")).status == 204
    ended = await guest.post("/v1/sessions", {"refresh_token": refreshed.body["refresh_token"]})
    assert ended.code == "refresh_token_revoked"
    anonymous = await lobby.stranger().ask("DELETE", "/v1/sessions")
    assert (anonymous.status, anonymous.code) == (401, "token_missing")


async def owed(lobby: LobbyServer) -> list[str]:
    connection = await asyncpg.connect(lobby.database.url)
    rows = await connection.fetch("SELECT account_id FROM grant_due ORDER BY account_id")
    await connection.close()
    return [row["account_id"] for row in rows]


async def make_due(lobby: LobbyServer) -> None:
    connection = await asyncpg.connect(lobby.database.url)
    await connection.execute("UPDATE grant_due SET next_at = now()")
    await connection.close()


def test_the_key_of_a_grant_is_permanent() -> None:
    account_id = uuid.UUID(int=7).hex
    assert new_account_key(account_id) == new_account_key(account_id) == "4c6c65b0-bf99-59ed-abdc-5c90e9e83c74"
