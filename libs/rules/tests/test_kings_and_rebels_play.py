"""Following suit, equal cards, the three of spades, who leads (KR-16 to KR-20)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from darbar_rules.cards import IDS_TWO_DECKS, TEXTS
from darbar_rules.game import Refusal, RuleRefused, Turn
from darbar_rules.games.kings_and_rebels.events import CardPlayed, PlayCard
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions, setup_of
from darbar_rules.games.kings_and_rebels.play import beats
from darbar_rules.games.kings_and_rebels.testing import Played, lively_game, play, start
from darbar_rules.testing import at_least, random_game

FOUR = KingsAndRebelsOptions(seats=4)
TWO_DECKS = KingsAndRebelsOptions(seats=6, decks=2)
LATER = KingsAndRebelsOptions(seats=6, decks=2, later_equal_card_wins=True)
TOP = KingsAndRebelsOptions(seats=4, three_of_spades_top_trump=True)
TOP_TWO = KingsAndRebelsOptions(seats=6, decks=2, three_of_spades_top_trump=True)
TOP_LATER = KingsAndRebelsOptions(seats=6, decks=2, three_of_spades_top_trump=True, later_equal_card_wins=True)


def refusal(table: Played, seat: int, card: str) -> Refusal:
    with pytest.raises(RuleRefused) as refused:
        table.decide(seat, PlayCard(card))
    return refused.value.code


def winner(options: KingsAndRebelsOptions, trick: str, trump: str) -> int:
    (seat,) = play(options, trick, trump=trump).winners
    return seat


@pytest.mark.ruling("KR-16")
@pytest.mark.parametrize(
    ("trick", "trump", "first", "later"),
    [
        ("0: 2H AH 3H AH#2 4H 5H", "S", 1, 3),
        ("0: 2H AH#2 3H AH 4H 5H", "S", 1, 3),
        ("0: AC 2C JS 3C 4C JS#2", "S", 2, 5),
        ("0: KD KD#2 2D 3D 4D 5D", "S", 0, 1),
        ("0: AH AH#2 2S 3H 4H 5H", "S", 2, 2),
    ],
)
def test_kr_16_of_equal_cards_the_first_one_wins_or_by_the_option_the_later_one(
    trick: str, trump: str, first: int, later: int
) -> None:
    assert winner(TWO_DECKS, trick, trump) == first
    assert winner(LATER, trick, trump) == later


@pytest.mark.ruling("KR-16")
def test_kr_16_equal_cards_that_cannot_win_change_nothing() -> None:
    for options in (TWO_DECKS, LATER):
        assert winner(options, "0: 2H AD 3H AD#2 4H 5H", "S") == 5


@pytest.mark.ruling("KR-16")
def test_kr_16_a_card_without_its_copy_is_whichever_is_held() -> None:
    table = start(TWO_DECKS, "0: KH 2H 3H 4H 5H 6H", holding={1: "AH#2 TC", 2: "AH"}).then("0: KH")
    assert table.legal == ("2H", "AH#2")
    assert table.decide(1, PlayCard("AH")).events[-1] == table.decide(1, PlayCard("AH#2")).events[-1]
    played = table.decide(1, PlayCard("AH")).events[-1]
    assert isinstance(played, CardPlayed)
    assert played.card == "AH#2"
    both = start(TWO_DECKS, "0: AH 2H 3H 4H 5H 6H", holding={0: "AH#2"})
    assert both.decide(0, PlayCard("AH")).events[-1].card == "AH"  # type: ignore[union-attr]
    choices = KINGS_AND_REBELS.choices(KINGS_AND_REBELS.legal(table.state, 1))
    assert choices == (PlayCard("2H"), PlayCard("AH#2"), PlayCard("AH"))


@pytest.mark.ruling("KR-16")
def test_kr_16_a_copy_that_is_not_held_is_refused() -> None:
    table = start(TWO_DECKS, "0: KH 2H 3H 4H 5H 6H", holding={0: "AH"})
    assert refusal(table, 0, "AH#2") is Refusal.CARD_NOT_HELD
    assert refusal(table, 0, "KH#2") is Refusal.CARD_NOT_HELD
    one_deck = start(FOUR, "0: KH 2H 3H 4H")
    assert refusal(one_deck, 0, "KH#2") is Refusal.CARD_UNKNOWN


@pytest.mark.ruling("KR-17")
def test_kr_17_the_three_of_spades_is_a_three() -> None:
    assert winner(FOUR, "0: 3S 4S 5S 2S", "H") == 2
    assert winner(FOUR, "0: 3S 4S 2H 5S", "H") == 2
    assert winner(FOUR, "0: 4S 3S AC 5C", "S") == 0
    assert winner(FOUR, "0: AC KC 3S 5C", "H") == 0


@pytest.mark.ruling("KR-17")
@pytest.mark.parametrize("trump", ["C", "D", "H", "S"])
def test_kr_17_by_the_option_it_beats_everything(trump: str) -> None:
    options = TOP
    for other in ("C", "D", "H", "S"):
        assert winner(options, f"0: A{other} 2{other} 3S K{other}", trump) == 2
    assert winner(options, f"0: 3S A{trump} K{trump} 2{trump}", trump) == 0


@pytest.mark.ruling("KR-17")
def test_kr_17_by_the_option_it_is_a_trump_for_following() -> None:
    table = start(TOP, "0: AS 2S 4S 5S", trump="H", holding={1: "3S KD", 2: "3S KH", 3: "3S 9D"})
    after = table.then("0: AS")
    assert after.legal == ("2S",)  # A three of spades does not follow spades.
    led = start(TOP, "0: 2H 3H 4H 5H", trump="H", holding={1: "3S KD"}).then("0: 2H")
    assert led.legal == ("3H", "3S")
    only = start(TOP, "0: 2H 3S 4H 5H", trump="H", holding={1: "AS KD"}).then("0: 2H")
    assert only.legal == ("3S",)
    assert refusal(only, 1, "AS") is Refusal.MUST_FOLLOW_SUIT
    leads_it = start(TOP, "0: 3S 2H 4H 5H", trump="H", holding={1: "AS"}).then("0: 3S")
    assert leads_it.legal == ("2H",)
    assert start(FOUR, "0: 3S 2H 4H 5H", trump="H", holding={1: "AS"}).then("0: 3S").legal == ("AS",)


@pytest.mark.ruling("KR-17")
def test_kr_17_of_two_the_first_played_wins_or_by_the_other_option_the_later_one() -> None:
    trick = "0: AH 3S KH 3S#2 QH 2H"
    assert winner(TOP_TWO, trick, "C") == 1
    assert winner(TOP_LATER, trick, "C") == 3


@pytest.mark.ruling("KR-17")
def test_kr_17_it_keeps_its_points() -> None:
    for options in (FOUR, TOP):
        table = play(options, "0: AS 3S 4S 5S", trump="S")
        assert max(table.state.middle.captured) == 45


@pytest.mark.ruling("KR-18")
def test_kr_18_the_leader_of_the_rebels_leads_any_card() -> None:
    for seed in range(5):
        state = next(step.after for step in lively_game(FOUR, seed) if step.after.match.phase == "playing")
        leader = state.deal.leader
        assert KINGS_AND_REBELS.turn(state).seats == (leader,)
        assert KINGS_AND_REBELS.legal(state, leader).play == KINGS_AND_REBELS.view(state, leader).hand


@pytest.mark.ruling("KR-18")
def test_kr_18_who_wins_a_trick_leads_the_next_and_play_goes_clockwise() -> None:
    played = [event for step in lively_game(TWO_DECKS, 4) for event in step.events if isinstance(event, CardPlayed)]
    for event in at_least(100, (one for one in played if one.to_act is not None)):
        assert event.to_act == (event.trick.winner if event.trick else (event.seat + 1) % 6)
    table = play(FOUR, "0: 2H AH 3H 4H", holding={1: "KD"})
    assert KINGS_AND_REBELS.turn(table.state) == Turn(1, 6, (1,))


@pytest.mark.ruling("KR-19")
def test_kr_19_follow_suit_if_able_and_else_play_anything() -> None:
    table = start(FOUR, "0: 9D 2H 3H 4H", holding={1: "7D AD KS", 2: "2S AC"}).then("0: 9D")
    assert table.legal == ("7D", "AD")  # no duty to beat
    assert refusal(table, 1, "KS") is Refusal.MUST_FOLLOW_SUIT
    assert refusal(table, 1, "KD") is Refusal.CARD_NOT_HELD
    assert refusal(table, 1, "XX") is Refusal.CARD_UNKNOWN
    assert refusal(table, 2, "2S") is Refusal.NOT_YOUR_TURN
    void = table.decide(1, PlayCard("7D"))
    assert void.legal == ("AC", "3H", "2S")  # no duty to trump


@pytest.mark.ruling("KR-20")
@pytest.mark.parametrize(("seats", "decks", "tricks"), [(4, 1, 13), (5, 1, 10), (8, 1, 6), (4, 2, 26), (12, 2, 8)])
def test_kr_20_as_many_tricks_as_cards_in_hand_and_nothing_extra_for_the_last(
    seats: int, decks: int, tricks: int
) -> None:
    options = KingsAndRebelsOptions(seats=seats, decks=decks)
    *_, last = random_game(KINGS_AND_REBELS, options, 7, rounds_max=1)
    assert len(last.after.middle.tricks) == tricks
    assert sum(last.after.match.ended.captured) == 250 * decks


def test_what_takes_a_trick_is_in_an_order_that_has_no_circle() -> None:
    """Of the cards that can win, each beats all that come before it."""
    for options in (TWO_DECKS, TOP_TWO):
        setup = setup_of(options)
        for trump in range(4):
            for led in range(4):
                able = [card for card in range(52) if setup.suits[trump][card] in (led, trump)]
                able.sort(key=lambda card: (setup.suits[trump][card] == trump, setup.ranks[card]))
                assert all(beats(setup, trump, high, low) for low, high in pairwise(able))
                assert not any(beats(setup, trump, low, high) for low, high in pairwise(able))


def test_the_texts_of_both_decks_are_numbered_alike() -> None:
    assert all(IDS_TWO_DECKS[text] == card for card, text in enumerate(TEXTS))
