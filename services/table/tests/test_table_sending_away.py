"""Whom the host sends away before a game, and for how long (TL-8)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from table_scripts import ANN, BOB, CYN, DAN, EVE, SETTINGS, Script
from table_stack import StartTable

from darbar_contracts import frames
from darbar_contracts.subjects import table_look
from darbar_contracts.tables import LookRequest, Person, TableLook
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused
from darbar_kit.testing import eventually
from darbar_table.app import SERVICE
from darbar_table.domain import events
from darbar_table.domain.seat_view import seat_frames, to_public
from darbar_table.domain.state import Phase
from darbar_table.domain.visibility import may_look_on


def send_away(script: Script, seat: int, *, by: Person = ANN) -> Script:
    script.act(by, frames.SendPlayerAway(id=script.new_id(), seat=seat))
    return script


@pytest.mark.ruling("TL-8")
def test_tl_8_who_is_sent_away_has_no_seat_and_has_not_quit() -> None:
    script = send_away(Script().sit(BOB), 2)
    freed = script.last(events.SeatFreed)
    assert (freed.account_id, freed.reason, freed.quit, freed.id) == ("bob", "sent_away", False, None)
    assert script.table.people == (0,)
    before, sent_away, after = script.log[-2]
    assert to_public(before, sent_away).public == {"seat": 2, "actor": 0}
    acknowledged = [seat for seat in (0, 2) if b'"id":' in seat_frames(before, sent_away, after, None).tail_of(seat)]
    assert acknowledged == [0]


@pytest.mark.ruling("TL-8")
def test_tl_8_who_was_sent_away_sits_down_again_only_when_the_time_is_over() -> None:
    script = send_away(Script().sit(BOB), 2)
    script.now += timedelta(seconds=SETTINGS.sent_away_seconds - 1)
    with pytest.raises(Refused, match="sent_away") as raised:
        script.sit(BOB)
    assert raised.value.details == {"seconds": 1.0}
    script.now += timedelta(seconds=1)
    assert script.sit(BOB).table.seat_of("bob") == 2


@pytest.mark.ruling("TL-8")
def test_tl_8_being_sent_away_outlasts_a_round_and_concerns_nobody_else() -> None:
    script = send_away(Script().sit(BOB), 2).sit(EVE, CYN, DAN).zero().wallet().play_round().wallet().leaves(EVE)
    assert script.phase is Phase.WAITING
    with pytest.raises(Refused, match="sent_away"):
        script.sit(BOB)
    assert script.sit(EVE).table.seat_of("eve") == 2


@pytest.mark.ruling("TL-8")
@pytest.mark.parametrize(
    ("by", "seat", "code"),
    [
        (BOB, 0, "not_host"),
        (EVE, 0, "not_seated"),
        (ANN, 0, "nobody_else_there"),
        (ANN, 1, "nobody_else_there"),
        (ANN, 4, "seat_unknown"),
        (ANN, -1, "seat_unknown"),
    ],
)
def test_tl_8_nobody_is_sent_away_by_whom_it_is_not_up_to(by: Person, seat: int, code: str) -> None:
    with pytest.raises(Refused, match=code):
        send_away(Script().sit(BOB), seat, by=by)


@pytest.mark.ruling("TL-8")
def test_tl_8_a_bot_is_not_sent_away_like_a_player() -> None:
    with pytest.raises(Refused, match="nobody_else_there"):
        send_away(Script().starts_now(ANN), 1)


@pytest.mark.ruling("TL-8")
def test_tl_8_nobody_is_sent_away_from_a_game_or_while_stakes_are_asked() -> None:
    script = Script().sit(BOB, CYN, DAN).zero()
    for step in (script.wallet, script.play_round, script.wallet):
        with pytest.raises(Refused, match="not_now"):
            send_away(script, 2)
        step()
    assert script.table.started
    with pytest.raises(Refused, match="not_now"):
        send_away(script, 2)
    script.play_game()
    assert send_away(script, 2).table.seat_of("bob") is None


@pytest.mark.ruling("TL-13")
def test_tl_13_a_host_who_stops_count_ins_by_sending_players_away_has_stopped_them() -> None:
    script = Script().sit(BOB, CYN, DAN)
    for person in (EVE, Person("fay", "Fay", "yak"), Person("gil", "Gil", "ant")):
        assert script.phase is Phase.COUNTING_IN
        send_away(script, 3)
        stopped = script.last(events.CountInStopped)
        assert (stopped.reason, stopped.account_id) == ("sent_away", "ann")
        if script.table.seat_of("ann") is not None:
            script.sit(person)
    assert script.last(events.SittingPaused).account_id == "ann"
    assert script.table.seat_of("ann") is None


@pytest.mark.ruling("TL-8")
@pytest.mark.ruling("TL-44")
def test_tl_8_tl_44_who_was_sent_away_from_a_private_table_does_not_look_on() -> None:
    script = send_away(Script(visibility="private").sit(BOB), 2)
    assert [may_look_on(script.table, who, now=script.now) for who in ("ann", "bob", "eve")] == [True, False, True]
    script.now += timedelta(seconds=SETTINGS.sent_away_seconds)
    assert may_look_on(script.table, "bob", now=script.now)
    assert may_look_on(send_away(Script().sit(BOB), 2).table, "bob", now=script.now)


@pytest.mark.ruling("TL-8")
async def test_tl_8_the_lobby_is_told_whom_a_table_keeps_out_and_for_how_long(
    start_table: StartTable, bus: Bus
) -> None:
    stack = await start_table(sent_away_seconds=0.2)
    table_id = await stack.open_table()
    ann, bob = [await stack.join(table_id, name) for name in ("ann", "bob")]
    process_id = stack.runner.app[SERVICE].present_node().process_id

    async def keeps_out(account_id: str | None) -> bool:
        request = LookRequest(table_id, account_id)
        return (await bus.request(table_look(process_id), request, TableLook, timeout_seconds=5)).keeps_out

    async def lets_bob_in() -> bool:
        return not await keeps_out("bob")

    seat = (await bob.command("sit"))["public"]["seat"]
    assert await lets_bob_in()
    await ann.command("send_player_away", seat=seat)
    assert [await keeps_out(who) for who in ("bob", "cyn", None)] == [True, False, False]
    await eventually(lets_bob_in)
    assert (await bob.command("sit"))["type"] == "event"


@pytest.mark.ruling("TL-8")
async def test_tl_8_who_is_sent_away_is_told_and_a_private_table_closes_the_socket(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table(visibility="private")
    ann, bob = [await stack.join(table_id, name) for name in ("ann", "bob")]
    seat = (await bob.command("sit"))["public"]["seat"]
    assert (await ann.command("send_player_away", seat=seat))["kind"] == "player_sent_away"
    assert (await bob.event("seat_freed"))["public"]["reason"] == "sent_away"
    assert (await bob.frame("closing"))["code"] == "table_private"
    again = await stack.join(table_id, "bob")
    assert (await again.frame("closing"))["code"] == "table_private"
