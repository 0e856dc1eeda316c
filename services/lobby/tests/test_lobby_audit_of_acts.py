"""What administrators do, and at what of somebody's they look, is in the audit log; a new route without a row fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from lobby_administrators import Operator, operator
from lobby_doubles import Caller, LobbyServer

from darbar_contracts.admin.api import Act
from darbar_contracts.admin.routes import ADMIN
from darbar_lobby.app import DATABASE

NOTE = "6513270e-269e-4d37-b2a7-4de452e6b438"
WHY = {"reason": "somebody asked"}
# What is asked, and the act that is in the log whatever came of it. None: what is shown is of nobody in particular.
NOTED: Mapping[tuple[str, str], tuple[dict[str, Any] | None, str | None]] = {
    ("GET", "/v1/admin/me"): (None, None),
    ("GET", "/v1/admin/audit-log"): (None, None),
    ("GET", "/v1/admin/tables"): (None, None),
    ("GET", "/v1/admin/tables?player={account_id}"): (None, "look_for_tables"),
    ("GET", "/v1/admin/tables/{table_id}/events"): (None, "look_at_log"),
    ("GET", "/v1/admin/tables/{table_id}/events?reason=why"): (None, "look_at_log"),
    ("GET", "/v1/admin/tables/{table_id}/states/{version}"): (None, "look_at_state"),
    ("GET", "/v1/admin/tables/{table_id}/states/{version}?reason=why"): (None, "look_at_state"),
    ("GET", "/v1/admin/frozen-tables"): (None, None),
    ("POST", "/v1/admin/tables/{table_id}/resume"): (WHY, "resume_table"),
    ("POST", "/v1/admin/tables/{table_id}/void"): (WHY, "void_table"),
    ("GET", "/v1/admin/accounts/{account_id}/wallet"): (None, "look_at_wallet"),
    ("POST", "/v1/admin/accounts/{account_id}/adjustments"): ({"coins": 5, **WHY}, "adjust_coins"),
    ("GET", "/v1/admin/ledger/audit"): (None, None),
    ("GET", "/v1/admin/accounts/{account_id}"): (None, "look_at_account"),
    ("POST", "/v1/admin/accounts/{account_id}/bans"): ({"scope": "tables", **WHY}, "ban"),
    ("POST", "/v1/admin/accounts/{account_id}/bans/lift"): ({"scope": "tables", **WHY}, "lift_ban"),
    ("POST", "/v1/admin/accounts/{account_id}/name-reset"): (WHY, "reset_name"),
    ("GET", "/v1/admin/reported-names"): (None, None),
    ("POST", "/v1/admin/accounts/{account_id}/name-dismissal"): ({"name": "Zoya", **WHY}, "dismiss_name"),
    ("GET", "/v1/admin/voice-notes"): (None, None),
    ("GET", "/v1/admin/voice-notes/{note_id}/link"): (None, "listen"),
    ("POST", "/v1/admin/voice-notes/{note_id}/judgement"): ({"judgement": "dismissed", **WHY}, "note_dismissed"),
    # Before both factors are given there is nobody who could have done anything.
    ("POST", "/v1/admin/sessions"): ({"name": "nobody", "password": "wrong"}, None),
    ("POST", "/v1/admin/sessions/confirm"): (None, "sign_in"),
    ("DELETE", "/v1/admin/sessions"): (None, "sign_out"),
}


@pytest_asyncio.fixture(loop_scope="session")
async def admin(olga: Operator) -> Caller:
    return await olga.signed_in()


async def acts(lobby: LobbyServer) -> list[Act]:
    """All of them but what came of each, in their order."""
    rows = await lobby.app[DATABASE].read("SELECT body::text FROM audit_entry ORDER BY number")
    found = [msgspec.json.decode(row["body"], type=Act) for row in rows]
    return [act for act in found if act.act != "outcome"]


def test_every_route_of_administrators_has_a_row() -> None:
    assert {(method, path.partition("?")[0]) for method, path in NOTED} == {(one.method, one.path) for one in ADMIN}


async def test_every_act_and_every_look_is_in_the_log(lobby: LobbyServer, olga: Operator, admin: Caller) -> None:
    guest = await lobby.guest(name="Zoya")
    values = {
        "table_id": (await guest.make_table(lobby.key())).body["table_id"],
        "account_id": guest.account["id"],
        "version": "1",
        "note_id": NOTE,
    }
    found: dict[tuple[str, str], str | None] = {}
    for (method, path), (body, _) in NOTED.items():
        before = await acts(lobby)
        if path.endswith("/confirm"):
            await olga.signed_in()
        else:
            await admin.ask(method, path.format(**values), body, Idempotency_Key="a-key-of-this-test")
        made = (await acts(lobby))[len(before) :]
        assert len(made) <= 1, (path, made)
        found[method, path] = made[0].act if made else None
    assert found == {route: act for route, (_, act) in NOTED.items()}


async def test_who_only_looks_is_named_with_what_was_looked_at(lobby: LobbyServer) -> None:
    anton = await (await operator(lobby, "anton", "auditor")).signed_in()
    guest = await lobby.guest()
    subject = f"account:{guest.account['id']}"
    await anton.get(f"/v1/admin/accounts/{guest.account['id']}")
    [looked] = [act for act in await acts(lobby) if act.subject == subject]
    assert looked == Act("anton", "auditor", "look_at_account", subject, "looks")


@pytest.mark.parametrize("who", ["0" * 32, "0" * 20, "nobody at all"])
async def test_what_is_nobodys_is_not_in_the_log(lobby: LobbyServer, admin: Caller, who: str) -> None:
    before = await acts(lobby)
    assert (await admin.get(f"/v1/admin/accounts/{who}")).code == "player_unknown"
    assert await acts(lobby) == before
