"""Seats, packs, points, the deal and the options of Kings and Rebels (KR-1 to KR-5)."""

from __future__ import annotations

from typing import Any

import pytest

from darbar_rules.cards import IDS, TEXTS
from darbar_rules.game import Turn
from darbar_rules.games.kings_and_rebels.deals import deal_round
from darbar_rules.games.kings_and_rebels.events import RoundDealt
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import SEATS_MAX, KingsAndRebelsOptions, setup_of
from darbar_rules.games.kings_and_rebels.pack import POINTS, texts_of
from darbar_rules.games.kings_and_rebels.testing import lively_game
from darbar_rules.options import OptionInvalid
from darbar_rules.testing import chance_of, evolved, option_values, random_game

TWO = ("2C#2 2C 2D#2 2D", "2C#2 2C 2D#2 2D 2H#2")
# What is left out and how many cards each seat gets, for every table that is offered.
PACKS = {
    (1, 4): ("", 13),
    (1, 5): ("2C 2D", 10),
    (1, 6): ("2C 2D 2H 2S", 8),
    (1, 7): ("2C 2D 2H", 7),
    (1, 8): ("2C 2D 2H 2S", 6),
    (2, 4): ("", 26),
    (2, 5): (TWO[0], 20),
    (2, 6): ("2C#2 2C", 17),
    (2, 7): (TWO[0] + " 2H#2 2H", 14),
    (2, 8): ("", 13),
    (2, 9): (TWO[1], 11),
    (2, 10): (TWO[0], 10),
    (2, 11): (TWO[1], 9),
    (2, 12): (TWO[0] + " 2H#2 2H 2S#2 2S", 8),
}


@pytest.mark.ruling("KR-1")
@pytest.mark.parametrize(("decks", "most"), [(1, 8), (2, 12)])
def test_kr_1_four_seats_at_least_and_eight_or_twelve_at_most(decks: int, most: int) -> None:
    assert SEATS_MAX[decks] == most
    for seats in range(4, most + 1):
        options = KingsAndRebelsOptions(seats=seats, decks=decks)
        KINGS_AND_REBELS.check_options(options)
        assert KINGS_AND_REBELS.seat_counts(options) == (seats,)
        assert KINGS_AND_REBELS.partners(options, seats) == ()
    for seats in (3, most + 1):
        with pytest.raises(OptionInvalid) as invalid:
            KINGS_AND_REBELS.check_options(KingsAndRebelsOptions(seats=seats, decks=decks))
        assert invalid.value.option == "seats"


@pytest.mark.ruling("KR-2")
def test_kr_2_every_table_that_is_offered_has_its_pack() -> None:
    assert set(PACKS) == {(decks, seats) for decks, most in SEATS_MAX.items() for seats in range(4, most + 1)}


@pytest.mark.ruling("KR-2")
@pytest.mark.parametrize(("decks", "seats"), PACKS)
def test_kr_2_the_lowest_cards_without_points_are_left_out(decks: int, seats: int) -> None:
    removed, held = PACKS[decks, seats]
    options = KingsAndRebelsOptions(seats=seats, decks=decks)
    setup = setup_of(options)
    assert setup.removed == tuple(removed.split())
    assert KINGS_AND_REBELS.view(KINGS_AND_REBELS.new(options, seats), None).removed == setup.removed
    (dealt,) = deal_round(KINGS_AND_REBELS.new(options, seats), chance_of(1, round=1))
    assert [len(hand) for hand in dealt.hands] == [held] * seats
    cards = [TEXTS.index(card) for hand in dealt.hands for card in hand]
    assert sorted(cards) == sorted(set(range(52 * decks)) - {TEXTS.index(card) for card in setup.removed})
    assert sum(POINTS[card] for card in cards) == 250 * decks == setup.total


@pytest.mark.ruling("KR-3")
def test_kr_3_three_of_spades_ten_for_high_cards_five_for_fives() -> None:
    worth = {text: POINTS[card] for text, card in IDS.items() if POINTS[card]}
    assert worth.pop("3S") == 30
    assert {text for text, points in worth.items() if points == 10} == {
        rank + suit for rank in "AKQJT" for suit in "CDHS"
    }
    assert {text for text, points in worth.items() if points == 5} == {"5C", "5D", "5H", "5S"}
    assert len(worth) == 24
    assert [POINTS[IDS[card]] for card in ("3C", "3D", "3H", "2S", "4H", "7D", "9C")] == [0] * 7
    assert POINTS[52:] == POINTS[:52]


@pytest.mark.ruling("KR-4")
def test_kr_4_all_cards_are_dealt_then_comes_the_auction_then_the_naming() -> None:
    options = KingsAndRebelsOptions()
    phases: list[str] = []
    for step in lively_game(options, 1):
        assert sum(view_counts := KINGS_AND_REBELS.view(step.after, None).hand_counts) <= 50
        if step.after.match.phase in ("bidding", "naming"):
            assert view_counts == (10, 10, 10, 10, 10)
        if step.after.match.phase not in phases[-1:]:
            phases.append(step.after.match.phase)
    assert phases == ["bidding", "naming", "playing", "waiting"]


