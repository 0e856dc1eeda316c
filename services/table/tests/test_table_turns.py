"""Whose turn, for how long, and who decides when a player does not; by docs/tables.md, pure."""

from __future__ import annotations

from typing import Any

import pytest
from table_scripts import ANN, BOB, CYN, DAN, PEOPLE, Script

from darbar_contracts import frames, reading
from darbar_contracts.tables import Person
from darbar_contracts.wallet import WalletAnswer
from darbar_kit.errors import Refused
from darbar_rules.game import AnyGame, RuleRefused
from darbar_rules.games import ALL
from darbar_rules.games.king.game import KING_SHORT
from darbar_table.domain import events
from darbar_table.domain.commands import BotDecided, WalletAnswered
from darbar_table.domain.state import Phase
from darbar_table.domain.timers import CountInTimer, KeptSeatTimer, SeedsTimer, TurnTimer, goes_on

TURN_SECONDS = 10.0
EXPIRIES = 5
BOT_ROUNDS = 3


def dealt(rules: AnyGame) -> Script:
    options: dict[str, Any] = {"seats": 4} if hasattr(rules.options_type, "seats") else {}
    return Script(rules=rules, **options).dealt()


def decided_by(script: Script, seat: int) -> list[str]:
    return [event.by for event in script.all(events.Played) if event.seat == seat]


@pytest.mark.ruling("TL-15")
@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_tl_15_every_decision_of_every_game_has_the_tables_turn_time(rules: AnyGame) -> None:
    script, turns = dealt(rules), 0
    while script.phase is Phase.PLAYING:
        turn = script.turn
        assert script.due() == {TurnTimer(turn.round, turn.turn): TURN_SECONDS}
        script.time_up()
        turns += 1
    assert turns >= 28


@pytest.mark.ruling("CP-16")
def test_cp_16_who_asks_for_the_trump_goes_on_with_the_time_that_was_left() -> None:
    going_on = 0
    for seed in range(20):
        script = Script(f"00000000-0000-4000-8000-{seed:012}").dealt()
        while script.phase is Phase.PLAYING:
            seat = script.turn.seats[0]
            also = script.table.rules.legal(script.table.state, seat).also
            draft = script.plays(seat) if "ask_trump" not in also else ask_for_trump(script, seat)
            asked = [event for event in draft.events if isinstance(event, events.Played)][-1]
            expected = script.table.rules.kind_of(asked.event) == "trump_shown" and asked.seat == seat
            assert goes_on(draft.events[-1], script.table) == expected
            going_on += expected
    assert going_on > 10


def ask_for_trump(script: Script, seat: int) -> Any:
    turn = script.turn
    frame = reading.DecisionFrames().by_kind["ask_trump"](id=script.new_id(), round=turn.round, turn=turn.turn)
    return script.act(script.person(seat), frame, decision=script.table.rules.decisions["ask_trump"]())


@pytest.mark.ruling("TL-16")
@pytest.mark.ruling("CP-35")
def test_tl_16_the_fifth_expiry_in_a_row_brings_a_bot_and_the_fourth_does_not() -> None:
    script = Script().dealt()
    seat = script.turn.seats[0]
    while len(decided_by(script, seat)) < EXPIRIES:
        assert not script.table.seats[seat].bot_plays
        script.time_up()
    assert decided_by(script, seat) == ["clock"] * EXPIRIES
    assert script.table.seats[seat].bot_plays
    assert script.last(events.BotTookOver).seat == seat


@pytest.mark.ruling("TL-16")
def test_tl_16_an_own_action_starts_the_count_again() -> None:
    script = Script().dealt()
    seat = script.turn.seats[0]
    while len(decided_by(script, seat)) < EXPIRIES - 1:
        script.time_up()
    while seat not in script.turn.seats:
        script.time_up()
    script.plays(seat)
    assert script.table.seats[seat].expiries == 0
    while decided_by(script, seat)[-1] != "clock":
        script.time_up()
    assert (script.table.seats[seat].expiries, script.table.seats[seat].bot_plays) == (1, False)


@pytest.mark.ruling("TL-16")
def test_tl_16_i_am_back_starts_the_count_again_before_a_bot_has_come() -> None:
    script = Script().dealt()
    (seat,) = script.turn.seats
    script.time_up()
    assert (script.table.seats[seat].expiries, script.table.seats[seat].bot_plays) == (1, False)
    script.is_back(script.person(seat))
    assert script.table.seats[seat].expiries == 0


@pytest.mark.ruling("TL-16")
def test_tl_16_ready_brings_back_who_is_away() -> None:
    script = Script().sit(BOB, CYN, DAN).offline(DAN)
    script.act(DAN, frames.Ready(id="x"))
    assert not script.table.seats[3].away


