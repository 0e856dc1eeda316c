"""From a full table to the deal: count-ins, who ends and who stops them, seeds, stakes; by docs/tables.md, pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta

import pytest
from table_scripts import ANN, BOB, CYN, DAN, EVE, PEOPLE, SETTINGS, Script

from darbar_contracts import frames
from darbar_contracts.tables import Person
from darbar_contracts.wallet import RefundPurpose
from darbar_kit.errors import Refused
from darbar_rules.games.king.game import KING_SHORT
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_table.domain import events
from darbar_table.domain.seat_view import table_view
from darbar_table.domain.state import Phase
from darbar_table.domain.timers import CountInTimer, SeedsTimer

STRING = "my own string"
STOPS = 3
SHA256 = hashlib.sha256(STRING.encode()).hexdigest()


def full() -> Script:
    """The first count-in runs."""
    return Script().sit(BOB, CYN, DAN)


@pytest.mark.ruling("TL-9")
def test_tl_9_a_full_table_counts_in_seven_seconds_by_itself() -> None:
    script = Script().sit(BOB, CYN)
    assert (script.phase, script.due()) == (Phase.WAITING, {})
    script.sit(DAN)
    assert (script.phase, script.due()) == (Phase.COUNTING_IN, {CountInTimer(1, 1): 7.0})


@pytest.mark.ruling("TL-9")
def test_tl_9_anyone_can_start_sooner_with_bots_and_the_seconds_run() -> None:
    script = Script().sit(BOB).starts_now(BOB)
    assert [seat.bot is not None for seat in script.table.seats] == [False, True, False, True]
    assert script.phase is Phase.COUNTING_IN


@pytest.mark.ruling("TL-9")
def test_tl_9_with_all_seats_taken_anyone_ends_the_first_count_in_of_each_game() -> None:
    script = full().starts_now(CYN)
    assert script.phase is Phase.STAKING
    script.wallet().play_round().play_game()
    assert (script.table.game, script.table.round) == (2, 1)
    assert script.starts_now(CYN).phase is Phase.STAKING


@pytest.mark.ruling("TL-9")
def test_tl_9_a_later_count_in_ends_when_everyone_is_ready_and_not_before() -> None:
    script = Script().dealt().play_round().wallet()
    assert (script.phase, script.table.round) == (Phase.COUNTING_IN, 2)
    with pytest.raises(Refused, match="not_now"):
        script.starts_now(ANN)
    for person in PEOPLE[:3]:
        script.act(person, frames.Ready(id=script.new_id()))
        assert script.phase is Phase.COUNTING_IN
    script.act(DAN, frames.Ready(id=script.new_id()))
    assert script.phase is Phase.STAKING


@pytest.mark.ruling("TL-9")
def test_tl_9_whoever_was_ready_for_a_count_in_that_stopped_is_asked_again() -> None:
    script = Script().dealt().play_round().wallet()
    for person in PEOPLE[:3]:
        script.act(person, frames.Ready(id=script.new_id()))
    script.leaves(DAN).sit(EVE)
    script.act(EVE, frames.Ready(id=script.new_id()))
    assert script.phase is Phase.COUNTING_IN


@pytest.mark.ruling("TL-13")
def test_tl_13_of_a_count_in_that_stopped_nothing_is_left_to_see() -> None:
    script = Script().dealt().play_round().wallet()
    script.act(ANN, frames.Ready(id=script.new_id()))
    script.act(BOB, frames.SeedCommit(id=script.new_id(), sha256=SHA256))
    counting = table_view(script.table).seats
    assert ([seat.ready for seat in counting], counting[2].committed) == ([True, False, False, False], True)
    script.leaves(DAN)
    assert (script.phase, script.table.count_in) == (Phase.WAITING, None)
    assert not any(seat.ready or seat.committed for seat in table_view(script.table).seats)


@pytest.mark.ruling("TL-10")
def test_tl_10_where_the_host_deals_the_host_alone_ends_the_count_in() -> None:
    script = Script(rules=KINGS_AND_REBELS, seats=4).sit(BOB, CYN, DAN)
    with pytest.raises(Refused, match="not_host"):
        script.act(BOB, frames.Deal(id="x"))
    script.act(ANN, frames.Deal(id="y"))
    assert script.phase is Phase.STAKING
    unpressed = Script(rules=KINGS_AND_REBELS, seats=4).sit(BOB, CYN, DAN).zero()
    assert unpressed.phase is Phase.STAKING


@pytest.mark.ruling("TL-10")
def test_tl_10_elsewhere_nobody_deals() -> None:
    script = Script(rules=KING_SHORT).sit(BOB, CYN, DAN)
    with pytest.raises(Refused, match="not_now"):
        script.act(ANN, frames.Deal(id="x"))


@pytest.mark.ruling("TL-11")
@pytest.mark.ruling("TL-13")
def test_tl_11_13_leaving_a_count_in_costs_nothing_and_stops_it() -> None:
    script = full()
    first = script.last(events.CountInStarted)
    script.leaves(DAN)
    assert script.phase is Phase.WAITING
    assert script.last(events.SeatFreed).quit is False
    assert script.last(events.CountInStopped) == events.CountInStopped(reason="seat_freed", account_id="dan")
    script.sit(EVE)
    again = script.last(events.CountInStarted)
    assert (again.round, again.attempt) == (1, 2)
    assert again.server_seed != first.server_seed


@pytest.mark.ruling("TL-11")
@pytest.mark.ruling("TL-35")
def test_tl_11_leaving_a_later_count_in_costs_nothing_either() -> None:
    script = Script().dealt().play_round().wallet().leaves(DAN)
    assert script.last(events.SeatFreed) == events.SeatFreed(
        seat=3, account_id="dan", reason="left", quit=False, id=script.last(events.SeatFreed).id, digest=1
    )
    assert (script.phase, script.table.started) == (Phase.WAITING, True)
    assert "stakes_refused" not in script.kinds()


@pytest.mark.ruling("TL-13")
def test_tl_13_a_bot_sent_away_during_a_count_in_stops_it_too() -> None:
    script = Script().sit(BOB).starts_now(ANN)
    script.act(BOB, frames.SendBotAway(id="x", seat=1))
    assert script.last(events.CountInStopped) == events.CountInStopped(reason="bot_sent_away", account_id="bob")


def goes_offline(script: Script) -> None:
    script.offline(DAN).zero()
    if script.table.seat_of("dan") is not None:
        script.back(DAN)


def leaves_and_sits(script: Script) -> None:
    script.leaves(DAN)
    if not script.all(events.SittingPaused):
        script.sit(DAN)


def leaves_while_stakes_are_asked(script: Script) -> None:
    script.zero().leaves(DAN).wallet().wallet()
    if not script.all(events.SittingPaused):
        script.sit(DAN)


def is_short(script: Script) -> None:
    script.zero().wallet(done=False, reason="short_of_coins", short=("dan",))
    if not script.all(events.SittingPaused):
        script.sit(DAN)


@pytest.mark.ruling("TL-13")
@pytest.mark.parametrize("stop", [goes_offline, leaves_and_sits, leaves_while_stakes_are_asked, is_short])
def test_tl_13_who_has_stopped_three_count_ins_is_out_and_sits_again_after_a_minute(
    stop: Callable[[Script], None],
) -> None:
    script = full()
    for _ in range(STOPS - 1):
        stop(script)
        assert (script.phase, script.all(events.SittingPaused)) == (Phase.COUNTING_IN, [])
    stop(script)
    assert script.table.seat_of("dan") is None
    assert not any(event.quit for event in script.all(events.SeatFreed))
    pause = timedelta(seconds=SETTINGS.sitting_pause_seconds)
    assert script.last(events.SittingPaused) == events.SittingPaused(account_id="dan", until=script.now + pause)
    script.now += pause - timedelta(seconds=0.5)
    with pytest.raises(Refused) as refused:
        script.sit(DAN)
    assert (refused.value.code, refused.value.details) == ("sitting_paused", {"seconds": 0.5})
    script.now += timedelta(seconds=0.5)
    assert script.sit(DAN).phase is Phase.COUNTING_IN


@pytest.mark.ruling("TL-13")
@pytest.mark.ruling("TL-36")
def test_tl_13_in_a_game_being_away_at_zero_for_the_third_time_is_a_quit() -> None:
    script = Script().dealt().play_round().wallet()
    for _ in range(STOPS):
        goes_offline(script)
    freed = script.last(events.SeatFreed)
    assert (freed.account_id, freed.reason, freed.quit) == ("dan", "stopped_count_ins", True)


@pytest.mark.ruling("TL-13")
def test_tl_13_two_who_take_turns_do_not_stop_it_for_ever() -> None:
    script = full()
    for person in (DAN, CYN, DAN, CYN, DAN):
        script.leaves(person)
        if not script.all(events.SittingPaused):
            script.sit(person)
    assert script.last(events.SittingPaused).account_id == "dan"


@pytest.mark.ruling("TL-13")
def test_tl_13_a_deal_forgives() -> None:
    script = full()
    for _ in range(STOPS - 1):
        goes_offline(script)
    script.zero().wallet().play_round().wallet()
    for _ in range(STOPS - 1):
        goes_offline(script)
    assert script.all(events.SittingPaused) == []


@pytest.mark.ruling("TL-12")
def test_tl_12_who_is_short_is_stood_up_and_nobody_has_paid() -> None:
    script = full().zero()
    script.wallet(done=False, reason="short_of_coins", short=("bob",))
    assert script.table.accounts == ("ann", "cyn", None, "dan")
    assert (script.phase, script.table.staked) == (Phase.WAITING, False)
    assert script.last(events.StakesRefused).short == (2,)
    assert script.last(events.SeatFreed).quit is False
    script.sit(EVE).zero()
    assert script.last(events.StakesAsked).attempt == 2


@pytest.mark.ruling("TL-12")
def test_tl_12_a_seat_offline_at_zero_stops_the_count_in() -> None:
    script = full().offline(DAN)
    assert script.phase is Phase.COUNTING_IN, "until zero"
    script.zero()
    assert (script.phase, script.last(events.CountInStopped).reason) == (Phase.WAITING, "seat_offline")
    assert script.back(DAN).phase is Phase.COUNTING_IN


@pytest.mark.ruling("TL-12")
def test_tl_12_who_comes_back_before_zero_stops_nothing() -> None:
    assert full().offline(DAN).back(DAN).zero().phase is Phase.STAKING


@pytest.mark.ruling("TL-14")
def test_tl_14_leave_while_stakes_are_asked_gives_everything_back() -> None:
    script = full().zero().leaves(BOB)
    assert script.table.seat_of("bob") == 2
    script.wallet()
    refund = script.last(events.RefundAsked)
    assert (refund.purpose, refund.stake_key) == (
        RefundPurpose.LEFT_WHILE_STAKING,
        script.last(events.StakesGranted).key,
    )
    script.wallet()
    freed = script.last(events.SeatFreed)
    assert (freed.account_id, freed.reason, freed.quit) == ("bob", "left_while_staking", False)
    assert (script.phase, script.table.staked) == (Phase.WAITING, False)
    assert "round_dealt" not in script.kinds()


@pytest.mark.ruling("TL-14")
def test_tl_14_leave_while_stakes_are_asked_that_are_refused_frees_the_seat() -> None:
    script = full().zero().leaves(BOB).wallet(done=False, reason="short_of_coins", short=("dan",))
    assert script.table.accounts == ("ann", "cyn", None, None)
    assert "refund_asked" not in script.kinds()


def committed(script: Script, *people: Person) -> Script:
    for person in people:
        script.act(person, frames.SeedCommit(id=script.new_id(), sha256=SHA256))
    return script


def test_strings_of_the_players_go_into_the_deal_and_who_did_not_open_is_named() -> None:
    script = committed(full(), ANN, BOB).zero()
    assert (script.phase, script.due()) == (Phase.OPENING_SEEDS, {SeedsTimer(1, 1): SETTINGS.seeds_open_seconds})
    with pytest.raises(Refused, match="seed_mismatch"):
        script.act(ANN, frames.SeedOpen(id="z", string="another"))
    script.act(ANN, frames.SeedOpen(id="z", string=STRING))
    with pytest.raises(Refused, match="seed_late"):
        script.act(ANN, frames.SeedOpen(id="again", string=STRING))
    script.rings(SeedsTimer(1, 1))
    script.wallet()
    assert script.last(events.RoundStarted).left_out == (2,)
    script.play_round()
    shown = script.last(events.SeedsShown)
    assert (shown.strings, shown.left_out) == ({"0": STRING}, (2,))


def test_the_last_one_to_open_ends_the_waiting_and_a_commitment_is_made_once() -> None:
    script = committed(full(), ANN, BOB)
    with pytest.raises(Refused, match="seed_late"):
        committed(script, ANN)
    with pytest.raises(Refused, match="seed_mismatch"):
        script.act(CYN, frames.SeedCommit(id="x", sha256="no sha256"))
    script.zero()
    for person, phase in ((ANN, Phase.OPENING_SEEDS), (BOB, Phase.STAKING)):
        script.act(person, frames.SeedOpen(id=script.new_id(), string=STRING))
        assert script.phase is phase
    script.wallet()
    assert script.last(events.RoundStarted).left_out == ()


def test_another_string_is_another_deal() -> None:
    dealt = []
    for string in (STRING, "another", STRING):
        script = Script(rules=KING_SHORT).sit(BOB, CYN, DAN)
        sha256 = hashlib.sha256(string.encode()).hexdigest()
        script.act(ANN, frames.SeedCommit(id="x", sha256=sha256))
        script.zero().act(ANN, frames.SeedOpen(id="y", string=string))
        dealt.append(script.wallet().table.state)
    assert dealt[0] == dealt[2] != dealt[1]


def test_who_did_not_open_is_named_in_every_round_of_a_staked_game() -> None:
    script = Script(rules=KING_SHORT).dealt().play_round()
    committed(script, ANN, BOB).zero()
    script.act(BOB, frames.SeedOpen(id="b", string=STRING))
    script.rings(SeedsTimer(2, 1))
    assert (script.phase, script.table.round) == (Phase.PLAYING, 2)
    assert script.last(events.RoundStarted).left_out == (0,)
    script.play_round()
    shown = script.last(events.SeedsShown)
    assert (shown.round, shown.strings, shown.left_out) == (2, {"1": STRING}, (0,))


@pytest.mark.ruling("CP-2")
@pytest.mark.ruling("CP-7")
def test_cp_7_the_bag_runs_on_across_rounds_and_games() -> None:
    script = full().play_game()
    while len(script.all(events.BagOpened)) < 3:
        script.step()
    rounds, bags = script.all(events.SeedsShown), script.all(events.BagOpened)
    for number, bag in enumerate(bags[:-1], start=1):
        flags = [shown.filtered for shown in rounds if shown.bag == number]
        assert (flags.count(True), len(flags)) == (5, 7)
        assert [shown.bag_seed for shown in rounds if shown.bag == number] == [None] * 6 + [bag.seed]
    assert {shown.game for shown in rounds if shown.bag == 1} == {1, 2}


@pytest.mark.ruling("TL-13")
def test_tl_13_who_has_to_wait_a_minute_waits_also_when_the_others_have_begun_a_round() -> None:
    script = full().leaves(DAN)
    for _ in range(STOPS - 1):
        script.sit(DAN).leaves(DAN)
    script.sit(EVE).zero().wallet().leaves(EVE).play_round().wallet()
    assert script.table.seat_of("eve") is None
    with pytest.raises(Refused, match="sitting_paused"):
        script.sit(DAN)
    script.now += timedelta(seconds=SETTINGS.sitting_pause_seconds)
    assert script.sit(DAN).phase is Phase.COUNTING_IN
    script.leaves(DAN)
    assert len(script.all(events.SittingPaused)) == 1, "stops of before the deal are not counted any more"
