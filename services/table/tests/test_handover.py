"""Tables move between living processes, and nobody at them is refused anything (TL-43)."""

from __future__ import annotations

import asyncio
import contextlib
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_kit.testing import TestDatabase, eventually
from darbar_table.app import SERVICE
from darbar_table.engine import handover
from darbar_table.engine.handover import _Group
from darbar_table.engine.node import TableNode
from darbar_table.shards import pace
from darbar_table.shards.holdings import ShardState
from darbar_table.shards.pace import Pace
from darbar_table.shards.placement import SHARDS, Placement, shard_of

HELD_SECONDS = 0.3
HOUR_SECONDS = 3600.0
AT_ONCE = {"better_place_seconds": 0.0}


def node_of(stack: Stack) -> TableNode:
    return stack.runner.app[SERVICE].present_node()


def serves(stack: Stack, table_id: str) -> bool:
    node = node_of(stack)
    return UUID(table_id) in node.owner.live_tables and node.holdings.state(shard_of(UUID(table_id))) is (
        ShardState.SERVING
    )


def counted(stack: Stack) -> int:
    return len(node_of(stack).holdings.with_state(ShardState.SERVING))


class Comer(Player):
    """A player who goes where the table is, and sends again what was not answered, as every client does."""

    async def answered(self, stacks: list[Stack], table_id: str, kind: str, **fields: Any) -> dict[str, Any]:
        command_id = f"comer-{uuid4().hex[:16]}"
        while True:
            with contextlib.suppress(AssertionError, ConnectionError, RuntimeError):
                return await self.command(kind, id=command_id, **fields)
            await self.follow(stacks, table_id)

    async def follow(self, stacks: list[Stack], table_id: str) -> None:
        """Where the last frame of the table says; it is there already."""
        closing = await self.frame("closing")
        assert closing["code"] == "moved"
        [owner] = [stack for stack in stacks if f"/{node_of(stack).process_id}/" in closing["path"]]
        self._url = f"{owner.address}{closing['path']}"
        await self.close()
        version = self.version
        self.frames.clear()
        self.closed.clear()
        await self.connect(version=version)
        assert (await self.frame("welcome"))["version"] >= version


async def comer(stack: Stack, table_id: str, name: str) -> Comer:
    url = f"{stack.address}/play/tables/{table_id}/socket"
    player = Comer(stack.lobby._session, url, token=stack.lobby.token(name))
    stack.players.append(player)
    await player.connect()
    await player.frame("snapshot")
    return player


