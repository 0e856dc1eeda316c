"""A decision counts for the turn it was made for, and for no other (GEN-4)."""

from __future__ import annotations

from typing import Any

import pytest
from table_scripts import BOB, CYN, DAN, Script

from darbar_contracts.frames import TableReason
from darbar_contracts.reading import DecisionFrames
from darbar_kit.errors import Refused
from darbar_rules.game import AnyGame
from darbar_rules.games import ALL
from darbar_rules.games.kings_and_rebels.events import PassBid
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_table.domain.state import Phase

FRAMES = DecisionFrames()
DECISIONS_MAX = 12


def dealt(rules: AnyGame, **options: Any) -> Script:
    script = Script(rules=rules, **options)
    people = iter((BOB, CYN, DAN))
    while not script.table.full:
        script.sit(next(people))
    return script.zero().wallet()


def says(script: Script, seat: int, decision: Any, *, round: int, turn: int, game: int | None = None) -> None:
    """What this seat's player decides, as a frame that names this round and turn."""
    frame_type = next(frame for frame in FRAMES.by_kind.values() if frame.__name__ == type(decision).__name__)
    values = {name: getattr(decision, name) for name in frame_type.__struct_fields__[4:]}
    frame = frame_type(id=script.new_id(), round=round, turn=turn, game=game, **values)
    player = script.table.seats[seat].player
    assert player is not None
    script.act(player, frame, decision=decision)


def passed_out(*, by_clock: bool) -> Script:
    """The first deal of a round in which everybody passed; the auction of the second one begins with turn 4."""
    script = dealt(KINGS_AND_REBELS, seats=4, last_seat_must_bid=False)
    for turn in range(4):
        (seat,) = KINGS_AND_REBELS.turn(script.table.state).seats
        if by_clock:
            script.time_up()
        else:
            says(script, seat, PassBid(), round=1, turn=turn)
    assert (script.table.state.deal.attempt, script.table.state.play.turn) == (1, 4)
    return script


@pytest.mark.ruling("GEN-4")
@pytest.mark.parametrize("by_clock", [False, True])
@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("seat", range(4))
def test_gen_4_a_pass_that_was_said_before_the_cards_were_dealt_again_is_stale(
    seat: int, turn: int, by_clock: bool
) -> None:
    script = passed_out(by_clock=by_clock)
    before = script.table
    with pytest.raises(Refused) as refused:
        says(script, seat, PassBid(), round=1, turn=turn)
    assert refused.value.code == TableReason.STALE_TURN
    assert refused.value.details == {"game": 1, "round": 1, "turn": 4}
    assert script.table is before


@pytest.mark.ruling("KR-8")
def test_kr_8_a_pass_counts_whatever_turn_of_its_own_auction_it_names() -> None:
    script = passed_out(by_clock=False)
    (first,) = KINGS_AND_REBELS.turn(script.table.state).seats
    says(script, first, PassBid(), round=1, turn=4)
    assert script.table.state.play.turn == 5
    for step in (1, 2):
        says(script, (first + step) % 4, PassBid(), round=1, turn=4)
    assert script.table.state.auction.passed.bit_count() == 3


@pytest.mark.ruling("GEN-4")
@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_gen_4_a_decision_that_names_another_turn_is_stale_in_every_game(rules: AnyGame) -> None:
    script = dealt(rules, **({"seats": 4} if hasattr(rules.options_type, "seats") else {}))
    refusals = 0
    for _ in range(DECISIONS_MAX):
        if script.table.phase is not Phase.PLAYING:
            break
        turn = rules.turn(script.table.state)
        seat = turn.seats[0]
        decision = rules.choices(rules.legal(script.table.state, seat))[0]
        for other_round, other_turn in (
            (turn.round - 1, turn.turn),
            (turn.round + 1, turn.turn),
            (turn.round, turn.turn - 1),
            (turn.round, turn.turn + 1),
        ):
            with pytest.raises(Refused) as refused:
                says(script, seat, decision, round=other_round, turn=other_turn)
            assert refused.value.code == TableReason.STALE_TURN
            refusals += 1
        says(script, seat, decision, round=turn.round, turn=turn.turn)
    assert refusals == 4 * DECISIONS_MAX


@pytest.mark.ruling("GEN-4")
@pytest.mark.ruling("TL-39")
@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_gen_4_a_decision_that_was_on_its_way_when_a_game_was_ended_early_is_stale_in_the_next_one(
    rules: AnyGame,
) -> None:
    script = dealt(rules, **({"seats": 4} if hasattr(rules.options_type, "seats") else {}))
    people = [script.person(seat) for seat in range(4)]
    script.asks(people[0], "end_game").agrees(*people[1:]).wallet().zero().wallet()
    turn = rules.turn(script.table.state)
    assert (script.table.game, turn.round, turn.turn) == (2, 1, 0)
    seat = turn.seats[0]
    decision = rules.choices(rules.legal(script.table.state, seat))[0]
    with pytest.raises(Refused) as refused:
        says(script, seat, decision, round=1, turn=0, game=1)
    assert (refused.value.code, refused.value.details) == (TableReason.STALE_TURN, {"game": 2, "round": 1, "turn": 0})
    says(script, seat, decision, round=1, turn=0, game=2)
