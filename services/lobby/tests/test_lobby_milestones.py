"""How milestones become the directory: order, gaps, repeats, rebuilding. Open this when the directory is wrong."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import asyncpg
import msgspec
import pytest_asyncio
from aiohttp.test_utils import TestClient, TestServer
from lobby_doubles import (
    MIGRATIONS,
    Caller,
    House,
    open_doubles,
    open_house,
    rights,
    settings_for,
)

from darbar_kit.testing import MakeDatabase, MakeNats, eventually
from darbar_lobby.app import build_app


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(make_database: MakeDatabase, make_nats: MakeNats) -> AsyncIterator[House]:
    async with open_house(make_database, make_nats) as opened:
        yield opened


async def new_table(house: House, **choices: Any) -> tuple[Caller, str]:
    host = await house.guest()
    made = await host.make_table(house.key(), **choices)
    return host, str(made.body["table_id"])


def number_is(house: House, table_id: str, number: int) -> Callable[[], Awaitable[bool]]:
    async def is_so() -> bool:
        return await house.number_of(table_id) == number

    return is_so


async def test_milestones_are_applied_in_their_order(house: House) -> None:
    host, table_id = await new_table(house)
    friend = await house.guest()
    house.table.note(table_id, "seat_taken", free_seats=2, seat=2, account_id=friend.account["id"])
    house.table.note(table_id, "seat_freed", free_seats=3, seat=0, account_id=host.account["id"])
    house.table.note(table_id, "seat_taken", free_seats=2, seat=0, account_id=None)
    house.table.note(table_id, "round_started", free_seats=2, game=1, round=4)
    await house.table.tell(*house.table.milestones[table_id])
    await eventually(number_is(house, table_id, 5))
    assert await seats_of(house, table_id) == [(0, None), (2, friend.account["id"])]
    assert (await house.stranger().get("/v1/tables?limit=1")).body["tables"][0]["playing"] is True
    assert (await host.get("/v1/me")).body["table"] is None
    assert (await friend.get("/v1/me")).body["table"]["table_id"] == table_id
    await house.table.tell(house.table.note(table_id, "game_ended", free_seats=2))
    await eventually(number_is(house, table_id, 6))
    assert (await house.stranger().get("/v1/tables?limit=1")).body["tables"][0]["playing"] is False


async def test_repeated_and_old_milestones_change_nothing(house: House) -> None:
    _, table_id = await new_table(house)
    house.table.note(table_id, "seat_taken", free_seats=2, seat=2, account_id=None)
    house.table.note(table_id, "seat_freed", free_seats=3, seat=2, account_id=None)
    await house.table.tell(*house.table.milestones[table_id])
    await eventually(number_is(house, table_id, 3))
    applied = await house.metric("lobby_milestones_applied_total")
    await house.table.tell(*house.table.milestones[table_id])
    await until_all_is_taken(house)
    assert await house.number_of(table_id) == 3
    assert await house.metric("lobby_milestones_applied_total") == applied
    assert [seat for seat, _ in await seats_of(house, table_id)] == [0]


async def test_a_gap_is_filled_from_the_table_service(house: House) -> None:
    _, table_id = await new_table(house)
    for seat in (1, 2, 3):
        house.table.note(table_id, "seat_taken", free_seats=3 - seat, seat=seat, account_id=None)
    house.table.note(table_id, "round_started", free_seats=0, game=1, round=1)
    gaps = await house.metric("lobby_milestone_gaps_total")
    await house.table.tell(house.table.milestones[table_id][-1])
    await eventually(number_is(house, table_id, 5))
    assert await seats_of(house, table_id) == [(0, await host_of(house, table_id)), (1, None), (2, None), (3, None)]
    assert await house.metric("lobby_milestone_gaps_total") > gaps


async def test_milestones_out_of_order_are_applied_once_each(house: House) -> None:
    _, table_id = await new_table(house)
    for seat in (1, 2):
        house.table.note(table_id, "seat_taken", free_seats=3 - seat, seat=seat, account_id=None)
    house.table.note(table_id, "seat_freed", free_seats=2, seat=1, account_id=None)
    await house.table.tell(*reversed(house.table.milestones[table_id]))
    await eventually(number_is(house, table_id, 4))
    await until_all_is_taken(house)
    assert [seat for seat, _ in await seats_of(house, table_id)] == [0, 2]


async def test_a_gap_waits_for_a_table_service_that_is_away(house: House) -> None:
    _, table_id = await new_table(house)
    house.table.milestones_fail = True
    house.table.note(table_id, "seat_taken", free_seats=2, seat=1, account_id=None)
    await house.table.tell(house.table.milestones[table_id][-1])

    async def failed_once() -> bool:
        return await house.metric("lobby_milestones_failed_total") > 0

    await eventually(failed_once)
    assert await house.number_of(table_id) == 0
    _, other_id = await new_table(house)
    await house.table.tell(*house.table.milestones[other_id])
    await eventually(number_is(house, other_id, 1))
    house.table.milestones_fail = False
    await eventually(number_is(house, table_id, 2))


async def test_what_is_no_milestone_stops_nobody(house: House) -> None:
    _, table_id = await new_table(house)
    await house.table.tell_raw(table_id, b"{")
    await house.table.tell_raw(table_id, b'{"kind":"seat_taken"}')
    await house.table.tell(*house.table.milestones[table_id])
    await eventually(number_is(house, table_id, 1))
    await until_all_is_taken(house)


async def test_a_milestone_of_a_table_that_nobody_knows_is_given_up(house: House) -> None:
    _, table_id = await new_table(house)
    stray = msgspec.structs.replace(
        house.table.milestones[table_id][0], table_id=str(uuid.uuid4()), number=7, kind="quit"
    )
    await house.table.tell(stray)
    await until_all_is_taken(house)
    assert await house.number_of(stray.table_id) == -1
    empty = msgspec.structs.replace(stray, number=1, kind="table_created", body={})
    await house.table.tell(empty)
    await until_all_is_taken(house)
    assert await house.number_of(stray.table_id) == -1


async def test_what_an_older_generation_said_is_dropped(house: House) -> None:
    _, table_id = await new_table(house)
    await house.table.tell(msgspec.structs.replace(house.table.milestones[table_id][0], generation=2))
    await eventually(number_is(house, table_id, 1))
    await house.table.tell(house.table.note(table_id, "table_closed", free_seats=0))
    await until_all_is_taken(house)
    assert await house.number_of(table_id) == 1


async def test_the_directory_is_rebuilt_from_the_table_service(
    make_database: MakeDatabase, make_nats: MakeNats
) -> None:
    nats = await make_nats(rights())
    async with open_doubles(nats) as (table, wallet):
        before = await make_database("lobby", MIGRATIONS)
        settings = settings_for(before, nats)
        async with TestClient(TestServer(build_app(settings))) as client:
            house = House(client=client, table=table, wallet=wallet, database=before, settings=settings)
            host, table_id = await new_table(house, bet_coins=333, turn_seconds=9)
            table.note(table_id, "seat_taken", free_seats=2, seat=2, account_id=None)
            await table.tell(*table.milestones[table_id])
            await eventually(number_is(house, table_id, 2))
        empty = await make_database("lobby", MIGRATIONS)
        settings = settings_for(empty, nats)
        async with TestClient(TestServer(build_app(settings))) as client:
            house = House(client=client, table=table, wallet=wallet, database=empty, settings=settings)
            await table.tell(table.note(table_id, "seat_taken", free_seats=1, seat=1, account_id=None))
            await eventually(number_is(house, table_id, 3))
            listed = (await house.stranger().get("/v1/tables")).body["tables"]
            assert [(seen["table_id"], seen["bet_coins"], seen["free_seats"]) for seen in listed] == [
                (table_id, 333, 1)
            ]
            assert await seats_of(house, table_id) == [(0, host.account["id"]), (1, None), (2, None)]


async def test_two_lobbies_share_the_milestones(make_database: MakeDatabase, make_nats: MakeNats) -> None:
    async with open_house(make_database, make_nats) as house, TestClient(TestServer(build_app(house.settings))):
        tables = [(await new_table(house))[1] for _ in range(5)]
        for round_number in range(1, 11):
            for table_id in tables:
                house.table.note(table_id, "round_started", free_seats=3, game=1, round=round_number)
                await house.table.tell(house.table.milestones[table_id][-1])
        for table_id in tables:
            await eventually(number_is(house, table_id, 11), seconds=30)


async def test_the_consumer_comes_back_when_its_stream_is_lost(
    make_database: MakeDatabase, make_nats: MakeNats
) -> None:
    async with open_house(make_database, make_nats) as house:
        _, table_id = await new_table(house)
        await house.table.tell(*house.table.milestones[table_id])
        await eventually(number_is(house, table_id, 1))
        await house.table.lose_the_stream()
        house.table.note(table_id, "seat_taken", free_seats=2, seat=2, account_id=None)

        async def told_and_applied() -> bool:
            await house.table.tell_if_it_can(house.table.milestones[table_id][-1])
            return await house.number_of(table_id) == 2

        await eventually(told_and_applied, seconds=30)


async def seats_of(house: House, table_id: str) -> list[tuple[int, str | None]]:
    connection = await asyncpg.connect(house.database.url)
    rows = await connection.fetch(
        "SELECT seat, account_id FROM seat_holder WHERE table_id = $1 ORDER BY seat", table_id
    )
    await connection.close()
    return [(row["seat"], row["account_id"]) for row in rows]


async def host_of(house: House, table_id: str) -> str:
    connection = await asyncpg.connect(house.database.url)
    host_id: str = await connection.fetchval("SELECT host_id FROM directory WHERE table_id = $1", table_id)
    await connection.close()
    return host_id


async def until_all_is_taken(house: House) -> None:
    """Every message has been acknowledged or given up."""

    async def nothing_waits() -> bool:
        return await house.table.waiting() == 0

    await eventually(nothing_waits)