def taken_over(script: Script) -> int:
    """The first seat that a bot has taken over."""
    while not any(seat.bot_plays for seat in script.table.seats):
        script.time_up()
    return script.last(events.BotTookOver).seat


@pytest.mark.ruling("TL-16")
def test_tl_16_what_the_fallback_decides_for_a_bot_is_the_bots_and_no_expiry() -> None:
    script = Script().dealt()
    seat = taken_over(script)
    while seat not in script.turn.seats:
        script.time_up()
    script.time_up()
    assert decided_by(script, seat) == ["clock"] * EXPIRIES + ["bot"]
    assert script.table.seats[seat].expiries == EXPIRIES


@pytest.mark.ruling("TL-16")
def test_tl_16_i_am_back_and_an_own_card_take_the_seat_from_the_bot() -> None:
    script = Script().dealt()
    seat = taken_over(script)
    script.is_back(script.person(seat))
    assert (script.table.seats[seat].bot_plays, script.table.seats[seat].expiries) == (False, 0)
    script = Script().dealt()
    seat = taken_over(script)
    while seat not in script.turn.seats:
        script.time_up()
    draft = script.plays(seat)
    assert draft.events[0] == events.PlayerCameBack(seat=seat)
    assert not script.table.seats[seat].bot_plays


@pytest.mark.ruling("TL-16")
def test_tl_16_ready_is_an_own_action_and_the_seeds_of_a_client_are_none() -> None:
    script = Script().dealt()
    seat = taken_over(script)
    script.play_round().wallet()
    person = script.person(seat)
    script.act(person, frames.SeedCommit(id="x", sha256="0" * 64))
    assert script.table.seats[seat].bot_plays
    script.act(person, frames.Ready(id="y"))
    assert not script.table.seats[seat].bot_plays


def rounds_by_bots(script: Script, *, active: Person, rounds: int) -> Script:
    """Rounds to their end; one player says at each that they are back, the others never do anything."""
    for _ in range(rounds):
        while script.table.phase != "playing":
            script.step()
        if script.table.seats[script.table.seat_of(active.account_id) or 0].expiries:
            script.is_back(active)
        script.play_round()
        while script.table.phase == "settling":
            script.wallet()
    return script


@pytest.mark.ruling("TL-16")
@pytest.mark.ruling("TL-32")
def test_tl_16_after_three_rounds_by_the_bot_alone_the_seat_counts_as_away() -> None:
    # In the first round the clock decides five times before the bot takes over.
    script = rounds_by_bots(Script(rules=KING_SHORT).dealt(), active=ANN, rounds=BOT_ROUNDS)
    assert [seat.bot_plays for seat in script.table.seats[1:]] == [True] * 3
    assert (script.phase, script.all(events.PlayerWentIdle)) == (Phase.COUNTING_IN, [])
    rounds_by_bots(script, active=ANN, rounds=1)
    assert [event.seat for event in script.all(events.PlayerWentIdle)] == [1, 2, 3]
    assert script.table.phase == "waiting"
    assert set(script.due()) == {KeptSeatTimer(script.table.seats[seat].since, in_game=True) for seat in (1, 2, 3)}
    script.back(BOB)
    assert script.table.seats[1].away, "a connection that was always there is no sign of life"
    for person in (BOB, CYN, DAN):
        assert script.table.phase == "waiting"
        script.is_back(person)
    assert script.table.phase == "counting_in"


@pytest.mark.ruling("TL-16")
def test_tl_16_who_is_away_already_is_not_found_idle() -> None:
    script = rounds_by_bots(Script(rules=KING_SHORT).dealt(), active=ANN, rounds=BOT_ROUNDS).step()
    script.offline(BOB).play_round()
    idle = [event.seat for event in script.all(events.PlayerWentIdle)]
    assert (1 in idle, 2 in idle, script.table.seats[1].idle) == (False, True, False)


@pytest.mark.ruling("TL-16")
def test_tl_16_one_own_action_in_three_rounds_is_enough() -> None:
    script = rounds_by_bots(Script(rules=KING_SHORT).dealt(), active=ANN, rounds=BOT_ROUNDS)
    script.step()
    script.is_back(BOB)
    script.play_round()
    assert 1 not in [event.seat for event in script.all(events.PlayerWentIdle)]


