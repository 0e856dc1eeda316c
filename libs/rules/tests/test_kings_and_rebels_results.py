"""Who wins a round, what it scores, how a game ends, what the clock decides (KR-21 to KR-26)."""

from __future__ import annotations

import pytest

from darbar_rules.coins import shares
from darbar_rules.game import RoundResult
from darbar_rules.games.kings_and_rebels.events import Convert, NameConverts, PlayCard
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.state import Match
from darbar_rules.games.kings_and_rebels.testing import last_tricks, lively_game, naming, play, start
from darbar_rules.testing import random_game, sent

FOUR = KingsAndRebelsOptions(seats=4)
FIVE = KingsAndRebelsOptions()
TWO_DECKS = KingsAndRebelsOptions(seats=6, decks=2)


@pytest.mark.ruling("KR-21")
@pytest.mark.parametrize(("bid", "success"), [(155, True), (156, False), (150, True)])
def test_kr_21_tricks_taken_before_converting_count_and_the_bid_itself_is_enough(bid: int, success: bool) -> None:
    # The leader has 100; seat 3 took 40 before it converts with the last trick, which brings it 15.
    table = last_tricks(FIVE, "0: 2H 3H 4H AH 5H", converts="AH", bid=bid, captured=(100, 50, 45, 40, 0))
    assert table.converted == [(3, "AH", 1)]
    assert table.ended.captured == (100, 50, 45, 55, 0)
    assert table.ended.red_points == 155
    assert table.ended.success is success
    assert table.ended.winners == ((0, 3) if success else (1, 2, 4))


@pytest.mark.ruling("KR-22")
def test_kr_22_a_round_that_is_decided_is_played_out() -> None:
    table = play(FOUR, "0: AH 2H 3H 4H", converts="AH", bid=5)
    assert table.state.match.phase == "playing"
    assert table.state.match.ended is None
    for seed in range(6):
        *_, last = lively_game(FOUR, seed)
        assert len(last.after.middle.tricks) == 13


@pytest.mark.ruling("KR-23")
def test_kr_23_points_are_told_by_seat_and_the_red_total_only_of_known_rebels() -> None:
    table = play(FOUR, "0: 2H KH 3H AH", converts="AH TD", holding={1: "TD", 3: "5D"})
    assert table.converted == [(3, "AH", 1)]
    table = play(FOUR, "0: 2H KH 3H 4H", "1: QC 3C 5C 4C", converts="AH TD", holding={1: "TD", 3: "AH"})
    for seat in (0, 1, 2, 3, None):
        view = KINGS_AND_REBELS.view(table.state, seat)
        assert view.captured == (0, 25, 0, 0)
        assert view.rebel_points == 0  # Seat 1 is one, but has not shown it.
        assert view.rebels == (0,)
    shown = start(FOUR, "0: 2H KH 3H 4H", "1: TD 2D 3D 4D", converts="TD").then("0: 2H KH 3H 4H", "1: TD")
    assert KINGS_AND_REBELS.view(shown.state, 2).rebel_points == 10
    event = shown.events[-2]
    assert set(sent(KINGS_AND_REBELS, shown.state, event).public["trick"]) == {"winner", "captured"}


@pytest.mark.ruling("KR-24")
def test_kr_24_success_pays_the_bid_to_the_leader_and_each_partner() -> None:
    table = last_tricks(FIVE, "0: 2H 3H 4H AH KH", converts="AH KH QD", bid=150, captured=(160, 0, 70, 0, 0))
    assert table.ended.rebels == (0, 3, 4)
    assert table.ended.points == (150, 0, 0, 150, 150)
    assert KINGS_AND_REBELS.result(table.state) == RoundResult(
        round=1,
        points=(150, 0, 0, 150, 150),
        totals=(150, 0, 0, 150, 150),
        winners=(0, 3, 4),
        losers_pay_again=False,
        game_over=False,
    )


@pytest.mark.ruling("KR-24")
def test_kr_24_failure_pays_the_bid_to_each_king() -> None:
    match = Match(round=2, dealer=3, totals=(150, 300, 0, 150, 0))
    table = last_tricks(FIVE, "0: 2H 3H 4H AH KH", converts="AH", bid=200, captured=(60, 100, 70, 0, 0), match=match)
    assert table.ended.points == (0, 200, 200, 0, 200)
    assert table.ended.totals == (150, 500, 200, 150, 200)
    assert table.ended.winners == (1, 2, 4)


@pytest.mark.ruling("KR-24")
def test_kr_24_the_winning_side_shares_the_pot_of_the_round() -> None:
    assert KINGS_AND_REBELS.stake_unit == "round"
    table = last_tricks(FIVE, "0: 2H 3H 4H AH KH", converts="AH KH QD", bid=150, captured=(160, 0, 70, 0, 0))
    result = KINGS_AND_REBELS.result(table.state)
    assert result is not None
    paid = shares(result, bet_coins=100)
    assert paid.won_coins == (166, 0, 0, 166, 166)
    assert paid.rounding_coins == 2
    assert paid.paid_again_coins == (0, 0, 0, 0, 0)


@pytest.mark.ruling("KR-24")
def test_kr_24_there_is_always_a_winner_and_always_a_king() -> None:
    for seed in range(20):
        options = (FOUR, FIVE, TWO_DECKS)[seed % 3]
        *_, last = lively_game(options, seed)
        ended = last.after.match.ended
        assert 0 < len(ended.winners) < options.seats
        assert len(ended.rebels) < options.seats
        assert (set(ended.winners) == set(ended.rebels)) == ended.success


