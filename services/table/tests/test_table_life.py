"""The life of a table around the cards, by the numbers of docs/tables.md; pure, without servers."""

from __future__ import annotations

from typing import Any

import pytest
from table_scripts import ANN, BOB, CYN, DAN, EVE, PEOPLE, RICH, Script

from darbar_contracts import frames
from darbar_contracts.frames import TableReason
from darbar_kit.errors import Refused
from darbar_rules.game import Refusal, RuleRefused
from darbar_table.domain import events
from darbar_table.domain.commands import BotDecided, TimerRang, WalletAnswered
from darbar_table.domain.life.play import EXPIRIES_MAX
from darbar_table.domain.state import Phase
from darbar_table.domain.timers import CountInTimer, KeptSeatTimer, SeedsTimer, TurnTimer
from darbar_table.engine.effects import wallet_request


def last(script: Script, kind: type[events.Event]) -> Any:
    """The newest event of a kind."""
    return next(event for _, event, _ in reversed(script.log) if isinstance(event, kind))


def phase_of(script: Script) -> Phase:
    return script.table.phase


def caller_of(script: Script) -> int:
    return int(script.table.rules.turn(script.table.state).seats[0])


def person_at(script: Script, seat: int) -> Any:
    return script.table.seats[seat].player


@pytest.mark.ruling("TL-1")
def test_tl_1_the_creator_is_host_in_seat_0() -> None:
    script = Script()
    assert script.table.host == 0
    assert script.table.seats[0].player == ANN


@pytest.mark.ruling("TL-4")
def test_tl_4_the_first_to_join_is_the_hosts_partner() -> None:
    script = Script().sit(BOB, CYN, DAN)
    assert [seat.player for seat in script.table.seats] == [ANN, CYN, BOB, DAN]


@pytest.mark.ruling("TL-6")
def test_tl_6_sitting_down_needs_double_the_bet() -> None:
    script = Script()
    with pytest.raises(Refused, match="short_of_coins"):
        script.act(BOB, frames.Sit(id="x"), balance=199)
    script.act(BOB, frames.Sit(id="x"), balance=200)
    assert script.table.seat_of("bob") == 2


@pytest.mark.ruling("TL-8")
def test_tl_8_the_longest_seated_becomes_host() -> None:
    script = Script().sit(BOB, CYN)
    script.act(ANN, frames.Leave(id="x"))
    assert script.table.host == script.table.seat_of("bob")


@pytest.mark.ruling("TL-9")
def test_tl_9_a_full_table_counts_in_by_itself() -> None:
    script = Script().sit(BOB, CYN)
    assert phase_of(script) is Phase.WAITING
    script.sit(DAN)
    assert phase_of(script) is Phase.COUNTING_IN


@pytest.mark.ruling("TL-9")
def test_tl_9_anyone_can_start_sooner_with_bots() -> None:
    script = Script().sit(BOB)
    script.act(BOB, frames.StartNow(id="x"))
    assert [seat.bot is not None for seat in script.table.seats] == [False, True, False, True]
    assert phase_of(script) is Phase.COUNTING_IN


@pytest.mark.ruling("TL-9")
def test_tl_9_with_all_seats_taken_start_now_ends_the_first_count_in() -> None:
    script = Script().sit(BOB, CYN, DAN)
    script.act(CYN, frames.StartNow(id="x"))
    assert phase_of(script) is Phase.STAKING


@pytest.mark.ruling("TL-9")
def test_tl_9_a_later_count_in_ends_when_everyone_is_ready() -> None:
    script = Script().dealt().play_round().wallet()
    assert (phase_of(script), script.table.round) == (Phase.COUNTING_IN, 2)
    for person in PEOPLE[:3]:
        script.act(person, frames.Ready(id="x"))
        assert phase_of(script) is Phase.COUNTING_IN
    script.act(DAN, frames.Ready(id="x"))
    assert phase_of(script) is Phase.STAKING
    with pytest.raises(Refused, match="not_now"):
        script.act(ANN, frames.StartNow(id="y"))


