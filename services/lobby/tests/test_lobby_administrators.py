"""Whom each route of administrators lets in, how they sign in, and what is kept of what they did."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal

import asyncpg
import msgspec
import pytest
import pytest_asyncio
from lobby_administrators import PASSWORD, Operator, by_owner, operator, with_token
from lobby_doubles import Caller, LobbyServer

from darbar_contracts.admin.api import Act
from darbar_contracts.admin.routes import ADMIN
from darbar_contracts.public.routes import BY_SERVICE
from darbar_kit.errors import Refused
from darbar_lobby.app import DATABASE, statements
from darbar_lobby.domain.audit_chain import StoredEntry, chain_fault
from darbar_lobby.domain.second_factor import STEP_SECONDS, code_at, step_of
from darbar_lobby.handlers.admin.administrators import create_administrator, disable_administrator
from darbar_lobby.store.audit_log import AuditLog

Persona = Literal["anonymous", "player", "auditor", "admin", "expired", "without_second_factor"]
PERSONAS: tuple[Persona, ...] = ("anonymous", "player", "auditor", "admin", "expired", "without_second_factor")
IN = "let in"
# What each of the six is told, in the order of PERSONAS.
OPEN = (IN, IN, IN, IN, IN, IN)
READS = ("token_missing", "not_administrator", IN, IN, "token_expired", "second_factor_missing")
ACTS = ("token_missing", "not_administrator", "admin_needed", IN, "token_expired", "second_factor_missing")
# Whoever signs out or gives the second factor need not have given it.
SIGNS_IN = ("token_missing", "not_administrator", IN, IN, "token_expired", IN)
MATRIX: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("POST", "/v1/admin/sessions"): OPEN,
    ("POST", "/v1/admin/sessions/confirm"): SIGNS_IN,
    ("DELETE", "/v1/admin/sessions"): SIGNS_IN,
    ("GET", "/v1/admin/me"): READS,
    ("GET", "/v1/admin/audit-log"): READS,
    ("GET", "/v1/admin/tables"): READS,
    ("GET", "/v1/admin/tables/{table_id}/events"): READS,
    ("GET", "/v1/admin/tables/{table_id}/states/{version}"): READS,
    ("GET", "/v1/admin/frozen-tables"): READS,
    ("POST", "/v1/admin/tables/{table_id}/resume"): ACTS,
    ("POST", "/v1/admin/tables/{table_id}/void"): ACTS,
    ("GET", "/v1/admin/accounts/{account_id}/wallet"): READS,
    ("POST", "/v1/admin/accounts/{account_id}/adjustments"): ACTS,
    ("GET", "/v1/admin/ledger/audit"): READS,
    ("GET", "/v1/admin/accounts/{account_id}"): READS,
    ("POST", "/v1/admin/accounts/{account_id}/bans"): ACTS,
    ("POST", "/v1/admin/accounts/{account_id}/bans/lift"): ACTS,
    ("POST", "/v1/admin/accounts/{account_id}/name-reset"): ACTS,
    ("GET", "/v1/admin/reported-names"): READS,
    ("POST", "/v1/admin/accounts/{account_id}/name-dismissal"): ACTS,
    ("GET", "/v1/admin/voice-notes"): READS,
    ("GET", "/v1/admin/voice-notes/{note_id}/link"): READS,
    ("POST", "/v1/admin/voice-notes/{note_id}/judgement"): ACTS,
}
REFUSED = {code for row in (READS, ACTS, SIGNS_IN) for code in row} - {IN}
VALUES = {
    "table_id": "00000000-0000-4000-8000-000000000000",
    "account_id": "0" * 32,
    "version": "1",
    "note_id": "00000000-0000-4000-8000-000000000000",
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def anton(lobby: LobbyServer) -> Operator:
    return await operator(lobby, "anton", "auditor")


async def caller(lobby: LobbyServer, persona: Persona, olga: Operator, anton: Operator) -> Caller:
    match persona:
        case "anonymous":
            return lobby.stranger()
        case "player":
            return await lobby.guest()
        case "auditor":
            return await anton.signed_in()
        case "without_second_factor":
            return await olga.password_given()
    signed_in = await olga.signed_in()
    if persona == "expired":
        await by_owner(lobby, "UPDATE administrator_session SET expires_at = now()")
    return signed_in


def test_every_route_of_administrators_has_a_row() -> None:
    of_administrators = {(route.method, route.path) for route in ADMIN}
    assert set(MATRIX) == of_administrators
    below = {
        (route.method, route.path)
        for routes in BY_SERVICE.values()
        for route in routes
        if route.path.startswith("/v1/admin/")
    }
    assert below == of_administrators, "what lies below /v1/admin/ is for administrators"


@pytest.mark.parametrize("persona", PERSONAS)
async def test_the_matrix_of_rights(lobby: LobbyServer, olga: Operator, anton: Operator, persona: Persona) -> None:
    found: dict[tuple[str, str], str] = {}
    for method, path in MATRIX:
        # A new session each: some of the routes end it.
        asking = await caller(lobby, persona, olga, anton)
        reply = await asking.ask(method, path.format(**VALUES), None if method == "GET" else {})
        is_refused_at_the_door = reply.status in (401, 403) and reply.code in REFUSED
        found[method, path] = reply.code if is_refused_at_the_door else IN
    assert found == {route: row[PERSONAS.index(persona)] for route, row in MATRIX.items()}


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_codes_are_those_of_rfc_6238(seconds: int, code: str) -> None:
    assert code_at(b"12345678901234567890", seconds // STEP_SECONDS) == code


def test_a_code_is_good_for_three_steps_and_once() -> None:
    secret, now = b"s" * 20, 1_000_000 * STEP_SECONDS
    good = [step for step in range(999_990, 1_000_010) if step_of(secret, code_at(secret, step), now=now, used=0)]
    assert good == [999_999, 1_000_000, 1_000_001]
    assert step_of(secret, code_at(secret, 1_000_000), now=now, used=1_000_000) is None
    assert step_of(secret, code_at(secret, 1_000_001), now=now, used=1_000_000) == 1_000_001
    odd = ("", "12345", "1234567", "१२३४५६", "abcdef")
    assert [step_of(secret, text, now=now, used=0) for text in odd] == [None] * len(odd)


async def test_a_code_opens_one_session(lobby: LobbyServer) -> None:
    nina = await operator(lobby, "nina")
    first, second = await nina.password_given(), await nina.password_given()
    code = nina.code
    confirmed = await first.post("/v1/admin/sessions/confirm", {"code": code})
    again = await second.post("/v1/admin/sessions/confirm", {"code": code})
    assert (confirmed.status, again.status, again.code) == (201, 401, "second_factor_wrong")
    assert (await first.get("/v1/admin/me")).code == "token_invalid", "the token before the second factor is no more"
    assert (await with_token(first, confirmed).get("/v1/admin/me")).body == {"name": "nina", "role": "admin"}


async def test_who_guesses_codes_begins_again_with_the_password_and_waits(lobby: LobbyServer) -> None:
    vera = await operator(lobby, "vera")
    waiting = await vera.password_given()
    right = vera.code
    wrong = [code_at(vera.secret, step) for step in range(100, 105)]
    tried = [await waiting.post("/v1/admin/sessions/confirm", {"code": code}) for code in wrong]
    assert [reply.code for reply in tried] == ["second_factor_wrong"] * 5
    later = await (await vera.password_given()).post("/v1/admin/sessions/confirm", {"code": right})
    assert (later.status, later.body["details"]["limit"]) == (429, "codes_of_administrators")


async def test_a_session_that_has_used_up_its_codes_takes_no_right_one(lobby: LobbyServer) -> None:
    rosa = await operator(lobby, "rosa")
    waiting = await rosa.password_given()
    await by_owner(lobby, "UPDATE administrator_session SET codes_left = 0 WHERE NOT confirmed")
    assert (await waiting.post("/v1/admin/sessions/confirm", {"code": rosa.code})).code == "second_factor_wrong"


async def test_a_wrong_name_and_a_wrong_password_are_told_alike_and_cost_time(
    lobby: LobbyServer, olga: Operator
) -> None:
    stranger = lobby.stranger()
    tries = [{"name": "nobody", "password": PASSWORD}, *[{"name": olga.name, "password": "wrong"}] * 4]
    told = [await stranger.post("/v1/admin/sessions", body) for body in tries]
    assert [reply.code for reply in told] == ["credentials_wrong"] * 4 + ["too_many_requests"]


async def test_a_session_ends_when_it_is_ended_and_when_its_administrator_is_disabled(lobby: LobbyServer) -> None:
    mara = await operator(lobby, "mara")
    one, two = await mara.signed_in(), await mara.signed_in()
    assert (await one.ask("DELETE", "/v1/admin/sessions")).status == 204
    assert ((await one.get("/v1/admin/me")).code, (await two.get("/v1/admin/me")).status) == ("token_invalid", 200)
    assert await disable_administrator(lobby.database.owner_url, "mara")
    assert (await two.get("/v1/admin/me")).code == "token_invalid"
    wrong = await lobby.stranger().post("/v1/admin/sessions", {"name": "mara", "password": PASSWORD})
    assert wrong.code == "credentials_wrong"
    assert not await disable_administrator(lobby.database.owner_url, "mara")


async def test_an_administrators_token_is_no_players(lobby: LobbyServer, olga: Operator) -> None:
    signed_in = await olga.signed_in()
    assert (await signed_in.get("/v1/me")).code == "token_invalid"


@pytest.mark.parametrize(
    ("name", "password", "handle", "reason"),
    [
        ("olga", PASSWORD, None, "name_login_taken"),
        ("Ol ga", PASSWORD, None, "name_login_invalid"),
        ("petra", "short", None, "password_invalid"),
        ("petra", PASSWORD, "0" * 20, "player_unknown"),
    ],
)
async def test_who_can_not_be_made_an_administrator(
    lobby: LobbyServer, olga: Operator, name: str, password: str, handle: str | None, reason: str
) -> None:
    handles = () if handle is None else (handle,)
    with pytest.raises(Refused, match=reason):
        await create_administrator(lobby.database.owner_url, name, "admin", password, handles=handles)


async def test_signing_in_and_being_made_are_in_the_log(lobby: LobbyServer) -> None:
    ida = await operator(lobby, "ida", "auditor")
    page = await (await ida.signed_in()).get("/v1/admin/audit-log?administrator=ida")
    acts = [msgspec.json.decode(entry["body"], type=Act) for entry in page.body["entries"]]
    assert [(act.act, act.subject, act.role) for act in acts] == [
        ("sign_in", "administrator:ida", "auditor"),
        ("create_administrator", "administrator:ida", "auditor"),
    ]


async def test_the_log_comes_in_pages_and_by_subject(lobby: LobbyServer, olga: Operator) -> None:
    log = AuditLog(lobby.app[DATABASE], statements())
    numbers = [await log.add(Act("olga", "admin", "void_table", "table:t", f"number {n}")) for n in range(5)]
    signed_in = await olga.signed_in()
    found: list[int] = []
    query = "subject=table:t&limit=2"
    while True:
        page = (await signed_in.get(f"/v1/admin/audit-log?{query}")).body
        found += [entry["number"] for entry in page["entries"]]
        if page["next_before"] is None:
            break
        query = f"subject=table:t&limit=2&before={page['next_before']}"
    assert found == numbers[::-1]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entry SET body = '{}'",
        "DELETE FROM audit_entry",
        "TRUNCATE audit_entry",
        "DROP TABLE audit_entry",
        "INSERT INTO administrator SELECT gen_random_uuid(), 'eve', 'admin', 'x', decode(repeat('00', 20), 'hex')",
        "UPDATE administrator SET role = 'admin'",
        "UPDATE administrator SET password_hash = 'x'",
        "UPDATE administrator SET totp_secret = decode(repeat('00', 20), 'hex')",
        "DELETE FROM administrator",
    ],
)
async def test_a_lobby_takes_nothing_out_of_the_log_and_makes_no_administrator(
    lobby: LobbyServer, olga: Operator, statement: str
) -> None:
    connection = await asyncpg.connect(lobby.database.url)
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    finally:
        await connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        'UPDATE audit_entry SET body = \'{"administrator": "eve"}\' WHERE number = 2',
        "UPDATE audit_entry SET at = at + interval '1 second' WHERE number = 2",
        "DELETE FROM audit_entry WHERE number = 2",
        "UPDATE audit_entry SET chain = sha256('x') WHERE number = 2",
    ],
)
async def test_what_the_owner_of_the_database_changes_in_the_log_is_found(lobby: LobbyServer, statement: str) -> None:
    log = AuditLog(lobby.app[DATABASE], statements())
    for number in range(3):
        await log.add(Act("olga", "admin", "void_table", "table:t", f"number {number}"))
    assert (await log.fault())[1] is None
    connection = await asyncpg.connect(lobby.database.owner_url)
    whole = connection.transaction()
    await whole.start()
    try:
        await connection.execute(statement)
        rows = await connection.fetch(statements()["audit_after"], 0, 1000)
        assert chain_fault([StoredEntry(*row) for row in rows]) == 2
    finally:
        await whole.rollback()
        await connection.close()


async def test_many_at_once_make_one_chain(lobby: LobbyServer) -> None:
    log = AuditLog(lobby.app[DATABASE], statements())
    numbers = await asyncio.gather(
        *(log.add(Act("olga", "admin", "void_table", "table:many", f"number {n}")) for n in range(30))
    )
    assert len(set(numbers)) == 30
    assert (await log.fault())[1] is None
