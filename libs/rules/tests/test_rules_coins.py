"""What a finished round moves: shared pots, doubled losses, absent winners, and who came first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darbar_rules.coins import shares
from darbar_rules.game import RoundResult
from darbar_rules.ranking import ranking
from darbar_rules.testing import STEADY

WON = RoundResult(
    round=3,
    points=(1, 0, 1, 0),
    totals=(4, 2, 4, 2),
    winners=(0, 2),
    losers_pay_again=False,
    game_over=False,
)
COURT = replace(WON, losers_pay_again=True)


@pytest.mark.ruling("CP-34")
def test_cp_34_each_winner_gets_two_bets() -> None:
    shared = shares(WON, bet_coins=100)
    assert shared.won_coins == (200, 0, 200, 0)
    assert shared.paid_again_coins == (0, 0, 0, 0)
    assert (shared.forfeit_coins, shared.rounding_coins) == (0, 0)


@pytest.mark.ruling("CP-34")
def test_cp_34_when_all_thirteen_are_collected_each_loser_pays_again_and_each_winner_gets_three_bets() -> None:
    shared = shares(COURT, bet_coins=25)
    assert shared.paid_again_coins == (0, 25, 0, 25)
    assert shared.won_coins == (75, 0, 75, 0)


@pytest.mark.ruling("CP-34")
def test_cp_34_the_share_of_a_winner_who_is_away_goes_to_the_house_and_not_to_the_partner() -> None:
    shared = shares(COURT, bet_coins=100, away={2})
    assert shared.won_coins == (300, 0, 0, 0)
    assert shared.forfeit_coins == 300


@pytest.mark.ruling("CP-34")
def test_cp_34_with_both_winners_away_nobody_is_paid() -> None:
    shared = shares(WON, bet_coins=100, away={0, 2, 3})
    assert shared.won_coins == (0, 0, 0, 0)
    assert shared.forfeit_coins == 400


@pytest.mark.ruling("CP-34")
def test_cp_34_a_loser_who_is_away_pays_again_all_the_same() -> None:
    shared = shares(COURT, bet_coins=100, away={1})
    assert shared.paid_again_coins == (0, 100, 0, 100)
    assert shared.won_coins == (300, 0, 300, 0)
    assert shared.forfeit_coins == 0


@pytest.mark.ruling("CP-34")
def test_cp_34_in_the_round_that_ends_the_game_everyone_is_paid_and_charged_alike() -> None:
    last = replace(COURT, game_over=True, places=(1, 2, 1, 2))
    assert shares(last, bet_coins=100, away={0, 1, 2, 3}) == shares(last, bet_coins=100)
    assert shares(last, bet_coins=100, away={0, 1, 2, 3}).won_coins == (300, 0, 300, 0)


def test_a_round_that_ends_no_stake_unit_shares_nothing() -> None:
    with pytest.raises(ValueError, match=r"^this round did not end a stake unit: nothing is shared$"):
        shares(replace(WON, winners=()), bet_coins=100)


@pytest.mark.ruling("GEN-8")
def test_gen_8_a_shared_prize_is_split_equally_and_the_odd_unit_goes_to_the_rounding_account() -> None:
    three_of_five = RoundResult(
        round=1,
        points=(150, 0, 150, 0, 150),
        totals=(150, 0, 150, 0, 150),
        winners=(0, 2, 4),
        losers_pay_again=False,
        game_over=False,
    )
    shared = shares(three_of_five, bet_coins=25)
    assert shared.won_coins == (41, 0, 41, 0, 41)
    assert shared.rounding_coins == 2


@STEADY
@given(
    seats=st.integers(2, 12),
    bet_coins=st.integers(25, 1000),
    again=st.booleans(),
    over=st.booleans(),
    data=st.data(),
)
def test_every_coin_that_is_paid_in_is_paid_out(
    seats: int, bet_coins: int, again: bool, over: bool, data: st.DataObject
) -> None:
    one = st.integers(0, seats - 1)
    winners = tuple(sorted(data.draw(st.sets(one, min_size=1), label="winners")))
    nothing = (0,) * seats
    result = RoundResult(1, nothing, nothing, winners, again, over)
    shared = shares(result, bet_coins=bet_coins, away=data.draw(st.sets(one), label="away"))
    paid_in = bet_coins * seats + sum(shared.paid_again_coins)
    assert sum(shared.won_coins) + shared.forfeit_coins + shared.rounding_coins == paid_in
    assert 0 <= shared.rounding_coins < len(winners)


@pytest.mark.ruling("GEN-8")
@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ((10, 7, 7, 3), (1, 2, 2, 4)),
        ((1, 2, 3, 4), (4, 3, 2, 1)),
        ((5, 5, 5), (1, 1, 1)),
        ((-30, 0, -30, -40), (2, 1, 2, 4)),
        ((0, 9, 0, 9), (3, 1, 3, 1)),
    ],
)
def test_gen_8_equal_totals_share_a_place(totals: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert ranking(totals) == expected


@pytest.mark.ruling("GEN-8")
def test_gen_8_a_team_has_one_place() -> None:
    teams = ((0, 2), (1, 3))
    assert ranking((10, 3, 10, 3), teams) == (1, 2, 1, 2)
    assert ranking((3, 10, 3, 10), teams) == (2, 1, 2, 1)
    assert ranking((3, 3, 3, 3), teams) == (1, 1, 1, 1)
