"""The wheel, and which clock a table has."""

from __future__ import annotations

import random

import pytest
from table_scripts import BOB, CYN, DAN, Script

from darbar_contracts import reading
from darbar_table.engine.timer_wheel import TICK_SECONDS, TimerWheel


class Alarm:
    def __init__(self) -> None:
        self.deadline: float | None = None
        self.tick: int | None = None


def test_an_item_rings_once_at_its_deadline_or_at_most_a_tick_later() -> None:
    rung: list[tuple[Alarm, float]] = []
    now = [0.0]
    wheel: TimerWheel[Alarm] = TimerWheel(lambda item: rung.append((item, now[0])), start=0.0)
    dice = random.Random(1)
    due = {Alarm(): dice.uniform(0.1, 50) for _ in range(500)}
    for alarm, deadline in due.items():
        wheel.set(alarm, deadline + dice.choice((0, 0, 10)))
        wheel.set(alarm, deadline)
    for step in range(1200):
        now[0] = step * TICK_SECONDS
        wheel.turn(now[0])
    assert len(rung) == 500
    assert all(0 <= at - due[alarm] <= 2 * TICK_SECONDS for alarm, at in rung)


def test_after_a_long_sleep_everything_rings_in_the_order_in_which_it_was_due() -> None:
    """Also what an alarm sets while it rings, and nothing that is due later."""
    rung: list[Alarm] = []
    dice = random.Random(2)
    later = Alarm()

    def ring(alarm: Alarm) -> None:
        rung.append(alarm)
        if alarm is soon:
            wheel.set(again, 40_000.0)

    wheel: TimerWheel[Alarm] = TimerWheel(ring, start=0.0)
    alarms = {Alarm(): dice.uniform(0.0, 80_000) for _ in range(200)}
    for alarm, deadline in alarms.items():
        wheel.set(alarm, deadline)
    soon, again = Alarm(), Alarm()
    wheel.set(soon, 20_000.0)
    wheel.set(later, 100_000.0)
    wheel.turn(90_000.0)

    due = alarms | {soon: 20_000.0, again: 40_000.0}
    assert rung == sorted(rung, key=lambda alarm: int(due[alarm] / TICK_SECONDS))
    assert set(rung) == set(due)
    wheel.turn(100_001.0)
    assert rung[-1] is later


def test_a_deadline_that_is_taken_off_never_rings() -> None:
    rung: list[Alarm] = []
    wheel: TimerWheel[Alarm] = TimerWheel(rung.append, start=0.0)
    alarm, other = Alarm(), Alarm()
    wheel.set(alarm, 1.0)
    wheel.set(other, 1.0)
    wheel.set(alarm, None)
    wheel.set(other, 3.0)
    wheel.turn(2.0)
    assert rung == []
    wheel.turn(3.5)
    assert rung == [other]


@pytest.mark.ruling("CP-16")
def test_cp_16_after_asking_the_same_clock_goes_on_and_after_a_card_it_does_not() -> None:
    asked = 0
    script = Script().sit(BOB, CYN, DAN).zero().wallet().time_up()
    for _ in range(60):
        rules, state = script.table.rules, script.table.state
        turn = rules.turn(state)
        if not turn.seats:
            break
        seat = turn.seats[0]
        if "ask_trump" in rules.legal(state, seat).also:
            frame = reading.DecisionFrames().by_kind["ask_trump"](id="x", round=turn.round, turn=turn.turn)
            person = script.table.seats[seat].player
            assert person is not None
            draft = script.act(person, frame, decision=rules.decisions["ask_trump"]())
            assert draft.keeps_clock
            asked += 1
            break
        assert not script.time_up_draft().keeps_clock
    assert asked