@pytest.mark.ruling("TL-11")
@pytest.mark.ruling("TL-13")
def test_tl_11_13_leaving_a_count_in_costs_nothing_and_stops_it() -> None:
    script = Script().sit(BOB, CYN, DAN)
    first = last(script, events.CountInStarted)
    script.act(DAN, frames.Leave(id="x"))
    assert phase_of(script) is Phase.WAITING
    assert last(script, events.SeatFreed).quit is False
    script.sit(EVE)
    again = last(script, events.CountInStarted)
    assert (again.round, again.attempt) == (1, 2)
    assert again.server_seed != first.server_seed


@pytest.mark.ruling("TL-12")
def test_tl_12_who_is_short_is_stood_up_and_nobody_has_paid() -> None:
    script = Script().sit(BOB, CYN, DAN).zero()
    script.wallet(done=False, reason="short_of_coins", short=("bob",))
    assert script.table.seat_of("bob") is None
    assert phase_of(script) is Phase.WAITING
    assert not script.table.staked
    script.sit(EVE).zero()
    assert last(script, events.StakesAsked).attempt == 2


@pytest.mark.ruling("TL-12")
def test_tl_12_a_seat_offline_at_zero_stops_the_count_in() -> None:
    script = Script().sit(BOB, CYN, DAN).offline(DAN).zero()
    assert phase_of(script) is Phase.WAITING
    assert last(script, events.CountInStopped).reason == "seat_offline"
    script.back(DAN)
    assert phase_of(script) is Phase.COUNTING_IN


@pytest.mark.ruling("TL-14")
def test_tl_14_leave_while_stakes_are_asked_gives_everything_back() -> None:
    script = Script().sit(BOB, CYN, DAN).zero()
    script.act(BOB, frames.Leave(id="x"))
    assert script.table.seat_of("bob") == 2
    script.wallet()
    asked = script.table.asked
    assert isinstance(asked, events.RefundAsked)
    assert asked.stake_key == last(script, events.StakesGranted).key
    script.wallet()
    assert script.table.seat_of("bob") is None
    assert last(script, events.SeatFreed).quit is False
    assert "round_dealt" not in script.kinds()


@pytest.mark.ruling("TL-15")
@pytest.mark.ruling("TL-16")
@pytest.mark.ruling("CP-35")
def test_cp_35_five_expiries_in_a_row_bring_a_bot_until_the_player_acts() -> None:
    script = Script().dealt()
    while not any(seat.bot_plays for seat in script.table.seats):
        script.time_up()
    seat = last(script, events.BotTookOver).seat
    own = [e for _, e, _ in script.log if isinstance(e, events.Played) and e.seat == seat]
    assert [event.by for event in own] == ["clock"] * EXPIRIES_MAX
    script.act(person_at(script, seat), frames.ImBack(id="x"))
    assert not script.table.seats[seat].bot_plays
    assert script.table.seats[seat].expiries == 0


@pytest.mark.ruling("TL-16")
def test_tl_16_an_own_action_resets_the_count() -> None:
    script = Script().dealt()
    for _ in range(2 * 4):
        script.time_up()
    seat = script.table.rules.turn(script.table.state).seats[0]
    assert script.table.seats[seat].expiries > 0
    play_first(script, seat)
    assert script.table.seats[seat].expiries == 0


def play_first(script: Script, seat: int) -> None:
    """The seat's first legal card, as its player."""
    turn = script.table.rules.turn(script.table.state)
    card = script.table.rules.legal(script.table.state, seat).play[0]
    decision = script.table.rules.decisions["play_card"](card)
    frame = frames.DecisionFrames().by_kind["play_card"](
        id=script.new_id(), round=turn.round, turn=turn.turn, card=card
    )
    script.act(person_at(script, seat), frame, decision=decision)