@pytest.mark.ruling("KR-5")
def test_kr_5_the_deal_moves_clockwise_and_the_next_seat_bids_first() -> None:
    assert KINGS_AND_REBELS.direction == "clockwise"
    options = KingsAndRebelsOptions(seats=4)
    dealers = []
    for step in random_game(KINGS_AND_REBELS, options, 3):
        dealt = step.events[0]
        if isinstance(dealt, RoundDealt):
            dealers.append(dealt.dealer)
            first = (dealt.dealer + 1) % 4
            assert KINGS_AND_REBELS.turn(step.after) == Turn(len(dealers), 0, (first,))
    assert dealers == [(dealers[0] + number) % 4 for number in range(4)]


@pytest.mark.ruling("KR-5")
def test_kr_5_the_first_dealer_is_drawn_by_lot() -> None:
    options = KingsAndRebelsOptions(seats=7, decks=2)
    state = KINGS_AND_REBELS.new(options, 7)
    drawn = {deal_round(state, chance_of(seed, round=1))[0].dealer for seed in range(60)}
    assert drawn == set(range(7))


def test_the_defaults() -> None:
    assert KingsAndRebelsOptions() == KingsAndRebelsOptions(5, 1, None, False, True, "secret", None, False, False, None)
    setup = setup_of(KingsAndRebelsOptions())
    assert (setup.minimum, setup.converts_max, setup.rounds, setup.total) == (150, 3, 5, 250)
    setup = setup_of(KingsAndRebelsOptions(seats=12, decks=2))
    assert (setup.minimum, setup.converts_max, setup.rounds, setup.total) == (300, 10, 12, 500)
    setup = setup_of(KingsAndRebelsOptions(seats=6, minimum_bid=75, convert_cards_max=1, rounds=24))
    assert (setup.minimum, setup.converts_max, setup.rounds) == (75, 1, 24)


def test_every_value_of_an_option_is_offered_at_some_table() -> None:
    for name, values in option_values(KINGS_AND_REBELS).items():
        for value in values:
            seats = {} if name == "seats" else {"seats": 12}
            decks = {} if name == "decks" and value == 1 else {"decks": 2}
            KINGS_AND_REBELS.check_options(KingsAndRebelsOptions(**{**(seats if decks else {}), **decks, name: value}))


@pytest.mark.parametrize(
    ("values", "option", "reason"),
    [
        ({"seats": 3}, "seats", "must be a whole number from 4 to 12."),
        ({"seats": 13, "decks": 2}, "seats", "must be a whole number from 4 to 12."),
        ({"seats": 9}, "seats", "must be at most 8 with one deck."),
        ({"seats": True}, "seats", "must be a whole number from 4 to 12."),
        ({"decks": 3}, "decks", "must be 1 or 2."),
        ({"decks": True}, "decks", "must be 1 or 2."),
        ({"minimum_bid": 0}, "minimum_bid", "must be a multiple of 5 from 5 to 250, with two decks to 500."),
        ({"minimum_bid": 152}, "minimum_bid", "must be a multiple of 5 from 5 to 250, with two decks to 500."),
        ({"minimum_bid": 505}, "minimum_bid", "must be a multiple of 5 from 5 to 250, with two decks to 500."),
        ({"minimum_bid": 255}, "minimum_bid", "must be at most 250, all points of the deck."),
        ({"bid_multiples_of_5": 1}, "bid_multiples_of_5", "must be on or off."),
        ({"last_seat_must_bid": None}, "last_seat_must_bid", "must be on or off."),
        ({"convert_cards": "hidden"}, "convert_cards", "must be secret or public."),
        ({"convert_cards_max": 0}, "convert_cards_max", "must be a whole number from 1 to two fewer than seats."),
        ({"convert_cards_max": 4}, "convert_cards_max", "must be at most 3, two fewer than seats."),
        ({"three_of_spades_top_trump": "on"}, "three_of_spades_top_trump", "must be on or off."),
        ({"later_equal_card_wins": 0}, "later_equal_card_wins", "must be on or off."),
        ({"rounds": 0}, "rounds", "must be a whole number from 1 to 24."),
        ({"rounds": 25}, "rounds", "must be a whole number from 1 to 24."),
    ],
)
def test_not_offered_in_kings_and_rebels(values: dict[str, Any], option: str, reason: str) -> None:
    with pytest.raises(OptionInvalid) as invalid:
        KINGS_AND_REBELS.check_options(KingsAndRebelsOptions(**values))
    assert (invalid.value.option, invalid.value.reason) == (option, reason)


def test_a_minimum_above_one_deck_needs_two() -> None:
    KINGS_AND_REBELS.check_options(KingsAndRebelsOptions(decks=2, minimum_bid=255))
    KINGS_AND_REBELS.check_options(KingsAndRebelsOptions(minimum_bid=250))


def test_a_hand_is_written_by_suits_from_the_lowest_up() -> None:
    cards = ["AS#2", "2C", "TH", "2C#2", "3D", "9H#2", "AS"]
    mask = sum(1 << TEXTS.index(card) for card in cards)
    assert texts_of(mask) == ("2C", "2C#2", "3D", "9H#2", "TH", "AS", "AS#2")


def test_the_state_of_a_table_before_its_first_deal() -> None:
    state = KINGS_AND_REBELS.new(KingsAndRebelsOptions(seats=6), 6)
    assert KINGS_AND_REBELS.turn(state) == Turn(0, 0, ())
    assert KINGS_AND_REBELS.result(state) is None
    assert KINGS_AND_REBELS.deal_record(state) is None
    assert evolved(KINGS_AND_REBELS, state, ()) is state
    with pytest.raises(AssertionError):
        KINGS_AND_REBELS.new(KingsAndRebelsOptions(seats=6), 5)
