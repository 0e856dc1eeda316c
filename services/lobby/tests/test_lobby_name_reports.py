"""A player reports a name; a moderator sees it and deals with it. Nobody is told who it was."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio
from lobby_administrators import by_owner
from lobby_doubles import Caller, LobbyServer

from darbar_lobby.limits import NAMES_REPORTED_AN_HOUR_BY_ACCOUNT

QUEUE = "/v1/admin/reported-names"


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def nothing_waits(lobby: LobbyServer) -> None:
    await by_owner(lobby, "DELETE FROM name_report")


async def handle_of(caller: Caller) -> str:
    return str((await caller.get("/v1/me/profile")).body["handle"])


async def report(caller: Caller, handle: str) -> tuple[int, str]:
    reply = await caller.post(f"/v1/players/{handle}/name-reports", None)
    return reply.status, "" if reply.status == 204 else reply.code


async def waiting(admin: Caller, query: str = "") -> dict[str, tuple[list[str], int]]:
    """Names and reports by account, in the queue's order."""
    page = (await admin.get(f"{QUEUE}{query}")).body
    return {one["account_id"]: (one["names"], one["reports"]) for one in page["names"]}


async def act(admin: Caller, account: Any, what: str, **body: str) -> tuple[int, str]:
    reply = await admin.post(f"/v1/admin/accounts/{account['id']}/{what}", {"reason": "looked at", **body})
    return reply.status, "" if reply.status < 300 else reply.code


async def test_each_player_counts_once_and_the_queue_begins_with_most_reports(
    lobby: LobbyServer, admin: Caller
) -> None:
    rude, ruder, other = [await lobby.guest(name=name) for name in ("Rude", "Ruder", "Other")]
    ann, bob = await lobby.guest(), await lobby.guest()
    for caller, whom in ((ann, rude), (ann, rude), (ann, ruder), (bob, ruder)):
        assert await report(caller, await handle_of(whom)) == (204, "")
    assert list((await waiting(admin)).items()) == [
        (ruder.account["id"], (["Ruder"], 2)),
        (rude.account["id"], (["Rude"], 1)),
    ]
    page = (await admin.get(f"{QUEUE}?limit=1")).body
    assert list(await waiting(admin, f"?limit=1&after={page['next']}")) == [rude.account["id"]]
    assert (await admin.get(f"{QUEUE}?after=nonsense")).code == "query_invalid"
    assert other.account["id"] not in await waiting(admin)
    for text in ("reporter", ann.account["id"], bob.account["id"]):
        assert text not in str((await admin.get(QUEUE)).body)


async def test_nobody_reports_the_own_name_nor_one_of_nobody_nor_without_an_account(lobby: LobbyServer) -> None:
    ann, gone = await lobby.guest(), await lobby.guest()
    handle = await handle_of(gone)
    await gone.ask("DELETE", "/v1/me", {"handle": handle})
    assert await report(ann, await handle_of(ann)) == (409, "name_own")
    assert await report(ann, handle) == (404, "player_unknown")
    assert await report(ann, "0" * 20) == (404, "player_unknown")
    assert await report(ann, "no-handle") == (404, "player_unknown")
    assert await report(gone, await handle_of(ann)) == (401, "account_unknown")
    assert await report(lobby.stranger(), handle) == (401, "token_missing")


async def test_a_name_that_is_reset_leaves_the_queue_and_is_reported_again_when_it_is_chosen_again(
    lobby: LobbyServer, admin: Caller
) -> None:
    rude, ann = await lobby.guest(name="Rude"), await lobby.guest()
    handle = await handle_of(rude)
    await report(ann, handle)
    await rude.ask("PATCH", "/v1/me", {"name": "Ruder"})
    await report(ann, handle)
    assert await waiting(admin) == {rude.account["id"]: (["Rude", "Ruder"], 2)}
    assert await act(admin, rude.account, "name-reset") == (200, "")
    assert await waiting(admin) == {}
    assert (await rude.get("/v1/me")).body["account"]["name"] not in ("Rude", "Ruder")
    await rude.ask("PATCH", "/v1/me", {"name": "Rude"})
    assert await report(ann, handle) == (204, "")
    assert await waiting(admin) == {rude.account["id"]: (["Rude"], 1)}


async def test_a_dismissed_name_does_not_come_back_and_another_name_of_the_same_player_stays(
    lobby: LobbyServer, admin: Caller
) -> None:
    rude, ann, bob = await lobby.guest(name="Rude"), await lobby.guest(), await lobby.guest()
    handle = await handle_of(rude)
    await report(ann, handle)
    await rude.ask("PATCH", "/v1/me", {"name": "Ruder"})
    await report(ann, handle)
    for _ in range(2):
        assert await act(admin, rude.account, "name-dismissal", name="Rude") == (204, "")
    await rude.ask("PATCH", "/v1/me", {"name": "Rude"})
    for caller in (ann, bob):
        assert await report(caller, handle) == (204, "")
    assert await waiting(admin) == {rude.account["id"]: (["Ruder"], 1)}
    assert await act(admin, rude.account, "name-dismissal", name="Polite") == (404, "name_not_reported")
    assert await act(admin, ann.account, "name-dismissal", name="Rude") == (404, "name_not_reported")
    assert await act(admin, {"id": "nobody"}, "name-dismissal", name="Rude") == (404, "player_unknown")


@pytest.mark.parametrize("leaves", ["reported", "reporter"])
async def test_a_deleted_account_leaves_no_report(lobby: LobbyServer, admin: Caller, leaves: str) -> None:
    rude, ann = await lobby.guest(name="Rude"), await lobby.guest()
    await report(ann, await handle_of(rude))
    gone = rude if leaves == "reported" else ann
    await gone.ask("DELETE", "/v1/me", {"handle": await handle_of(gone)})
    assert await waiting(admin) == {}


async def test_whoever_reports_without_end_waits(lobby: LobbyServer) -> None:
    ann = await lobby.guest()
    told = [await report(ann, "0" * 20) for _ in range(NAMES_REPORTED_AN_HOUR_BY_ACCOUNT + 1)]
    assert told[-2:] == [(404, "player_unknown"), (429, "too_many_requests")]