@pytest.mark.ruling("KR-25")
@pytest.mark.parametrize(("rounds", "due"), [(None, 4), (1, 1), (7, 7)])
def test_kr_25_a_game_has_the_chosen_number_of_rounds_or_one_for_each_seat(rounds: int | None, due: int) -> None:
    options = KingsAndRebelsOptions(seats=4, rounds=rounds)
    steps = list(random_game(KINGS_AND_REBELS, options, 5))
    assert sum(step.seat is None for step in steps) == due
    last = steps[-1].after
    assert KINGS_AND_REBELS.turn(last).game_over
    assert KINGS_AND_REBELS.view(last, None).rounds == due


@pytest.mark.ruling("KR-25")
def test_kr_25_the_higher_total_comes_first_and_equal_ones_share_a_place() -> None:
    match = Match(round=5, dealer=3, totals=(0, 300, 150, 0, 150))
    table = last_tricks(FIVE, "0: 2H 3H 4H AH KH", converts="AH", bid=150, captured=(160, 0, 70, 0, 0), match=match)
    assert table.ended.game_over
    assert table.ended.totals == (150, 300, 150, 150, 150)
    assert table.ended.places == (2, 1, 2, 2, 2)
    result = KINGS_AND_REBELS.result(table.state)
    assert result is not None
    assert (result.places, result.game_over, result.winners) == ((2, 1, 2, 2, 2), True, (0, 3))


@pytest.mark.ruling("KR-26")
@pytest.mark.parametrize(
    ("hand", "trump", "convert"),
    [
        ("AH KH 2H 3D AC", "H", "QH"),
        ("2H 3H TS AS", "S", "KS"),  # of equally long suits the one with more points
        ("2H 4H 6S 7S", "H", "AH"),  # of equally good ones clubs, diamonds, hearts, spades
        ("2C 4D", "C", "AC"),
        ("2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC", "C", "AS"),  # the whole suit: then spades, hearts, diamonds, clubs
        ("2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS", "S", "AH"),
    ],
)
def test_kr_26_the_clock_names_the_longest_suit_and_its_highest_card_that_is_elsewhere(
    hand: str, trump: str, convert: str
) -> None:
    table = naming(FOUR, hand=hand)
    decided = KINGS_AND_REBELS.fallback(KINGS_AND_REBELS.view(table.state, 0))
    assert decided == NameConverts(trump, (Convert(convert, 1),))
    assert KINGS_AND_REBELS.decide(table.state, 0, decided, None)  # type: ignore[arg-type]


@pytest.mark.ruling("KR-26")
def test_kr_26_a_card_of_which_a_copy_is_held_is_in_the_hand() -> None:
    table = naming(TWO_DECKS, hand="AH KH#2 KH 2D", bid=300)
    assert KINGS_AND_REBELS.fallback(KINGS_AND_REBELS.view(table.state, 0)) == NameConverts("H", (Convert("QH", 1),))
    # Two short suits with copies of every card but one that is not in the pack.
    clubs = " ".join(f"{rank}C" for rank in "3456789TJQKA")
    table = naming(KingsAndRebelsOptions(seats=6, decks=2), hand=clubs + " AS", bid=300)
    assert KINGS_AND_REBELS.fallback(KINGS_AND_REBELS.view(table.state, 0)) == NameConverts("C", (Convert("KS", 1),))


@pytest.mark.ruling("GEN-5")
@pytest.mark.parametrize(
    ("options", "trick", "hand", "card"),
    [
        (FOUR, "0: 9D", "8D TD 2C", "8D"),
        (FOUR, "0: 9D", "4S 3H 3C", "3C"),
        (FOUR, "0: 9D", "4S 3S 8H", "3S"),
        (KingsAndRebelsOptions(seats=4, three_of_spades_top_trump=True), "0: 9D", "4S 3S 8H", "4S"),
        (KingsAndRebelsOptions(seats=4, decks=2), "0: 9D", "8D#2 8D TD", "8D"),
    ],
)
def test_gen_5_the_clock_plays_the_lowest_card_of_kings_and_rebels(
    options: KingsAndRebelsOptions, trick: str, hand: str, card: str
) -> None:
    table = play(options, trick, trump="H", holding={1: hand})
    assert KINGS_AND_REBELS.fallback(KINGS_AND_REBELS.view(table.state, 1)) == PlayCard(card)


@pytest.mark.ruling("GEN-5")
@pytest.mark.parametrize(
    ("trick", "hand", "by_rank", "as_top_trump"),
    [
        ("0: 9D", "3S KC", "3S", "KC"),  # void, and the king of clubs is the lower card
        ("0: 9H", "3S AH 2C", "AH", "AH"),  # hearts are trump: with the option the three of spades follows, too
        ("0: 9H", "3S 2C", "2C", "3S"),  # and when it is the only trump it has to be played
        ("0: 9S", "3S 4S", "3S", "4S"),  # led spades: with the option it is no spade
        ("0: 9C", "3S AD AH AS", "3S", "AD"),  # even aces go first
    ],
)
def test_gen_5_the_clock_counts_a_three_of_spades_that_beats_all_as_the_highest_card(
    trick: str, hand: str, by_rank: str, as_top_trump: str
) -> None:
    for top, card in ((False, by_rank), (True, as_top_trump)):
        options = KingsAndRebelsOptions(seats=4, three_of_spades_top_trump=top)
        table = play(options, trick, trump="H", holding={1: hand})
        assert KINGS_AND_REBELS.fallback(KINGS_AND_REBELS.view(table.state, 1)) == PlayCard(card)
