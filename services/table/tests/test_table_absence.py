"""Leaving and losing the connection: who has quit, whose seat is kept for how long; by docs/tables.md, pure."""

from __future__ import annotations

import pytest
from table_scripts import ANN, BOB, CYN, DAN, EVE, PEOPLE, Script

from darbar_contracts import frames
from darbar_contracts.tables import Person
from darbar_kit.errors import Refused
from darbar_table.domain import events
from darbar_table.domain.state import Phase, Seat
from darbar_table.domain.timers import CountInTimer, KeptSeatTimer

IN_GAME_SECONDS = 600.0
BEFORE_GAME_SECONDS = 60.0


def freed(script: Script) -> list[tuple[str, str, bool]]:
    """Who lost a seat, why, and whether it was a quit."""
    return [(event.account_id, event.reason, event.quit) for event in script.all(events.SeatFreed)]


def kept(script: Script, seat: int) -> KeptSeatTimer:
    return KeptSeatTimer(script.table.seats[seat].since, script.table.started)


def lost_in_a_round() -> Script:
    """Ann has lost the connection in the first round, which is over."""
    return Script().dealt().offline(ANN).play_round().wallet()


@pytest.mark.ruling("TL-29")
@pytest.mark.parametrize("how", ["offline", "left"])
def test_tl_29_back_before_the_round_ends_carries_on(how: str) -> None:
    script = Script().dealt()
    script = script.offline(ANN) if how == "offline" else script.leaves(ANN)
    assert script.table.seats[0].away
    assert script.table.seat_of("ann") == 0
    script = script.back(ANN) if how == "offline" else script.is_back(ANN)
    script.play_round().wallet()
    assert (script.table.seat_of("ann"), script.phase, freed(script)) == (0, Phase.COUNTING_IN, [])


@pytest.mark.ruling("TL-29")
def test_tl_29_an_own_card_is_a_way_back_after_leave() -> None:
    script = Script().dealt()
    seat = script.turn.seats[0]
    script.leaves(script.person(seat))
    script.plays(seat)
    assert not script.table.seats[seat].away
    script.play_round().wallet()
    assert freed(script) == []


@pytest.mark.ruling("TL-29")
def test_tl_29_leave_is_pressed_once_in_a_round() -> None:
    script = Script().dealt().leaves(ANN).leaves(ANN)
    assert len(script.all(events.LeaveAsked)) == 1


@pytest.mark.ruling("TL-31")
@pytest.mark.parametrize(("others", "quits"), [((), False), ((BOB,), True)])
def test_tl_31_leave_during_a_round_frees_the_seat_at_its_end(others: tuple[Person, ...], quits: bool) -> None:
    script = Script().sit(*others).starts_now(ANN).zero().wallet().leaves(ANN)
    assert script.table.seat_of("ann") == 0
    script.play_round()
    assert freed(script) == []
    script.wallet()
    assert freed(script) == [("ann", "left", quits)]


@pytest.mark.ruling("TL-32")
def test_tl_32_a_lost_players_seat_is_kept_for_ten_minutes_from_when_the_wait_begins() -> None:
    script = Script().dealt().offline(ANN)
    assert kept(script, 0) not in script.due(), "the round goes on"
    script.play_round().wallet()
    assert script.phase is Phase.WAITING
    assert script.due() == {kept(script, 0): IN_GAME_SECONDS}


@pytest.mark.ruling("TL-32")
def test_tl_32_a_seat_lost_while_stakes_are_asked_is_kept_from_when_the_wait_begins() -> None:
    script = Script().sit(BOB, CYN, DAN).zero().offline(ANN)
    assert (script.phase, script.due()) == (Phase.STAKING, {}), "the wallet may yet say yes"
    script.wallet(done=False, reason="short_of_coins", short=("dan",))
    assert script.due() == {kept(script, 0): BEFORE_GAME_SECONDS}