@pytest.mark.ruling("GEN-4")
def test_gen_4_a_late_clock_does_nothing() -> None:
    script = Script().dealt()
    turn = script.table.rules.turn(script.table.state)
    script.time_up()
    before = script.table
    for timer in (TurnTimer(turn.round, turn.turn), CountInTimer(1, 1), SeedsTimer(1, 1), KeptSeatTimer(0, 1)):
        draft = script.tell(TimerRang(timer))
        assert draft.events == []
    assert script.table is before


@pytest.mark.ruling("GEN-4")
def test_gen_4_a_late_bot_and_a_late_wallet_do_nothing() -> None:
    script = Script().dealt()
    before = script.table
    assert script.tell(BotDecided(seat=0, round=1, turn=0, decision=None)).events == []
    answer = WalletAnswered(key="another", answer=wallet_yes())
    assert script.tell(answer).events == []
    assert script.table is before


def wallet_yes() -> Any:
    from darbar_contracts.wallet import WalletAnswer

    return WalletAnswer(done=True)


@pytest.mark.ruling("TL-18")
def test_tl_18_a_bots_illegal_answer_is_replaced_by_the_fallback() -> None:
    script = Script()
    script.act(ANN, frames.StartNow(id="x"))
    script.zero().wallet()
    while script.table.seats[caller_of(script)].bot is None:
        script.time_up()
    seat, turn = caller_of(script), script.table.rules.turn(script.table.state)
    wrong = script.table.rules.decisions["play_card"]("AS")
    legal = script.table.rules.legal(script.table.state, seat)
    if "AS" in legal.play:
        wrong = script.table.rules.decisions["show_trump"]()
    draft = script.tell(BotDecided(seat=seat, round=turn.round, turn=turn.turn, decision=wrong))
    assert isinstance(draft.events[0], events.Played)
    assert draft.events[0].by == "bot"


@pytest.mark.ruling("TL-19")
@pytest.mark.ruling("CP-34")
def test_cp_34_every_seat_stakes_bots_too_and_the_shares_are_the_pot() -> None:
    script = Script().sit(BOB)
    script.act(BOB, frames.StartNow(id="x"))
    script.zero()
    asked = script.table.asked
    assert isinstance(asked, events.StakesAsked)
    _, request = wallet_request(script.table, asked)
    assert [seat.account_id for seat in request.seats] == ["ann", None, "bob", None]  # type: ignore[union-attr]
    script.wallet().play_round()
    settle = last(script, events.SettleAsked)
    pot = 100 * (4 + len(settle.pays_again))
    assert sum(settle.shares) + settle.forfeit_coins + settle.rounding_coins == pot


@pytest.mark.ruling("CP-34")
@pytest.mark.ruling("TL-22")
def test_cp_34_an_away_winner_wins_nothing_and_the_house_has_that_share() -> None:
    for person in PEOPLE:
        script = Script().dealt().offline(person).play_round()
        settle, seat = last(script, events.SettleAsked), script.table.seat_of(person.account_id)
        assert seat is not None
        result = script.table.rules.result(script.table.state)
        if seat in result.winners:  # type: ignore[union-attr]
            partner = next(winner for winner in result.winners if winner != seat)  # type: ignore[union-attr]
            assert settle.shares[seat] == 0
            assert settle.forfeit_coins == settle.shares[partner] > 0
            return
    raise AssertionError("nobody won")


@pytest.mark.ruling("TL-25")
def test_tl_25_a_bot_can_be_sent_away_before_a_game_but_not_during_a_round() -> None:
    script = Script().sit(BOB)
    script.act(BOB, frames.StartNow(id="x"))
    script.act(BOB, frames.SendBotAway(id="y", seat=1))
    assert script.table.seats[1].free
    assert phase_of(script) is Phase.WAITING
    with pytest.raises(Refused, match="not_a_bot"):
        script.act(BOB, frames.SendBotAway(id="z", seat=2))
    playing = Script()
    playing.act(ANN, frames.StartNow(id="x"))
    playing.zero().wallet()
    with pytest.raises(Refused, match="round_running"):
        playing.act(ANN, frames.SendBotAway(id="y", seat=1))


