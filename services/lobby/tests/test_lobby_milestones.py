"""How milestones become the directory: order, gaps, repeats, rebuilding. Open this when the directory is wrong."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import asyncpg
import msgspec
import pytest
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
from lobby_events import milestone_event

from darbar_kit.bus.consumer import FETCHES_IDLE_MAX, StreamConsumer
from darbar_kit.testing import MakeDatabase, MakeNats, eventually
from darbar_lobby.app import build_app


async def new_table(lobby: LobbyServer, **choices: Any) -> tuple[Caller, str]:
    host = await lobby.guest()
    made = await host.make_table(lobby.key(), **choices)
    return host, str(made.body["table_id"])


def number_is(lobby: LobbyServer, table_id: str, number: int) -> Callable[[], Awaitable[bool]]:
    async def is_so() -> bool:
        return await lobby.number_of(table_id) == number

    return is_so


async def test_milestones_are_applied_in_their_order(lobby: LobbyServer) -> None:
    host, table_id = await new_table(lobby)
    friend = await lobby.guest()
    lobby.table.note(table_id, "seat_taken", free_seats=2, seat=2, account_id=friend.account["id"])
    lobby.table.note(table_id, "seat_freed", free_seats=3, seat=0, account_id=host.account["id"])
    lobby.table.note(table_id, "seat_taken", free_seats=2, seat=0, account_id=None)
    lobby.table.note(table_id, "round_started", free_seats=2, game=1, round=4)
    await lobby.table.tell(*lobby.table.milestones[table_id])
    await eventually(number_is(lobby, table_id, 5))
    assert await seats_of(lobby, table_id) == [(0, None), (2, friend.account["id"])]
    assert (await lobby.stranger().get("/v1/tables?limit=1")).body["tables"][0]["playing"] is True
    assert (await host.get("/v1/me")).body["table"] is None
    assert (await friend.get("/v1/me")).body["table"]["table_id"] == table_id
    await lobby.table.tell(lobby.table.note(table_id, "game_ended", free_seats=2))
    await eventually(number_is(lobby, table_id, 6))
    assert (await lobby.stranger().get("/v1/tables?limit=1")).body["tables"][0]["playing"] is False


@pytest.mark.ruling("TL-1")
async def test_tl_1_a_changed_table_is_listed_as_it_is_now(lobby: LobbyServer) -> None:
    _, table_id = await new_table(lobby, game="kings_and_rebels")
    terms = (await lobby.stranger().get("/v1/tables?limit=1")).body["tables"][0]["terms"]
    changed = terms | {"seats": 7, "options": terms["options"] | {"seats": 7, "decks": 2}}
    lobby.table.note(table_id, "terms_changed", free_seats=6, terms=changed)
    await lobby.table.tell(*lobby.table.milestones[table_id])
    await eventually(number_is(lobby, table_id, 2))
    listed = (await lobby.stranger().get("/v1/tables?limit=1")).body["tables"][0]
    assert (listed["table_id"], listed["terms"], listed["free_seats"]) == (table_id, changed, 6)


async def test_repeated_and_old_milestones_change_nothing(lobby: LobbyServer) -> None:
    _, table_id = await new_table(lobby)
    lobby.table.note(table_id, "seat_taken", free_seats=2, seat=2, account_id=None)
    lobby.table.note(table_id, "seat_freed", free_seats=3, seat=2, account_id=None)
    await lobby.table.tell(*lobby.table.milestones[table_id])
    await eventually(number_is(lobby, table_id, 3))
    applied = await lobby.metric("lobby_milestones_applied_total")
    await lobby.table.tell(*lobby.table.milestones[table_id])
    await until_all_is_taken(lobby)
    assert await lobby.number_of(table_id) == 3
    assert await lobby.metric("lobby_milestones_applied_total") == applied
    assert [seat for seat, _ in await seats_of(lobby, table_id)] == [0]


async def test_a_gap_is_filled_from_the_table_service(lobby: LobbyServer) -> None:
    _, table_id = await new_table(lobby)
    for seat in (1, 2, 3):
        lobby.table.note(table_id, "seat_taken", free_seats=3 - seat, seat=seat, account_id=None)
    lobby.table.note(table_id, "round_started", free_seats=0, game=1, round=1)
    gaps = await lobby.metric("lobby_milestone_gaps_total")
    await lobby.table.tell(lobby.table.milestones[table_id][-1])
    await eventually(number_is(lobby, table_id, 5))
    assert await seats_of(lobby, table_id) == [(0, await host_of(lobby, table_id)), (1, None), (2, None), (3, None)]
    assert await lobby.metric("lobby_milestone_gaps_total") > gaps


async def test_milestones_out_of_order_are_applied_once_each(lobby: LobbyServer) -> None:
    _, table_id = await new_table(lobby)
    for seat in (1, 2):
        lobby.table.note(table_id, "seat_taken", free_seats=3 - seat, seat=seat, account_id=None)
    lobby.table.note(table_id, "seat_freed", free_seats=2, seat=1, account_id=None)
    await lobby.table.tell(*reversed(lobby.table.milestones[table_id]))
    await eventually(number_is(lobby, table_id, 4))
    await until_all_is_taken(lobby)
    assert [seat for seat, _ in await seats_of(lobby, table_id)] == [0, 2]


async def test_a_gap_waits_for_a_table_service_that_is_away(lobby: LobbyServer) -> None:
    _, table_id = await new_table(lobby)
    lobby.table.milestones_fail = True
    lobby.table.note(table_id, "seat_taken", free_seats=2, seat=1, account_id=None)
    await lobby.table.tell(lobby.table.milestones[table_id][-1])
    await eventually(lambda: parked(lobby, table_id))
    assert await lobby.number_of(table_id) == 0
    assert await lobby.metric("lobby_milestones_failed_total") > 0
    _, other_id = await new_table(lobby)
    await lobby.table.tell(*lobby.table.milestones[other_id])
    await eventually(number_is(lobby, other_id, 1))
    lobby.table.milestones_fail = False
    await eventually(number_is(lobby, table_id, 2))

    async def nothing_is_parked() -> bool:
        return await lobby.metric("lobby_tables_parked") == 0

    await eventually(nothing_is_parked)


async def test_after_a_long_outage_the_milestones_come_within_seconds(lobby: LobbyServer) -> None:
    _, table_id = await new_table(lobby)
    lobby.table.milestones_fail = True
    await lobby.table.tell(lobby.table.note(table_id, "seat_taken", free_seats=2, seat=1, account_id=None))
    await eventually(lambda: parked(lobby, table_id))
    connection = await asyncpg.connect(lobby.database.url)

    await connection.execute("UPDATE parked_table SET attempts = 20, next_at = now()")
    await eventually(lambda: connection.fetchval("SELECT true FROM parked_table WHERE attempts = 21"))
    await eventually(
        lambda: connection.fetchval("SELECT true FROM parked_table WHERE next_at < now() + $1", timedelta(seconds=6))
    )
    await connection.close()
    lobby.table.milestones_fail = False
    await eventually(number_is(lobby, table_id, 2))


async def test_a_lobby_to_which_nothing_is_told_stays_ready(
    make_database: MakeDatabase, make_nats: MakeNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_kit.bus.consumer.FETCH_SECONDS", 0.02)
    fetches: list[None] = []
    monkeypatch.setattr(StreamConsumer, "_fetched", counting(StreamConsumer._fetched, lambda: fetches.append(None)))
    async with open_lobby(make_database, make_nats) as lobby:
        await eventually(lambda: lobby.is_subscribed)
        while len(fetches) < 10 * FETCHES_IDLE_MAX:
            assert (await lobby.stranger().get("/readyz")).body == {"status": "ready", "missing": []}
        assert await lobby.metric("lobby_task_restarts_total") == 0
        _, table_id = await new_table(lobby)
        await lobby.table.tell(*lobby.table.milestones[table_id])
        await eventually(number_is(lobby, table_id, 1))


def counting(function: Callable[..., Awaitable[Any]], count: Callable[[], object]) -> Callable[..., Awaitable[Any]]:
    async def counted(*arguments: Any) -> Any:
        count()
        return await function(*arguments)

    return counted


async def test_a_table_that_cannot_be_read_is_parked_and_stops_nobody(lobby: LobbyServer) -> None:
    _, table_id = await new_table(lobby)
    _, other_id = await new_table(lobby)
    stored = lobby.table.note(table_id, "seat_taken", free_seats=2, seat=2, account_id=None)
    # The database refuses such a number of seats, as a fault of ours would make it do.
    lobby.table.milestones[table_id][-1] = poison = msgspec.structs.replace(stored, free_seats=-1)
    await lobby.table.tell(lobby.table.milestones[table_id][0], poison)
    await eventually(lambda: parked(lobby, table_id))
    # Told while it is parked: nobody asks for them one by one, and none is lost.
    for seat in (1, 3):
        told = lobby.table.note(table_id, "seat_taken", free_seats=2, seat=seat, account_id=None)
        await lobby.table.tell(told)
    await lobby.table.tell(*lobby.table.milestones[other_id])
    await eventually(number_is(lobby, other_id, 1))
    await until_all_is_taken(lobby)
    assert await parked(lobby, table_id)
    assert await lobby.number_of(table_id) < 2
    lobby.table.milestones[table_id][1] = stored
    await try_parked_now(lobby)
    await eventually(number_is(lobby, table_id, 4))
    assert not await parked(lobby, table_id)
    assert [seat for seat, _ in await seats_of(lobby, table_id)] == [0, 1, 2, 3]


@pytest.mark.parametrize("content", [b"{", b'{"kind":"seat_taken"}', b'{"number":2,"event":{"kind":"of_tomorrow"}}'])
async def test_what_is_no_milestone_for_this_lobby_is_asked_for_again_later(lobby: LobbyServer, content: bytes) -> None:
    _, table_id = await new_table(lobby)
    await lobby.table.tell_raw(table_id, content)
    await eventually(lambda: parked(lobby, table_id))
    await until_all_is_taken(lobby)
    await try_parked_now(lobby)
    await eventually(number_is(lobby, table_id, 1))


async def test_what_names_no_table_is_dropped(lobby: LobbyServer) -> None:
    await lobby.table.tell_raw("no-table", b"{")
    await until_all_is_taken(lobby)


async def parked(lobby: LobbyServer, table_id: str) -> bool:
    connection = await asyncpg.connect(lobby.database.url)
    reason = await connection.fetchval("SELECT reason FROM parked_table WHERE table_id = $1", table_id)
    await connection.close()
    return reason is not None


async def try_parked_now(lobby: LobbyServer) -> None:
    connection = await asyncpg.connect(lobby.database.url)
    await connection.execute("UPDATE parked_table SET next_at = now()")
    await connection.close()


async def test_a_milestone_of_a_table_that_nobody_knows_is_given_up(lobby: LobbyServer) -> None:
    _, table_id = await new_table(lobby)
    stray = msgspec.structs.replace(lobby.table.milestones[table_id][0], table_id=str(uuid.uuid4()), number=7)
    await lobby.table.tell(stray)
    await until_all_is_taken(lobby)
    assert await lobby.number_of(stray.table_id) == -1
    no_beginning = msgspec.structs.replace(stray, number=1, event=milestone_event("seat_freed", seat=0))
    await lobby.table.tell(no_beginning)
    await until_all_is_taken(lobby)
    assert await lobby.number_of(stray.table_id) == -1


async def test_what_an_older_generation_said_is_dropped(lobby: LobbyServer) -> None:
    _, table_id = await new_table(lobby)
    await lobby.table.tell(msgspec.structs.replace(lobby.table.milestones[table_id][0], generation=2))
    await eventually(number_is(lobby, table_id, 1))
    await lobby.table.tell(lobby.table.note(table_id, "table_closed", free_seats=0))
    await until_all_is_taken(lobby)
    assert await lobby.number_of(table_id) == 1


async def test_the_directory_is_rebuilt_from_the_table_service(
    make_database: MakeDatabase, make_nats: MakeNats
) -> None:
    nats = await make_nats(rights())
    async with open_doubles(nats) as (table, wallet):
        before = await make_database("lobby", MIGRATIONS)
        settings = settings_for(before, nats)
        async with TestClient(TestServer(build_app(settings))) as client:
            lobby = LobbyServer(
                client=client, table=table, wallet=wallet, database=before, nats=nats, settings=settings
            )
            host, table_id = await new_table(lobby, bet_coins=333, turn_seconds=9)
            table.note(table_id, "seat_taken", free_seats=2, seat=2, account_id=None)
            await table.tell(*table.milestones[table_id])
            await eventually(number_is(lobby, table_id, 2))
        empty = await make_database("lobby", MIGRATIONS)
        settings = settings_for(empty, nats)
        async with TestClient(TestServer(build_app(settings))) as client:
            lobby = LobbyServer(client=client, table=table, wallet=wallet, database=empty, nats=nats, settings=settings)
            await table.tell(table.note(table_id, "seat_taken", free_seats=1, seat=1, account_id=None))
            await eventually(number_is(lobby, table_id, 3))
            listed = (await lobby.stranger().get("/v1/tables")).body["tables"]
            assert [(seen["table_id"], seen["terms"]["bet_coins"], seen["free_seats"]) for seen in listed] == [
                (table_id, 333, 1)
            ]
            assert await seats_of(lobby, table_id) == [(0, host.account["id"]), (1, None), (2, None)]


async def test_two_lobbies_share_the_milestones(make_database: MakeDatabase, make_nats: MakeNats) -> None:
    async with open_lobby(make_database, make_nats) as lobby, TestClient(TestServer(build_app(lobby.settings))):
        tables = [(await new_table(lobby))[1] for _ in range(5)]
        for round_number in range(1, 11):
            for table_id in tables:
                lobby.table.note(table_id, "round_started", free_seats=3, game=1, round=round_number)
                await lobby.table.tell(lobby.table.milestones[table_id][-1])
        for table_id in tables:
            await eventually(number_is(lobby, table_id, 11), seconds=30)


async def test_the_consumer_comes_back_when_its_stream_is_lost(
    make_database: MakeDatabase, make_nats: MakeNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_kit.bus.consumer.FETCH_SECONDS", 0.2)
    async with open_lobby(make_database, make_nats) as lobby:
        _, table_id = await new_table(lobby)
        await lobby.table.tell(*lobby.table.milestones[table_id])
        await eventually(number_is(lobby, table_id, 1))
        await lobby.table.lose_the_stream()
        lobby.table.note(table_id, "seat_taken", free_seats=2, seat=2, account_id=None)

        async def told_and_applied() -> bool:
            await lobby.table.tell_if_it_can(lobby.table.milestones[table_id][-1])
            return await lobby.number_of(table_id) == 2

        await eventually(told_and_applied, seconds=30)


async def seats_of(lobby: LobbyServer, table_id: str) -> list[tuple[int, str | None]]:
    connection = await asyncpg.connect(lobby.database.url)
    rows = await connection.fetch(
        "SELECT seat, account_id FROM seat_holder WHERE table_id = $1 ORDER BY seat", table_id
    )
    await connection.close()
    return [(row["seat"], row["account_id"]) for row in rows]


async def host_of(lobby: LobbyServer, table_id: str) -> str:
    connection = await asyncpg.connect(lobby.database.url)
    host_id: str = await connection.fetchval("SELECT host_id FROM directory WHERE table_id = $1", table_id)
    await connection.close()
    return host_id


async def until_all_is_taken(lobby: LobbyServer) -> None:
    """Every message has been acknowledged or given up."""

    async def nothing_waits() -> bool:
        return await lobby.table.waiting() == 0

    await eventually(nothing_waits)