@pytest.mark.ruling("TL-32")
def test_tl_32_back_in_time_carries_on_and_not_back_is_a_quit() -> None:
    assert lost_in_a_round().back(ANN).phase is Phase.COUNTING_IN
    script = lost_in_a_round()
    assert script.rings(KeptSeatTimer(script.table.seats[0].since + 1, script.table.started)).events == []
    script.rings(kept(script, 0))
    assert freed(script) == [("ann", "not_back", True)]
    assert script.due() == {}


@pytest.mark.ruling("TL-32")
def test_tl_32_a_timer_that_rings_after_the_return_does_nothing() -> None:
    script = lost_in_a_round()
    timer = kept(script, 0)
    assert script.back(ANN).rings(timer).events == []


@pytest.mark.ruling("TL-32")
@pytest.mark.ruling("TL-33")
def test_tl_32_a_kept_seat_may_be_taken_and_the_newcomer_plays_for_its_score() -> None:
    script = lost_in_a_round()
    totals = script.result.totals
    assert any(totals)
    script.sit(EVE)
    assert (script.table.seat_of("eve"), freed(script)) == (0, [("ann", "taken_over", True)])
    assert (script.phase, script.result.totals) == (Phase.COUNTING_IN, totals)
    script.zero().wallet().play_round()
    assert all(now >= then for now, then in zip(script.result.totals, totals, strict=True))
    assert sum(script.result.totals) > sum(totals)


@pytest.mark.ruling("TL-32")
def test_tl_32_a_free_seat_is_taken_before_one_that_is_kept() -> None:
    script = Script().dealt().offline(ANN).leaves(DAN).play_round().wallet()
    assert script.sit(EVE).table.seat_of("eve") == 3
    assert script.table.seat_of("ann") == 0


@pytest.mark.ruling("TL-33")
def test_tl_33_with_nobody_left_the_table_closes() -> None:
    script = Script().sit(BOB).leaves(ANN)
    assert script.table.phase == "waiting"
    script.leaves(BOB)
    assert (script.table.phase, script.last(events.TableClosed).reason) == ("closed", "empty")
    with pytest.raises(Refused, match="table_closed"):
        script.sit(EVE)


def last_round() -> Script:
    """The deal of a round that ends the game, when it is played by fallbacks."""
    script = Script().dealt()
    while True:
        ended = [
            event for event in script.all(events.Played) if script.table.rules.kind_of(event.event) == "round_ended"
        ]
        if script.phase is Phase.PLAYING and ended and max(ended[-1].event.totals) >= 8:
            return script
        script.step()


@pytest.mark.ruling("TL-34")
@pytest.mark.parametrize("how", ["offline", "left"])
def test_tl_34_who_is_away_in_the_last_round_is_paid_named_and_freed_without_a_quit(how: str) -> None:
    script = last_round()
    there = script.all(events.SeatFreed)
    for person in (ANN, CYN):
        script = script.offline(person) if how == "offline" else script.leaves(person)
    settle = script.play_round().last(events.SettleAsked)
    winners = script.result.winners
    assert (settle.forfeit_coins, len({settle.shares[seat] for seat in winners})) == (0, 1)
    script.wallet()
    ended = script.last(events.GameEnded)
    assert (ended.reason, ended.names) == ("played", ("Ann", "Cyn", "Bob", "Dan"))
    assert freed(script)[len(there) :] == [("ann", "game_over", False), ("cyn", "game_over", False)]
    assert script.phase is Phase.WAITING


@pytest.mark.ruling("TL-34")
def test_tl_34_a_games_end_begins_everything_anew() -> None:
    script = last_round().offline(ANN).play_round().wallet()
    table = script.table
    assert (table.game, table.round, table.attempt, table.started, table.counted, table.shared) == (
        2, 0, 0, False, False, False,
    )  # fmt: skip
    assert table.seats[0] == Seat()
    assert not any(seat.left or seat.bot_barred or seat.emptied_by for seat in table.seats)
    # A seat of the next game may have a bot by "start now", also one that was freed in the last one.
    assert script.starts_now(BOB).table.seats[0].bot is not None


