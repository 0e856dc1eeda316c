"""Bids, passes, the leader, deals that everybody passes (KR-6 to KR-10)."""

from __future__ import annotations

from typing import Any

import pytest

from darbar_rules.cards import TEXTS
from darbar_rules.game import Legal, Refusal, RuleRefused, Turn
from darbar_rules.games.kings_and_rebels.events import Bid, BidMade, BidPassed, PassBid, PlayCard, RoundDealt
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.state import Call, Match
from darbar_rules.games.kings_and_rebels.testing import NO_CHANCE, Played, bidding, lively_game, naming
from darbar_rules.testing import chance_of

FOUR = KingsAndRebelsOptions(seats=4)
FIVE = KingsAndRebelsOptions()
MAY_PASS_OUT = KingsAndRebelsOptions(seats=4, last_seat_must_bid=False)
PASS = PassBid()


def refusal(table: Played, seat: int, decision: Any) -> Refusal:
    with pytest.raises(RuleRefused) as refused:
        table.decide(seat, decision)
    return refused.value.code


def leader_of(table: Played) -> tuple[int | None, int | None]:
    """Who leads the Rebels, and for what bid; None while the auction goes on."""
    return table.state.deal.leader, table.state.deal.bid


def on_turn(table: Played) -> int:
    (seat,) = KINGS_AND_REBELS.turn(table.state).seats
    return seat


@pytest.mark.ruling("KR-6")
@pytest.mark.parametrize(
    ("options", "minimum"),
    [
        (FOUR, 150),
        (KingsAndRebelsOptions(seats=4, decks=2), 300),
        (KingsAndRebelsOptions(seats=4, minimum_bid=75), 75),
        (KingsAndRebelsOptions(seats=4, minimum_bid=250), 250),
    ],
)
def test_kr_6_no_bid_is_under_the_minimum(options: KingsAndRebelsOptions, minimum: int) -> None:
    table = bidding(options)
    assert KINGS_AND_REBELS.view(table.state, 0).minimum_bid == minimum
    assert KINGS_AND_REBELS.legal(table.state, 0).name[0] == str(minimum)
    assert refusal(table, 0, Bid(minimum - 1)) is Refusal.BID_TOO_LOW
    assert table.decide(0, Bid(minimum)).state.auction.high == minimum


@pytest.mark.ruling("KR-7")
def test_kr_7_a_bid_is_five_points_higher_at_least() -> None:
    table = bidding(FOUR).says("0:150")
    assert refusal(table, 1, Bid(154)) is Refusal.BID_TOO_LOW
    assert refusal(table, 1, Bid(150)) is Refusal.BID_TOO_LOW
    assert table.says("1:157").state.auction.high == 157
    assert table.says("1:155").state.auction.bidder == 1
    with pytest.raises(RuleRefused) as refused:
        table.decide(1, Bid(154))
    assert refused.value.details == {"lowest": 155}


@pytest.mark.ruling("KR-7")
@pytest.mark.parametrize("points", ["150", 150.0, True, None])
def test_kr_7_a_bid_is_a_whole_number(points: Any) -> None:
    assert refusal(bidding(FOUR), 0, Bid(points)) is Refusal.BID_TOO_LOW


@pytest.mark.ruling("KR-7")
def test_kr_7_by_the_option_bids_are_multiples_of_five() -> None:
    table = bidding(KingsAndRebelsOptions(seats=4, bid_multiples_of_5=True)).says("0:150")
    assert refusal(table, 1, Bid(157)) is Refusal.BID_NOT_MULTIPLE_OF_5
    assert refusal(table, 1, Bid(154)) is Refusal.BID_TOO_LOW
    assert table.says("1:160").state.auction.high == 160


@pytest.mark.ruling("KR-7")
def test_kr_7_steps_of_five_are_offered_up_to_all_points() -> None:
    table = bidding(FOUR)
    assert KINGS_AND_REBELS.legal(table.state, 0) == Legal(
        name=tuple(str(points) for points in range(150, 255, 5)), also=("pass_bid",)
    )
    assert KINGS_AND_REBELS.legal(table.says("0:238").state, 1).name == ("245", "250")
    assert KINGS_AND_REBELS.legal(table.says("0:240").state, 1).name == ("245", "250")
    assert KINGS_AND_REBELS.legal(table.says("0:241").state, 1).name == ("250",)
    assert KINGS_AND_REBELS.choices(Legal(name=("245",), also=("pass_bid",))) == (Bid(245), PASS)


@pytest.mark.ruling("KR-7")
@pytest.mark.parametrize(("decks", "total"), [(1, 250), (2, 500)])
def test_kr_7_a_bid_that_nobody_can_raise_ends_the_auction_at_once(decks: int, total: int) -> None:
    table = bidding(KingsAndRebelsOptions(seats=4, decks=decks))
    assert refusal(table, 0, Bid(total + 1)) is Refusal.BID_TOO_HIGH
    assert leader_of(table.decide(0, Bid(total - 5))) == (None, None)
    for points in (total - 4, total):
        over = table.decide(0, Bid(points))
        assert leader_of(over) == (0, points)
        assert over.state.match.phase == "naming"
        assert KINGS_AND_REBELS.turn(over.state) == Turn(1, 1, (0,))
        assert refusal(over, 1, PASS) is Refusal.NOT_NOW


