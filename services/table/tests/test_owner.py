"""The owner of a table, one append in flight: who waits, who is put off, and what each outcome leads to."""

from __future__ import annotations

import pytest
from engine_desk import Answer, Desk
from table_scripts import ANN, BOB, CYN, DAN, Script

from darbar_contracts import frames
from darbar_contracts.tables import Person
from darbar_table.domain.commands import Act, Decide, Disconnected
from darbar_table.domain.state import Phase
from darbar_table.domain.timers import TurnTimer
from darbar_table.engine.live_table import COMMANDS_WAITING_MAX, Ids, remembered
from darbar_table.store.writer import Outcome


def sit(person: Person, command_id: str) -> Act:
    return Act(person=person, frame=frames.Sit(id=command_id), digest=1, balance_coins=5000)


async def test_so_many_players_commands_wait_for_an_append_and_our_own_always_do() -> None:
    desk = Desk(Script())
    first = desk.tell(sit(BOB, "first"))
    waiting = [desk.tell(sit(CYN, f"waiting{number}")) for number in range(COMMANDS_WAITING_MAX)]
    assert desk.tell(sit(DAN, "too many")).answers == [Answer("busy", None, retry=True)]
    desk.owner.submit(desk.live, Disconnected(account_id="ann"))
    assert [first.answers, waiting[0].answers, waiting[-1].answers] == [[], [], []]
    desk.writer.end()
    desk.writer.end()
    assert [first.answers, waiting[0].answers] == [[Answer(None, 2)], [Answer(None, 3)]]
    assert {reply.answers[0].code for reply in waiting[1:]} == {"already_seated"}
    desk.writer.end()
    assert not desk.live.table.seats[0].online, "what the table itself has to do is never sent away"


async def test_without_a_lease_players_are_to_try_again_and_our_own_commands_wait_for_it() -> None:
    desk = Desk(Script())
    desk.may_answer = False
    desk.owner.submit(desk.live, Disconnected(account_id="ann"))
    assert desk.tell(sit(BOB, "first")).answers == [Answer("unavailable", None, retry=True)]
    assert desk.writer.offered == []
    desk.may_answer = True
    desk.owner.go_on()
    desk.owner.go_on()
    desk.writer.end()
    assert (desk.live.table.version, desk.live.table.seats[0].online) == (2, False)
    assert desk.writer.offered == []


async def test_a_command_that_comes_twice_while_it_ends_its_table_is_answered_and_others_are_still_waited_for() -> None:
    desk = Desk(Script())
    leave = Act(person=ANN, frame=frames.Leave(id="leaves and closes"), digest=1)
    desk.tell(leave)
    again, other = desk.tell(leave), desk.tell(sit(BOB, "too late"))
    desk.live.ids = {"ann": Ids(0)}
    desk.live.ids["ann"].remember(remembered("leaves and closes", 1, 2))
    desk.owner.answer_repeats(desk.live)
    assert (again.answers, other.answers) == ([Answer(None, 2)], [])
    assert [reply for _, reply in desk.live.take_waiting()] == [other]


async def test_a_table_that_was_let_go_decides_nothing_when_its_shard_has_come_back() -> None:
    """Its sockets leave after it has moved, and their grace ends when another object may be held in its place."""
    desk = Desk(Script())
    let_go = desk.live
    desk.owner.drop(let_go)
    desk.timers.expect(let_go, "ann", seconds=1.0)
    desk.time += 2.0
    desk.timers.turn()
    assert desk.tell(sit(BOB, "first")).answers == [Answer("not_owner", None, retry=True)]
    assert desk.writer.offered == []


@pytest.mark.parametrize(
    ("outcome", "answer", "frozen", "reloaded"),
    [
        (Outcome.STORED, Answer(None, 2), False, False),
        (Outcome.SEATED_ELSEWHERE, Answer("seated_elsewhere", None), False, False),
        (Outcome.FOREIGN_VERSION, Answer("unavailable", None, retry=True), False, True),
        (Outcome.IMPOSSIBLE, Answer("table_frozen", None), True, False),
    ],
)
async def test_each_outcome_of_an_append_has_its_answer(
    outcome: Outcome, answer: Answer, frozen: bool, reloaded: bool
) -> None:
    desk = Desk(Script())
    reply = desk.tell(sit(BOB, "first"))
    assert reply.answers == []
    desk.writer.end(outcome)
    assert reply.answers == [answer]
    assert (desk.live.frozen, desk.reloaded) == (frozen, [desk.live] if reloaded else [])
    assert desk.live.table.version == (2 if outcome is Outcome.STORED else 1)
    await desk.end()


async def test_a_table_that_is_frozen_rings_no_more() -> None:
    desk = Desk(Script().sit(BOB).offline(ANN))
    desk.timers.set(desk.live)
    desk.timers.expect(desk.live, "bob", seconds=5)
    assert desk.live.timers
    desk.freezer.freeze(desk.live, "a test", None)
    assert (desk.live.timers, desk.live.absences, desk.live.next_deadline()) == ({}, {}, None)
    await desk.end()


async def test_claims_of_who_sits_down_and_leaves_go_with_the_events() -> None:
    desk = Desk(Script())
    desk.tell(sit(BOB, "first"))
    beside = desk.writer.offered[0].beside
    assert (beside.claimed, beside.freed, beside.opened, beside.closed) == (["bob"], [], None, False)
    desk.writer.end()
    for person in (BOB, ANN):
        desk.tell(Act(person=person, frame=frames.Leave(id=f"{person.name} leaves"), digest=1))
        beside = desk.writer.offered[0].beside
        assert (beside.claimed, beside.freed, beside.closed) == ([], [person.account_id], person is ANN)
        desk.writer.end()


@pytest.mark.ruling("CP-16")
@pytest.mark.parametrize(("passed_seconds", "left_seconds"), [(2, 8), (7, 5)])
def test_cp_16_who_asks_for_the_trump_has_what_is_left_of_the_turn_and_five_seconds_at_least(
    passed_seconds: int, left_seconds: int
) -> None:
    script = about_to_ask()
    desk, turn = Desk(script), script.turn
    desk.timers.set(desk.live)
    desk.time += passed_seconds
    ask = script.table.rules.decisions["ask_trump"]()
    desk.tell(Decide(script.person(turn.seats[0]), "asks", 1, turn.round, turn.turn, "ask_trump", ask))
    desk.writer.end()
    now = desk.live.table.rules.turn(desk.live.table.state)
    assert (now.seats, now.turn) != ((), turn.turn)
    assert desk.live.timers == {TurnTimer(now.round, now.turn): desk.time + left_seconds}
    assert desk.timers.remaining_ms(desk.live) == left_seconds * 1000


def about_to_ask() -> Script:
    """A seat that can't follow suit and may ask what is trump."""
    for seed in range(20):
        script = Script(f"00000000-0000-4000-8000-{seed:012}").dealt()
        while script.phase is Phase.PLAYING:
            if "ask_trump" in script.table.rules.legal(script.table.state, script.turn.seats[0]).also:
                return script
            script.plays(script.turn.seats[0])
    raise AssertionError("nobody could ask")
