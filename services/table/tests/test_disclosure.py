"""What those who run Darbar see of a table: over a running service, asked on its bus as the lobby asks."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import asyncpg
import msgspec
import pytest
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_contracts import subjects
from darbar_contracts.admin.disclosure import (
    CoinsLogPage,
    CoinsLogRequest,
    FrozenTables,
    FrozenTablesRequest,
    LoggedCoins,
    LoggedEvent,
    LogPage,
    LogRequest,
    LogVerified,
    StateRequest,
    TableState,
    VerifyLog,
)
from darbar_contracts.tables import MilestonesAnswer, MilestonesRequest
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused
from darbar_kit.testing import TestDatabase
from darbar_table.app import SERVICE
from darbar_table.handlers import disclosure


async def log_of(bus: Bus, table_id: str, **asked: object) -> list[LoggedEvent]:
    """All pages of it."""
    found: list[LoggedEvent] = []
    while True:
        request = msgspec.convert({"table_id": table_id, "after": len(found), **asked}, LogRequest)
        page = await bus.request(subjects.TABLE_LOG, request, LogPage, timeout_seconds=10)
        found += page.events
        if not page.more:
            return found


async def state_at(bus: Bus, table_id: str, version: int, **asked: object) -> TableState:
    request = msgspec.convert({"table_id": table_id, "version": version, **asked}, StateRequest)
    return await bus.request(subjects.TABLE_STATE, request, TableState, timeout_seconds=30)


async def played_round(stack: Stack, *, at_once: bool = False) -> tuple[str, list[Player]]:
    """`at_once`: for a count-in that lasts longer than the test, so that no next round begins meanwhile."""
    table_id, players = await stack.full_table()
    if at_once:
        await players[0].command("start_now")
    await asyncio.gather(*(player.play(lambda frame: frame.get("kind") == "settled") for player in players))
    return table_id, players


async def test_a_log_has_every_hand_who_decided_and_how_fast(
    start_table: StartTable, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id, _ = await played_round(stack)
    monkeypatch.setattr(disclosure, "EVENTS_MAX", 30)
    log = await log_of(bus, table_id)
    assert [event.version for event in log] == list(range(1, len(log) + 1))
    assert len(log) > 60, "several pages"
    assert [event.kind for event in log if event.body is None] == ["bag_opened"]
    assert any('"account_id":"ann"' in (event.body or "") for event in log), "administrators see accounts"
    dealt = next(event for event in log if event.kind == "round_dealt")
    assert len(msgspec.json.decode(dealt.body or "")["event"]["hands"]) == 4
    cards = [event for event in log if event.kind == "card_played"]
    assert {event.by for event in cards} <= {"player", "clock", "bot", "table"}
    assert all(event.chain for event in log)
    decided = [event for event in cards if event.by != "table"]
    assert len(decided) > 40
    assert all(event.seat is not None for event in decided)
    assert all(event.seconds is not None and 0 <= event.seconds < 60 for event in decided)
    # On whatever page an event stands, the time is the same.
    monkeypatch.setattr(disclosure, "EVENTS_MAX", 7)
    assert await log_of(bus, table_id) == log


async def test_pages_stay_below_what_a_message_may_have(
    start_table: StartTable, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id, _ = await played_round(stack)
    whole = await log_of(bus, table_id)
    monkeypatch.setattr(disclosure, "BODIES_BYTES_MAX", 1)
    page = await bus.request(subjects.TABLE_LOG, LogRequest(table_id, 3), LogPage, timeout_seconds=10)
    assert ([event.version for event in page.events], page.more) == ([4], True)
    monkeypatch.setattr(disclosure, "BODIES_BYTES_MAX", 3000)
    assert await log_of(bus, table_id) == whole


async def test_a_running_round_is_there_only_when_asked_for_and_never_its_seed(
    start_table: StartTable, bus: Bus
) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id, players = await stack.full_table()
    await players[0].event("round_dealt")
    assert await log_of(bus, table_id) == []
    log = await log_of(bus, table_id, running=True, own_account_ids=["eve"])
    kinds = [event.kind for event in log]
    assert "round_dealt" in kinds
    assert {event.kind for event in log if event.body is None} == {"bag_opened", "count_in_started"}
    assert not any("server_seed" in (event.body or "") for event in log)
    assert {event.chain for event in log} == {None}
    at_deal = kinds.index("round_dealt") + 1
    state = await state_at(bus, table_id, at_deal, running=True)
    assert (state.kind, len(state.seats)) == ("round_dealt", 4)
    assert "seed" not in msgspec.json.encode(state).decode()


async def test_nobody_sees_hands_where_one_of_their_accounts_sits(start_table: StartTable, bus: Bus) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id, players = await stack.full_table()
    await players[0].event("round_dealt")
    own = ["eve", "bob"]
    with pytest.raises(Refused, match="own_table"):
        await log_of(bus, table_id, running=True, own_account_ids=own)
    with pytest.raises(Refused, match="own_table"):
        await state_at(bus, table_id, 3, running=True, own_account_ids=own)


async def test_the_state_at_every_version_is_what_the_seats_were_shown(start_table: StartTable, bus: Bus) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id, _ = await played_round(stack)
    log = await log_of(bus, table_id)
    card = next(event for event in log if event.kind == "card_played")
    before, after = await state_at(bus, table_id, card.version - 1), await state_at(bus, table_id, card.version)
    assert after.at == card.at
    played = msgspec.json.decode(card.body or "")["event"]["card"]
    assert played in before.seats[card.seat or 0]["game"]["hand"]
    assert played not in after.seats[card.seat or 0]["game"]["hand"]
    for version in (0, len(log) + 1):
        with pytest.raises(Refused, match="version_unknown"):
            await state_at(bus, table_id, version)


async def test_what_is_no_table_has_no_log_and_no_state(start_table: StartTable, bus: Bus) -> None:
    await start_table()
    for table_id in (str(uuid4()), "nonsense"):
        with pytest.raises(Refused, match="table_unknown"):
            await log_of(bus, table_id)
        with pytest.raises(Refused, match="table_unknown"):
            await state_at(bus, table_id, 1)


async def test_frozen_tables_are_told_with_the_command_that_stopped_them(
    start_table: StartTable, bus: Bus, table_database: TestDatabase
) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    store = stack.runner.app[SERVICE].present_node().store
    await store.freeze(UUID(table_id), reason="KeyError", command='{"type":"sit"}')
    await store.freeze(uuid4(), reason="not loaded", command=None)
    answer = await bus.request(subjects.TABLE_FROZEN, FrozenTablesRequest(), FrozenTables, timeout_seconds=5)
    found = {table.table_id: (table.reason, table.command) for table in answer.tables}
    assert found[table_id] == ("KeyError", '{"type":"sit"}')
    assert ("not loaded", None) in found.values()
    connection = await asyncpg.connect(table_database.owner_url)
    await connection.execute("DELETE FROM frozen_table")
    await connection.close()


TAMPERINGS = {
    "a body is changed": ("UPDATE event SET body = '{}' WHERE version = 20", 20, "does not follow"),
    "two are exchanged": (
        "UPDATE event SET (kind, body, at, chain) ="
        " (SELECT kind, body, at, chain FROM saved WHERE saved.version = 41 - event.version) WHERE version IN (20, 21)",
        20,
        "does not follow",
    ),
    "one is taken out": ("DELETE FROM event WHERE version = 20", 20, "does not follow"),
    "one is taken out and the rest moved up": (
        "WITH gone AS (DELETE FROM event WHERE version >= 20)"
        " INSERT INTO moved SELECT table_id, version - 1, kind, body, at, chain FROM saved WHERE version > 20",
        20,
        "does not follow",
    ),
    "one is put in": (
        "INSERT INTO event SELECT table_id, (SELECT max(version) + 1 FROM event), kind, body, at, chain"
        " FROM saved WHERE version = 20",
        None,
        "does not follow",
    ),
    "the end is cut off": ("DELETE FROM event WHERE version > 30", 31, "is missing; others were told of version"),
    "everything is gone": ("DELETE FROM event", 1, "is missing"),
}


async def test_whatever_is_done_to_a_log_is_found_with_its_version(
    start_table: StartTable, bus: Bus, table_database: TestDatabase
) -> None:
    stack = await start_table(count_in_seconds=60)
    table_id, _ = await played_round(stack, at_once=True)
    last = (await log_of(bus, table_id))[-1]
    told = VerifyLog(table_id, last.version, last.chain or "")
    connection = await asyncpg.connect(table_database.owner_url)
    await connection.execute("CREATE TABLE saved AS SELECT * FROM event; CREATE TABLE moved (LIKE event)")

    async def verified() -> LogVerified:
        return await bus.request(subjects.TABLE_VERIFY, told, LogVerified, timeout_seconds=30)

    assert (await verified()).wrong_version is None
    for what, (statement, version, why) in TAMPERINGS.items():
        await connection.execute(statement)
        await connection.execute("INSERT INTO event SELECT * FROM moved")
        found = await verified()
        stored = await connection.fetchval("SELECT max(version) FROM saved")
        assert (found.wrong_version, why in found.why) == (version or stored + 1, True), (what, found)
        await connection.execute("TRUNCATE event, moved")
        await connection.execute("INSERT INTO event SELECT * FROM saved")
    forged = msgspec.structs.replace(told, version=20)
    found = await bus.request(subjects.TABLE_VERIFY, forged, LogVerified, timeout_seconds=30)
    assert (found.wrong_version, found.why) == (20, "is not the one of which others were told")
    assert (await verified()).wrong_version is None
    await connection.close()


async def test_milestones_tell_the_link_of_their_event(start_table: StartTable, bus: Bus) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id, _ = await played_round(stack)
    links = {event.version: event.chain for event in await log_of(bus, table_id)}
    again = await bus.request(
        subjects.TABLE_MILESTONES, MilestonesRequest(table_id, 0), MilestonesAnswer, timeout_seconds=30
    )
    told = {milestone.version: milestone.chain for milestone in again.milestones if milestone.version in links}
    assert len(told) > 4
    assert all(links[version] == chain for version, chain in told.items())


async def test_what_logs_say_of_coins_comes_table_by_table(
    start_table: StartTable, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = await start_table(count_in_seconds=0.05)
    played, _ = await played_round(stack)
    other = str(uuid4())
    await stack.lobby.create(other, host="eve")

    async def coins(*table_ids: str) -> dict[str, LoggedCoins]:
        found: dict[str, LoggedCoins] = {}
        after = None
        while True:
            request = CoinsLogRequest(table_ids, after)
            page = await bus.request(subjects.TABLE_COINS, request, CoinsLogPage, timeout_seconds=10)
            found |= {table.table_id: table for table in page.tables}
            if page.next is None:
                return found
            after = page.next

    everything = await coins()
    assert set(everything) == {played, other}
    logged = everything[played]
    assert {what.partition(" ")[0] for what in logged.answered} == {"stake", "settle"}
    assert set(logged.answered) <= set(logged.asked)
    assert everything[other] == LoggedCoins(other, (), ())
    monkeypatch.setattr(disclosure, "BODIES_BYTES_MAX", 1)
    monkeypatch.setattr(disclosure, "COINS_TABLES_MAX", 1)
    assert await coins() == everything
    assert await coins(other, played, "no-table") == everything