@pytest.mark.ruling("KR-7")
def test_kr_7_nobody_is_asked_to_raise_himself() -> None:
    table = bidding(FOUR).says("0:150 1:P 2:155 3:P")
    assert on_turn(table) == 0
    assert on_turn(table.says("0:160")) == 2
    table = bidding(FIVE).says("0:150 1:P 2:P 3:P")
    assert on_turn(table) == 4
    assert leader_of(table.says("4:P")) == (0, 150)


@pytest.mark.ruling("KR-8")
def test_kr_8_a_pass_is_final() -> None:
    table = bidding(FOUR).says("0:P 1:150 2:155 3:160")
    assert on_turn(table) == 1
    assert refusal(table, 0, PASS) is Refusal.ALREADY_PASSED
    assert refusal(table, 0, Bid(200)) is Refusal.NOT_YOUR_TURN
    assert KINGS_AND_REBELS.legal(table.state, 0) == Legal()
    assert KINGS_AND_REBELS.view(table.state, None).passed == (0,)


@pytest.mark.ruling("KR-8")
def test_kr_8_a_pass_is_accepted_off_turn_and_the_turn_stays() -> None:
    assert KINGS_AND_REBELS.out_of_turn == frozenset({"pass_bid"})
    table = bidding(FIVE).says("0:150")
    before = KINGS_AND_REBELS.turn(table.state)
    assert KINGS_AND_REBELS.legal(table.state, 3) == Legal(also=("pass_bid",))
    table = table.says("3:P 2:P")
    assert KINGS_AND_REBELS.turn(table.state) == before == Turn(1, 1, (1,))
    assert table.state.auction.calls == (Call(0, 150), Call(3), Call(2))
    assert on_turn(table.says("1:155")) == 4
    assert refusal(table, 4, Bid(160)) is Refusal.NOT_YOUR_TURN


@pytest.mark.ruling("KR-8")
def test_kr_8_the_standing_high_bidder_may_not_pass() -> None:
    table = bidding(FOUR).says("0:150")
    assert refusal(table, 0, PASS) is Refusal.MAY_NOT_PASS
    assert KINGS_AND_REBELS.legal(table.state, 0) == Legal()
    table = table.says("1:155 0:P")
    assert on_turn(table) == 2


@pytest.mark.ruling("KR-8")
def test_kr_8_a_pass_off_turn_can_end_the_auction() -> None:
    table = bidding(FOUR).says("0:150 1:155 3:P 2:P")
    assert on_turn(table) == 0
    table = bidding(FOUR).says("0:150 1:155 2:P 0:P")
    assert on_turn(table) == 3
    over = table.says("3:P")
    assert leader_of(over) == (1, 155)
    over = bidding(FOUR).says("0:150 2:P 3:P 1:P")
    assert leader_of(over) == (0, 150)
    assert over.events[-1] == BidPassed(1, turn=2, to_act=0, leader=0)
    # Seat 2 is on turn; with seat 3's word everybody but seat 0 has passed, or is asked.
    table = bidding(FOUR).says("0:150 1:P 3:P")
    assert on_turn(table) == 2
    assert leader_of(table.says("2:P")) == (0, 150)


@pytest.mark.ruling("KR-8")
def test_kr_8_nobody_passes_outside_of_the_auction() -> None:
    assert refusal(naming(FOUR), 1, PASS) is Refusal.NOT_NOW
    assert KINGS_AND_REBELS.view(KINGS_AND_REBELS.new(FOUR, 4), None).attempt == 0
    assert refusal(bidding(FOUR), 0, PlayCard("AS")) is Refusal.NOT_NOW
    assert refusal(bidding(FOUR), 1, PlayCard("AS")) is Refusal.NOT_NOW
    assert refusal(naming(FOUR), 0, Bid(200)) is Refusal.NOT_NOW


@pytest.mark.ruling("KR-9")
def test_kr_9_the_last_seat_leads_with_its_bid() -> None:
    table = bidding(FOUR, dealer=3).says("0:150 1:P 2:155 3:P 0:P")
    assert leader_of(table) == (2, 155)
    assert table.state.match.phase == "naming"
    assert on_turn(table) == 2
    assert table.state.deal.rebels == (2,)


