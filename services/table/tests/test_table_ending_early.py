"""A game that all agree to end counts for nothing, and its unfinished stakes go back; by docs/tables.md, pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from table_scripts import ANN, BOB, CYN, DAN, EVE, SETTINGS, Script
from vote_scripts import between_rounds, refused, seated, waiting

from darbar_contracts import frames
from darbar_contracts.wallet import RefundPurpose, SettlePurpose
from darbar_rules.games.king.game import KING_SHORT
from darbar_table.domain import events
from darbar_table.domain.commands import OperatorAct
from darbar_table.domain.state import Phase


@pytest.mark.ruling("TL-39")
def test_tl_39_in_a_round_everybody_agrees_and_the_seeds_are_shown_and_the_stakes_go_back() -> None:
    script = Script().dealt().time_up().asks(DAN, "end_game").agrees(ANN, CYN, BOB)
    shown, refund = script.last(events.SeedsShown), script.last(events.RefundAsked)
    assert (shown.round, shown.server_seed) == (1, script.last(events.CountInStarted).server_seed)
    assert (refund.purpose, refund.stake_key) == (RefundPurpose.ENDED_EARLY, script.last(events.StakesAsked).key)
    assert (script.phase, script.outcome) == (Phase.REFUNDING, (True, "agreed"))
    assert not script.all(events.GameEnded)
    script.wallet()
    ended = script.last(events.GameEnded)
    assert (ended.reason, ended.places, ended.totals) == ("ended_early", (), ())
    assert seated(script) == ("ann", "cyn", "bob", "dan")
    assert not script.all(events.SeatFreed)
    assert (script.table.game, script.table.started, script.phase) == (2, False, Phase.COUNTING_IN)
    script.zero().wallet().play_round()
    assert script.last(events.SettleAsked).unit == "g2.r1"


@pytest.mark.ruling("TL-39")
def test_tl_39_between_rounds_there_is_nothing_to_give_back() -> None:
    script = between_rounds().asks(ANN, "end_game").agrees(BOB, CYN, DAN)
    assert script.last(events.GameEnded).reason == "ended_early"
    assert not script.all(events.RefundAsked)
    assert (script.last(events.CountInStarted).game, script.phase) == (2, Phase.COUNTING_IN)


@pytest.mark.ruling("TL-39")
def test_tl_39_a_game_that_waits_can_be_ended_and_the_next_one_waits_for_a_player() -> None:
    script = waiting().asks(ANN, "end_game").agrees(BOB, CYN)
    assert (script.table.game, script.phase) == (2, Phase.WAITING)
    assert script.starts_now(ANN).phase is Phase.COUNTING_IN


@pytest.mark.ruling("TL-39")
def test_tl_39_the_bets_of_a_king_go_back_in_the_middle_of_it() -> None:
    script = between_rounds(KING_SHORT).asks(ANN, "end_game").agrees(BOB, CYN, DAN)
    assert (script.last(events.RefundAsked).purpose, script.phase) == (RefundPurpose.ENDED_EARLY, Phase.REFUNDING)
    script.wallet()
    assert (script.last(events.GameEnded).reason, script.table.staked) == ("ended_early", False)


@pytest.mark.ruling("TL-39")
@pytest.mark.ruling("TL-37")
def test_tl_39_the_bet_of_who_had_quit_before_is_forfeited_and_that_of_who_gave_up_waiting_is_not() -> None:
    script = between_rounds(KING_SHORT).leaves(DAN).leaves(BOB).sit(EVE)
    freed = {event.account_id: (event.quit, event.gave_up) for event in script.all(events.SeatFreed)}
    assert freed == {"dan": (True, False), "bob": (False, True)}
    script.asks(ANN, "end_game").agrees(CYN, EVE)
    settle = script.last(events.SettleAsked)
    assert (settle.purpose, settle.bets_back, settle.forfeit_coins) == (SettlePurpose.ENDED_EARLY, (0, 1, 2), 100)
    assert (settle.shares, settle.pays_again, script.phase) == ((0, 0, 0, 0), (), Phase.SETTLING)
    script.wallet()
    assert (script.last(events.GameEnded).reason, script.phase) == ("ended_early", Phase.WAITING)


@pytest.mark.ruling("TL-39")
def test_tl_39_one_no_and_silence_let_the_game_go_on() -> None:
    script = Script().dealt().asks(ANN, "end_game").agrees(BOB)
    script.answers(CYN, agree=False)
    assert (script.outcome, script.phase) == ((False, "refused"), Phase.PLAYING)
    refused(script, "vote_paused", lambda: script.asks(DAN, "end_game"))
    script.now += timedelta(seconds=SETTINGS.vote_pause_seconds)
    script.asks(DAN, "end_game").agrees(ANN, BOB).silence()
    assert (script.outcome, script.phase) == ((False, "timed_out"), Phase.PLAYING)


@pytest.mark.ruling("TL-39")
def test_tl_39_bots_agree_and_alone_it_is_a_leave() -> None:
    script = Script().sit(BOB).starts_now(ANN).zero().wallet().asks(ANN, "end_game")
    assert script.table.vote is not None
    assert script.table.vote.waits_for == (2,)
    assert script.agrees(BOB).phase is Phase.REFUNDING
    script = Script().starts_now(ANN).zero().wallet()
    draft = script.act(ANN, frames.AskVote(id="x", about="end_game"))
    assert draft.events == [events.LeaveAsked(seat=0, id="x", digest=1)]
    script = Script().starts_now(ANN).zero().wallet().play_round().wallet().asks(ANN, "end_game")
    assert (script.last(events.SeatFreed).reason, script.phase) == ("left", Phase.CLOSED)


@pytest.mark.ruling("TL-39")
def test_tl_39_who_has_pressed_leave_is_not_asked_and_goes_without_a_quit() -> None:
    script = Script().dealt().leaves(DAN).asks(ANN, "end_game")
    assert script.table.vote is not None
    assert script.table.vote.waits_for == (1, 2)
    script.agrees(CYN).leaves(BOB)
    assert (script.outcome, script.phase) == ((True, "agreed"), Phase.REFUNDING)
    script.wallet()
    freed = [(event.account_id, event.reason, event.quit) for event in script.all(events.SeatFreed)]
    assert freed == [("bob", "game_over", False), ("dan", "game_over", False)]
    assert (script.last(events.GameEnded).names, script.table.stoppers) == (("Ann", "Cyn", "Bob", "Dan"), ())


@pytest.mark.ruling("TL-39")
def test_tl_39_an_absent_player_is_asked_and_keeps_the_seat_for_a_minute_when_it_ends() -> None:
    script = Script().dealt().asks(ANN, "end_game").agrees(BOB, CYN, DAN)
    script.offline(DAN).wallet()
    assert (seated(script)[3], script.phase) == ("dan", Phase.WAITING)
    assert list(script.due().values()) == [SETTINGS.keep_before_game_seconds]
    script = Script().dealt().offline(DAN).asks(ANN, "end_game").agrees(BOB, CYN)
    assert script.table.vote is not None
    assert script.table.vote.waits_for == (3,)


@pytest.mark.ruling("TL-39")
def test_tl_39_a_newcomer_is_asked_too() -> None:
    script = waiting().asks(ANN, "end_game").agrees(BOB, CYN)
    assert script.outcome == (True, "agreed")
    script = waiting().asks(ANN, "end_game").agrees(BOB).sit(EVE)
    assert script.table.vote is not None
    assert (script.table.vote.waits_for, script.phase) == ((1, 3), Phase.COUNTING_IN)
    script.agrees(CYN, EVE)
    assert script.last(events.GameEnded).reason == "ended_early"


@pytest.mark.ruling("TL-39")
def test_tl_39_a_round_that_begins_or_ends_meanwhile_changes_nothing() -> None:
    script = between_rounds().asks(ANN, "end_game").agrees(BOB, CYN)
    for phase in (Phase.STAKING, Phase.PLAYING, Phase.SETTLING, Phase.COUNTING_IN):
        script.step()
        assert (script.phase, script.table.vote is None) == (phase, False)
    script.agrees(DAN)
    assert (script.last(events.GameEnded).game, script.last(events.RoundStarted).round) == (1, 2)


@pytest.mark.ruling("TL-39")
@pytest.mark.parametrize("granted", [True, False])
def test_tl_39_stakes_that_are_being_asked_are_cancelled(granted: bool) -> None:
    script = between_rounds().asks(ANN, "end_game").agrees(BOB, CYN).zero()
    asked = script.last(events.StakesAsked)
    script.agrees(DAN)
    refund = script.last(events.RefundAsked)
    assert (script.phase, refund.stake_key, refund.purpose) == (Phase.REFUNDING, asked.key, RefundPurpose.ENDED_EARLY)
    assert script.tell_wallet(asked.key, done=granted).events == []
    script.wallet()
    assert (script.last(events.GameEnded).reason, len(script.all(events.RoundStarted))) == ("ended_early", 1)


@pytest.mark.ruling("TL-39")
def test_tl_39_a_pot_that_is_being_shared_is_shared_and_who_left_in_that_round_has_not_quit() -> None:
    script = Script().dealt().asks(ANN, "end_game").agrees(BOB, CYN).play_round().leaves(BOB)
    assert script.phase is Phase.SETTLING
    script.agrees(DAN)
    assert (script.phase, script.table.ending) == (Phase.SETTLING, True)
    refused(script, "not_now", lambda: script.asks(ANN, "end_game"))
    script.wallet()
    freed = script.last(events.SeatFreed)
    assert (freed.account_id, freed.reason, freed.quit) == ("bob", "game_over", False)
    assert (script.last(events.GameEnded).reason, len(script.all(events.RefundAsked))) == ("ended_early", 0)


@pytest.mark.ruling("TL-39")
def test_tl_39_a_refund_for_somebody_who_left_is_waited_for() -> None:
    script = between_rounds().zero().leaves(DAN).wallet()
    assert script.phase is Phase.REFUNDING
    script.asks(ANN, "end_game").agrees(BOB, CYN).wallet()
    assert len(script.all(events.RefundAsked)) == 1
    assert (script.last(events.SeatFreed).reason, script.last(events.GameEnded).reason) == (
        "left_while_staking",
        "ended_early",
    )


@pytest.mark.ruling("TL-39")
@pytest.mark.parametrize("agreed", [False, True])
def test_tl_39_a_game_that_is_over_by_itself_has_been_played(agreed: bool) -> None:
    script = Script(rules=KING_SHORT).dealt()
    while (script.table.round, script.phase) != (14, Phase.PLAYING):
        script.step()
    script.asks(ANN, "end_game").agrees(BOB, CYN).play_round()
    if agreed:
        script.agrees(DAN)
    assert (script.phase, script.result.game_over) == (Phase.SETTLING, True)
    script.wallet()
    assert (script.last(events.GameEnded).reason, script.table.ending) == ("played", False)
    assert script.outcome == ((True, "agreed") if agreed else (False, "overtaken"))
    assert script.phase is Phase.COUNTING_IN


@pytest.mark.ruling("TL-39")
@pytest.mark.parametrize(
    ("happens", "outcome"),
    [
        (lambda script: script.leaves(ANN), (False, "overtaken")),
        (lambda script: script.agrees(BOB, CYN).leaves(DAN), (True, "agreed")),
        (lambda script: script.tell(OperatorAct("void", "root", "a fault")), (False, "overtaken")),
        (lambda script: script.tell(OperatorAct("resume", "root", "a fault")).table.vote, None),
        (lambda script: script.offline(ANN).offline(BOB), None),
    ],
    ids=["who asked leaves", "the last one leaves", "voided", "resumed", "connections are lost"],
)
@pytest.mark.parametrize("in_round", [True, False])
def test_tl_39_what_happens_meanwhile_ends_it_or_does_not(
    in_round: bool, happens: Callable[[Script], object], outcome: tuple[bool, str] | None
) -> None:
    script = (Script().dealt() if in_round else between_rounds()).asks(ANN, "end_game")
    happens(script)
    assert (script.table.vote is None) == (outcome is not None)
    if outcome is not None:
        assert script.outcome == outcome


@pytest.mark.ruling("TL-39")
def test_tl_39_an_operator_who_voids_a_game_that_is_ending_closes_the_table() -> None:
    script = Script().dealt().asks(ANN, "end_game").agrees(BOB, CYN, DAN)
    script.tell(OperatorAct("void", "root", "a fault"))
    assert script.wallet().phase is Phase.CLOSED
    assert script.last(events.GameEnded).reason == "voided"


@pytest.mark.ruling("TL-39")
def test_tl_39_before_a_game_there_is_nothing_to_end() -> None:
    script = Script().sit(BOB)
    refused(script, "not_now", lambda: script.asks(ANN, "end_game"))
    started = Script().dealt()
    refused(started, "seat_unknown", lambda: started.asks(ANN, "end_game", 1))
