"""What other services are told of a table, step by step: the milestones of a table's whole life."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from table_scripts import ANN, BOB, CYN, DAN, TABLE_ID, Script

from darbar_contracts import frames, tables
from darbar_contracts.tables import Milestone
from darbar_rules.games.king.game import KING_SHORT
from darbar_table.domain import events
from darbar_table.domain.commands import OperatorAct
from darbar_table.domain.life.stakes import key
from darbar_table.domain.milestones import counts, milestone_of

AT = datetime(2026, 11, 29, 12, 0, 1, tzinfo=UTC)


def told(script: Script) -> list[Milestone]:
    """Every milestone so far."""
    found = (milestone_of(event, after, at=AT, generation=3) for _, event, after in script.log)
    return [milestone for milestone in found if milestone is not None]


def events_told(script: Script) -> list[tables.AnyMilestoneEvent]:
    return [milestone.event for milestone in told(script)]


def test_a_milestone_says_of_which_table_when_and_how_many_seats_are_free() -> None:
    script = Script().sit(BOB)
    first, second = told(script)
    assert (first.number, first.free_seats, second.number, second.free_seats) == (1, 3, 2, 2)
    for milestone in (first, second):
        assert (milestone.table_id, milestone.at, milestone.generation) == (TABLE_ID, AT, 3)
    assert (first.kind, second.kind) == ("table_created", "seat_taken")


def test_milestones_are_numbered_without_gaps_and_other_events_are_none() -> None:
    script = Script().dealt().play_game().play_game()
    numbers = [milestone.number for milestone in told(script)]
    assert numbers == list(range(1, script.table.milestones + 1))
    assert len(numbers) == sum(counts(event) for _, event, _ in script.log) > 10
    assert {counts(event) for _, event, _ in script.log} == {0, 1}


def test_a_tables_first_seats_rounds_and_its_end_are_told() -> None:
    script = Script().sit(BOB).starts_now(BOB)
    bots = [1, 3]
    script.zero().wallet()
    accounts = ("ann", None, "bob", None)
    assert events_told(script) == [
        tables.TableCreated(script.table.terms, "ann"),
        tables.SeatTaken(2, "bob"),
        *(tables.SeatTaken(seat, None) for seat in bots),
        tables.RoundStarted(1, 1, accounts),
    ]
    script.play_round()
    points = script.result.points
    assert sum(points) > 0
    assert events_told(script)[-1] == tables.RoundEnded(1, 1, accounts, points, counted=True)
    script.wallet()
    script.act(ANN, frames.SendBotAway(id="command-away-0001", seat=1))
    assert events_told(script)[-1] == tables.SeatFreed(1)
    script.leaves(ANN)
    assert events_told(script)[-1] == tables.SeatFreed(0, "ann", False, "left", game=1)
    script.leaves(BOB)
    assert events_told(script)[-1] == tables.TableClosed("empty")


def test_a_quit_is_told_with_its_reason() -> None:
    script = Script().dealt().play_round().wallet().offline(DAN).zero()
    (timer,) = script.due()
    script.rings(timer)
    assert tables.SeatFreed(3, "dan", True, "not_back", game=1) in events_told(script)


def test_a_swap_is_told_with_its_seats_and_a_game_that_ends_early_with_its_reason() -> None:
    script = Script().sit(BOB, CYN, DAN).asks(ANN, "partner", 1).agrees(CYN, DAN)
    assert events_told(script)[-1] == tables.SeatsSwapped((2, 1))
    script.zero().wallet().asks(ANN, "end_game").agrees(BOB, CYN, DAN)
    accounts = ("ann", "bob", "cyn", "dan")
    assert events_told(script)[-1] == tables.RoundEnded(1, 1, accounts, ())
    script.wallet()
    assert events_told(script)[-1] == tables.GameEnded(1, (), (), "ended_early", accounts)


def test_the_end_of_a_game_is_told_with_places_and_totals() -> None:
    script = Script().dealt().play_game()
    ended = script.last(events.GameEnded)
    assert set(ended.places) == {1, 2}
    assert ended.game == 1
    accounts = ("ann", "cyn", "bob", "dan")
    assert tables.GameEnded(1, ended.places, ended.totals, "played", accounts) in events_told(script)
    again = script.zero().wallet()
    assert events_told(again)[-1] == tables.RoundStarted(2, 1, ("ann", "cyn", "bob", "dan"))


def test_what_is_no_milestone_is_told_to_nobody() -> None:
    script = Script().dealt()
    for _, event, after in script.log:
        assert (milestone_of(event, after, at=AT, generation=1) is None) == (counts(event) == 0)


# A key names one movement of coins for ever.
KEYS = ("stake", "settle", "refund")


@pytest.mark.parametrize("phase", KEYS)
def test_a_key_is_of_one_request_only(phase: str) -> None:
    script = Script().dealt()
    first = key(script.table, phase, 1)
    assert key(script.table, phase, 1) == first
    others = {key(script.table, other, 1) for other in KEYS if other != phase}
    others |= {key(script.table, phase, 2)}
    others |= {key(Script("00000000-0000-4000-8000-000000000002").dealt().table, phase, 1)}
    script.play_round().wallet().zero()
    others |= {key(script.table, phase, 1)}
    assert len(others) == 5
    assert first not in others


def test_each_request_has_the_key_of_its_kind_and_its_unit() -> None:
    script = Script().dealt().play_round()
    stake, settle = script.last(events.StakesAsked), script.last(events.SettleAsked)
    generation = script.context.settings.generation
    assert (stake.key, stake.unit) == (key(script.table, "stake", generation), "g1.r1")
    assert (settle.key, settle.stake_key) == (key(script.table, "settle", generation), stake.key)
    left = Script().sit(BOB, CYN, DAN).zero().leaves(DAN).wallet()
    refund = left.last(events.RefundAsked)
    assert (refund.key, refund.unit) == (key(left.table, "refund", generation), "g1.r1")
    assert Script(rules=KING_SHORT).dealt().last(events.StakesAsked).unit == "g1"


@pytest.mark.ruling("TL-28")
def test_tl_28_a_round_is_told_with_whether_it_counts() -> None:
    script = Script().starts_now(ANN).zero().wallet().play_round().wallet()
    script.act(ANN, frames.SendBotAway(id=script.new_id(), seat=1))
    script.sit(BOB).step().step().play_round()
    rounds = [event for event in events_told(script) if isinstance(event, tables.RoundEnded)]
    assert [(event.round, event.counted) for event in rounds] == [(1, False), (2, True)]


@pytest.mark.ruling("TL-28")
def test_tl_28_a_round_that_is_broken_off_does_not_count() -> None:
    script = Script().dealt()
    script.tell(OperatorAct(action="void", operator="root", why="a test"))
    rounds = [event for event in events_told(script) if isinstance(event, tables.RoundEnded)]
    assert [(event.points, event.counted) for event in rounds] == [((), False)]
