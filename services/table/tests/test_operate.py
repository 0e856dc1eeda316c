"""An operator lets a stopped table go on, or ends it: over a running service, its database and its bus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, TypeAlias
from uuid import UUID, uuid4

import aiohttp
import asyncpg
import msgspec
import pytest
import pytest_asyncio
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_contracts import subjects
from darbar_contracts.tables import OperateTable, OperatorAction, TableOperated
from darbar_contracts.wallet import RefundPurpose, RefundRequest
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.testing import TestDatabase, eventually
from darbar_table.app import SERVICE
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.node import TableNode
from darbar_table.handlers import awaited_reply
from darbar_table.handlers.awaited_reply import AwaitedReply
from darbar_table.shards.placement import SHARDS
from darbar_table.store.codec import EventCodec

NAMES = ("ann", "bob", "cyn", "dan")
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


@pytest_asyncio.fixture(loop_scope="session")
async def database(table_database: TestDatabase) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(table_database.owner_url)
    yield connection
    await connection.close()


class Operator:
    """Asks the one process that holds the tables of a test."""

    def __init__(self, stack: Stack, bus: Bus) -> None:
        self._stack = stack
        self._bus = bus

    async def asks(self, action: OperatorAction, table_id: str, *, reason: str = "mended") -> TableOperated:
        return await self._bus.request(
            subjects.table_operate(node_of(self._stack).process_id),
            OperateTable(table_id, action, "root", reason),
            TableOperated,
            timeout_seconds=15,
        )

    async def is_refused(self, action: OperatorAction, table_id: str) -> str:
        with pytest.raises(Refused) as refusal:
            await self.asks(action, table_id)
        return refusal.value.code


def node_of(stack: Stack) -> TableNode:
    return stack.runner.app[SERVICE].present_node()


def live_of(stack: Stack, table_id: str) -> LiveTable:
    return node_of(stack).owner.live_tables[UUID(table_id)]


def gauge(stack: Stack, name: str) -> float | None:
    return stack.runner.app[SERVICE].metrics.registry.get_sample_value(name)


async def log_of(database: Connection, table_id: str) -> list[tuple[int, str, dict[str, Any]]]:
    rows = await database.fetch(
        "SELECT version, kind, body FROM event WHERE table_id = $1 ORDER BY version", UUID(table_id)
    )
    return [(row["version"], row["kind"], msgspec.json.decode(row["body"])) for row in rows]


async def kinds_of(database: Connection, table_id: str) -> list[str]:
    log = await log_of(database, table_id)
    assert [version for version, _, _ in log] == list(range(1, len(log) + 1))
    return [kind for _, kind, _ in log]


async def frozen(database: Connection) -> list[str]:
    return [str(row["table_id"]) for row in await database.fetch("SELECT table_id FROM frozen_table")]


async def stop_by_a_fault(stack: Stack, database: Connection, table_id: str, players: list[Player]) -> None:
    """What is held in memory is spoilt, so that the next command fails; the log is good."""

    class Broken(EventCodec):
        def kind_of(self, event: Any) -> str:
            raise ZeroDivisionError

    live = live_of(stack, table_id)
    live.codec = Broken(live.table.rules)
    await players[0].send(type="leave", id="ann-leaves-the-table")
    for player in players:
        assert (await player.frame("closing"))["code"] == "table_frozen"

    async def is_stored() -> bool:
        return table_id in await frozen(database) and not node_of(stack).freezer.unstored

    await eventually(is_stored)


async def plant(database: Connection, table_id: str, body: str) -> None:
    await database.execute(
        "INSERT INTO event SELECT table_id, max(version) + 1, 'host_changed', $2::text::json, now(),"
        " sha256('planted'::bytea) FROM event WHERE table_id = $1 GROUP BY table_id",
        UUID(table_id),
        body,
    )


async def mend(database: Connection, table_id: str) -> None:
    await database.execute(
        "UPDATE event SET body = '{\"seat\": 0}' WHERE table_id = $1 AND kind = 'host_changed'", UUID(table_id)
    )


async def back(stack: Stack, table_id: str) -> list[Player]:
    players = [await stack.join(table_id, name) for name in NAMES]
    for player in players:
        await player.frame("snapshot")
    return players


async def play_until(players: list[Player], kind: str) -> None:
    await asyncio.gather(*(player.play(lambda frame: frame.get("kind") == kind) for player in players))


async def test_a_thawed_table_goes_on_where_its_log_ends(
    start_table: StartTable, bus: Bus, database: Connection
) -> None:
    stack = await start_table(count_in_seconds=0.05)
    operator = Operator(stack, bus)
    table_id, players = await stack.full_table()
    await play_until(players, "card_played")
    await stop_by_a_fault(stack, database, table_id, players)
    before = await kinds_of(database, table_id)
    assert (gauge(stack, "table_shards"), gauge(stack, "table_tables_frozen")) == (SHARDS, 1)

    assert await operator.asks("resume", table_id) == TableOperated(table_id, "resume")

    assert gauge(stack, "table_tables_frozen") == 0
    log = await log_of(database, table_id)
    assert [kind for _, kind, _ in log[: len(before)]] == before
    assert log[len(before)][1:] == ("table_resumed", {"operator": "root", "why": "mended"})
    assert await frozen(database) == []
    again = await back(stack, table_id)
    await play_until(again, "settled")
    await kinds_of(database, table_id)
    headers = {"Authorization": f"Bearer {again[0].token}"}
    async with (
        aiohttp.ClientSession(stack.address, headers=headers) as session,
        session.get(f"/v1/tables/{table_id}/replay") as answered,
    ):
        replay = await answered.json()
    assert [event["body"] for event in replay["events"] if event["kind"] == "table_resumed"] == [None]


async def test_a_thawed_table_is_not_frozen_for_its_next_owner(
    start_table: StartTable, bus: Bus, database: Connection
) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    await stop_by_a_fault(stack, database, table_id, [await stack.join(table_id, "ann")])
    await stack.runner.cleanup()
    stack = await start_table()
    assert live_of(stack, table_id).frozen

    await Operator(stack, bus).asks("resume", table_id)

    await stack.runner.cleanup()
    stack = await start_table()
    assert (await (await stack.join(table_id, "bob")).command("sit"))["type"] == "event"


@pytest.mark.ruling("TL-24")
async def test_tl_24_a_stopped_table_is_voided_and_its_stakes_go_back(
    start_table: StartTable, bus: Bus, database: Connection
) -> None:
    stack = await start_table(count_in_seconds=0.05)
    operator = Operator(stack, bus)
    table_id, players = await stack.full_table()
    await play_until(players, "card_played")
    stake_key = stack.wallet.requests[0].key
    await stop_by_a_fault(stack, database, table_id, players)

    stack.wallet.hold()
    first = await operator.asks("void", table_id)
    again = await operator.asks("void", table_id)
    stack.wallet.release()
    await eventually(lambda: UUID(table_id) not in node_of(stack).owner.live_tables)
    afterwards = await operator.asks("void", table_id)

    assert first == again == afterwards == TableOperated(table_id, "void")
    refunds = [request for request in stack.wallet.requests if isinstance(request, RefundRequest)]
    assert {(refund.stake_key, refund.purpose) for refund in refunds} == {(stake_key, RefundPurpose.VOIDED)}
    kinds = await kinds_of(database, table_id)
    assert [kinds.count(kind) for kind in ("table_voided", "table_resumed", "refunded")] == [1, 0, 1]
    assert kinds[-1] == "table_closed"
    assert await frozen(database) == []
    assert await operator.is_refused("resume", table_id) == "table_closed"


async def test_a_table_that_is_played_at_is_voided_before_everybodys_eyes(
    start_table: StartTable, bus: Bus, database: Connection
) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    bob = await stack.join(table_id, "bob")

    await asyncio.gather(*(Operator(stack, bus).asks("void", table_id) for _ in range(3)))

    assert (await bob.event("table_voided"))["public"] == {}
    assert (await bob.frame("closing"))["code"] == "table_closed"
    assert await kinds_of(database, table_id) == ["table_created", "table_voided", "seat_freed", "table_closed"]


async def test_a_voided_table_that_is_stopped_again_winds_up_when_it_is_voided_again(
    start_table: StartTable, bus: Bus, database: Connection
) -> None:
    stack = await start_table(count_in_seconds=0.05)
    operator = Operator(stack, bus)
    table_id, players = await stack.full_table()
    await play_until(players, "card_played")
    stack.wallet.hold()
    await operator.asks("void", table_id)
    node_of(stack).freezer.freeze(live_of(stack, table_id), "a test", None)
    await eventually(lambda: not node_of(stack).freezer.unstored)
    stack.wallet.release()

    await operator.asks("void", table_id)

    await eventually(lambda: UUID(table_id) not in node_of(stack).owner.live_tables)
    kinds = await kinds_of(database, table_id)
    assert [kinds.count(kind) for kind in ("table_voided", "table_resumed", "refunded")] == [1, 1, 1]
    assert kinds[-1] == "table_closed"


@pytest.mark.parametrize("planted", ["at run time", "before a start"])
async def test_a_table_whose_log_cannot_be_read_is_thawed_when_the_row_is_mended(
    start_table: StartTable, bus: Bus, database: Connection, planted: str
) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    if planted == "before a start":
        await stack.runner.cleanup()
    await plant(database, table_id, '{"seat": "no seat"}')
    if planted == "before a start":
        stack = await start_table()
    else:
        assert (await (await stack.join(table_id, "bob")).command("sit"))["retry"]
    await eventually(lambda: UUID(table_id) in node_of(stack).freezer.unreadable)
    operator = Operator(stack, bus)
    refusals = [await _unreadable(operator, action, table_id) for action in ("resume", "void", "resume")]
    assert refusals == ["table_unreadable"] * 3
    assert await frozen(database) == [table_id]
    assert gauge(stack, "table_tables_frozen") == 1

    await mend(database, table_id)
    await _stored(stack)
    await operator.asks("resume", table_id)

    assert (await (await stack.join(table_id, "bob")).command("sit"))["type"] == "event"
    assert await frozen(database) == []
    assert await kinds_of(database, table_id) == ["table_created", "host_changed", "table_resumed", "seat_taken"]
    await operator.asks("void", table_id)
    assert (await (await stack.join(table_id, "bob")).frame("closing"))["code"] == "table_unknown"


async def _unreadable(operator: Operator, action: OperatorAction, table_id: str) -> str:
    await _stored(operator._stack)
    return await operator.is_refused(action, table_id)


async def _stored(stack: Stack) -> None:
    await eventually(lambda: not node_of(stack).freezer.unstored)


async def test_thawing_twice_and_thawing_what_never_stopped_is_answered_and_stores_nothing(
    start_table: StartTable, bus: Bus, database: Connection
) -> None:
    stack = await start_table()
    operator = Operator(stack, bus)
    table_id, healthy = await stack.open_table(), await stack.open_table(host="eve")
    await stop_by_a_fault(stack, database, table_id, [await stack.join(table_id, "ann")])

    answers = [await operator.asks("resume", table_id) for _ in range(2)]
    await operator.asks("resume", healthy)

    assert answers[0] == answers[1]
    assert await kinds_of(database, table_id) == ["table_created", "table_resumed"]
    assert await kinds_of(database, healthy) == ["table_created"]


async def test_two_operators_at_once_thaw_a_table_that_is_then_played_at(
    start_table: StartTable, bus: Bus, database: Connection
) -> None:
    stack = await start_table()
    operator = Operator(stack, bus)
    table_id = await stack.open_table()
    await stop_by_a_fault(stack, database, table_id, [await stack.join(table_id, "ann")])

    outcomes = await asyncio.gather(*(operator.asks("resume", table_id) for _ in range(4)), return_exceptions=True)

    assert any(isinstance(outcome, TableOperated) for outcome in outcomes)
    assert all(isinstance(outcome, TableOperated | Unavailable) for outcome in outcomes), outcomes
    assert (await (await stack.join(table_id, "bob")).command("sit"))["type"] == "event"
    assert await kinds_of(database, table_id) == ["table_created", "table_resumed", "seat_taken"]


@pytest.mark.parametrize("action", ["resume", "void"])
async def test_a_table_that_is_not_there_is_refused(start_table: StartTable, bus: Bus, action: OperatorAction) -> None:
    stack = await start_table()
    operator = Operator(stack, bus)
    assert await operator.is_refused(action, str(uuid4())) == "table_unknown"
    assert await operator.is_refused(action, "no id") == "table_unknown"
    left = await stack.open_table()
    await (await stack.join(left, "ann")).send(type="leave", id="ann-leaves-the-table")
    await eventually(lambda: UUID(left) not in node_of(stack).owner.live_tables)
    assert await operator.is_refused(action, left) == "table_closed"


@pytest.mark.parametrize("reason", ["", "two\nlines", "x" * 201])
async def test_a_reason_is_one_line_of_text(start_table: StartTable, bus: Bus, reason: str) -> None:
    stack = await start_table()
    with pytest.raises(Refused, match="message_invalid"):
        await Operator(stack, bus).asks("resume", await stack.open_table(), reason=reason)


async def test_a_table_that_cannot_go_on_stays_frozen_and_says_so(
    start_table: StartTable, bus: Bus, database: Connection
) -> None:
    """Its log can be read, but what it says can't be."""
    stack = await start_table()
    operator = Operator(stack, bus)
    table_id = await stack.open_table()
    await stop_by_a_fault(stack, database, table_id, [await stack.join(table_id, "ann")])
    await plant(database, table_id, '{"seat": 99}')

    assert [await operator.is_refused("resume", table_id) for _ in range(2)] == ["table_frozen"] * 2

    assert await frozen(database) == [table_id]
    late = await stack.join(table_id, "bob")
    assert (await late.frame("closing"))["code"] == "table_frozen"
    await mend(database, table_id)
    await operator.asks("resume", table_id)
    assert (await (await stack.join(table_id, "bob")).command("sit"))["type"] == "event"


