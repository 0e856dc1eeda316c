"""Tables in two databases: each cell plays by itself, and whoever asks finds the tables of both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import aiohttp
import asyncpg
import pytest
import pytest_asyncio
from table_doubles import Player
from table_fixtures import MIGRATIONS, starting
from table_stack import Stack, StartTable

from darbar_contracts import subjects
from darbar_contracts.admin.disclosure import (
    CoinsLogPage,
    CoinsLogRequest,
    FrozenTables,
    FrozenTablesRequest,
    LoggedCoins,
    LogPage,
    LogRequest,
    LogVerified,
    StateRequest,
    TableState,
    VerifyLog,
)
from darbar_contracts.tables import MilestonesAnswer, MilestonesRequest, ShardsServed, WhereAnswer, WhereRequest
from darbar_kit.bus import Bus
from darbar_kit.embedded.nats import OPERATOR
from darbar_kit.embedded.nats_rights import Permissions
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.testing import CuttingProxy, MakeDatabase, MakeNats, ManualClock, TestDatabase, eventually
from darbar_table.app import SERVICE, Service
from darbar_table.shards import cells
from darbar_table.shards.placement import SHARDS, shard_of
from darbar_table.shards.split import SplitRefused, keep_shards

QUICK = {"count_in_seconds": 0.05, "seeds_open_seconds": 0.05}
LOW, HIGH = (0, 511), (512, 1023)
NAMES = {LOW: ("ann", "bob", "cyn", "dan"), HIGH: ("eve", "fay", "gus", "hal")}
LISTENED_SECONDS_MIN = cells.LISTENED_SECONDS_MIN
KEPT = " UNION ".join(
    f"SELECT table_id FROM {table}" for table in ("event", "open_table", "seat_claim", "table_snapshot", "outbox")
)


def service_of(stack: Stack) -> Service:
    return stack.runner.app[SERVICE]


def id_in(shards: tuple[int, int]) -> str:
    """A new table's, that lies in one of these shards."""
    return next(str(one) for one in iter(uuid4, None) if shards[0] <= shard_of(one) <= shards[1])


class Cell(NamedTuple):
    """A database with half of the shards, and a process that is connected to it."""

    shards: tuple[int, int]
    database: TestDatabase
    stack: Stack

    async def ask(self, query: str, *values: Any) -> list[Any]:
        connection = await asyncpg.connect(self.database.owner_url)
        try:
            return [row[0] for row in await connection.fetch(query, *values)]
        finally:
            await connection.close()

    async def knows(self, other: tuple[int, int]) -> None:
        """Waits until this process knows who serves the shards of another cell."""
        await eventually(lambda: all(service_of(self.stack).cells.elsewhere(shard) for shard in other))


