"""Requests: what is tried again, what is refused, whose token they carry."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import cast

import pytest
from client_doubles import TABLE_ID, TERMS, ScriptedServer

from darbar_client import Backoff, Darbar, DarbarError, Player, Unreachable, http
from darbar_client.http import REQUEST_SECONDS_MAX, Http
from darbar_client.tokens import REFRESH_SECONDS_MAX, Tokens
from darbar_contracts.api import REFRESH_REPEAT_SECONDS_MAX, Account, Session
from darbar_contracts.refusals import Reason
from darbar_kit.testing import eventually

BUSY = (503, {"code": "tables_unavailable", "message": "no process takes tables", "details": {}})


async def test_a_guest_has_the_name_they_asked_for(darbar: Darbar) -> None:
    player = await darbar.guest("Bilal")
    assert player.name == "Bilal"


async def test_a_refusal_is_raised_with_its_code_message_details_and_status(
    server: ScriptedServer, amina: Player
) -> None:
    refusal = {"code": "option_invalid", "message": "the table can't be made so", "details": {"fields": {"x": "no"}}}
    server.answer_next("/v1/tables", (422, refusal))
    with pytest.raises(DarbarError) as raised:
        await amina.create_table("court_piece")
    error = raised.value
    assert (error.code, error.message, error.status) == ("option_invalid", "the table can't be made so", 422)
    assert error.details == {"fields": {"x": "no"}}
    assert server.count("/v1/tables") == 1


async def test_an_error_that_is_not_json_is_raised_with_its_status(server: ScriptedServer, amina: Player) -> None:
    server.answer_next("/v1/tables", (500, "<h1>oops</h1>"))
    with pytest.raises(DarbarError, match="HTTP 500") as raised:
        await amina.create_table("court_piece")
    assert raised.value.code == Reason.ANSWER_UNREADABLE
    assert raised.value.status == 500


async def test_an_answer_that_is_not_understood_is_raised(server: ScriptedServer, amina: Player) -> None:
    server.answer_next("/v1/tables", (201, {"code": "123456"}))
    with pytest.raises(DarbarError) as raised:
        await amina.create_table("court_piece")
    assert raised.value.code == Reason.ANSWER_UNREADABLE


async def test_a_creation_is_tried_again_with_the_same_key(server: ScriptedServer, amina: Player) -> None:
    server.answer_next("/v1/tables", BUSY, (502, "bad gateway"), BUSY)
    ref = await amina.create_table("court_piece")
    assert ref.table_id == TABLE_ID
    assert len(server.keys) == 4
    assert len(set(server.keys)) == 1
    assert 8 <= len(server.keys[0]) <= 64


async def test_two_creations_have_two_keys(server: ScriptedServer, amina: Player) -> None:
    await amina.create_table("court_piece")
    await amina.create_table("court_piece")
    assert len(set(server.keys)) == 2


async def test_a_server_that_stays_away_is_given_up_when_the_time_is_over(server: ScriptedServer) -> None:
    backoff = Backoff(http_seconds=0.05, pause_seconds_min=0.001, pause_seconds_max=0.005)
    server.answer_next("/v1/guests", *[BUSY] * 1000)
    async with Darbar(server.url, backoff=backoff) as darbar:
        with pytest.raises(Unreachable) as raised:
            await darbar.guest("Amina")
    assert raised.value.code == "tables_unavailable"
    assert server.count("/v1/guests") > 1


async def test_a_request_that_is_cancelled_when_its_time_is_just_over_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody would end it a second time: a socket that is lost while its token is renewed would never come back."""
    monkeypatch.setattr(http, "REQUEST_SECONDS_MAX", 0.2)
    async with silent_server() as (url, taken), Darbar(url) as darbar:
        loop = asyncio.get_running_loop()
        asked = [asyncio.create_task(darbar.guest("Amina")) for _ in range(20)]
        for number, task in enumerate(asked):
            loop.call_later(0.19 + number / 1000, task.cancel)
        await eventually(lambda: len(taken) == len(asked))
        end = loop.time() + 0.3
        while loop.time() < end:  # All of it is due in the next turn of the loop.
            pass
        done, tried_again = await asyncio.wait(asked, timeout=1)
        for task in tried_again:
            task.cancel()
    assert not tried_again
    assert all(task.cancelled() for task in done)


def test_those_who_came_together_renew_their_tokens_at_different_moments() -> None:
    session = Session(
        account=Account("a", "Amina", "fox", "player"), access_token="a", access_seconds=900, refresh_token="r"
    )
    seconds = [Tokens(cast(Http, None), session, clock=lambda: 0.0).seconds_to_renewal for _ in range(200)]
    assert 420 <= min(seconds) < 480
    assert 780 < max(seconds) <= 840


