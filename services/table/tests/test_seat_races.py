"""One account, one seat (TL-8), however its sitting and leaving cross each other. Each race has its seed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias
from uuid import UUID, uuid4

import asyncpg
import msgspec
import pytest
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_kit.errors import Refused
from darbar_kit.settings import load
from darbar_kit.testing import TestDatabase, eventually
from darbar_table.app import SERVICE

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Count: TypeAlias = Callable[[str, object], None]
LOOP_TURNS_MAX = 60


class RaceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """With DARBAR_TEST_LONG=1 there are a thousand races of each kind."""

    long: bool = False


RACES = 1000 if load(RaceSettings, prefix="DARBAR_TEST_").long else 40


class Seats:
    """Two tables, and where an account sits: by the tables, and by its claim."""

    def __init__(self, stack: Stack, connection: Connection, tables: tuple[str, str]) -> None:
        self._stack = stack
        self._connection = connection
        self.tables = tables

    async def of(self, account_id: str) -> list[str]:
        """The tables that seat this account, when all that was asked has been answered. Claims say the same."""
        live_tables = self._stack.runner.app[SERVICE].present_node().owner.live_tables
        await eventually(lambda: not any(live_tables[UUID(table_id)].in_flight for table_id in self.tables))
        seated = [
            table_id for table_id in self.tables if live_tables[UUID(table_id)].table.seat_of(account_id) is not None
        ]
        claims = await self._connection.fetch("SELECT table_id FROM seat_claim WHERE account_id = $1", account_id)
        assert [str(claim["table_id"]) for claim in claims] == seated
        return seated


@pytest.fixture
async def seats(start_table: StartTable, table_database: TestDatabase) -> Any:
    stack = await start_table()
    connection = await asyncpg.connect(table_database.owner_url)
    yield Seats(stack, connection, (await stack.open_table(host="ann"), await stack.open_table(host="eve")))
    await connection.close()


async def _racing(chance: random.Random, *acts: Awaitable[Any]) -> None:
    """All of them in any order, each a few turns of the loop after the one before."""

    async def late(act: Awaitable[Any], turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        await act

    shuffled = chance.sample(acts, k=len(acts))
    await asyncio.gather(*(late(act, chance.randrange(LOOP_TURNS_MAX)) for act in shuffled))


async def _at_both(seats: Seats, stack: Stack, name: str) -> tuple[Player, Player]:
    first, second = seats.tables
    return await stack.join(first, name), await stack.join(second, name)


async def test_leave_and_sit_that_cross_seat_nobody_twice(seats: Seats, record_property: Count) -> None:
    stack, moved = seats._stack, 0
    for seed in range(RACES):
        chance = random.Random(seed)
        here, there = await _at_both(seats, stack, f"bob{seed}")
        assert (await here.command("sit"))["type"] == "event"
        await _racing(chance, here.command("leave"), there.command("sit"))
        seated = await seats.of(f"bob{seed}")
        assert len(seated) <= 1, seed
        moved += seated == [seats.tables[1]]
        await _all_gone(here, there)
    record_property("count", f"{RACES} races, {moved} of them moved the player, 0 seated anybody twice")


async def test_two_sits_at_two_tables_give_one_seat(seats: Seats) -> None:
    for seed in range(RACES):
        here, there = await _at_both(seats, seats._stack, f"bob{seed}")
        await _racing(random.Random(seed), here.command("sit"), there.command("sit"))
        assert len(await seats.of(f"bob{seed}")) == 1, seed
        await _all_gone(here, there)


async def test_opening_a_table_and_sitting_elsewhere_give_one_seat(seats: Seats) -> None:
    stack = seats._stack
    for seed in range(RACES):
        name, own = f"bob{seed}", str(uuid4())
        here = await stack.join(seats.tables[0], name)
        answers: list[str] = []

        async def create(name: str = name, own: str = own, answers: list[str] = answers) -> None:
            try:
                answers.append((await stack.lobby.create(own, host=name)).table_id)
            except Refused as refusal:
                answers.append(refusal.code)

        await _racing(random.Random(seed), here.command("sit"), create())
        assert answers in ([own], ["seated_elsewhere"])
        opened = answers == [own]
        both = Seats(stack, seats._connection, (seats.tables[0], own) if opened else (seats.tables[0],) * 2)
        seated = await both.of(name) if opened else (await seats.of(name))
        assert len(seated) == 1, seed
        assert (own in seated) == opened
        await _all_gone(here)


async def _all_gone(*players: Player) -> None:
    """Seats are free for the next race."""
    for player in players:
        answer = await player.command("leave")
        assert answer["type"] == "event" or answer["code"] == "not_seated"
        await player.close()