@pytest.mark.ruling("TL-27")
def test_tl_27_a_seat_whose_bot_was_sent_away_gets_none_by_start_now() -> None:
    script = Script()
    script.act(ANN, frames.StartNow(id="x"))
    script.act(ANN, frames.SendBotAway(id="y", seat=1))
    with pytest.raises(Refused, match="not_now"):
        script.act(ANN, frames.StartNow(id="z"))


@pytest.mark.ruling("TL-28")
@pytest.mark.ruling("TL-31")
@pytest.mark.parametrize(("others", "quits"), [((), False), ((BOB,), True)])
def test_tl_31_leave_during_a_round_frees_the_seat_at_its_end(others: tuple[Any, ...], quits: bool) -> None:
    script = Script().sit(*others)
    script.act(ANN, frames.StartNow(id="x"))
    script.zero().wallet()
    script.act(ANN, frames.Leave(id="y"))
    assert script.table.seat_of("ann") == 0
    script.play_round().wallet()
    assert script.table.seat_of("ann") is None
    assert last(script, events.SeatFreed).quit is quits


@pytest.mark.ruling("TL-29")
def test_tl_29_back_before_the_round_ends_carries_on_also_after_leave() -> None:
    script = Script().dealt()
    script.act(ANN, frames.Leave(id="x"))
    assert script.table.seats[0].away
    script.act(ANN, frames.ImBack(id="y"))
    script.play_round().wallet()
    assert script.table.seat_of("ann") == 0


@pytest.mark.ruling("TL-32")
@pytest.mark.ruling("TL-33")
def test_tl_32_a_lost_players_seat_is_kept_and_may_be_taken() -> None:
    script = Script().dealt().offline(ANN).play_round().wallet()
    assert phase_of(script) is Phase.WAITING
    totals = script.table.rules.result(script.table.state).totals  # type: ignore[union-attr]
    back = Script().dealt().offline(ANN).play_round().wallet().back(ANN)
    assert phase_of(back) is Phase.COUNTING_IN
    script.act(EVE, frames.Sit(id="x"))
    assert script.table.seat_of("eve") == 0
    assert last(script, events.SeatFreed).quit is True
    assert script.table.rules.result(script.table.state).totals == totals  # type: ignore[union-attr]


@pytest.mark.ruling("TL-32")
def test_tl_32_not_back_in_time_is_a_quit() -> None:
    script = Script().dealt().offline(ANN).play_round().wallet()
    since = script.table.seats[0].since
    assert script.tell(TimerRang(KeptSeatTimer(0, since + 1))).events == []
    script.tell(TimerRang(KeptSeatTimer(0, since)))
    assert script.table.seats[0].free
    assert last(script, events.SeatFreed) == events.SeatFreed(seat=0, account_id="ann", reason="not_back", quit=True)


@pytest.mark.ruling("TL-33")
def test_tl_33_with_nobody_left_the_table_closes() -> None:
    script = Script().sit(BOB)
    script.act(ANN, frames.Leave(id="x"))
    script.act(BOB, frames.Leave(id="y"))
    assert phase_of(script) is Phase.CLOSED
    with pytest.raises(Refused, match="table_closed"):
        script.act(EVE, frames.Sit(id="z"))


@pytest.mark.ruling("TL-34")
def test_tl_34_who_is_away_in_the_last_round_is_paid_and_freed_without_a_quit() -> None:
    script = Script().dealt()
    while script.table.phase is not Phase.SETTLING or not result_of(script).game_over:
        if script.table.phase is Phase.PLAYING and script.table.seats[0].online and max(totals_of(script)) >= 7:
            script.offline(ANN)
        script.back(ANN) if phase_of(script) is Phase.WAITING and not script.table.seats[0].online else script.step()
    away = not script.table.seats[0].online
    settle = last(script, events.SettleAsked)
    assert settle.forfeit_coins == 0
    script.wallet()
    ended = last(script, events.GameEnded)
    assert ended.names[0] == "Ann"
    assert not away or last(script, events.SeatFreed).quit is False


