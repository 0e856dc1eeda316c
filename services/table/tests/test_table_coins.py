"""What a table asks of the wallet, and why: stakes, shares, bets that go back; by docs/tables.md, pure."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace
from table_scripts import ANN, BOB, CYN, DAN, EVE, PEOPLE, Script

from darbar_contracts import frames
from darbar_contracts.tables import Person
from darbar_contracts.wallet import RefundPurpose, RefundRequest, SettlePurpose, SettleRequest, StakeRequest
from darbar_kit.errors import Refused
from darbar_rules.games.king.game import KING_SHORT
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_table.domain import events
from darbar_table.domain.commands import OperatorAct
from darbar_table.domain.life.stakes import SettleRefused
from darbar_table.domain.state import Phase
from darbar_table.engine.effects import wallet_request

BET = 100
MAL = Person("mal", "Mal", "yak")


def request_of(script: Script) -> StakeRequest | SettleRequest | RefundRequest:
    """What the wallet is asked just now."""
    assert script.table.asked is not None
    return wallet_request(script.table, script.table.asked)[1]


def settle_of(script: Script) -> SettleRequest:
    request = request_of(script)
    assert isinstance(request, SettleRequest)
    return request


def paid_out(request: SettleRequest) -> int:
    shares = sum(share.coins for share in request.shares)
    return shares + BET * len(request.bets_back) + request.forfeit_coins + request.rounding_coins


@pytest.mark.ruling("TL-19")
def test_tl_19_every_seat_stakes_the_bet_bots_too() -> None:
    request = request_of(Script().sit(BOB).starts_now(BOB).zero())
    assert isinstance(request, StakeRequest)
    assert (request.bet_coins, [seat.account_id for seat in request.seats]) == (BET, ["ann", None, "bob", None])


@pytest.mark.ruling("TL-20")
@pytest.mark.ruling("CP-34")
def test_tl_20_the_winning_team_shares_the_pot_and_losers_pay_again_when_all_tricks_were_collected() -> None:
    courts = 0
    for seed in range(40):
        script = Script(f"00000000-0000-4000-8000-{seed:012}").dealt()
        script = script.play_round() if seed % 2 else script.play_blindly(random.Random(seed))
        request, winners = settle_of(script), script.result.winners
        court = max(script.last(events.Played).event.collected) == 13
        losers = tuple(seat for seat in range(4) if seat not in winners)
        assert request.pays_again == (losers if court else ())
        pot = BET * (4 + len(request.pays_again))
        assert {share.seat: share.coins for share in request.shares} == dict.fromkeys(winners, pot // 2)
        assert (request.purpose, paid_out(request)) == (SettlePurpose.ROUND_ENDED, pot)
        courts += court
    assert 0 < courts < 40


@pytest.mark.ruling("TL-21")
def test_tl_21_one_stake_and_one_settlement_a_game_of_king() -> None:
    script = Script(rules=KING_SHORT).dealt().play_game()
    kinds = script.kinds()
    assert kinds.count("stakes_asked") == kinds.count("settle_asked") == kinds.count("game_ended") == 1
    assert kinds.count("round_started") == kinds.count("seeds_shown") == 14
    settle, ended = script.last(events.SettleAsked), script.last(events.GameEnded)
    assert (settle.unit, settle.purpose) == ("g1", SettlePurpose.GAME_ENDED)
    winners = [seat for seat, place in enumerate(ended.places) if place == 1]
    share, rounding = divmod(4 * BET, len(winners))
    assert settle.shares == tuple(share if seat in winners else 0 for seat in range(4))
    assert settle.rounding_coins == rounding


@pytest.mark.ruling("TL-21")
def test_tl_21_shares_are_equal_what_is_left_is_rounded_away_and_a_bots_share_is_the_bots() -> None:
    shared = rounded = 0
    for seed in range(30):
        script = Script(f"00000000-0000-4000-8000-{seed:012}", rules=KINGS_AND_REBELS, seats=5).starts_now(ANN).zero()
        request = settle_of(script.wallet().play_round())
        assert len({share.coins for share in request.shares}) == 1
        assert all(share.account_id == ("ann" if share.seat == 0 else None) for share in request.shares)
        assert (paid_out(request), request.rounding_coins) == (5 * BET, 5 * BET % len(request.shares))
        shared += len(request.shares)
        rounded += request.rounding_coins
    assert shared > 30
    assert rounded > 0


@pytest.mark.ruling("TL-22")
@pytest.mark.ruling("TL-30")
@pytest.mark.ruling("CP-34")
@pytest.mark.parametrize("absent", ["offline", "left"])
def test_tl_22_an_away_winner_wins_nothing_and_the_partner_no_more(absent: str) -> None:
    away_winners = 0
    for person in PEOPLE:
        present = Script().dealt().play_round()
        script = Script().dealt()
        script = script.offline(person) if absent == "offline" else script.leaves(person)
        settle, seat = script.play_round().last(events.SettleAsked), script.table.seat_of(person.account_id)
        assert seat is not None
        whole = present.last(events.SettleAsked).shares
        assert settle.shares == tuple(0 if number == seat else coins for number, coins in enumerate(whole))
        assert settle.forfeit_coins == whole[seat]
        away_winners += seat in script.result.winners
    assert away_winners == 2


@pytest.mark.ruling("TL-30")
def test_tl_30_who_came_back_before_the_round_ended_wins_all_the_same() -> None:
    script = Script().dealt().offline(ANN).offline(BOB).offline(CYN).offline(DAN).time_up()
    for person in PEOPLE:
        script.back(person)
    settle = script.play_round().last(events.SettleAsked)
    assert (settle.forfeit_coins, sum(settle.shares)) == (0, BET * (4 + len(settle.pays_again)))


@pytest.mark.ruling("TL-22")
def test_tl_22_in_king_the_share_follows_the_seat() -> None:
    script = Script(rules=KING_SHORT).dealt().play_round().leaves(DAN).sit(EVE).step()
    while not script.all(events.SettleAsked):
        script.step()
    request = settle_of(script)
    holders = dict(enumerate(script.table.accounts))
    assert "eve" in holders.values()
    assert all(share.account_id == holders[share.seat] for share in request.shares)


def king_between_rounds() -> Script:
    """The second count-in of a short King with four people, whose bets are in the pot."""
    script = Script(rules=KING_SHORT).dealt().play_round()
    assert (script.phase, script.table.staked) == (Phase.COUNTING_IN, True)
    return script


@pytest.mark.ruling("TL-37")
def test_tl_37_leaving_inside_a_staked_game_is_a_quit_and_the_newcomer_pays_nothing() -> None:
    script = king_between_rounds().leaves(DAN)
    freed = script.last(events.SeatFreed)
    assert (freed.quit, freed.gave_up, script.table.staked) == (True, False, True)
    script.sit(EVE).zero()
    assert script.kinds().count("stakes_asked") == 1
    assert script.phase is Phase.PLAYING


@pytest.mark.ruling("TL-24")
@pytest.mark.ruling("TL-37")
def test_tl_24_when_a_quitter_is_waited_for_and_all_give_up_only_the_quitters_bet_is_lost() -> None:
    script = king_between_rounds().leaves(DAN, ANN, BOB, CYN)
    assert [(event.account_id, event.quit, event.gave_up) for event in script.all(events.SeatFreed)] == [
        ("dan", True, False), ("ann", False, True), ("bob", False, True), ("cyn", False, True),
    ]  # fmt: skip
    request = settle_of(script)
    assert (request.purpose, request.shares, request.pays_again) == (SettlePurpose.TABLE_CLOSED, (), ())
    assert (request.bets_back, request.forfeit_coins, paid_out(request)) == ((0, 1, 2), BET, 4 * BET)
    script.wallet()
    assert script.kinds()[-1] == "table_closed"


@pytest.mark.ruling("TL-24")
def test_tl_24_who_leaves_bots_alone_inside_a_staked_game_loses_the_bet() -> None:
    script = Script(rules=KING_SHORT).starts_now(ANN).zero().wallet().play_round().leaves(ANN)
    request = settle_of(script)
    assert (request.bets_back, request.forfeit_coins) == ((), 4 * BET)


@pytest.mark.ruling("TL-37")
def test_tl_37_who_gave_up_has_the_bet_back_also_when_newcomers_play_the_game_to_its_end() -> None:
    script = king_between_rounds().leaves(DAN, CYN).sit(EVE, MAL).step()
    while not script.all(events.SettleAsked):
        script.step()
    assert script.last(events.SettleAsked).bets_back == (2,)
    request = settle_of(script)
    assert (request.purpose, request.bets_back) == (SettlePurpose.GAME_ENDED, (2,))
    assert paid_out(request) == 4 * BET
    assert sum(share.coins for share in request.shares) + request.rounding_coins == 3 * BET


@pytest.mark.ruling("TL-37")
def test_tl_37_a_bet_that_was_given_up_is_in_again_for_who_sits_down_again() -> None:
    script = king_between_rounds().leaves(DAN, CYN)
    assert given_up(script) == ("cyn",)
    assert given_up(script.sit(CYN)) == ()
    assert given_up(script.leaves(CYN)) == ("cyn",)
    assert settle_of(script.leaves(ANN, BOB)).bets_back == (0, 1, 2)


def given_up(script: Script) -> tuple[str, ...]:
    assert script.table.staking is not None
    return script.table.staking.given_up


@pytest.mark.ruling("TL-37")
def test_tl_37_who_loses_the_connection_while_another_is_waited_for_has_given_up_too() -> None:
    script = king_between_rounds().leaves(DAN).offline(CYN)
    (timer,) = script.due()
    script.rings(timer)
    freed = script.last(events.SeatFreed)
    assert (freed.account_id, freed.reason, freed.quit, freed.gave_up) == ("cyn", "not_back", False, True)


@pytest.mark.ruling("TL-37")
def test_tl_37_nobody_gives_up_by_emptying_a_seat_of_their_own_making() -> None:
    script = Script(rules=KING_SHORT).sit(BOB).starts_now(ANN).zero().wallet().play_round()
    script.act(BOB, frames.SendBotAway(id="x", seat=2))
    script.leaves(BOB)
    assert (script.last(events.SeatFreed).quit, script.last(events.SeatFreed).gave_up) == (True, False)
    script.leaves(ANN)
    assert (script.last(events.SeatFreed).quit, script.last(events.SeatFreed).gave_up) == (False, True)
    assert settle_of(script).bets_back == (0,)
    other_way_round = Script(rules=KING_SHORT).sit(BOB).starts_now(ANN).zero().wallet().play_round()
    other_way_round.act(BOB, frames.SendBotAway(id="x", seat=2))
    other_way_round.leaves(ANN)
    freed = other_way_round.last(events.SeatFreed)
    assert (freed.account_id, freed.quit, freed.gave_up) == ("ann", False, True)


@pytest.mark.ruling("TL-31")
@pytest.mark.ruling("TL-37")
def test_tl_37_two_who_leave_in_the_same_round_have_both_quit() -> None:
    script = Script(rules=KING_SHORT).dealt().leaves(CYN, DAN).play_round()
    assert [(event.quit, event.gave_up) for event in script.all(events.SeatFreed)] == [(True, False)] * 2


def void(script: Script) -> Script:
    script.tell(OperatorAct(action="void", operator="root", why="stuck"))
    return script


@pytest.mark.ruling("TL-24")
@pytest.mark.parametrize("steps", range(5))
def test_tl_24_a_voided_table_gives_everything_back_and_closes_without_a_quit(steps: int) -> None:
    script = Script().sit(BOB, CYN, DAN)
    for _ in range(steps):
        script.step()
    asked = script.phase in (Phase.STAKING, Phase.PLAYING, Phase.SETTLING)
    stake = script.table.staking
    void(script)
    if asked:
        assert stake is not None
        request = request_of(script)
        assert isinstance(request, RefundRequest)
        assert (request.purpose, request.stake_key) == (RefundPurpose.VOIDED, stake.key)
        script.wallet()
    assert script.kinds()[-5:] == ["seat_freed"] * 4 + ["table_closed"]
    assert [(event.reason, event.quit) for event in script.all(events.SeatFreed)] == [("voided", False)] * 4
    assert script.last(events.TableClosed).reason == "voided"
    ended = script.all(events.GameEnded)
    assert [(event.reason, event.places, event.totals) for event in ended] == [("voided", (), ())] * (steps > 1)
    with pytest.raises(Refused, match="table_closed"):
        script.sit(EVE)


@pytest.mark.ruling("TL-24")
@pytest.mark.ruling("TL-27")
def test_tl_24_a_game_that_is_voided_while_it_waits_leaves_nothing_behind() -> None:
    script = void(king_between_rounds().leaves(DAN)).wallet()
    after = next(after for _, event, after in script.log if isinstance(event, events.GameEnded))
    assert not any(seat.bot_barred or seat.emptied_by for seat in after.seats)
    assert (after.started, after.staked, after.round) == (False, False, 0)


@pytest.mark.ruling("TL-24")
def test_tl_24_the_seeds_of_a_voided_round_are_shown() -> None:
    script = void(Script().dealt().time_up())
    assert script.last(events.SeedsShown).server_seed == script.last(events.CountInStarted).server_seed
    assert script.table.running is None


@pytest.mark.ruling("TL-24")
def test_tl_24_a_pot_that_was_shared_before_the_refund_came_stays_shared() -> None:
    script = void(Script().dealt().play_round()).wallet(done=False, reason="already_settled")
    assert script.last(events.RefundRefused).reason == "already_settled"
    assert script.kinds()[-1] == "table_closed"


@pytest.mark.ruling("TL-24")
def test_tl_24_a_table_is_voided_once_and_a_refund_under_way_is_enough() -> None:
    script = void(Script().sit(BOB, CYN, DAN).zero().leaves(BOB).wallet())
    void(script)
    assert (len(script.all(events.TableVoided)), len(script.all(events.RefundAsked))) == (1, 1)
    script.wallet()
    assert script.last(events.TableClosed).reason == "voided"


def test_a_voided_table_that_was_stopped_again_only_goes_on() -> None:
    script = void(void(Script().dealt()))
    assert script.last(events.TableResumed) == events.TableResumed(operator="root", why="stuck")
    assert (script.phase, len(script.all(events.RefundAsked))) == (Phase.REFUNDING, 1)


def test_a_resumed_table_is_as_it_was() -> None:
    script = Script().dealt()
    before = script.table
    script.tell(OperatorAct(action="resume", operator="root", why="mended"))
    assert script.last(events.TableResumed) == events.TableResumed(operator="root", why="mended")
    assert script.table == replace(before, version=before.version + 1)


def test_a_sum_that_the_wallet_does_not_accept_is_a_fault_of_ours() -> None:
    script = Script().dealt().play_round()
    with pytest.raises(SettleRefused, match="sum_mismatch"):
        script.wallet(done=False, reason="sum_mismatch")
    refund = Script().sit(BOB, CYN, DAN).zero().leaves(BOB).wallet()
    with pytest.raises(SettleRefused, match="already_settled"):
        refund.wallet(done=False, reason="already_settled")


@pytest.mark.ruling("TL-33")
def test_tl_33_nobody_sits_down_at_a_table_that_everybody_has_left_while_its_pot_is_given_up() -> None:
    script = king_between_rounds().leaves(ANN, BOB, CYN, DAN)
    assert settle_of(script).purpose == SettlePurpose.TABLE_CLOSED
    with pytest.raises(Refused, match="table_closed"):
        script.sit(EVE)
    script.wallet()
    assert script.phase is Phase.CLOSED


@pytest.mark.ruling("TL-39")
def test_tl_39_the_wallet_is_asked_the_same_again_when_somebody_has_sat_down_meanwhile() -> None:
    script = king_between_rounds().leaves(DAN).asks(ANN, "end_game").agrees(BOB, CYN)
    request = settle_of(script)
    assert request.purpose == SettlePurpose.ENDED_EARLY
    assert settle_of(script.sit(EVE)) == request