@pytest.fixture(scope="module")
def at_once() -> Iterator[None]:
    """Nobody is there who would have to be listened for."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cells, "LISTENED_SECONDS_MIN", 0.0)
        yield


class Two(NamedTuple):
    """Both cells, at a message server of their own where a table process has the rights it has anywhere."""

    low: Cell
    high: Cell
    bus: Bus
    start: StartTable

    @property
    def cells(self) -> tuple[Cell, Cell]:
        return self.low, self.high


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def two(make_nats: MakeNats, make_database: MakeDatabase, at_once: None) -> AsyncIterator[Two]:
    nats = await make_nats({"table": Permissions(*subjects.PERMISSIONS["table"])})
    bus = await Bus.connect(nats.url(OPERATOR), name="tests")
    databases = [await make_database("tables", MIGRATIONS) for _ in (LOW, HIGH)]
    async with starting("", nats.url("table"), bus) as start_table:
        found = []
        for shards, database in zip((LOW, HIGH), databases, strict=True):
            assert await keep_shards(database.owner_url, *shards, removes=False) == 0
            found.append(Cell(shards, database, await start_table(database_url=str(database), **QUICK)))
        low, high = found
        await low.knows(HIGH)
        await high.knows(LOW)
        yield Two(low, high, bus, start_table)
    await bus.close()


async def played(cell: Cell, *, at: Stack, table_id: str | None = None) -> tuple[str, list[Player]]:
    """A table of this cell, played for a round by its people, whose sockets are at this process."""
    table_id = table_id or id_in(cell.shards)
    host, *others = NAMES[cell.shards]
    await at.lobby.create(table_id, host=host)
    players = [await at.join(table_id, host)]
    for name in others:
        players.append(await at.join(table_id, name))
        answer = await players[-1].command("sit")
        assert answer["type"] == "event", answer
    await asyncio.gather(*(player.play(_is_settled) for player in players))
    return table_id, players


def _is_settled(frame: dict[str, Any], *, after: int = 0) -> bool:
    return frame.get("kind") == "settled" and frame["version"] > after


async def _get(stack: Stack, path: str, who: str) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {stack.lobby.token(who)}"}
    async with aiohttp.ClientSession() as session, session.get(stack.address + path, headers=headers) as answered:
        return answered.status, await answered.json()


async def coins(bus: Bus, *table_ids: str) -> dict[str, LoggedCoins]:
    page = await bus.request(subjects.TABLE_COINS, CoinsLogRequest(table_ids), CoinsLogPage, timeout_seconds=10)
    assert page.next is None
    return {table.table_id: table for table in page.tables}


async def test_tables_of_both_cells_are_played_through_any_process_and_found_by_whoever_asks(two: Two) -> None:
    low, high, bus, _ = two
    # Each table's people are connected to a process of the other cell.
    tables = {cell: (await played(cell, at=other.stack))[0] for cell, other in ((low, high), (high, low))}
    for cell, table_id in tables.items():
        assert await cell.ask("SELECT count(*) > 60 FROM event WHERE table_id = $1", UUID(table_id)) == [True]
        for asked in two.cells:
            node, owner = (service_of(one.stack).present_node() for one in (asked, cell))
            assert node.survey.owner_of(shard_of(UUID(table_id))) == owner.process_id
            status, replay = await _get(asked.stack, f"/v1/tables/{table_id}/replay", NAMES[cell.shards][0])
            assert (status, replay["table_id"], len(replay["events"]) > 60) == (200, table_id, True)
            status, refusal = await _get(asked.stack, f"/v1/tables/{table_id}/audit", "zoe")
            assert (status, refusal["code"]) in ((403, "table_private"), (409, "not_now"))
        # Whichever process of the two gets the question.
        for _ in range(4):
            log = await bus.request(subjects.TABLE_LOG, LogRequest(table_id), LogPage, timeout_seconds=10)
            assert log.events[0].kind == "table_created"
        state = await bus.request(subjects.TABLE_STATE, StateRequest(table_id, 1), TableState, timeout_seconds=30)
        assert state.table_id == table_id
        request = MilestonesRequest(table_id, 0)
        milestones = await bus.request(subjects.TABLE_MILESTONES, request, MilestonesAnswer, timeout_seconds=30)
        assert {one.table_id for one in milestones.milestones} == {table_id}
        told = VerifyLog(table_id, 1, log.events[0].chain or "")
        verified = await bus.request(subjects.TABLE_VERIFY, told, LogVerified, timeout_seconds=30)
        assert (verified.wrong_version, verified.events > 60) == (None, True)
    assert set(await coins(bus)) >= set(tables.values())
    asked_of_wallet = {one.table_id: len(one.asked) for one in (await coins(bus, *tables.values())).values()}
    assert all(asked_of_wallet[table_id] for table_id in tables.values())


async def test_frozen_tables_of_both_cells_are_listed(two: Two) -> None:
    found = []
    for cell in two.cells:
        found.append(id_in(cell.shards))
        await cell.ask("INSERT INTO frozen_table (table_id, reason) VALUES ($1, 'a test')", UUID(found[-1]))
    answer = await two.bus.request(subjects.TABLE_FROZEN, FrozenTablesRequest(), FrozenTables, timeout_seconds=10)
    assert [table.table_id for table in answer.tables] == found[::-1], "the last one first"


@pytest.mark.ruling("TL-8")
async def test_tl_8_an_account_sits_at_one_table_of_all_cells(two: Two) -> None:
    low, high = two.cells
    at_low, at_high = id_in(LOW), id_in(HIGH)
    await low.stack.lobby.create(at_low, host="ida")
    with pytest.raises(Refused, match="seated_elsewhere") as refusal:
        await low.stack.lobby.create(at_high, host="ida")
    assert refusal.value.details == {"table_id": at_low}
    await low.stack.lobby.create(at_high, host="jon")
    ida, kim = await high.stack.join(at_high, "ida"), await high.stack.join(at_high, "kim")
    assert (await ida.command("sit"))["details"] == {"table_id": at_low}
    assert (await kim.command("sit"))["type"] == "event"
    assert (await (await high.stack.join(at_low, "kim")).command("sit"))["code"] == "seated_elsewhere"
    await kim.command("leave")
    sat = await (await low.stack.join(at_low, "kim")).command("sit")
    assert sat["type"] == "event", sat


@pytest.mark.ruling("TL-8")
async def test_tl_8_of_two_seats_taken_at_the_same_moment_in_two_cells_one_at_the_most_stays(
    two: Two,
) -> None:
    low, high = two.cells
    tables = {low: id_in(LOW), high: id_in(HIGH)}
    await low.stack.lobby.create(tables[low], host="leo")
    await low.stack.lobby.create(tables[high], host="mia")
    kims = [await cell.stack.join(table_id, "nat") for cell, table_id in tables.items()]
    holding = [await asyncpg.connect(cell.database.owner_url) for cell in two.cells]
    for connection in holding:
        await connection.execute("BEGIN; LOCK TABLE event")
    sitting = [asyncio.create_task(kim.command("sit")) for kim in kims]
    for cell, table_id in tables.items():
        await eventually(partial(_is_in_flight, cell, table_id))
    for connection in holding:
        await connection.execute("COMMIT")
        await connection.close()
    assert [answer["type"] for answer in await asyncio.gather(*sitting)] == ["event", "event"], "both were stored"

    await eventually(lambda: _has_one_seat(two, "nat"))
    assert any(frame.get("kind") == "seat_freed" for kim in kims for frame in kim.frames)


def _is_in_flight(cell: Cell, table_id: str) -> bool:
    return service_of(cell.stack).present_node().owner.live_tables[UUID(table_id)].in_flight


async def _has_one_seat(two: Two, account_id: str) -> bool:
    """At the most."""
    claims = [await cell.ask("SELECT 1 FROM seat_claim WHERE account_id = $1", account_id) for cell in two.cells]
    return sum(map(len, claims)) <= 1


async def test_a_cell_without_its_database_costs_the_other_one_nothing(
    start_table: StartTable, make_database: MakeDatabase, bus: Bus, at_once: None
) -> None:
    databases = [await make_database("tables", MIGRATIONS) for _ in range(2)]
    proxy = CuttingProxy(str(databases[1]))
    urls = [str(databases[0]), await proxy.start()]
    for shards, database in zip((LOW, HIGH), databases, strict=True):
        await keep_shards(database.owner_url, *shards, removes=False)
    stacks = [await start_table(database_url=url, **QUICK) for url in urls]
    low, high = (Cell(*one) for one in zip((LOW, HIGH), databases, stacks, strict=True))
    await low.knows(HIGH)
    await high.knows(LOW)
    at_high = id_in(HIGH)
    await low.stack.lobby.create(at_high, host="eve")
    proxy.go_away()
    await eventually(lambda: not service_of(high.stack).present_node().lease.may_answer)
    # Its people are connected to the process that has no database, and never notice.
    table_id, players = await played(low, at=high.stack)
    assert [frame for player in players for frame in player.frames if frame["type"] in ("refused", "closing")] == []
    assert (await _get(high.stack, f"/v1/tables/{table_id}/replay", "ann"))[0] == 200
    with pytest.raises(Unavailable):
        await bus.request(subjects.TABLE_COINS, CoinsLogRequest(), CoinsLogPage, timeout_seconds=15)
    assert (await _get(low.stack, f"/v1/tables/{at_high}/replay", "eve"))[0] == 503
    proxy.come_back()
    await eventually(lambda: _is(service_of(high.stack).ready, []), seconds=15)
    fay = await low.stack.join(at_high, "fay")
    assert (await fay.command("sit"))["type"] == "event"
    assert set(await coins(bus)) == {table_id, at_high}
    await proxy.stop()


async def _is(asked: Callable[[], Awaitable[Any]], wanted: Any) -> bool:
    return bool(await asked() == wanted)


async def test_a_table_goes_on_in_its_cell_when_its_process_dies_and_its_people_are_in_the_other_cell(
    two: Two,
) -> None:
    low, high = two.cells
    table_id = id_in(HIGH)
    await low.stack.lobby.create(table_id, host="oda")
    players = [await low.stack.join(table_id, "oda"), await low.stack.join(table_id, "pia")]
    assert (await players[1].command("sit"))["type"] == "event"
    successor = await two.start(database_url=str(high.database), better_place_seconds=3600.0, **QUICK)
    dead = service_of(high.stack).present_node().process_id
    # As one that others declare dead: nothing is handed over.
    assert await high.ask("DELETE FROM table_process WHERE process_id = $1 RETURNING true", dead)
    assert (await players[1].command("leave"))["type"] == "event"
    living = await high.ask("SELECT process_id FROM table_process")
    assert service_of(successor).present_node().process_id in living
    assert service_of(low.stack).present_node().survey.owner_of(shard_of(UUID(table_id))) in set(living) - {dead}
    assert [frame for player in players for frame in player.frames if frame["type"] in ("refused", "closing")] == []


async def test_shards_of_nobody_are_unavailable_and_not_unknown(
    start_table: StartTable, make_database: MakeDatabase, bus: Bus, at_once: None
) -> None:
    database = await make_database("tables", MIGRATIONS)
    await keep_shards(database.owner_url, *LOW, removes=False)
    stack = await start_table(database_url=str(database))
    nowhere = id_in(HIGH)
    where = await bus.request(subjects.TABLE_WHERE, WhereRequest(nowhere), WhereAnswer, timeout_seconds=5)
    assert where.process_id is None, "ask again"
    assert (await _get(stack, f"/v1/tables/{nowhere}/replay", "ann"))[0] == 503
    for subject, request, answer_type in (
        (subjects.TABLE_LOG, LogRequest(nowhere), LogPage),
        (subjects.TABLE_COINS, CoinsLogRequest(), CoinsLogPage),
    ):
        with pytest.raises(Unavailable, match="no table process has told"):
            await bus.request(subject, request, answer_type, timeout_seconds=5)


async def test_a_second_database_with_shards_that_are_served_gets_none_of_them(
    start_table: StartTable, make_database: MakeDatabase, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "LISTENED_SECONDS_MIN", LISTENED_SECONDS_MIN)
    first, second = [await make_database("tables", MIGRATIONS) for _ in range(2)]
    serving = await start_table(database_url=str(first))
    await keep_shards(second.owner_url, *HIGH, removes=False)
    mistaken = await start_table(database_url=str(second))
    service = service_of(mistaken)
    await eventually(lambda: len(service.cells.contested) == SHARDS // 2)
    assert await service.ready() == ["cells"]
    assert service.present_node().shards_served == 0
    assert service_of(serving).present_node().shards_served == SHARDS
    assert await service_of(serving).ready() == []
    for table_id in (id_in(HIGH), id_in(HIGH), id_in(HIGH)):
        # Also when the mistaken one is asked.
        await serving.lobby.create(table_id, host=table_id)
        await bus.request(subjects.TABLE_LOG, LogRequest(table_id), LogPage, timeout_seconds=5)
        assert (await mistaken.join(table_id, "bob")).frames[0]["type"] == "welcome"


async def test_a_database_is_split_and_its_tables_go_on_in_both_halves(
    start_table: StartTable,
    make_database: MakeDatabase,
    table_database: TestDatabase,
    postgres_server: str,
    bus: Bus,
    at_once: None,
) -> None:
    whole = await start_table(**QUICK)
    low_table, _ = await played(Cell(LOW, table_database, whole), at=whole, table_id=id_in(LOW))
    high_table, _ = await played(Cell(HIGH, table_database, whole), at=whole, table_id=id_in(HIGH))
    with pytest.raises(SplitRefused, match="1 open tables of other shards"):
        await keep_shards(table_database.owner_url, *LOW, removes=False)
    with pytest.raises(SplitRefused, match="stop them first"):
        await keep_shards(table_database.owner_url, *LOW, removes=True)
    await whole.runner.cleanup()
    copy = await _copy(postgres_server, table_database)
    # The rows of processes that were there when the copy was made run out.
    for database, shards, kept in ((table_database, LOW, low_table), (copy, HIGH, high_table)):
        assert await keep_shards(database.owner_url, *shards, removes=True) == 1
        assert await keep_shards(database.owner_url, *shards, removes=True) == 0, "nothing is left to do"
        connection = await asyncpg.connect(database.owner_url)
        rows = await connection.fetch(KEPT)
        assert {str(row[0]) for row in rows} == {kept}
        await connection.close()
    low, high = [
        Cell(shards, database, await start_table(database_url=str(database), **QUICK))
        for shards, database in ((LOW, table_database), (HIGH, copy))
    ]
    await low.knows(HIGH)
    await high.knows(LOW)
    for cell, table_id in ((low, low_table), (high, high_table)):
        players = [await low.stack.join(table_id, name) for name in NAMES[cell.shards]]
        next_round = partial(_is_settled, after=max(player.version for player in players))
        await asyncio.gather(*(player.play(next_round) for player in players))
    assert set(await coins(bus)) == {low_table, high_table}


async def _copy(postgres_server: str, database: TestDatabase) -> TestDatabase:
    """As a copy of the whole database is, however it was made."""
    name = str(database).rpartition("/")[2]
    admin = await asyncpg.connect(postgres_server)
    try:
        await admin.execute(f"CREATE DATABASE {name}_copy OWNER test_tables_owner TEMPLATE {name}")
    finally:
        await admin.close()
    return TestDatabase(f"{database}_copy", f"{database.owner_url}_copy")


def test_a_process_of_our_own_that_came_and_went_while_we_stood_still_is_no_other_database() -> None:
    clock = ManualClock()
    known = cells.Cells(clock)
    ownerless: dict[int, str | None] = dict.fromkeys(range(SHARDS))
    gone, other = (ShardsServed(name, {name: tuple(range(SHARDS))}) for name in ("t-gone", "t-other"))
    for _ in range(4):
        known.hear(gone)
    known.look(ownerless, {"t-own"})
    assert (len(known.here), known.contested) == (SHARDS, frozenset())
    for _ in range(3):
        known.hear(other)
        clock.now += 1
    known.look(ownerless, {"t-own"})
    assert (len(known.here), len(known.contested)) == (0, SHARDS)
    clock.now += cells.HEARD_SECONDS_MAX
    known.look(ownerless, {"t-own"})
    assert len(known.here) == SHARDS, "the other one has fallen silent"
