"""Replays, audits and milestones over a running service."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import aiohttp
import asyncpg
import msgspec
import pytest
from documented_answers import documented
from table_doubles import TERMS
from table_stack import Stack, StartTable

from darbar_contracts import subjects
from darbar_contracts.tables import (
    CreateTable,
    LookRequest,
    Milestone,
    MilestonesAnswer,
    MilestonesRequest,
    Person,
    TableLook,
    WhereAnswer,
    WhereRequest,
    alias_of,
)
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused
from darbar_kit.testing import TestDatabase, eventually
from darbar_table.app import SERVICE
from darbar_table.handlers import inspection
from darbar_table.handlers.create import TableCreator
from darbar_table.handlers.questions import Questions
from darbar_table.store.chain import first_link, whole_link
from darbar_table.store.store import ReplayHead, Store


async def _get(stack: Stack, path: str, who: str | None) -> tuple[int, dict[str, Any]]:
    headers = {} if who is None else {"Authorization": f"Bearer {stack.lobby.token(who)}"}
    async with aiohttp.ClientSession() as session, session.get(stack.address + path, headers=headers) as answer:
        status, body = answer.status, await answer.json()
        documented("GET", path, status, body)
        return status, body


async def _one_round(stack: Stack, **changes: Any) -> str:
    table_id, players = await stack.full_table(**changes)
    # Where a count-in is long, it is so for what comes after the round.
    await asyncio.gather(*(player.command("ready") for player in players))
    await asyncio.gather(*(player.play(lambda frame: frame.get("kind") == "settled") for player in players))
    return table_id


async def test_a_replay_gives_finished_rounds_and_no_seed_of_a_bag_in_use(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id = await _one_round(stack)
    status, replay = await _get(stack, f"/v1/tables/{table_id}/replay", "ann")
    assert status == 200
    kinds = [event["kind"] for event in replay["events"]]
    assert kinds[0] == "table_created"
    assert kinds[-1] == "settled"
    assert [event["body"] for event in replay["events"] if event["kind"] == "bag_opened"] == [None]
    _, rest = await _get(stack, f"/v1/tables/{table_id}/replay?after=10", "ann")
    assert rest["events"] == replay["events"][10:]


async def test_who_reads_on_is_told_the_same_and_the_whole_log_is_looked_through_at_the_first_page_and_the_last(
    start_table: StartTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id = await _one_round(stack)
    _, replay = await _get(stack, f"/v1/tables/{table_id}/replay", "ann")
    monkeypatch.setattr(inspection, "REPLAY_EVENTS_MAX", 10)
    looked_through = []

    async def head(store: Store, *asked: Any) -> ReplayHead | None:
        looked_through.append(asked)
        return await read(store, *asked)

    read = Store.replay_head
    monkeypatch.setattr(Store, "replay_head", head)
    pages: list[dict[str, Any]] = []
    while not pages or pages[-1]["more"]:
        _, page = await _get(stack, f"/v1/tables/{table_id}/replay?after={10 * len(pages)}", "ann")
        pages.append(page)
    assert [event for page in pages for event in page["events"]] == replay["events"]
    assert len(pages) > 5
    assert len(looked_through) == 2


@pytest.mark.ruling("TL-54")
async def test_tl_54_a_replay_names_seats_and_aliases_and_no_account(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id = await _one_round(stack, visibility="public")
    for who in ("eve", "ann"):
        _, replay = await _get(stack, f"/v1/tables/{table_id}/replay", who)
        text = msgspec.json.encode(replay).decode()
        for name in ("ann", "bob", "cyn", "dan"):
            assert alias_of(table_id, name) in text
            assert f'\\"{name}\\"' not in text


async def test_a_replay_of_an_older_log_hides_what_names_an_account(
    start_table: StartTable, table_database: TestDatabase
) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id = await _one_round(stack)
    await _chain_as_before(table_database, UUID(table_id))
    status, replay = await _get(stack, f"/v1/tables/{table_id}/replay", "ann")
    assert status == 200
    hidden = {event["kind"] for event in replay["events"] if event["body"] is None}
    assert hidden == {"table_created", "seat_taken", "bag_opened"}
    _, rest = await _get(stack, f"/v1/tables/{table_id}/replay?after=1", "ann")
    assert rest["events"] == replay["events"][1:]


async def _chain_as_before(database: TestDatabase, table_id: UUID) -> None:
    """As if the log had been written by a version whose links cover account ids."""
    connection = await asyncpg.connect(database.owner_url)
    rows = await connection.fetch(
        "SELECT version, kind, body, at FROM event WHERE table_id = $1 ORDER BY version", table_id
    )
    chain = first_link(table_id)
    for version, kind, body, at in rows:
        chain = whole_link(chain, table_id, version, kind=kind, at=at, body=body.encode())
        await connection.execute(
            "UPDATE event SET chain = $3 WHERE table_id = $1 AND version = $2", table_id, version, chain
        )
    await connection.close()


@pytest.mark.ruling("TL-1")
async def test_tl_1_a_replay_says_the_terms_by_which_its_rounds_are_played(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table(game="kings_and_rebels", options={"seats": 6}, seats=6)
    player = await stack.join(table_id, "ann")
    assert (await player.command("change_options", options={"seats": 5}))["kind"] == "options_changed"
    changed = await player.command("change_options", options={"seats": 8})
    for who in ("ann", "eve"):
        status, replay = await _get(stack, f"/v1/tables/{table_id}/replay", who)
        assert (status, replay["terms"]) == (200, changed["public"]["terms"])
    assert (replay["terms"]["seats"], replay["terms"]["options"]["seats"]) == (8, 8)


async def test_a_running_round_is_in_no_replay(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id, players = await stack.full_table()
    await players[0].event("round_dealt")
    _, replay = await _get(stack, f"/v1/tables/{table_id}/replay", "ann")
    assert replay["events"] == []
    status, refusal = await _get(stack, f"/v1/tables/{table_id}/audit", "ann")
    assert (status, refusal["code"]) == (409, "not_now")


@pytest.mark.parametrize(
    ("path", "who", "status", "code"),
    [
        ("/v1/tables/{id}/replay", None, 401, "token_missing"),
        ("/v1/tables/{id}/replay", "eve", 403, "table_private"),
        ("/v1/tables/{id}/audit", "eve", 403, "table_private"),
        ("/v1/tables/{id}/replay?after=-1", "ann", 400, "query_invalid"),
        ("/v1/tables/{id}/replay?after=9999999999", "ann", 400, "query_invalid"),
        ("/v1/tables/{id}/replay?after=x", "ann", 400, "query_invalid"),
        ("/v1/tables/nonsense/replay", "ann", 404, "table_unknown"),
        ("/v1/tables/00000000-0000-0000-0000-000000000000/replay", "ann", 404, "table_unknown"),
    ],
)
async def test_questions_about_a_private_table_are_refused(
    start_table: StartTable, path: str, who: str | None, status: int, code: str
) -> None:
    stack = await start_table()
    table_id = await stack.open_table(visibility="private")
    answered, refusal = await _get(stack, path.replace("{id}", table_id), who)
    assert (answered, refusal["code"]) == (status, code)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE event SET body = replace(body::text, '\"seat\":2', '\"seat\":3')::json WHERE version = 2",
        "UPDATE event SET body = '{}' WHERE version = 3",
        "UPDATE event SET kind = 'flown_away' WHERE version = 3",
        "UPDATE event SET kind = 'player_went_offline', body = '{\"seat\": 99}' WHERE version = 3",
        "UPDATE event SET at = at - interval '1 second' WHERE version = 1",
        "DELETE FROM event WHERE version = 4",
    ],
)
async def test_an_audit_finds_the_log_whole_and_a_tampered_one_not(
    start_table: StartTable, table_database: TestDatabase, damage: str
) -> None:
    stack = await start_table(count_in_seconds=2.0, audits_a_minute_max=0)
    table_id = await _one_round(stack)

    audit = await _audit_between_rounds(stack, table_id)
    assert audit["chain_holds"] is True
    assert audit["replay_equals_live"] is True
    for player in stack.players:
        assert (await player.command("leave"))["type"] == "event"
    connection = await asyncpg.connect(table_database.owner_url)
    await connection.execute(f"{damage} AND table_id = $1", UUID(table_id))
    await connection.close()
    assert (await _audit_between_rounds(stack, table_id))["chain_holds"] is False


async def test_who_asks_for_replays_or_audits_too_often_waits_and_nobody_else(start_table: StartTable) -> None:
    stack = await start_table(replays_a_minute_max=2, audits_a_minute_max=1)
    table_id = await stack.open_table(visibility="public")
    for what, count, answered in (("replay", 2, 200), ("audit", 1, 200)):
        path = f"/v1/tables/{table_id}/{what}"
        statuses = [(await _get(stack, path, "ann"))[0] for _ in range(count)]
        assert statuses == [answered] * count
        status, refusal = await _get(stack, path, "ann")
        assert (status, refusal["code"], refusal["details"]["limit"]) == (429, "too_many_requests", f"{what}s")
        assert (await _get(stack, path, "bob"))[0] != 429


async def test_an_account_has_one_log_read_at_a_time(start_table: StartTable) -> None:
    stack = await start_table(audits_a_minute_max=0)
    table_id = await stack.open_table()
    path = f"/v1/tables/{table_id}/audit"
    answers = await asyncio.gather(*(_get(stack, path, "ann") for _ in range(8)))
    limits = sorted(answer.get("details", {}).get("limit", "") for _, answer in answers)
    assert limits == ["", *["audits_at_once"] * 7]


async def test_more_readers_than_there_is_room_for_are_sent_away_and_come_back(
    start_table: StartTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "LOGS_WAITING_MAX", 2)
    stack = await start_table(audits_a_minute_max=0)
    table_id = await stack.open_table()
    path = f"/v1/tables/{table_id}/audit"
    answers = await asyncio.gather(*(_get(stack, path, f"guest{number}") for number in range(8)))
    assert sorted(answer["code"] for _, answer in answers) == ["busy"] * 5 + ["table_private"] * 3
    assert (await _get(stack, path, "ann"))[0] == 200


async def test_one_page_of_a_replay_is_read_at_a_time_and_those_without_room_are_sent_away(
    start_table: StartTable, table_database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "PAGES_WAITING_MAX", 1)
    stack = await start_table(count_in_seconds=0.05)
    path = f"/v1/tables/{await stack.open_table()}/replay"
    owner = await asyncpg.connect(table_database.owner_url)

    async def reads() -> bool:
        return bool(await owner.fetch("SELECT 1 FROM pg_locks WHERE NOT granted"))

    async with owner.transaction():
        await owner.execute("LOCK TABLE event")
        read = asyncio.ensure_future(_get(stack, path, "ann"))
        await eventually(reads)
        others = [asyncio.ensure_future(_get(stack, path, name)) for name in ("bob", "cyn", "dan")]
        done, waiting = await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
        while len(done) < 2:
            more, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            done |= more
        assert [(status, answer["code"]) for status, answer in (one.result() for one in done)] == [(503, "busy")] * 2
    await owner.close()
    assert [(await one)[0] for one in (read, *waiting)] == [200, 200]


async def _audit_between_rounds(stack: Stack, table_id: str) -> dict[str, Any]:
    async def answered() -> dict[str, Any] | None:
        status, audit = await _get(stack, f"/v1/tables/{table_id}/audit", "ann")
        return audit if status == 200 else None

    found: dict[str, Any] = await eventually(answered)
    return found


async def test_milestones_are_published_in_order_and_can_be_asked_again(start_table: StartTable, bus: Bus) -> None:
    stack = await start_table(count_in_seconds=0.05)
    heard: list[Milestone] = []
    table_id = await _one_round(stack)
    subscription = await bus.jetstream.subscribe(subjects.milestone(table_id), ordered_consumer=True)

    async def ended() -> bool:
        message = await subscription.next_msg(timeout=5)
        heard.append(msgspec.json.decode(message.data, type=Milestone))
        return any(note.kind == "round_ended" and note.table_id == table_id for note in heard)

    await eventually(ended)
    await subscription.unsubscribe()
    mine = [note for note in heard if note.table_id == table_id]
    assert [note.number for note in mine] == list(range(1, len(mine) + 1))
    assert [note.kind for note in mine] == [
        "table_created", "seat_taken", "seat_taken", "seat_taken", "round_started", "round_ended",
    ]  # fmt: skip
    assert [note.free_seats for note in mine] == [3, 2, 1, 0, 0, 0]
    asked = await bus.request(
        subjects.TABLE_MILESTONES,
        MilestonesRequest(table_id=table_id, after=2),
        MilestonesAnswer,
        timeout_seconds=5,
    )
    assert list(asked.milestones)[:4] == mine[2:]


async def test_anybody_can_be_told_where_a_table_is_and_how_it_looks(start_table: StartTable, bus: Bus) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    where = await bus.request(subjects.TABLE_WHERE, WhereRequest(table_id=table_id), WhereAnswer, timeout_seconds=5)
    assert where.process_id is not None
    look = await bus.request(
        subjects.table_look(where.process_id), LookRequest(table_id=table_id), TableLook, timeout_seconds=5
    )
    assert look.seats[0] is not None
    assert (look.seats[0].name, look.seats[1:], look.phase) == ("Ann", (None, None, None), "waiting")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"game": "poker"}, "game"),
        ({"options": {"trump": "spades"}}, "options"),
        ({"options": {"winning_points": 9}}, "options.winning_points"),
        ({"options": {"six_point_finish": True}}, "options.six_point_finish"),
        ({"bet_coins": 24}, "bet_coins"),
        ({"bet_coins": 1001}, "bet_coins"),
        ({"turn_seconds": 4}, "turn_seconds"),
        ({"turn_seconds": 31}, "turn_seconds"),
    ],
)
async def test_a_table_is_not_opened_with_what_is_not_offered(
    start_table: StartTable, changes: dict[str, Any], field: str
) -> None:
    stack = await start_table()
    with pytest.raises(Refused) as refusal:
        await stack.open_table(**changes)
    assert refusal.value.code == "option_invalid"
    assert field in str(refusal.value.details["fields"])


async def test_a_host_whose_table_was_refused_may_open_another(start_table: StartTable) -> None:
    stack = await start_table()
    stack.wallet.balances["ann"] = 199
    for changes in ({"bet_coins": 24}, {}):
        with pytest.raises(Refused):
            await stack.open_table(**changes)
    stack.wallet.balances["ann"] = 200
    assert await stack.open_table()


async def nowhere(_account_id: str) -> None:
    """There are no other databases."""


async def test_who_stops_waiting_for_a_table_takes_it_from_nobody_else(
    start_table: StartTable, table_database: TestDatabase, bus: Bus, table_id: str
) -> None:
    stack = await start_table()
    node = stack.runner.app[SERVICE].present_node()
    questions = Questions(store=node.store, bus=bus, node=lambda: node, seat_elsewhere=nowhere)
    creator = TableCreator(questions=questions, node=lambda: node)
    command = CreateTable(table_id, TERMS, Person("ann", "Ann", "fox"))
    connection = await asyncpg.connect(table_database.owner_url)
    async with connection.transaction():
        await connection.execute("LOCK TABLE event")
        asking = [asyncio.create_task(creator.create(command)) for _ in range(2)]
        await asyncio.wait(asking, timeout=0)
        asking[0].cancel()
        await asyncio.wait(asking[:1])
    await connection.close()
    assert asking[0].cancelled()
    assert (await asking[1]).table_id == table_id


async def test_opening_a_table_twice_is_one_table(start_table: StartTable, table_id: str) -> None:
    stack = await start_table()
    first, second = await asyncio.gather(stack.lobby.create(table_id), stack.lobby.create(table_id))
    assert first == second
    assert await stack.lobby.create(table_id) == first