@pytest.mark.ruling("TL-16")
@pytest.mark.ruling("TL-34")
def test_tl_16_who_is_idle_when_a_game_ends_is_freed_without_a_quit() -> None:
    script = Script(rules=KING_SHORT).dealt()
    while script.table.game == 1:
        if script.phase is Phase.PLAYING and script.table.round < 12:
            for person in PEOPLE:
                if script.table.seats[script.table.seat_of(person.account_id) or 0].bot_plays:
                    script.is_back(person)
        script.step()
    idle = [event.seat for event in script.all(events.PlayerWentIdle)]
    freed = script.all(events.SeatFreed)
    assert idle
    assert [(event.reason, event.quit) for event in freed] == [("game_over", False)] * len(idle)


@pytest.mark.ruling("TL-17")
@pytest.mark.parametrize("absent", ["offline", "left", "taken over"])
def test_tl_17_a_bot_decides_for_who_is_away_without_waiting_for_the_clock(absent: str) -> None:
    script = Script().dealt()
    seat = taken_over(script) if absent == "taken over" else 2
    if absent == "offline":
        script.offline(BOB)
    elif absent == "left":
        script.leaves(BOB)
    while seat not in script.turn.seats:
        script.time_up()
    draft = bot_decides(script, seat)
    assert [event.by for event in draft.events if isinstance(event, events.Played) and event.seat == seat] == ["bot"]


def bot_decides(script: Script, seat: int, decision: Any = None) -> Any:
    turn = script.turn
    return script.tell(BotDecided(seat=seat, round=turn.round, turn=turn.turn, decision=decision))


@pytest.mark.ruling("TL-17")
def test_tl_17_no_bot_decides_for_a_player_who_is_there() -> None:
    script = Script().dealt()
    before = script.table
    assert bot_decides(script, script.turn.seats[0]).events == []
    assert script.table is before


@pytest.mark.ruling("TL-18")
@pytest.mark.parametrize("answer", ["legal", "illegal", "none"])
def test_tl_18_a_bots_decision_counts_if_it_is_legal_and_else_the_fallback_does(answer: str) -> None:
    script = Script().starts_now(ANN).zero().wallet()
    while script.table.seats[script.turn.seats[0]].bot is None or not card_choices(script):
        script.time_up()
    seat, rules, state = script.turn.seats[0], script.table.rules, script.table.state
    fallback = rules.fallback(rules.view(state, seat))
    legal, held = card_choices(script), rules.view(state, seat).hand
    other = next((card for card in legal if rules.decisions["play_card"](card) != fallback), legal[0])
    wrong = next(card for card in ("AS", "KS", "QS", "JS", "TS", "9S") if card not in held)
    said = {"legal": rules.decisions["play_card"](other), "illegal": rules.decisions["play_card"](wrong), "none": None}
    first = bot_decides(script, seat, said[answer]).events[0]
    due = said["legal"] if answer == "legal" else fallback
    assert (first.by, str(first.event.card)) == ("bot", str(due.card))


def card_choices(script: Script) -> tuple[str, ...]:
    """What the seat on turn may play."""
    play: tuple[str, ...] = script.table.rules.legal(script.table.state, script.turn.seats[0]).play
    return play


@pytest.mark.ruling("GEN-4")
def test_gen_4_a_late_timer_does_nothing() -> None:
    script = Script().dealt()
    turn = script.turn
    script.time_up()
    before = script.table
    for timer in (TurnTimer(turn.round, turn.turn), CountInTimer(1, 1), SeedsTimer(1, 1), KeptSeatTimer(1)):
        assert script.rings(timer).events == []
    assert script.table is before


@pytest.mark.ruling("GEN-4")
def test_gen_4_a_late_bot_and_a_late_wallet_do_nothing() -> None:
    script = Script().starts_now(ANN).zero().wallet()
    before = script.table
    assert script.tell(BotDecided(seat=1, round=1, turn=99, decision=None)).events == []
    assert script.tell(WalletAnswered(key="another", answer=WalletAnswer(done=True))).events == []
    assert script.table is before


def test_no_decision_counts_outside_a_round() -> None:
    script = Script().dealt()
    seat = script.turn.seats[0]
    frame = reading.DecisionFrames().by_kind["play_card"](id="x", round=1, turn=0, card="AS")
    script.play_round()
    with pytest.raises(Refused, match="not_now"):
        script.act(script.person(seat), frame, decision=script.table.rules.decisions["play_card"]("AS"))


def test_the_rules_refusals_come_through() -> None:
    script = Script().dealt().time_up()
    turn = script.turn
    frame = reading.DecisionFrames().by_kind["play_card"](id="x", round=turn.round, turn=turn.turn, card="AS")
    other = next(seat for seat in range(4) if seat not in turn.seats)
    with pytest.raises(RuleRefused, match="not_your_turn"):
        script.act(script.person(other), frame, decision=script.table.rules.decisions["play_card"]("AS"))