@contextlib.asynccontextmanager
async def silent_server() -> AsyncIterator[tuple[str, list[asyncio.Protocol]]]:
    """Takes connections, keeps them in the list, and answers nothing."""
    taken: list[asyncio.Protocol] = []

    def take() -> asyncio.Protocol:
        taken.append(asyncio.Protocol())
        return taken[-1]

    server = await asyncio.get_running_loop().create_server(take, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", taken
    finally:
        server.close()


async def test_nobody_listening_is_unreachable_and_raised_as_it_is() -> None:
    backoff = Backoff(http_seconds=0.02, pause_seconds_min=0.001)
    with pytest.raises(Unreachable):
        async with Darbar("http://127.0.0.1:9", backoff=backoff) as darbar:
            await darbar.guest("Amina")


async def test_a_guest_whose_answer_is_lost_is_not_made_twice(server: ScriptedServer, darbar: Darbar) -> None:
    for status in (502, 504):
        server.answer_next("/v1/guests", (status, "a proxy's own words"))
        with pytest.raises(Unreachable):
            await darbar.guest("Amina")
    server.lose_next("/v1/guests")
    with pytest.raises(Unreachable):
        await darbar.guest("Amina")
    assert server.count("/v1/guests") == 3


async def test_a_guest_who_was_surely_not_made_is_asked_for_again(server: ScriptedServer, darbar: Darbar) -> None:
    server.answer_next("/v1/guests", BUSY, BUSY)
    assert (await darbar.guest("Amina")).name == "Amina"
    assert server.count("/v1/guests") == 3


async def test_a_lost_answer_of_a_refresh_is_asked_for_again_with_the_same_token(
    server: ScriptedServer, amina: Player
) -> None:
    server.refused_tokens |= {"access-1"}
    server.lose_next("/v1/sessions")
    await amina.create_table("court_piece")
    asked = [body for _, path, body in server.requests if path == "/v1/sessions"]
    assert asked == [{"refresh_token": "refresh-1"}] * 2


async def test_a_refresh_is_not_tried_for_longer_than_its_repeat_is_welcome(server: ScriptedServer) -> None:
    assert REFRESH_SECONDS_MAX + REQUEST_SECONDS_MAX <= REFRESH_REPEAT_SECONDS_MAX
    backoff = Backoff(http_seconds=3600.0, pause_seconds_min=3 * REFRESH_SECONDS_MAX, pause_seconds_max=3600.0)
    async with Darbar(server.url, backoff=backoff) as darbar:
        amina = await darbar.guest("Amina")
        server.refused_tokens |= {"access-1"}
        server.answer_next("/v1/sessions", BUSY, BUSY)
        with pytest.raises(Unreachable):
            await amina.tokens.renewed("access-1")
    assert server.count("/v1/sessions") == 1


async def test_a_refused_token_is_renewed_once(server: ScriptedServer, amina: Player) -> None:
    server.refused_tokens.add("access-1")
    await asyncio.gather(*(amina.create_table("court_piece") for _ in range(5)))
    assert server.count("/v1/sessions") == 1
    assert server.requests[-1][1] == "/v1/tables"


async def test_the_refresh_token_is_the_newest_one(server: ScriptedServer, amina: Player) -> None:
    server.refused_tokens |= {"access-1"}
    await amina.create_table("court_piece")
    server.refused_tokens |= {"access-2"}
    await amina.create_table("court_piece")
    asked = [body for _, path, body in server.requests if path == "/v1/sessions"]
    assert asked == [{"refresh_token": "refresh-1"}, {"refresh_token": "refresh-2"}]


async def test_a_token_that_is_refused_for_good_is_raised(server: ScriptedServer, amina: Player) -> None:
    server.refused_tokens |= {"access-1", "access-2"}
    with pytest.raises(DarbarError) as raised:
        await amina.create_table("court_piece")
    assert raised.value.status == 401


async def test_a_revoked_refresh_token_is_raised(server: ScriptedServer, amina: Player) -> None:
    server.refused_tokens |= {"access-1"}
    server.answer_next("/v1/sessions", (401, {"code": "refresh_token_revoked", "message": "", "details": {}}))
    with pytest.raises(DarbarError) as raised:
        await amina.create_table("court_piece")
    assert raised.value.code == "refresh_token_revoked"


async def test_a_table_is_found_by_its_code_and_by_its_invite(amina: Player) -> None:
    made = await amina.create_table("court_piece")
    for found in (await amina.look_up("123456"), await amina.look_up_invite("inv")):
        assert (found.table_id, found.socket) == (made.table_id, made.socket)
    with pytest.raises(DarbarError) as raised:
        await amina.look_up("000000")
    assert raised.value.status == 404


async def test_every_page_of_a_replay_is_read(server: ScriptedServer, amina: Player) -> None:
    page = {"table_id": TABLE_ID, "terms": TERMS}
    events = [{"version": n, "kind": "k", "at": "2025-06-01T12:00:00Z", "body": "{}", "chain": ""} for n in range(1, 6)]
    path = f"/v1/tables/{TABLE_ID}/replay"
    server.answer_next(path, (200, page | {"events": events[:3], "more": True}))
    server.answer_next(path, (200, page | {"events": events[3:], "more": False}))
    replay = await amina.replay(TABLE_ID)
    assert [event.version for event in replay.events] == [1, 2, 3, 4, 5]
    assert not replay.more


async def test_every_page_of_a_ledger_is_read(server: ScriptedServer, amina: Player) -> None:
    entry = {"coins": -25, "reason": "bet", "unit": None, "table_id": None, "at": "2025-06-01T12:00:00Z"}
    wallet = {"account_id": "a1", "balance_coins": 1, "reserved_coins": 0, "in_pots_coins": 0}
    for numbers, following in (((9, 8), 8), ((7,), None)):
        page = wallet | {"entries": [entry | {"number": n} for n in numbers], "next_before": following}
        server.answer_next("/v1/me/wallet", (200, page))
    assert [entry.number for entry in await amina.ledger()] == [9, 8, 7]