@pytest.mark.ruling("TL-35")
def test_tl_35_leave_between_rounds_costs_nothing_and_the_game_waits() -> None:
    script = Script().dealt().play_round().wallet()
    totals = script.result.totals
    script.leaves(DAN)
    assert freed(script) == [("dan", "left", False)]
    assert (script.phase, script.result.totals, script.due()) == (Phase.WAITING, totals, {})
    assert script.sit(EVE).phase is Phase.COUNTING_IN


@pytest.mark.ruling("TL-36")
@pytest.mark.parametrize("reason", ["not_back", "taken_over"])
def test_tl_36_a_connection_lost_between_rounds_keeps_the_seat_for_ten_minutes(reason: str) -> None:
    script = Script().dealt().play_round().wallet().offline(DAN)
    assert script.due() == {CountInTimer(2, 1): 7.0}
    script.zero()
    assert (script.phase, script.due()) == (Phase.WAITING, {kept(script, 3): IN_GAME_SECONDS})
    if reason == "not_back":
        script.rings(kept(script, 3))
    else:
        script.sit(EVE)
    assert freed(script) == [("dan", reason, True)]


@pytest.mark.ruling("TL-36")
def test_tl_36_where_no_stakes_lie_an_absence_is_a_quit_whoever_else_is_waited_for() -> None:
    script = Script().dealt().play_round().wallet().leaves(DAN).offline(CYN)
    script.rings(kept(script, 1))
    assert freed(script) == [("dan", "left", False), ("cyn", "not_back", True)]
    assert not any(event.gave_up for event in script.all(events.SeatFreed))


@pytest.mark.ruling("TL-36")
def test_tl_36_several_seats_are_kept_at_the_same_time_each_for_itself() -> None:
    script = Script().dealt().offline(ANN).offline(DAN).play_round().wallet()
    assert script.due() == {kept(script, 0): IN_GAME_SECONDS, kept(script, 3): IN_GAME_SECONDS}
    script.rings(kept(script, 3))
    assert (freed(script), set(script.due())) == ([("dan", "not_back", True)], {kept(script, 0)})


@pytest.mark.ruling("TL-38")
def test_tl_38_before_a_game_a_seat_is_kept_for_one_minute_and_not_for_others() -> None:
    script = Script().sit(BOB).offline(BOB)
    assert script.due() == {kept(script, 2): BEFORE_GAME_SECONDS}
    with pytest.raises(Refused, match="seat_taken"):
        script.act(EVE, frames.Sit(id="x", seat=2))
    script.rings(kept(script, 2))
    assert freed(script) == [("bob", "not_back", False)]


@pytest.mark.ruling("TL-38")
def test_tl_38_a_full_table_waits_for_who_is_away_before_the_game() -> None:
    script = Script().sit(BOB, CYN).offline(BOB).sit(DAN)
    assert (script.phase, script.due()) == (Phase.WAITING, {kept(script, 2): BEFORE_GAME_SECONDS})
    assert script.back(BOB).phase is Phase.COUNTING_IN


@pytest.mark.ruling("TL-38")
def test_tl_38_leave_before_a_game_and_between_games_frees_the_seat_at_once() -> None:
    before = Script().sit(BOB).leaves(BOB)
    assert freed(before) == [("bob", "left", False)]
    between = last_round().play_round().wallet()
    quits_before = len(freed(between))
    between.leaves(DAN)
    assert (between.table.game, freed(between)[quits_before:]) == (2, [("dan", "left", False)])
    between.offline(CYN)
    assert between.due() == {kept(between, 1): BEFORE_GAME_SECONDS}


@pytest.mark.ruling("TL-43")
def test_tl_43_what_a_table_waits_for_does_not_begin_anew_by_itself() -> None:
    script = lost_in_a_round()
    waiting = script.due()
    script.offline(BOB).leaves(DAN)
    assert kept(script, 0) in waiting
    assert kept(script, 0) in script.due(), "the same timer: it runs on"


def test_connections_of_who_is_there_or_has_no_seat_change_nothing() -> None:
    script = Script().sit(BOB)
    for person in (*PEOPLE, EVE):
        before = script.table
        script.back(person)
        assert script.table is before
    script.offline(EVE)
    assert script.table is before
