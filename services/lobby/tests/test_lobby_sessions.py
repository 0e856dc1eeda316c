"""Refresh tokens: repeats, thieves, races. Open this when somebody is signed out who should not be."""

from __future__ import annotations

import asyncio
import random

import asyncpg
import pytest
from aiohttp.test_utils import TestClient, TestServer
from lobby_doubles import Caller, LobbyServer, Reply

from darbar_contracts.api import REFRESH_REPEAT_SECONDS_MAX
from darbar_lobby.app import build_app
from darbar_lobby.domain.sessions import token_sha256

RACES = 1000
GUESTS_RACING = 50
RACES_SEED = 20
TRIES_MAX = 20


async def refreshed(caller: Caller, refresh_token: str) -> Reply:
    return await caller.post("/v1/sessions", {"refresh_token": refresh_token})


async def answered(caller: Caller, refresh_token: str) -> Reply:
    """On a busy machine the database may be slow to answer; a client asks again."""
    for _ in range(TRIES_MAX):
        reply = await refreshed(caller, refresh_token)
        if reply.status != 503:
            break
    return reply


async def used_since(lobby: LobbyServer, caller: Caller, seconds: float) -> None:
    """As if every use of this account's tokens had been so much earlier."""
    connection = await asyncpg.connect(lobby.database.url)
    await connection.execute(
        "UPDATE refresh_token SET used_at = used_at - $2 * interval '1 second' "
        "WHERE family_id IN (SELECT family_id FROM token_family WHERE account_id = $1)",
        caller.account["id"],
        seconds,
    )
    await connection.close()


async def test_a_refresh_whose_answer_was_lost_is_answered_again(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    first = await refreshed(guest, guest.refresh_token)
    again = await refreshed(guest, guest.refresh_token)
    assert (first.status, again.status) == (201, 201)
    assert first.body["account"] == again.body["account"] == guest.account
    assert guest.refresh_token != first.body["refresh_token"] == again.body["refresh_token"]
    assert (await refreshed(guest, again.body["refresh_token"])).status == 201


async def test_a_token_shown_again_after_a_minute_ends_the_session(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    first = await refreshed(guest, guest.refresh_token)
    await used_since(lobby, guest, REFRESH_REPEAT_SECONDS_MAX)
    reused = await refreshed(guest, guest.refresh_token)
    assert (reused.status, reused.code) == (401, "refresh_token_reused")
    stolen_or_not = await refreshed(guest, first.body["refresh_token"])
    assert (stolen_or_not.status, stolen_or_not.code) == (401, "refresh_token_revoked")


async def test_a_token_shown_again_after_its_successor_was_used_ends_the_session(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    first = await refreshed(guest, guest.refresh_token)
    second = await refreshed(guest, first.body["refresh_token"])
    reused = await refreshed(guest, guest.refresh_token)
    assert (reused.status, reused.code) == (401, "refresh_token_reused")
    assert (await refreshed(guest, second.body["refresh_token"])).code == "refresh_token_revoked"


async def test_a_token_used_before_its_successor_could_be_repeated_ends_the_session(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    first = await refreshed(guest, guest.refresh_token)
    connection = await asyncpg.connect(lobby.database.url)
    await connection.execute(
        "UPDATE refresh_token SET successor_salt = NULL, successor_sha256 = NULL WHERE token_sha256 = $1",
        token_sha256(guest.refresh_token),
    )
    await connection.close()
    assert (await refreshed(guest, guest.refresh_token)).code == "refresh_token_reused"
    assert (await refreshed(guest, first.body["refresh_token"])).code == "refresh_token_revoked"


async def test_an_expired_refresh_token_is_refused(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    connection = await asyncpg.connect(lobby.database.url)
    await connection.execute(
        "UPDATE refresh_token SET expires_at = now() - interval '1 second' "
        "WHERE family_id IN (SELECT family_id FROM token_family WHERE account_id = $1)",
        guest.account["id"],
    )
    await connection.close()
    answered = await refreshed(guest, guest.refresh_token)
    assert (answered.status, answered.code) == (401, "refresh_token_expired")


async def test_the_database_refuses_a_session_with_two_tokens_that_work(lobby: LobbyServer) -> None:
    guest = await lobby.guest()
    connection = await asyncpg.connect(lobby.database.url)
    with pytest.raises(asyncpg.UniqueViolationError):
        await connection.execute(
            "INSERT INTO refresh_token (token_sha256, family_id, expires_at) "
            "SELECT $1, family_id, now() FROM token_family WHERE account_id = $2",
            token_sha256("another"),
            guest.account["id"],
        )
    await connection.close()


async def test_nobody_is_signed_out_by_lost_answers_and_several_tabs(lobby: LobbyServer) -> None:
    """Two lobbies over one database; of each race some answers are lost, and who lost one asks again."""
    async with TestClient(TestServer(build_app(lobby.settings))) as other:
        guests = [await lobby.guest() for _ in range(GUESTS_RACING)]
        races = [races_of(guest, other, RACES // GUESTS_RACING, seed) for seed, guest in enumerate(guests, RACES_SEED)]
        answers = [reply for replies in await asyncio.gather(*races) for reply in replies]
    assert len(answers) >= 2 * RACES
    assert {reply.status for reply in answers} == {201}


async def races_of(guest: Caller, other: TestClient, count: int, seed: int) -> list[Reply]:  # type: ignore[type-arg]
    """The tabs of one browser share what they know of the session; a seed gives the same races again."""
    dice = random.Random(seed)
    token, answers = guest.refresh_token, []
    for _ in range(count):
        tabs = [Caller(dice.choice((guest.client, other)), guest.address, {}) for _ in range(dice.randint(2, 5))]
        told = await asyncio.gather(*(answered(tab, token) for tab in tabs))
        lost = [tab for tab in tabs if dice.random() < 0.5]
        told += await asyncio.gather(*(answered(tab, token) for tab in lost))
        assert len({reply.body.get("refresh_token") for reply in told}) == 1, (seed, [reply.body for reply in told])
        token = told[0].body["refresh_token"]
        answers += told
    return answers