async def test_a_fault_after_the_thaw_was_stored_freezes_the_table_anew(
    start_table: StartTable, bus: Bus, database: Connection
) -> None:
    class Broken:
        def loaded(self, live: LiveTable) -> None:
            raise ZeroDivisionError

    stack = await start_table()
    operator, node = Operator(stack, bus), node_of(stack)
    table_id = await stack.open_table()
    await stop_by_a_fault(stack, database, table_id, [await stack.join(table_id, "ann")])
    presence, node.presence = node.presence, Broken()  # type: ignore[assignment]

    with pytest.raises(Unavailable, match="table_frozen"):
        await operator.asks("resume", table_id)

    assert live_of(stack, table_id).frozen
    await _stored(stack)
    assert await frozen(database) == [table_id]
    node.presence = presence
    await operator.asks("resume", table_id)
    assert (await (await stack.join(table_id, "bob")).command("sit"))["type"] == "event"
    assert await frozen(database) == []


async def test_what_stopped_a_table_is_stored_before_anybody_thaws_it(
    start_table: StartTable, bus: Bus, database: Connection
) -> None:
    stack = await start_table()
    table_id, operator = await stack.open_table(), Operator(stack, bus)
    async with database.transaction():
        await database.execute("LOCK TABLE frozen_table")
        node_of(stack).freezer.freeze(live_of(stack, table_id), "a test", None)
        with pytest.raises(Unavailable, match="something is under way"):
            await operator.asks("resume", table_id)
    await _stored(stack)
    assert await frozen(database) == [table_id]
    await operator.asks("resume", table_id)
    assert await frozen(database) == []


async def test_a_stopped_table_that_somebody_else_wrote_to_stays_stopped(
    start_table: StartTable, bus: Bus, database: Connection
) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    live = live_of(stack, table_id)
    await plant(database, table_id, '{"seat": 0}')
    async with database.transaction():
        await database.execute("LOCK TABLE event")
        await (await stack.join(table_id, "bob")).send(type="sit", id="bob-sits-down-here")
        await eventually(lambda: live.in_flight)
        node_of(stack).freezer.freeze(live, "a test", None)
    await eventually(lambda: live_of(stack, table_id) is not live)

    assert live_of(stack, table_id).frozen


async def test_an_outcome_that_nobody_waits_for_any_more_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaited_reply, "ANSWER_SECONDS_MAX", 0.01)
    reply = AwaitedReply()
    with pytest.raises(Unavailable):
        await reply.stored_version()
    reply.stored(2)
    reply.done(2)
    reply.refuse("table_frozen", "", details={}, retry=False)