async def test_a_newcomer_gets_its_share_and_no_command_is_refused(start_table: StartTable) -> None:
    first = await start_table(**AT_ONCE)
    tables = [await first.open_table(host=f"host{number}") for number in range(12)]
    players = [await comer(first, table_id, f"guest{number}") for number, table_id in enumerate(tables)]
    second = await start_table(**AT_ONCE)
    moving = asyncio.create_task(_sit_and_leave(players, tables, [first, second]))
    await eventually(lambda: counted(first) + counted(second) == SHARDS and counted(second) > SHARDS // 3)
    await eventually(lambda: all(serves(first, table_id) != serves(second, table_id) for table_id in tables))
    moving.cancel()
    await asyncio.gather(moving, return_exceptions=True)
    assert any(serves(second, table_id) for table_id in tables)
    codes = {frame["code"] for player in players for frame in player.frames if frame["type"] == "refused"}
    assert codes == set()


async def _sit_and_leave(players: list[Comer], tables: list[str], stacks: list[Stack]) -> None:
    async def one(player: Comer, table_id: str) -> None:
        while True:
            assert (await player.answered(stacks, table_id, "sit"))["type"] in ("event", "done")
            assert (await player.answered(stacks, table_id, "leave"))["type"] in ("event", "done")

    async with asyncio.TaskGroup() as tasks:
        for player, table_id in zip(players, tables, strict=True):
            tasks.create_task(one(player, table_id))


async def test_who_stops_hands_its_tables_over_first(start_table: StartTable, table_database: TestDatabase) -> None:
    first = await start_table()
    table_id = await first.open_table()
    ann = await comer(first, table_id, "ann")
    second = await start_table()
    await first.runner.cleanup()
    closing = await ann.frame("closing")
    assert closing["path"] == f"/play/at/{node_of(second).process_id}/tables/{table_id}/socket"
    assert serves(second, table_id)
    assert counted(second) == SHARDS
    connection = await asyncpg.connect(table_database.owner_url)
    assert await connection.fetchval("SELECT count(*) FROM outage WHERE ended IS NULL") == 0
    await connection.close()


async def test_so_many_go_in_a_second_and_more_only_where_there_are_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(pace, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(pace, "monotonic", lambda: 100.0)
    usual, hurried = Pace(), Pace(2 * round(pace.SOCKETS_A_SECOND * pace.SPREAD_SECONDS_MAX))
    for each in (usual, hurried):
        await each.wait()
        each.begin(pace.SOCKETS_A_SECOND)
        await each.wait()
        each.begin(pace.SOCKETS_A_SECOND)
        await each.wait()
    assert waited == pytest.approx([0.0, 1.0, 2.0, 0.0, 0.5, 1.0])


class HeldPace(Pace):
    """Whoever comes after the first ones waits for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.gone: list[int] = []
        self.is_waited_for = False

    async def wait(self) -> None:
        if self.gone:
            self.is_waited_for = True
            await asyncio.get_running_loop().create_future()

    def begin(self, sockets: int) -> None:
        self.gone.append(sockets)


async def test_players_are_not_all_sent_away_at_once(start_table: StartTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who came first have their time elsewhere; meanwhile the others play on where they are."""
    monkeypatch.setattr(handover, "TABLES_AT_ONCE", 1)
    monkeypatch.setattr(handover, "SHARDS_AT_ONCE", SHARDS)
    first, held_pace = await start_table(), HeldPace()
    tables = [await first.open_table(host=f"host{number}") for number in range(3)]
    players = [await comer(first, table_id, f"guest{number}") for number, table_id in enumerate(tables)]
    await start_table()

    leaving = asyncio.create_task(node_of(first).handover.leave(held_pace))
    await eventually(lambda: held_pace.is_waited_for)
    still_here = [number for number, table_id in enumerate(tables) if serves(first, table_id)]
    answers = [await players[number].command("sit") for number in still_here]

    assert still_here
    assert held_pace.gone == [len(tables) - len(still_here)]
    assert {answer["type"] for answer in answers} == {"event"}
    assert not leaving.done()
    leaving.cancel()


async def test_however_many_players_there_are_all_go_in_time(
    start_table: StartTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "SOCKETS_A_SECOND", 1 / HOUR_SECONDS)
    monkeypatch.setattr(pace, "SPREAD_SECONDS_MAX", HELD_SECONDS)
    monkeypatch.setattr(handover, "TABLES_AT_ONCE", 1)
    first = await start_table()
    tables = [await first.open_table(host=f"host{number}") for number in range(3)]
    for number, table_id in enumerate(tables):
        await comer(first, table_id, f"guest{number}")
    second = await start_table()

    await node_of(first).handover.leave(Pace(node_of(first).sockets))

    assert counted(first) == 0
    await eventually(lambda: all(serves(second, table_id) for table_id in tables))


async def test_a_table_that_is_being_opened_is_stored_before_its_shard_goes_elsewhere(
    start_table: StartTable, table_database: TestDatabase
) -> None:
    """Else the next owner has loaded the shard without it, and nobody holds the table."""
    first, second = await start_table(), await start_table()
    node = node_of(first)
    holder = await asyncpg.connect(table_database.owner_url)
    transaction = holder.transaction()
    await transaction.start()
    await holder.execute("LOCK TABLE event IN SHARE MODE")
    opening = asyncio.create_task(first.open_table())
    await eventually(lambda: bool(node.owner.opening))
    [live] = node.owner.opening.values()
    handing = asyncio.create_task(node.handover._hand_over(_Group(node_of(second).process_id, [live.shard])))
    await eventually(lambda: node.holdings.state(live.shard) is ShardState.LEAVING)
    done, _ = await asyncio.wait([opening, handing], timeout=HELD_SECONDS)
    await transaction.rollback()
    await holder.close()
    assert not done
    assert await handing
    await opening
    await eventually(lambda: serves(second, str(live.table_id)))


async def test_a_command_that_comes_while_its_table_moves_is_answered_where_it_stays(start_table: StartTable) -> None:
    """The successor is gone when it is to have the table: the table stays, and whoever waited is answered."""
    stack = await start_table()
    table_id = await stack.open_table()
    bob = await stack.join(table_id, "bob")
    node = node_of(stack)
    shard = shard_of(UUID(table_id))
    node.holdings.leave([shard])
    sitting = asyncio.create_task(bob.command("sit"))
    live = node.owner.live_tables[UUID(table_id)]
    await eventually(lambda: live.waiting is not None)
    assert await node.survey.hand_over([shard], "t000000000000") == []
    node.handover._go_on([shard])
    assert (await sitting)["type"] == "event"


async def test_a_look_that_was_under_way_takes_nothing_back(start_table: StartTable) -> None:
    """What it read of the owners is older than the handover: it is read again."""
    first, second = await start_table(), await start_table()
    node = node_of(first)
    looks = [asyncio.create_task(node.survey.look()) for _ in range(3)]
    handed = await node.survey.hand_over(range(5), node_of(second).process_id)
    node.holdings.forget(handed)
    await asyncio.gather(*looks)
    assert handed == [0, 1, 2, 3, 4]
    assert {node.holdings.state(shard) for shard in handed} == {None}


def test_a_place_has_to_be_known_for_a_while() -> None:
    time = 100.0
    places = Placement(known_seconds_min=10.0, clock=lambda: time)
    places.look(("a",))
    places.look(("a", "b"))
    assert set(places.due("a")) == {None}
    time += 10
    assert set(places.due("a")) == {None, "b"}
    places.look(("a", "b", "c"))
    assert "c" not in places.due("a")
    assert "b" in places.due("a")
    places.look(("a",))
    assert set(places.due("a")) == {None}


def test_without_others_nothing_has_a_place() -> None:
    assert set(Placement.of([])) == {None}