@pytest.mark.ruling("KR-9")
def test_kr_9_the_last_seat_is_asked_for_its_bid_when_there_is_none() -> None:
    table = bidding(FOUR).says("0:P 1:P 2:P")
    assert leader_of(table) == (None, None)
    assert on_turn(table) == 3
    assert leader_of(table.says("3:150")) == (3, 150)
    assert leader_of(table.says("3:187")) == (3, 187)
    led = table.says("3:P")
    assert leader_of(led) == (3, 150)
    assert led.events[-1] == BidMade(3, 150, turn=4, to_act=3, leader=3, forced=True)
    assert KINGS_AND_REBELS.fallback(KINGS_AND_REBELS.view(table.state, 3)) == PASS


@pytest.mark.ruling("KR-9")
def test_kr_9_the_seat_on_turn_can_become_the_last_one_by_others_passes() -> None:
    table = bidding(FOUR).says("3:P 1:P 2:P")
    assert KINGS_AND_REBELS.turn(table.state) == Turn(1, 0, (0,))
    assert leader_of(table.says("0:160")) == (0, 160)


@pytest.mark.ruling("KR-10")
def test_kr_10_everybody_passed_other_cards_by_the_next_dealer_in_the_same_round() -> None:
    match = Match(round=2, dealer=2, totals=(150, 0, 0, 150))
    table = bidding(MAY_PASS_OUT, dealer=3, match=match).says("0:P 1:P 2:P")
    assert on_turn(table) == 3
    chance = chance_of(5, round=3)
    again = table.says("3:P", chance)
    passed, dealt = again.events[-2:]
    assert passed == BidPassed(3, turn=4)
    assert isinstance(dealt, RoundDealt)
    assert (dealt.round, dealt.dealer, dealt.attempt, dealt.to_act, dealt.turn) == (3, 0, 1, 1, 4)
    assert not dealt.must_bid
    assert KINGS_AND_REBELS.turn(again.state) == Turn(3, 4, (1,), dealt=4)
    assert again.state.match.totals == (150, 0, 0, 150)
    assert KINGS_AND_REBELS.result(again.state) is None
    assert again.state.auction.calls == ()
    order = chance.order("deal", 1, 52)
    assert dealt.hands[0] == tuple(TEXTS[place] for place in order[:13])
    record = KINGS_AND_REBELS.deal_record(again.state)
    assert record is not None
    assert KINGS_AND_REBELS.verify_deal(MAY_PASS_OUT, record, chance, 3) == ()


@pytest.mark.ruling("KR-10")
def test_kr_10_the_third_deal_is_not_passed_out() -> None:
    chance = chance_of(6, round=1)
    table = bidding(MAY_PASS_OUT, dealer=3).says("0:P 1:P 2:P 3:P", chance)
    table = table.says("1:P 2:P 3:P 0:P", chance)
    dealt = table.events[-1]
    assert isinstance(dealt, RoundDealt)
    assert (dealt.dealer, dealt.attempt, dealt.must_bid) == (1, 2, True)
    assert on_turn(table) == 2
    assert refusal(table, 2, PASS) is Refusal.MAY_NOT_PASS
    assert KINGS_AND_REBELS.legal(table.state, 2).also == ()
    assert KINGS_AND_REBELS.fallback(KINGS_AND_REBELS.view(table.state, 2)) == Bid(150)
    assert leader_of(table.says("3:P 0:P 1:P 2:150")) == (2, 150)
    # Once there is a bid he is as free as the others.
    assert leader_of(table.says("2:150 3:155 2:P 0:P 1:P")) == (3, 155)


@pytest.mark.ruling("KR-10")
def test_kr_10_with_that_option_off_the_last_seat_may_still_bid() -> None:
    assert leader_of(bidding(MAY_PASS_OUT).says("0:P 1:P 2:P 3:165")) == (3, 165)


@pytest.mark.ruling("KR-10")
def test_kr_10_a_seat_whose_time_is_up_passes() -> None:
    for options in (FOUR, MAY_PASS_OUT):
        table = bidding(options).says("0:150")
        assert KINGS_AND_REBELS.fallback(KINGS_AND_REBELS.view(table.state, 1)) == PASS


@pytest.mark.ruling("KR-10")
def test_kr_10_passed_out_deals_do_not_count_among_the_rounds() -> None:
    options = KingsAndRebelsOptions(seats=4, rounds=3, last_seat_must_bid=False)
    attempts = []
    for seed in range(12):
        rounds = []
        for step in lively_game(options, seed, rounds_max=9):
            for event in step.events:
                if isinstance(event, RoundDealt):
                    rounds.append(event.round)
                    attempts.append(event.attempt)
        assert sorted(set(rounds)) == [1, 2, 3]
        assert step.after.match.phase == "over"
    assert 1 in attempts


def test_a_bid_or_pass_in_a_round_that_is_over_is_refused() -> None:
    *_, last = lively_game(FOUR, 1)
    for decision in (Bid(150), PASS, PlayCard("AS")):
        with pytest.raises(RuleRefused) as refused:
            KINGS_AND_REBELS.decide(last.after, 0, decision, NO_CHANCE)
        assert refused.value.code is Refusal.NOT_NOW
