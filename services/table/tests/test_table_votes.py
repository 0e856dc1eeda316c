"""Votes for another partner or a bot, and what holds for every vote; by docs/tables.md, pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from table_scripts import ANN, BOB, CYN, DAN, EVE, PEOPLE, SETTINGS, Script
from vote_scripts import between_rounds, refused, seated, waiting

from darbar_contracts import frames
from darbar_contracts.frames import VoteAbout, VoteView
from darbar_contracts.tables import Person
from darbar_rules.game import AnyGame
from darbar_rules.games.king.game import KING_SHORT
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_table.domain import events
from darbar_table.domain.commands import OperatorAct
from darbar_table.domain.state import Phase
from darbar_table.domain.timers import VoteTimer


@pytest.mark.ruling("TL-5")
def test_tl_5_the_host_gets_another_partner_when_both_opponents_agree() -> None:
    script = Script().sit(BOB, CYN, DAN).asks(ANN, "partner", 1)
    assert script.table.vote == VoteView(7, "partner", 1, asked_by=0, waits_for=(1, 3))
    script.agrees(CYN)
    assert script.table.vote == VoteView(7, "partner", 1, asked_by=0, waits_for=(3,), agreed=(1,))
    assert seated(script) == ("ann", "cyn", "bob", "dan")
    script.agrees(DAN)
    assert seated(script) == ("ann", "bob", "cyn", "dan")
    assert (script.table.host, script.outcome) == (0, (True, "agreed"))


@pytest.mark.ruling("TL-5")
def test_tl_5_one_no_keeps_the_partner_and_so_does_silence() -> None:
    script = Script().sit(BOB, CYN, DAN).asks(ANN, "partner", 1).agrees(DAN)
    script.answers(CYN, agree=False)
    assert (seated(script), script.outcome) == (("ann", "cyn", "bob", "dan"), (False, "refused"))
    script.asks(ANN, "partner", 3).agrees(CYN).silence()
    assert (seated(script), script.outcome) == (("ann", "cyn", "bob", "dan"), (False, "timed_out"))


@pytest.mark.ruling("TL-5")
def test_tl_5_bots_agree_at_once_and_can_be_partners() -> None:
    script = Script().sit(BOB).starts_now(ANN)
    bot = script.table.seats[3].bot
    script.asks(ANN, "partner", 3)
    assert seated(script) == ("ann", None, None, "bob")
    assert (script.table.seats[2].bot, script.outcome) == (bot, (True, "agreed"))


@pytest.mark.ruling("TL-5")
def test_tl_5_an_opponent_comes_to_a_seat_that_is_free() -> None:
    script = Script().sit(BOB)
    script.act(CYN, frames.Sit(id="x", seat=3))
    script.leaves(BOB).asks(ANN, "partner", 3).agrees(CYN)
    assert (seated(script), script.table.seats[3].free) == (("ann", None, "cyn", None), True)


@pytest.mark.ruling("TL-5")
@pytest.mark.parametrize(
    ("person", "seat", "reason"),
    [
        (BOB, 1, "not_host"),
        (ANN, None, "seat_unknown"),
        (ANN, 4, "seat_unknown"),
        (ANN, -1, "seat_unknown"),
        (ANN, 0, "not_an_opponent"),
        (ANN, 2, "not_an_opponent"),
        (ANN, 3, "not_an_opponent"),
    ],
)
def test_tl_5_only_the_host_asks_and_only_for_an_opponent(person: Person, seat: int | None, reason: str) -> None:
    script = Script().sit(BOB, CYN)
    refused(script, reason, lambda: script.asks(person, "partner", seat))


@pytest.mark.ruling("TL-5")
@pytest.mark.parametrize("rules", [KING_SHORT, KINGS_AND_REBELS], ids=lambda rules: rules.name)
def test_tl_5_where_everybody_plays_alone_there_are_no_partners(rules: AnyGame) -> None:
    script = Script(rules=rules).sit(BOB, CYN)
    refused(script, "no_partners", lambda: script.asks(ANN, "partner", 1))


@pytest.mark.ruling("TL-5")
def test_tl_5_scores_belong_to_teams_so_it_is_asked_before_a_game_and_between_games_only() -> None:
    script = Script().sit(BOB, CYN, DAN)
    phases = []
    for _ in range(4):
        script.step()
        phases.append(script.phase)
        refused(script, "not_now", lambda: script.asks(ANN, "partner", 1))
    assert phases == [Phase.STAKING, Phase.PLAYING, Phase.SETTLING, Phase.COUNTING_IN]
    script.play_game()
    script.asks(ANN, "partner", 1).agrees(CYN, DAN)
    assert seated(script) == ("ann", "bob", "cyn", "dan")


@pytest.mark.ruling("TL-5")
def test_tl_5_a_swap_in_a_count_in_begins_it_again_with_another_seed() -> None:
    script = Script().sit(BOB, CYN, DAN)
    script.act(CYN, frames.Ready(id=script.new_id()))
    before = script.last(events.CountInStarted)
    script.asks(ANN, "partner", 1).agrees(CYN, DAN)
    after = script.last(events.CountInStarted)
    assert (before.round, before.attempt, after.round, after.attempt) == (1, 1, 1, 2)
    assert before.server_seed != after.server_seed
    count_in = script.table.count_in
    assert count_in is not None
    assert (script.phase, count_in.ready, script.table.stoppers) == (Phase.COUNTING_IN, (), ())


@pytest.mark.ruling("TL-5")
def test_tl_5_a_kept_seat_is_kept_for_the_one_who_sat_there_wherever_that_is_now() -> None:
    script = Script().sit(BOB, CYN).offline(CYN)
    (kept,) = script.due()
    script.asks(ANN, "partner", 1).silence().rings(kept)
    assert seated(script) == ("ann", None, "bob", None)
    script = Script().sit(BOB, CYN).offline(BOB)
    (kept,) = script.due()
    script.asks(ANN, "partner", 1).agrees(CYN)
    assert (seated(script), list(script.due())) == (("ann", "bob", "cyn", None), [kept])
    script.rings(kept)
    assert seated(script) == ("ann", None, "cyn", None)


@pytest.mark.ruling("TL-5")
@pytest.mark.parametrize(
    "happens",
    [
        lambda script: script.leaves(CYN),
        lambda script: script.leaves(BOB),
        lambda script: script.leaves(ANN),
        lambda script: script.act(DAN, frames.Sit(id="x")),
        lambda script: script.starts_now(BOB),
        lambda script: script.tell(OperatorAct("void", "root", "a fault")),
    ],
    ids=["an opponent leaves", "the partner leaves", "the host leaves", "somebody arrives", "bots come", "voided"],
)
def test_tl_5_whoever_comes_or_goes_ends_the_question(happens: Callable[[Script], object]) -> None:
    script = Script().sit(BOB, CYN).asks(ANN, "partner", 1)
    happens(script)
    assert (script.table.vote, script.outcome) == (None, (False, "overtaken"))
    assert not script.all(events.SeatsSwapped)


@pytest.mark.ruling("TL-5")
def test_tl_5_a_count_in_leaves_the_question_alone_until_the_stakes_are_asked() -> None:
    script = Script().sit(BOB, CYN, DAN).asks(ANN, "partner", 1)
    script.offline(BOB).zero()
    assert (script.last(events.CountInStopped).reason, script.phase) == ("seat_offline", Phase.WAITING)
    assert script.table.vote is not None
    script.back(BOB)
    assert (script.phase, script.table.vote is None) == (Phase.COUNTING_IN, False)
    script.zero()
    assert (script.phase, script.outcome) == (Phase.STAKING, (False, "overtaken"))


# A bot for a seat.


@pytest.mark.ruling("TL-26")
@pytest.mark.ruling("TL-27")
@pytest.mark.parametrize("rules", [None, KING_SHORT], ids=["court_piece", "king"])
def test_tl_26_a_waiting_game_gets_a_bot_when_everybody_agrees(rules: AnyGame | None) -> None:
    script = waiting(rules=rules).asks(ANN, "bot", 3)
    assert script.table.vote is not None
    assert script.table.vote.waits_for == (1, 2)
    script.agrees(PEOPLE[1], PEOPLE[2])
    assert (script.table.seats[3].bot is None, script.outcome) == (False, (True, "agreed"))
    assert script.phase is Phase.COUNTING_IN


@pytest.mark.ruling("TL-26")
def test_tl_26_silence_agrees_and_one_no_ends_it() -> None:
    script = waiting().asks(ANN, "bot", 3).agrees(BOB).silence()
    assert (script.table.seats[3].bot is None, script.outcome) == (False, (True, "timed_out"))
    script = waiting().asks(ANN, "bot", 3).agrees(BOB)
    script.answers(CYN, agree=False)
    assert (script.table.seats[3].free, script.phase) == (True, Phase.WAITING)
    assert script.outcome == (False, "refused")


@pytest.mark.ruling("TL-26")
def test_tl_26_the_same_seat_is_asked_for_again_ten_seconds_later_and_another_at_once() -> None:
    script = waiting().leaves(CYN).asks(ANN, "bot", 3)
    script.answers(BOB, agree=False)
    refused(script, "vote_paused", lambda: script.asks(BOB, "bot", 3))
    script.asks(BOB, "bot", 1)
    script.answers(ANN, agree=False)
    script.now += timedelta(seconds=SETTINGS.vote_pause_seconds - 0.1)
    refused(script, "vote_paused", lambda: script.asks(BOB, "bot", 3))
    script.now += timedelta(seconds=0.1)
    script.asks(BOB, "bot", 3)


@pytest.mark.ruling("TL-26")
def test_tl_26_alone_a_bot_comes_at_once() -> None:
    script = Script().starts_now(ANN).zero().wallet().play_round().wallet()
    for seat in (1, 3):
        script.act(ANN, frames.SendBotAway(id=script.new_id(), seat=seat))
    refused(script, "not_now", lambda: script.starts_now(ANN))
    script.asks(ANN, "bot", 1)
    assert (script.table.seats[1].bot is None, script.table.seats[3].free) == (False, True)
    script.asks(ANN, "bot", 3)
    assert script.phase is Phase.COUNTING_IN
    names = {seat.bot for seat in script.table.seats}
    assert len(names) == 4


@pytest.mark.ruling("TL-27")
def test_tl_27_a_seat_whose_bot_was_sent_away_before_the_game_gets_one_by_vote() -> None:
    script = Script().sit(BOB).starts_now(ANN)
    script.act(BOB, frames.SendBotAway(id=script.new_id(), seat=1))
    refused(script, "not_now", lambda: script.starts_now(ANN))
    script.asks(BOB, "bot", 1).agrees(ANN)
    assert (script.table.seats[1].bot is None, script.table.seats[1].bot_barred) == (False, False)
    assert script.phase is Phase.COUNTING_IN


@pytest.mark.ruling("TL-26")
@pytest.mark.ruling("TL-32")
def test_tl_26_a_bot_takes_a_kept_seat_when_the_absent_player_is_not_back_in_time() -> None:
    script = between_rounds().offline(DAN).zero()
    assert (script.phase, script.table.seats[3].away) == (Phase.WAITING, True)
    script.asks(ANN, "bot", 3).agrees(BOB, CYN)
    assert script.table.vote is not None
    script.silence()
    freed = script.last(events.SeatFreed)
    assert (freed.account_id, freed.reason, freed.quit) == ("dan", "taken_over", True)
    assert (script.table.seats[3].bot is None, script.phase) == (False, Phase.COUNTING_IN)


@pytest.mark.ruling("TL-26")
def test_tl_26_a_player_who_comes_back_has_their_seat() -> None:
    script = between_rounds().offline(DAN).zero().asks(ANN, "bot", 3).agrees(BOB, CYN).back(DAN)
    assert (script.outcome, seated(script)[3], script.phase) == ((False, "overtaken"), "dan", Phase.COUNTING_IN)


@pytest.mark.ruling("TL-26")
def test_tl_26_a_kept_seat_that_is_freed_meanwhile_is_asked_for_all_the_same() -> None:
    script = between_rounds().offline(DAN).zero()
    (kept,) = script.due()
    script.asks(ANN, "bot", 3).agrees(BOB).rings(kept)
    assert (script.table.seats[3].free, script.table.vote is None) == (True, False)
    script.agrees(CYN)
    assert script.table.seats[3].bot is not None


@pytest.mark.ruling("TL-26")
@pytest.mark.parametrize(
    ("happens", "outcome"),
    [
        (lambda script: script.sit(EVE), (False, "overtaken")),
        (lambda script: script.leaves(ANN), (False, "overtaken")),
        (lambda script: script.leaves(BOB, CYN), (True, "agreed")),
        (lambda script: script.agrees(CYN).leaves(BOB), (True, "agreed")),
        (lambda script: script.tell(OperatorAct("void", "root", "a fault")), (False, "overtaken")),
    ],
    ids=["somebody sits there", "who asked leaves", "who is asked leaves", "the last one leaves", "voided"],
)
def test_tl_26_what_happens_meanwhile_ends_it(happens: Callable[[Script], object], outcome: tuple[bool, str]) -> None:
    script = waiting().asks(ANN, "bot", 3)
    happens(script)
    assert (script.table.vote, script.outcome) == (None, outcome)


@pytest.mark.ruling("TL-26")
def test_tl_26_a_newcomer_is_asked_too_and_a_lost_connection_changes_nothing() -> None:
    script = waiting().leaves(CYN).asks(ANN, "bot", 3).offline(BOB)
    script.act(EVE, frames.Sit(id="x", seat=1))
    assert script.table.vote is not None
    assert script.table.vote.waits_for == (2, 1)
    script.agrees(EVE).silence()
    assert script.outcome == (True, "timed_out")


@pytest.mark.ruling("TL-26")
def test_tl_26_start_now_fills_a_seat_that_nobody_has_held_while_the_others_are_asked() -> None:
    script = Script().sit(BOB).asks(ANN, "bot", 1).starts_now(BOB)
    assert (script.outcome, script.phase) == ((False, "overtaken"), Phase.COUNTING_IN)


@pytest.mark.ruling("TL-26")
@pytest.mark.parametrize(
    ("seat", "reason"),
    [(0, "seat_taken"), (1, "seat_taken"), (4, "seat_unknown"), (-1, "seat_unknown"), (None, "seat_unknown")],
)
def test_tl_26_a_bot_is_asked_for_a_seat_that_can_be_taken(seat: int | None, reason: str) -> None:
    script = waiting()
    refused(script, reason, lambda: script.asks(ANN, "bot", seat))


@pytest.mark.ruling("TL-26")
def test_tl_26_during_a_round_and_before_a_game_an_absent_players_seat_is_not_asked_for() -> None:
    script = Script().dealt().offline(DAN)
    refused(script, "round_running", lambda: script.asks(ANN, "bot", 3))
    script = Script().sit(BOB, CYN, DAN).offline(DAN).zero()
    refused(script, "seat_taken", lambda: script.asks(ANN, "bot", 3))


# What holds for all of them.


@pytest.mark.parametrize(("about", "seat"), [("bot", 3), ("end_game", None)])
def test_one_vote_at_a_time(about: VoteAbout, seat: int | None) -> None:
    script = waiting().asks(ANN, "bot", 3)
    refused(script, "vote_running", lambda: script.asks(BOB, about, seat))


def test_who_is_not_asked_has_no_say() -> None:
    script = Script().sit(BOB, CYN, DAN)
    refused(script, "vote_over", lambda: script.act(BOB, frames.AnswerVote(id="x", vote=0, agree=True)))
    script.asks(ANN, "partner", 1)
    for person, reason in ((BOB, "not_asked"), (ANN, "not_asked"), (EVE, "not_seated")):
        refused(script, reason, lambda person=person: script.answers(person, agree=False))  # type: ignore[misc]
    script.agrees(DAN)
    refused(script, "not_asked", lambda: script.answers(DAN, agree=False))


def test_an_answer_and_a_clock_are_for_one_vote_and_no_other() -> None:
    script = waiting().asks(ANN, "bot", 3)
    assert script.table.vote is not None
    old = script.table.vote.number
    script.answers(BOB, agree=False)
    script.asks(ANN, "end_game")
    refused(script, "vote_over", lambda: script.act(BOB, frames.AnswerVote(id="x", vote=old, agree=False)))
    assert script.rings(VoteTimer(old)).events == []
    assert script.silence().outcome == (False, "timed_out")


@pytest.mark.ruling("TL-16")
def test_tl_16_whoever_asks_or_answers_is_back() -> None:
    script = Script().dealt().leaves(BOB).offline(CYN)
    script.asks(BOB, "end_game")
    assert not script.table.seats[2].away
    assert script.agrees(CYN).table.seats[1].online


def test_nobody_asks_without_end() -> None:
    script = Script().starts_now(ANN)
    for _ in range(SETTINGS.votes_a_minute_max):
        script.asks(ANN, "partner", 1)
        script.now += timedelta(seconds=1)
    refused(script, "vote_paused", lambda: script.asks(ANN, "partner", 1))
    script.now += timedelta(seconds=60 - SETTINGS.votes_a_minute_max)
    script.asks(ANN, "partner", 1)
    refused(script, "vote_paused", lambda: script.asks(ANN, "partner", 1))


def test_a_vote_has_its_clock_beside_the_others() -> None:
    script = Script().dealt()
    turn = script.due()
    script.asks(ANN, "end_game")
    assert script.table.vote is not None
    assert script.due() == turn | {VoteTimer(script.table.vote.number): SETTINGS.vote_seconds}
