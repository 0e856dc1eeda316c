"""What dies may come back: the database, NATS, the process, one table. Nothing acknowledged is lost or doubled."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from msgspec.structs import replace
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_contracts.frames import VoteView
from darbar_contracts.subjects import TABLE_RETIRED, table_look
from darbar_contracts.tables import LookRequest, ProcessRetired, TableLook
from darbar_contracts.wallet import SettleRequest
from darbar_kit.bus import Bus
from darbar_kit.errors import KitReason, Refused, Unavailable
from darbar_kit.testing import CuttingProxy, MakeNats, TestDatabase, eventually
from darbar_table.app import SERVICE
from darbar_table.domain.commands import Disconnected
from darbar_table.domain.timers import VoteTimer
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.node import TableNode
from darbar_table.engine.round_start import RoundStart
from darbar_table.handlers import awaited_reply
from darbar_table.shards.pace import Pace
from darbar_table.store.chain import first_link
from darbar_table.store.codec import EventCodec


def _settled(frame: dict[str, Any]) -> bool:
    return bool(frame.get("kind") == "settled")


async def _play_until(players: list[Player], until: Callable[[dict[str, Any]], bool]) -> None:
    await asyncio.gather(*(player.play(until) for player in players))


async def _versions(database: TestDatabase, table_id: str) -> list[int]:
    connection = await asyncpg.connect(database.owner_url)
    try:
        rows = await connection.fetch("SELECT version FROM event WHERE table_id = $1 ORDER BY version", UUID(table_id))
    finally:
        await connection.close()
    return [row["version"] for row in rows]


async def test_a_client_that_comes_back_gets_just_what_it_missed(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id, players = await stack.full_table()
    ann = players[0]
    await ann.event("count_in_started")
    await ann.close()
    had = ann.version
    rest = players[1:]
    await rest[0].event("round_dealt")
    again = await stack.join(table_id, "ann", version=had)
    dealt = await again.event("round_dealt")
    versions = [frame["version"] for frame in again.frames if frame["type"] == "event"]
    assert versions[: dealt["version"] - had] == list(range(had + 1, dealt["version"] + 1))
    assert not [frame for frame in again.frames if frame["type"] == "snapshot"]


async def test_a_client_that_claims_a_version_to_come_gets_a_snapshot(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    await (await stack.join(table_id, "bob")).command("sit")
    late = await stack.join(table_id, "dan", version=10_000)
    assert (await late.frame("snapshot"))["version"] == 2


async def test_a_client_is_told_what_happened_while_nobody_was_there(start_table: StartTable) -> None:
    stack = await start_table(offline_grace_seconds=0.05)
    table_id = await stack.open_table()
    bob = await stack.join(table_id, "bob")
    await bob.command("sit")
    await bob.close()
    live = stack.runner.app[SERVICE].present_node().owner.live_tables[UUID(table_id)]
    await eventually(lambda: live.table.version == 3)
    late = await stack.join(table_id, "dan", version=1)
    await late.event("player_went_offline")
    assert [frame.get("kind", frame["type"]) for frame in late.frames] == [
        "welcome",
        "seat_taken",
        "player_went_offline",
    ]


async def test_a_new_process_goes_on_from_the_same_event(start_table: StartTable, table_database: TestDatabase) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id, players = await stack.full_table()
    await _play_until(players, lambda frame: frame.get("version", 0) >= 30)
    await stack.runner.cleanup()
    for player in players:
        await asyncio.wait_for(player.closed.wait(), 10)
    successor = await start_table(count_in_seconds=0.05)
    back = [await successor.join(table_id, name) for name in ("ann", "bob", "cyn", "dan")]
    await _play_until(back, _settled)
    versions = await _versions(table_database, table_id)
    assert versions == list(range(1, len(versions) + 1))


async def test_a_process_without_its_row_begins_a_new_life_and_keeps_its_tables(
    start_table: StartTable, table_database: TestDatabase
) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    bob = await stack.join(table_id, "bob")
    old = stack.runner.app[SERVICE].present_node().process_id
    connection = await asyncpg.connect(table_database.owner_url)
    await connection.execute("DELETE FROM table_process")
    await connection.close()
    await bob.send(type="sit", id="bob-sits-down-here")
    assert (await bob.frame("closing"))["code"] == "not_owner"

    async def lives_again() -> bool:
        node = stack.runner.app[SERVICE].node
        return node is not None and node.process_id != old and UUID(table_id) in node.owner.live_tables

    await eventually(lives_again)
    again = await stack.join(table_id, "bob")
    assert (await again.frame("snapshot"))["table"]["seats"][0]["name"] == "Ann"


async def test_a_process_that_is_declared_dead_while_it_stops_ends_and_answers_nobody(
    start_table: StartTable, table_database: TestDatabase
) -> None:
    stack = await start_table()
    connection = await asyncpg.connect(table_database.owner_url)
    try:
        async with connection.transaction():
            await connection.execute("SELECT 1 FROM table_process FOR UPDATE")
            # The row can't be given back; the lease ends by itself in the meantime.
            await stack.runner.cleanup()
    finally:
        await connection.close()
    assert stack.runner.app[SERVICE].node is None
    with pytest.raises(Unavailable) as refusal:
        await stack.open_table()
    assert refusal.value.code == KitReason.NO_RESPONDERS


async def test_while_postgres_is_away_players_wait_and_nothing_is_lost(
    start_table: StartTable, table_database: TestDatabase, bus: Bus
) -> None:
    proxy = CuttingProxy(str(table_database))
    stack = await start_table(count_in_seconds=0.05, database_url=await proxy.start())
    table_id, players = await stack.full_table()
    await _play_until(players, lambda frame: frame.get("version", 0) >= 25)
    proxy.go_away()
    await eventually(lambda: not stack.runner.app[SERVICE].present_node().lease.may_answer)
    refusal = await players[0].command("ready")
    assert (refusal["code"], refusal["retry"]) == ("unavailable", True)
    late = await stack.join(table_id, "ann")
    assert (await late.frame("closing"))["code"] == "unavailable"
    with pytest.raises(Unavailable):
        await _look(bus, stack.runner.app[SERVICE].present_node(), table_id)
    proxy.come_back()
    await _play_until(players, _settled)
    versions = await _versions(table_database, table_id)
    assert versions == list(range(1, len(versions) + 1))
    await stack.runner.cleanup()
    await proxy.stop()


async def test_stakes_are_asked_again_until_the_wallet_answers(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    stack.wallet.hold()
    _, players = await stack.full_table()
    await eventually(lambda: len(stack.wallet.requests) >= 2)
    stack.wallet.release()
    await players[0].event("round_dealt")
    assert len({request.key for request in stack.wallet.requests}) == 1


class BrokenSocket:
    """A connection at a table with which nothing works."""

    seat: int | None = None

    @property
    def account_id(self) -> str:
        raise ZeroDivisionError

    @account_id.setter
    def account_id(self, _: str) -> None: ...

    def send(self, frame: bytes) -> None:
        raise ZeroDivisionError

    def close(self, code: str, message: str, *, path: str | None = None) -> None:
        raise ZeroDivisionError


class NamelessSocket(BrokenSocket):
    """One that is only broken when somebody asks whose it is."""

    def send(self, frame: bytes) -> None: ...


def _break_storing(live: LiveTable) -> None:
    class Broken(EventCodec):
        def kind_of(self, event: Any) -> str:
            raise ZeroDivisionError

    live.codec = Broken(live.table.rules)


def _break_sending(live: LiveTable) -> None:
    live.sockets.insert(0, BrokenSocket())


def _break_deciding(live: LiveTable) -> None:
    live.table = replace(live.table, host=99)


def _break_the_clock(live: LiveTable) -> None:
    live.table = replace(live.table, vote=VoteView(1, "bot", None, asked_by=0, waits_for=(1,)))
    live.timers = {VoteTimer(1): 0.0}


def _break_what_rings(live: LiveTable) -> None:
    live.absences = {"ann": 0.0}
    live.sockets.insert(0, BrokenSocket())


async def test_a_planned_stop_is_told_though_the_fence_has_gone_meanwhile(
    start_table: StartTable, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack, told = await start_table(), asyncio.Event()
    service = stack.runner.app[SERVICE]
    node = service.present_node()
    retired: list[str] = []

    async def hear(message: ProcessRetired) -> None:
        retired.append(message.process_id)
        told.set()

    async def stop(pace: Pace) -> None:
        await TableNode.stop(node, pace)
        await eventually(lambda: service.node is None)

    listening = await bus.serve(TABLE_RETIRED, ProcessRetired, hear)
    monkeypatch.setattr(node, "stop", stop)
    await stack.runner.cleanup()
    await asyncio.wait_for(told.wait(), 5)
    assert retired == [node.process_id]
    await listening.stop()


@pytest.mark.parametrize(
    ("break_table", "is_noticed_by_the_clock"),
    [
        (_break_storing, False),
        (_break_sending, False),
        (_break_deciding, False),
        (_break_the_clock, True),
        (_break_what_rings, True),
    ],
)
async def test_a_fault_of_ours_freezes_one_table_and_no_other(
    start_table: StartTable,
    table_database: TestDatabase,
    break_table: Callable[[LiveTable], None],
    is_noticed_by_the_clock: bool,
) -> None:
    stack = await start_table()
    broken, healthy = await stack.open_table(), await stack.open_table(host="eve")
    bob, cyn = await stack.join(broken, "bob"), await stack.join(healthy, "cyn")
    node = stack.runner.app[SERVICE].present_node()
    live = node.owner.live_tables[UUID(broken)]
    break_table(live)
    if is_noticed_by_the_clock:
        node.timers.expect(live, "nobody", seconds=0)
    else:
        await bob.send(type="sit", id="bob-sits-down-here")
    assert (await bob.frame("closing"))["code"] == "table_frozen"
    assert (await cyn.command("sit"))["type"] == "event"
    assert [table.frozen for table in (live, node.owner.live_tables[UUID(healthy)])] == [True, False]
    again = await stack.join(broken, "bob")
    assert (await again.frame("closing"))["code"] == "table_frozen"
    connection = await asyncpg.connect(table_database.owner_url)
    await eventually(lambda: connection.fetchval("SELECT reason FROM frozen_table"))
    assert [str(row["table_id"]) for row in await connection.fetch("SELECT table_id FROM frozen_table")] == [broken]
    await connection.close()
    assert stack.runner.app[SERVICE].present_node() is node


@pytest.mark.parametrize("version", [0, 1])
async def test_a_view_that_fails_at_hello_freezes_that_table_and_no_other(
    start_table: StartTable, version: int
) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id, players = await stack.full_table()
    await players[0].event("round_dealt")
    healthy = await stack.open_table(host="eve")
    fay = await stack.join(healthy, "fay")
    node = stack.runner.app[SERVICE].present_node()
    live = node.owner.live_tables[UUID(table_id)]
    _break_the_view(live)
    late = await stack.join(table_id, "gus", version=version)
    assert (await late.frame("closing"))["code"] == "table_frozen"
    assert [frame["type"] for frame in late.frames] == ["closing"]
    for player in players:
        assert (await player.frame("closing"))["code"] == "table_frozen"
    await eventually(lambda: _sockets(stack) == 1)
    assert (live.frozen, live.sockets) == (True, [])
    assert (await fay.command("sit"))["type"] == "event"
    assert {frame["type"] for frame in fay.frames} <= {"welcome", "snapshot", "event", "heartbeat"}
    assert stack.runner.app[SERVICE].present_node() is node


def _break_the_view(live: LiveTable) -> None:
    def view(state: Any, seat: int | None) -> Any:
        raise ZeroDivisionError

    live.table = replace(live.table, rules=dataclasses.replace(live.table.rules, view=view))
    live.round_start = live.count_in_start = RoundStart(replace(live.table, version=live.table.version + 1))


def _sockets(stack: Stack) -> float | None:
    return stack.runner.app[SERVICE].metrics.registry.get_sample_value("table_sockets")


async def test_a_fault_when_a_socket_goes_freezes_that_table(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    bob = await stack.join(table_id, "bob")
    live = stack.runner.app[SERVICE].present_node().owner.live_tables[UUID(table_id)]
    live.sockets.insert(0, NamelessSocket())
    await bob.close()
    await eventually(lambda: live.frozen)
    assert _sockets(stack) == 0


async def test_a_table_that_fails_when_it_is_looked_at_is_frozen_and_no_other(
    start_table: StartTable, bus: Bus
) -> None:
    stack = await start_table()
    broken, healthy = await stack.open_table(), await stack.open_table(host="eve")
    node = stack.runner.app[SERVICE].present_node()
    live = node.owner.live_tables[UUID(broken)]
    live.table = replace(live.table, seats=(None,))
    with pytest.raises(Refused, match="table_frozen"):
        await _look(bus, node, broken)
    assert live.frozen
    assert (await _look(bus, node, healthy)).table_id == healthy


async def _look(bus: Bus, node: TableNode, table_id: str) -> TableLook:
    return await bus.request(table_look(node.process_id), LookRequest(table_id), TableLook, timeout_seconds=5)


async def test_an_answer_that_nobody_waits_for_any_more_is_no_fault_of_the_table(
    start_table: StartTable, table_database: TestDatabase, table_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awaited_reply, "ANSWER_SECONDS_MAX", 0.2)
    stack = await start_table()
    connection = await asyncpg.connect(table_database.owner_url)
    async with connection.transaction():
        await connection.execute("LOCK TABLE event")
        with pytest.raises(Unavailable):
            await stack.lobby.create(table_id)
    await connection.close()
    owner = stack.runner.app[SERVICE].present_node().owner
    await eventually(lambda: UUID(table_id) in owner.live_tables)
    assert (await stack.lobby.create(table_id)).version == 1
    assert (await (await stack.join(table_id, "bob")).command("sit"))["type"] == "event"


async def test_a_table_is_frozen_while_the_database_is_away_and_the_reason_is_kept_afterwards(
    start_table: StartTable, table_database: TestDatabase
) -> None:
    proxy = CuttingProxy(str(table_database))
    stack = await start_table(database_url=await proxy.start())
    table_id = await stack.open_table()
    bob = await stack.join(table_id, "bob")
    node = stack.runner.app[SERVICE].present_node()
    proxy.go_away()
    node.freezer.freeze(node.owner.live_tables[UUID(table_id)], "a test", None)
    assert (await bob.frame("closing"))["code"] == "table_frozen"
    proxy.come_back()
    connection = await asyncpg.connect(table_database.owner_url)
    await eventually(lambda: connection.fetchval("SELECT reason = 'a test' FROM frozen_table"))
    await connection.close()
    await stack.runner.cleanup()
    await proxy.stop()


async def test_a_shard_that_cannot_be_loaded_is_loaded_later_and_who_comes_to_its_tables_waits_for_it(
    start_table: StartTable, table_database: TestDatabase
) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    connection = await asyncpg.connect(table_database.owner_url)
    old = stack.runner.app[SERVICE].present_node()
    await connection.execute("REVOKE SELECT ON event FROM test_tables_service")
    await connection.execute("DELETE FROM table_process")
    await eventually(lambda: _other_node(stack, old))
    failures = stack.runner.app[SERVICE].metrics.registry.get_sample_value
    await eventually(lambda: (failures("table_load_failures_total") or 0) >= 2)
    assert "shards" in await stack.runner.app[SERVICE].ready()
    late = await stack.join(table_id, "bob", hello=False)
    await late.send(type="hello", protocol=1, token=late.token, version=0)
    await connection.execute("GRANT SELECT ON event TO test_tables_service")
    assert (await late.command("sit"))["type"] == "event"
    await eventually(lambda: _is_ready(stack))
    await connection.close()


def _other_node(stack: Stack, old: TableNode) -> bool:
    node = stack.runner.app[SERVICE].node
    return node is not None and node is not old


async def _is_ready(stack: Stack) -> bool:
    return await stack.runner.app[SERVICE].ready() == []


async def test_after_a_lost_fence_nothing_of_the_old_node_comes_back(
    start_table: StartTable, table_database: TestDatabase
) -> None:
    proxy = CuttingProxy(str(table_database))
    stack = await start_table(database_url=await proxy.start())
    table_id = await stack.open_table()
    old = stack.runner.app[SERVICE].present_node()
    live = old.owner.live_tables[UUID(table_id)]
    proxy.go_away()
    await eventually(lambda: not old.lease.may_answer)
    old.owner.submit(live, Disconnected(account_id="ann"))
    connection = await asyncpg.connect(table_database.owner_url)
    await connection.execute("DELETE FROM table_process")
    proxy.come_back()
    await eventually(lambda: _other_node(stack, old))
    old.owner.go_on()
    old.owner.submit(live, Disconnected(account_id="ann"))
    assert (live.in_flight, live.table.version, live.timers) == (False, 1, {})
    await connection.close()
    await stack.runner.cleanup()
    await proxy.stop()


async def test_of_fifty_tables_in_one_batch_one_freezes_and_one_reloads(
    start_table: StartTable, table_database: TestDatabase
) -> None:
    stack = await start_table(writer_connections=1)
    ids = [await stack.open_table(host=f"host{number}") for number in range(50)]
    guests = [await stack.join(table_id, f"guest{number}") for number, table_id in enumerate(ids)]
    await _plant(stack, table_database, taken=ids[7], impossible=ids[23])
    connection = await asyncpg.connect(table_database.owner_url)
    async with connection.transaction():
        await connection.execute("LOCK TABLE event")
        await asyncio.gather(*(guest.send(type="sit", id=f"guest-sits-down-{n:04}") for n, guest in enumerate(guests)))
        owner = stack.runner.app[SERVICE].present_node().owner
        await eventually(lambda: all(owner.live_tables[UUID(table_id)].in_flight for table_id in ids))
    answers = [await guest.until(lambda frame: frame.get("id") is not None) for guest in guests]
    assert [n for n, answer in enumerate(answers) if answer["type"] != "event"] == [7, 23]
    assert (answers[7]["code"], answers[7]["retry"]) == ("unavailable", True)
    assert answers[23]["code"] == "table_frozen"
    await eventually(lambda: owner.live_tables[UUID(ids[7])].table.version == 2)
    reloaded = await stack.join(ids[7], "guest7")
    assert (await reloaded.frame("snapshot"))["version"] == 2
    assert await connection.fetchval("SELECT count(*) FROM frozen_table") == 1
    await connection.close()


async def _plant(stack: Stack, database: TestDatabase, *, taken: str, impossible: str) -> None:
    """One table gets a version that its owner does not know of; the other an event that no database can take."""
    node = stack.runner.app[SERVICE].present_node()
    live = node.owner.live_tables[UUID(impossible)]
    live.chain = first_link(UUID(impossible))[:31]  # The next link is fine; the row before was 32 bytes as well.

    class Spoilt(type(live.codec)):  # type: ignore[misc]
        def encode(self, event: Any) -> bytes:
            return b'{"spoilt'

    live.codec = Spoilt(live.table.rules)
    connection = await asyncpg.connect(database.owner_url)
    await connection.execute(
        "INSERT INTO event SELECT table_id, 2, 'host_changed', '{\"seat\": 0}', now(), chain FROM event"
        " WHERE table_id = $1",
        UUID(taken),
    )
    await connection.close()


@pytest.mark.ruling("TL-44")
async def test_tl_44_a_private_table_is_not_looked_at_while_a_round_is_played(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.5)
    table_id, players = await stack.full_table(visibility="private")
    await players[0].event("round_dealt")
    eve = await stack.join(table_id, "eve")
    assert (await eve.frame("closing"))["code"] == "table_private"


@pytest.mark.ruling("TL-17")
@pytest.mark.ruling("TL-29")
async def test_tl_17_a_seat_that_stays_away_is_played_by_a_bot_at_once_and_comes_back(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05, offline_grace_seconds=0.05)
    table_id, players = await stack.full_table(turn_seconds=30)
    dan = players[3]
    await players[0].event("round_dealt")
    await dan.close()
    await players[0].event("player_went_offline")
    others = [asyncio.create_task(player.play(_by_dans_bot)) for player in players[:3]]
    # Nobody waits for a turn of thirty seconds: a test's player gives up after ten.
    await players[0].until(_by_dans_bot)
    back = await stack.join(table_id, "dan")
    await players[0].event("player_came_back")
    await asyncio.gather(*others)
    await _play_until([*players[:3], back], _settled)


def _by_dans_bot(frame: dict[str, Any]) -> bool:
    public = frame.get("public", {})
    return bool(public.get("seat") == 3 and public.get("by") == "bot")


async def test_while_nats_is_away_cards_are_played_and_sitting_down_waits(
    start_table: StartTable, table_database: TestDatabase, make_nats: MakeNats
) -> None:
    server = await make_nats({})
    stack = await start_table(count_in_seconds=0.05, nats_url=server.url("operator"))
    table_id, players = await stack.full_table()
    empty = await stack.open_table(host="eve")
    late = await stack.join(empty, "mia")
    await _play_until(players, lambda frame: frame.get("kind") == "card_played")
    await server.stop()
    await _play_until(players, lambda frame: frame.get("kind") == "settle_asked")
    refusal = await late.command("sit")
    assert (refusal["code"], refusal["retry"]) == ("unavailable", True)
    assert not [frame for frame in players[0].frames if _settled(frame)], "the wallet can't have answered"
    await server.start()
    await _play_until(players, _settled)

    async def sits() -> bool:
        return bool((await late.command("sit"))["type"] == "event")

    await eventually(sits)
    versions = await _versions(table_database, table_id)
    assert versions == list(range(1, len(versions) + 1))
    settlements = [request for request in stack.wallet.requests if isinstance(request, SettleRequest)]
    assert len({request.key for request in settlements if request.table_id == table_id}) == 1
