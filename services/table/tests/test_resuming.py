"""Who comes back within the round is sent every frame it missed, as it was sent: by the same owner and by the next."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import msgspec
import pytest
from golden_log import SCRIPTS
from table_doubles import Player
from table_scripts import ANN, BOB, CYN, DAN, EVE, Script
from table_stack import Stack, StartTable

from darbar_contracts.tables import Person
from darbar_kit.database import DatabaseAway
from darbar_kit.testing import eventually
from darbar_table.app import SERVICE
from darbar_table.domain.evolve import evolve
from darbar_table.domain.seat_view import seat_frames
from darbar_table.domain.state import Phase
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.resuming import Past, frames_after
from darbar_table.handlers import gateway
from darbar_table.store.codec import EventCodec
from darbar_table.store.store import StoredEvent

NAMES = ("ann", "bob", "cyn", "dan")
Frame = dict[str, Any]


def without_what_is_over(frames: list[Frame]) -> list[Frame]:
    """Of all but the last: what could be decided then, and how long that took."""
    over = [{name: part for name, part in frame.items() if name not in ("legal", "remaining_ms")} for frame in frames]
    return [*over[:-1], {name: part for name, part in frames[-1].items() if name != "remaining_ms"}]


def events_of(player: Player, *, after: int, until: int) -> list[Frame]:
    return [frame for frame in player.frames if frame["type"] == "event" and after < frame["version"] <= until]


def held(stack: Stack, table_id: str) -> LiveTable:
    return stack.runner.app[SERVICE].present_node().owner.live_tables[UUID(table_id)]


def resumed(script: Script, person: Person, version: int, *, start: int = 1) -> list[Frame] | None:
    """What somebody with this version is sent; the table is told from the state at `start`, read from its log."""
    codec = EventCodec(script.table.rules)
    log = [codec.decode(codec.kind_of(event), codec.encode(event)) for _, event, _ in script.log[start:]]
    frames = frames_after(
        version,
        Past(script.log[start - 1][2], log),
        script.table,
        account_id=person.account_id,
        now=script.now,
        remaining_ms=None,
    )
    return None if frames is None else [msgspec.json.decode(frame) for frame in frames]


@pytest.mark.ruling("TL-42")
async def test_tl_42_a_whole_round_is_sent_again_as_it_was_sent(start_table: StartTable) -> None:
    # The next round begins long after the test has looked.
    stack = await start_table(count_in_seconds=60)
    table_id, players = await stack.full_table(visibility="public")
    had = players[0].version
    eve = await stack.join(table_id, "eve")
    await players[0].command("start_now")
    await players[0].event("round_dealt")
    await asyncio.gather(*(player.play(lambda frame: frame.get("kind") == "seeds_shown") for player in players))
    end = (await players[0].event("seeds_shown"))["version"]
    for name, player in zip((*NAMES, "eve"), (*players, eve), strict=True):
        since = max(had, next(frame["version"] for frame in player.frames if frame["type"] == "snapshot"))
        await player.until(lambda frame: frame.get("version", 0) >= end)
        again = await stack.join(table_id, name, version=since)
        await again.until(lambda frame: frame.get("version", 0) >= end and frame["type"] == "event")
        live, back = (events_of(one, after=since, until=end) for one in (player, again))
        assert len(back) > 52
        assert msgspec.json.encode(without_what_is_over(back)[:-1]) == msgspec.json.encode(
            without_what_is_over(live)[:-1]
        )
        assert not [frame for frame in back[:-1] if "legal" in frame and frame["version"] < end]
        assert not [frame for frame in again.frames if frame["type"] == "snapshot"]


@pytest.mark.ruling("TL-43")
async def test_tl_43_the_next_owner_sends_what_was_missed_of_the_round(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id, players = await stack.full_table()
    had = players[3].version
    await asyncio.gather(*(player.play(lambda frame: frame.get("version", 0) >= had + 30) for player in players))
    await stack.runner.cleanup()
    await asyncio.gather(*(asyncio.wait_for(player.closed.wait(), 10) for player in players))
    successor = await start_table(count_in_seconds=0.05)
    await eventually(lambda: bool(successor.runner.app[SERVICE].present_node().owner.live_tables))
    for name, player in zip(NAMES, players, strict=True):
        again = await successor.join(table_id, name, version=had)
        await again.until(lambda frame: frame.get("version", 0) >= had + 30 and frame["type"] == "event")
        live, back = (events_of(one, after=had, until=had + 29) for one in (player, again))
        assert without_what_is_over(back)[:-1] == without_what_is_over(live)[:-1]
        assert not [frame for frame in again.frames if frame["type"] == "snapshot"]


@pytest.mark.ruling("TL-42")
@pytest.mark.parametrize("name", SCRIPTS)
def test_tl_42_every_kind_of_event_is_read_back_to_the_same_frame(name: str) -> None:
    script = SCRIPTS[name]()
    table = script.log[0][2]
    live = []
    for _, event, after in script.log[1:]:
        frames = seat_frames(table, event, evolve(table, event), None, last=after is script.table)
        live.append(msgspec.json.decode(frames.for_seat(None)))
        table = after
    assert resumed(script, Person("mal-who-looks-on", "Mal", "yak"), 1) == live


@pytest.mark.ruling("GEN-7")
def test_gen_7_a_newcomer_is_not_shown_what_the_seat_was_told_before() -> None:
    script = Script().dealt()
    dealt = script.table.version
    script.plays(script.turn.seats[0])
    seat = script.table.seat_of("dan")
    script.leaves(DAN).play_round()
    while script.table.phase is not Phase.WAITING:
        script.step()
    script.sit(EVE)
    sat = script.table.version
    assert script.table.seat_of("eve") == seat
    frames, of_ann = resumed(script, EVE, dealt - 1), resumed(script, ANN, dealt - 1)
    assert frames is not None
    assert of_ann is not None
    assert [frame for frame in of_ann if "secret" in frame]
    before = [frame for frame in frames if frame["version"] <= dealt]
    assert before
    assert not [frame for frame in before if "secret" in frame or "id" in frame]
    assert [frame["version"] for frame in frames if "id" in frame] == [
        version for version in range(dealt, script.table.version + 1) if _sits(script, version)
    ]
    assert sat <= script.table.version


def _sits(script: Script, version: int) -> bool:
    _, event, _ = script.log[version - 1]
    return getattr(event, "account_id", None) == "eve" and event.actor is not None


@pytest.mark.ruling("TL-29")
def test_tl_29_who_has_given_the_seat_up_has_a_snapshot_and_no_secret() -> None:
    script = Script().dealt()
    script.leaves(DAN).play_round()
    while script.table.phase is not Phase.WAITING:
        script.step()
    assert script.table.seat_of("dan") is None
    assert resumed(script, DAN, 2) is None
    assert resumed(script, BOB, 2) is not None


@pytest.mark.ruling("TL-5")
def test_tl_5_who_has_changed_seats_has_a_snapshot_and_the_others_have_events() -> None:
    script = Script().sit(BOB, CYN, DAN)
    had = script.table.version
    script.asks(ANN, "partner", 1).agrees(CYN, DAN)
    changed = {person.account_id: resumed(script, person, had) is None for person in (ANN, BOB, CYN, DAN)}
    assert changed == {"ann": False, "bob": True, "cyn": True, "dan": False}


@pytest.mark.ruling("TL-44")
def test_tl_44_who_might_not_look_on_while_a_round_ran_is_not_told_it_afterwards() -> None:
    script = Script(visibility="private").sit(BOB, CYN)
    had = script.table.version
    script.sit(DAN).zero().wallet().leaves(DAN).play_round()
    while script.table.phase is not Phase.WAITING:
        script.step()
    assert resumed(script, EVE, had) is None
    assert resumed(script, EVE, script.table.version - 1) is not None


async def test_what_happens_while_the_log_is_read_is_missed_by_nobody_and_sent_once(
    start_table: StartTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = await start_table(count_in_seconds=3600.0)
    table_id = await stack.open_table()
    bob, cyn = await stack.join(table_id, "bob"), await stack.join(table_id, "cyn")
    await bob.command("sit")
    store, reads = stack.runner.app[SERVICE].present_node().store, 0
    log_page = store.log_page

    async def read_slowly(*words: Any, **more: Any) -> list[StoredEvent]:
        nonlocal reads
        rows, reads = await log_page(*words, **more), reads + 1
        if reads == 1:
            await cyn.command("sit")
        return rows

    monkeypatch.setattr(store, "log_page", read_slowly)
    again = await stack.join(table_id, "bob", version=1)
    await bob.command("leave")
    await again.event("seat_freed")
    versions = [frame["version"] for frame in again.frames if frame["type"] == "event"]
    assert (versions, reads) == ([2, 3, 4], 2)


async def test_a_database_that_is_away_costs_a_client_no_more_than_the_events(
    start_table: StartTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    await (await stack.join(table_id, "bob")).command("sit")

    async def away(*words: Any, **more: Any) -> list[StoredEvent]:
        raise DatabaseAway("it is away")

    monkeypatch.setattr(stack.runner.app[SERVICE].present_node().store, "log_page", away)
    assert (await (await stack.join(table_id, "bob", version=1)).frame("snapshot"))["version"] == 2


async def test_who_could_be_told_the_rest_only_from_too_far_back_has_a_snapshot(
    start_table: StartTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = await start_table(count_in_seconds=3600.0)
    table_id = await stack.open_table()
    monkeypatch.setattr(gateway, "EVENTS_TO_RESUME_MAX", 2)
    bob = await stack.join(table_id, "bob")
    await bob.command("sit")
    assert (await (await stack.join(table_id, "bob", version=1)).event("seat_taken"))["version"] == 2
    await bob.command("leave")
    assert (await (await stack.join(table_id, "bob", version=1)).frame("snapshot"))["version"] == held(
        stack, table_id
    ).table.version


async def test_a_second_hello_on_one_connection_is_answered_with_a_snapshot(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    bob = await stack.join(table_id, "bob")
    await bob.command("sit")
    start = len(bob.frames)
    await bob.send(type="hello", protocol=1, token=bob.token, version=1)
    assert (await bob.frame("snapshot", start=start))["version"] == 2