def result_of(script: Script) -> Any:
    return script.table.rules.result(script.table.state)


def totals_of(script: Script) -> tuple[int, ...]:
    result = result_of(script)
    return result.totals if result is not None else (0,)


def test_one_game_follows_another_at_the_same_table() -> None:
    script = Script().sit(BOB, CYN, DAN).play_game()
    assert (phase_of(script), script.table.game, script.table.round) == (Phase.COUNTING_IN, 2, 1)
    script.zero().wallet()
    assert totals_of(script) == (0,)


@pytest.mark.ruling("CP-2")
@pytest.mark.ruling("CP-7")
def test_cp_7_the_bag_runs_on_across_rounds_and_games() -> None:
    script = Script().sit(BOB, CYN, DAN).play_game()
    rounds = [event for _, event, _ in script.log if isinstance(event, events.SeedsShown)]
    bags = [event for _, event, _ in script.log if isinstance(event, events.BagOpened)]
    for number, bag in enumerate(bags[:-1], start=1):
        flags = [shown.filtered for shown in rounds if shown.bag == number]
        assert flags.count(True) == 5
        assert len(flags) == 7
        assert [shown.bag_seed for shown in rounds if shown.bag == number] == [None] * 6 + [bag.seed]


def test_strings_of_the_players_go_into_the_deal() -> None:
    import hashlib

    script = Script().sit(BOB, CYN, DAN)
    sha = hashlib.sha256(b"my own string").hexdigest()
    script.act(ANN, frames.SeedCommit(id="x", sha256=sha))
    script.act(BOB, frames.SeedCommit(id="y", sha256=sha))
    script.zero()
    assert phase_of(script) is Phase.OPENING_SEEDS
    with pytest.raises(Refused, match="seed_mismatch"):
        script.act(ANN, frames.SeedOpen(id="z", string="another"))
    script.act(ANN, frames.SeedOpen(id="z", string="my own string"))
    script.tell(TimerRang(SeedsTimer(1, 1)))
    script.wallet()
    assert last(script, events.RoundStarted).left_out == (2,)
    script.play_round()
    shown = last(script, events.SeedsShown)
    assert (shown.strings, shown.left_out) == ({"0": "my own string"}, (2,))


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (frames.Sit(id="x"), TableReason.ALREADY_SEATED),
        (frames.Ready(id="x"), Refusal.NOT_NOW),
        (frames.ImBack(id="x"), Refusal.NOT_NOW),
        (frames.SendBotAway(id="x", seat=9), TableReason.SEAT_UNKNOWN),
        (frames.SeedCommit(id="x", sha256="0" * 64), TableReason.SEED_LATE),
        (frames.SeedOpen(id="x", string="s"), TableReason.SEED_LATE),
    ],
)
def test_a_waiting_table_refuses(frame: Any, reason: TableReason) -> None:
    script = Script().sit(BOB)
    before = script.table
    with pytest.raises(Refused, match=reason):
        script.act(ANN, frame)
    assert script.table is before


def test_the_rules_refusals_come_through() -> None:
    script = Script().dealt().time_up()
    turn = script.table.rules.turn(script.table.state)
    frame = frames.DecisionFrames().by_kind["play_card"](id="x", round=turn.round, turn=turn.turn, card="AS")
    other = next(seat for seat in range(4) if seat not in turn.seats)
    with pytest.raises(RuleRefused, match="not_your_turn"):
        script.act(person_at(script, other), frame, decision=script.table.rules.decisions["play_card"]("AS"))


def test_balances_do_not_matter_to_those_who_sit() -> None:
    script = Script().sit(BOB, CYN, DAN)
    script.act(BOB, frames.StartNow(id="x"), balance=0)
    assert phase_of(script) is Phase.STAKING
    assert RICH > 0
