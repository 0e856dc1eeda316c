"""The hidden trump: who may ask and show, and what a trump is worth before and after (CP-15 to CP-23)."""

from __future__ import annotations

import pytest

from darbar_rules.cards import TEXTS, texts_of
from darbar_rules.game import Refusal, RuleRefused
from darbar_rules.games.court_piece.events import (
    AskTrump,
    CardPlayed,
    Decision,
    PlayCard,
    RoundEnded,
    ShowTrump,
    TrumpShown,
)
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.options import CourtPieceOptions
from darbar_rules.games.court_piece.state import trump_is_hidden
from darbar_rules.games.court_piece.testing import NO_CHANCE, Played, last_trick, play, start, tricks_won_by
from darbar_rules.testing import random_game

HIDDEN = CourtPieceOptions()
N, E, S, W = 0, 1, 2, 3


def refusal(played: Played, seat: int, decision: Decision) -> Refusal:
    with pytest.raises(RuleRefused) as refused:
        COURT_PIECE.decide(played.state, seat, decision, NO_CHANCE)
    return refused.value.code


def winner_of(played: Played, trick: int = -1) -> int:
    return played.state.middle.tricks[trick].winner


def picked_up(played: Played) -> list[int]:
    return [trick.picked_up for trick in played.state.middle.tricks]


@pytest.mark.ruling("CP-15")
def test_cp_15_the_face_down_card_is_not_in_the_callers_hand() -> None:
    table = start(HIDDEN, caller=N, trump="5S", holding={N: "5S 2H 3H"})
    assert COURT_PIECE.view(table.state, N).hand == ("2H", "3H")
    assert COURT_PIECE.view(table.state, N).indicator == "5S"
    assert COURT_PIECE.view(table.state, N).hand_counts[N] == 2
    assert refusal(table, N, PlayCard("5S")) is Refusal.CARD_NOT_HELD


@pytest.mark.ruling("CP-15")
def test_cp_15_only_the_caller_knows_the_face_down_card_and_its_suit() -> None:
    table = start(HIDDEN, caller=N, trump="5S", holding={N: "5S 2H 3H"})
    for seat in (N, E, S, W, None):
        view = COURT_PIECE.view(table.state, seat)
        assert (view.indicator, view.trump) == (("5S", "S") if seat == N else (None, None))


@pytest.mark.ruling("CP-15")
def test_cp_15_with_nothing_else_of_the_led_suit_the_caller_counts_as_void() -> None:
    table = play(HIDDEN, "0: 2H 3H 4H 5H", "3: KS", caller=N, trump="5S", holding={N: "9D 8C"})
    assert COURT_PIECE.legal(table.state, N).play == ("8C", "9D")
    assert COURT_PIECE.legal(table.state, N).also == ("show_trump",)
    thrown = table.then("3: 9D")
    assert isinstance(thrown.events[-1], CardPlayed)
    assert thrown.events[-1].face_down


@pytest.mark.ruling("CP-15")
def test_cp_15_a_caller_who_shows_then_follows_with_the_indicator() -> None:
    table = play(HIDDEN, "0: 2H 3H 4H 5H", "3: KS show", caller=N, trump="5S", holding={N: "9D 8C"})
    assert COURT_PIECE.legal(table.state, N).play == ("5S",)
    assert table.then("3: 5S").events[-1] == CardPlayed(N, "5S", winning=W, turn=8, to_act=E)


@pytest.mark.ruling("CP-16")
@pytest.mark.parametrize("asker", [E, S, W])
def test_cp_16_whoever_cannot_follow_may_ask_the_callers_partner_too(asker: int) -> None:
    cards = ["KH", *("2H" if seat < asker else "9D" for seat in (E, S, W))]
    cards[1:] = [card.replace("2H", f"{seat + 2}H") for seat, card in enumerate(cards[1:], 1)]
    table = start(HIDDEN, f"0: {' '.join(cards)}", caller=N, trump="5S", holding={N: "5S 2D"})
    table = table.then(f"0: {' '.join(cards[:asker])}")
    assert COURT_PIECE.legal(table.state, asker).also == ("ask_trump",)
    asked = table.then("0: ask").events[-1]
    assert asked == TrumpShown(asker, "asked", "5S", "S", must_play_trump=True, to_act=asker, turn=2 + asker)


@pytest.mark.ruling("CP-16")
def test_cp_16_the_indicator_goes_back_to_the_callers_hand_for_all_to_know() -> None:
    table = start(HIDDEN, "0: KH 9D 3H 4H", caller=N, trump="5S", holding={N: "5S 2D"}).then("0: KH ask")
    assert texts_of(table.state.play.hands[N]) == ("2D", "5S")
    for seat in (N, E, S, W, None):
        view = COURT_PIECE.view(table.state, seat)
        assert (view.trump, view.trump_shown, view.indicator) == ("S", True, None)
        assert view.hand_counts[N] == 2


@pytest.mark.ruling("CP-16")
def test_cp_16_asking_is_refused_where_one_may_not() -> None:
    table = start(HIDDEN, "0: KH 9D 3H 4H", caller=N, trump="5S", holding={N: "5S 2D 3C", E: "8D", S: "9C"})
    assert refusal(table, N, AskTrump()) is Refusal.MAY_NOT_ASK  # the caller, and leading
    assert refusal(table, E, AskTrump()) is Refusal.NOT_YOUR_TURN
    led = table.then("0: KH")
    assert COURT_PIECE.legal(led.state, E).also == ("ask_trump",)
    following = led.then("0: 9D")
    assert refusal(following, S, AskTrump()) is Refusal.MAY_NOT_ASK  # can follow suit
    assert COURT_PIECE.legal(following.state, S).also == ()
    asked = led.then("0: ask")
    assert refusal(asked, E, AskTrump()) is Refusal.TRUMP_ALREADY_SHOWN  # final, and only once


@pytest.mark.ruling("CP-16")
def test_cp_16_a_leader_may_not_ask() -> None:
    table = play(HIDDEN, "0: 2H KH 3H 4H", caller=N, trump="5S", holding={N: "5S 2D", E: "9D"})
    assert COURT_PIECE.legal(table.state, E).also == ()
    assert refusal(table, E, AskTrump()) is Refusal.MAY_NOT_ASK


@pytest.mark.ruling("CP-16")
def test_cp_16_nobody_asks_where_the_trump_is_not_hidden() -> None:
    table = start(CourtPieceOptions(trump="open"), "0: KH 9D 3H 4H", caller=N, trump="S").then("0: KH")
    assert refusal(table, E, AskTrump()) is Refusal.MAY_NOT_ASK
    assert COURT_PIECE.legal(table.state, E).also == ()


@pytest.mark.ruling("CP-17")
def test_cp_17_the_caller_shows_as_a_void_follower() -> None:
    table = play(HIDDEN, "0: 2H 3H 4H 5H", "3: KD", caller=N, trump="5S", holding={N: "9C 7S"})
    assert COURT_PIECE.legal(table.state, N).also == ("show_trump",)
    shown = table.then("3: show")
    assert shown.events[-1] == TrumpShown(N, "shown", "5S", "S", must_play_trump=True, to_act=N, turn=7)


@pytest.mark.ruling("CP-17")
def test_cp_17_the_caller_shows_before_leading_when_he_won_the_trick_before() -> None:
    table = play(HIDDEN, "0: KH 3H 4H 5H", caller=N, trump="5S", holding={N: "9C 7S"})
    assert COURT_PIECE.legal(table.state, N).also == ("show_trump",)
    shown = table.then("0: show")
    assert shown.events[-1] == TrumpShown(N, "shown", "5S", "S", must_play_trump=False, to_act=N, turn=6)
    assert COURT_PIECE.legal(shown.state, N).play == ("9C", "5S", "7S")  # he may lead anything


@pytest.mark.ruling("CP-17")
def test_cp_17_with_the_option_he_must_then_lead_a_trump() -> None:
    options = CourtPieceOptions(show_on_lead_must_lead_trump=True)
    table = play(options, "0: KH 3H 4H 5H", "0: show", caller=N, trump="5S", holding={N: "9C 7S"})
    assert COURT_PIECE.legal(table.state, N).play == ("5S", "7S")
    assert refusal(table, N, PlayCard("9C")) is Refusal.MUST_PLAY_TRUMP


@pytest.mark.ruling("CP-17")
def test_cp_17_showing_is_refused_where_he_may_not() -> None:
    table = start(HIDDEN, "0: KH 3H 4H 5H", caller=N, trump="5S", holding={N: "9C"})
    assert refusal(table, N, ShowTrump()) is Refusal.MAY_NOT_SHOW  # before the first lead
    assert COURT_PIECE.legal(table.state, N).also == ()
    led = table.then("0: KH")
    assert refusal(led, E, ShowTrump()) is Refusal.MAY_NOT_SHOW  # not the caller
    shown = play(HIDDEN, "0: KH 3H 4H 5H", "0: show", caller=N, trump="5S", holding={N: "9C"})
    assert refusal(shown, N, ShowTrump()) is Refusal.TRUMP_ALREADY_SHOWN


@pytest.mark.ruling("CP-17")
def test_cp_17_a_caller_who_can_follow_may_not_show() -> None:
    table = play(HIDDEN, "0: 2H 3H 4H 5H", "3: KD", caller=N, trump="5S", holding={N: "9C 7D"})
    assert refusal(table, N, ShowTrump()) is Refusal.MAY_NOT_SHOW
    assert COURT_PIECE.legal(table.state, N).also == ()


@pytest.mark.ruling("CP-17")
def test_cp_17_nobody_shows_where_the_trump_is_not_hidden() -> None:
    table = play(CourtPieceOptions(trump="open"), "0: KH 3H 4H 5H", caller=N, trump="S", holding={N: "9C"})
    assert refusal(table, N, ShowTrump()) is Refusal.MAY_NOT_SHOW


@pytest.mark.ruling("CP-18")
def test_cp_18_whoever_asks_must_play_a_trump_any_trump_if_it_has_one() -> None:
    table = start(HIDDEN, "0: KH ask", caller=N, trump="5S", holding={N: "5S", E: "2S QS 9D", S: "3H"})
    assert COURT_PIECE.legal(table.state, N).play == ("KH",)
    asked = table.then("0: KH ask")
    assert COURT_PIECE.legal(asked.state, E).play == ("2S", "QS")
    assert refusal(asked, E, PlayCard("9D")) is Refusal.MUST_PLAY_TRUMP
    assert COURT_PIECE.view(asked.state, E).must_play_trump


@pytest.mark.ruling("CP-18")
def test_cp_18_an_asker_without_a_trump_plays_any_card() -> None:
    asked = start(HIDDEN, "0: KH ask", caller=N, trump="5S", holding={E: "2C 9D"}).then("0: KH ask")
    assert COURT_PIECE.legal(asked.state, E).play == ("2C", "9D")


@pytest.mark.ruling("CP-18")
def test_cp_18_the_duty_ends_with_the_card() -> None:
    table = start(HIDDEN, "0: KH ask 2S", caller=N, trump="5S", holding={S: "9D 3S", W: "2H"})
    played = table.then("0: KH ask 2S")
    assert COURT_PIECE.legal(played.state, S).play == ("9D", "3S")


@pytest.mark.ruling("CP-18")
def test_cp_18_a_caller_who_shows_as_a_follower_always_has_a_trump_to_play() -> None:
    shown = play(HIDDEN, "0: 2H 3H 4H 5H", "3: KD show", caller=N, trump="5S", holding={N: "9C"})
    assert COURT_PIECE.legal(shown.state, N).play == ("5S",)


@pytest.mark.ruling("CP-19")
def test_cp_19_a_trump_played_before_the_showing_has_no_power() -> None:
    table = play(HIDDEN, "0: KH 9S ask 2S 3H", caller=N, trump="5S")
    assert winner_of(table) == S
    (trick,) = COURT_PIECE.view(table.state, W).tricks
    assert [card.trump for card in trick.cards] == [False, False, True, False]


@pytest.mark.ruling("CP-19")
def test_cp_19_while_it_is_hidden_no_card_has_trump_power() -> None:
    table = play(HIDDEN, "0: KH 9S 3H 4H", "0: QH 2S", caller=N, trump="5S")
    for seat in (N, E, S, W, None):
        view = COURT_PIECE.view(table.state, seat)
        assert not any(card.trump for card in (*view.trick, *view.tricks[0].cards))
        assert view.trump_from == 4


@pytest.mark.ruling("CP-19")
def test_cp_19_when_the_trump_suit_was_led_plain_rank_decides() -> None:
    table = play(HIDDEN, "0: QS KS ask 4D 2S", caller=N, trump="5S")
    assert winner_of(table) == E


@pytest.mark.ruling("CP-19")
def test_cp_19_a_later_higher_trump_beats_the_askers() -> None:
    assert winner_of(play(HIDDEN, "0: KH AS ask 2S 3S", caller=N, trump="5S")) == W
    assert winner_of(play(HIDDEN, "0: KH ask 4S 3S AS", caller=N, trump="5S")) == W


@pytest.mark.ruling("CP-20")
def test_cp_20_nothing_is_picked_up_while_the_trump_is_hidden() -> None:
    tricks = tricks_won_by([N] * 13, caller=N, trump="S")
    table = start(HIDDEN, *tricks, caller=N, trump="2S").then(*tricks[:8])
    assert picked_up(table) == [0] * 8
    assert COURT_PIECE.view(table.state, W).streak is None


@pytest.mark.ruling("CP-20")
def test_cp_20_the_trick_before_whose_lead_it_is_shown_is_the_first_of_two_wins() -> None:
    tricks = tricks_won_by([N] * 13, caller=N, trump="S")
    table = start(HIDDEN, *tricks, caller=N, trump="2S").then(*tricks[:4], "0: show", *tricks[4:7])
    assert picked_up(table) == [0, 0, 0, 0, 0, 6, 0]


@pytest.mark.ruling("CP-20")
def test_cp_20_the_trick_in_which_it_is_shown_is_the_first_of_two_wins_whoever_won_before() -> None:
    before = ("0: KC 2C 3C 4C", "0: QC 5C 6C 7C")
    # The third trick is won by a heart that lay there before the trump was shown.
    table = play(HIDDEN, *before, "0: AH 3H 4H ask 2D", "0: KD 3D 4D 5D", caller=N, trump="5S")
    assert picked_up(table) == [0, 0, 0, 4]


@pytest.mark.ruling("CP-20")
def test_cp_20_with_the_option_the_winning_card_must_come_after_the_showing() -> None:
    options = CourtPieceOptions(fresh_win_must_be_after_showing=True)
    before = ("0: KC 2C 3C 4C", "0: QC 5C 6C 7C", "0: AH 3H 4H ask 2D")
    table = play(options, *before, "0: KD 3D 4D 5D", "0: AD 6D 7D 8D", caller=N, trump="5S")
    assert picked_up(table) == [0, 0, 0, 0, 5]
    # The asker's own trump comes after the showing, and so does the first card that follows it.
    table = play(options, *before[:2], "0: AH 3H 4H ask 2S", "3: KD 3D 4D 5D", caller=N, trump="5S")
    assert picked_up(table) == [0, 0, 0, 4]
    table = play(options, *before[:2], "0: show AH 3H 4H 2H", "0: KD 3D 4D 5D", caller=N, trump="5S")
    assert picked_up(table) == [0, 0, 0, 4]
    led_by_east = ("0: KC 2C 3C 4C", "0: 5C QC 6C 7C", "1: AH 3H ask 2D 4H", "1: KD 3D 4D 5D", "1: AD 6D 7D 8D")
    assert picked_up(play(options, *led_by_east, caller=N, trump="5S")) == [0, 0, 0, 0, 5]
    assert picked_up(play(HIDDEN, *led_by_east, caller=N, trump="5S")) == [0, 0, 0, 4, 0]


@pytest.mark.ruling("CP-20")
def test_cp_20_another_winner_of_the_next_trick_starts_anew() -> None:
    tricks = ("0: AH 3H 4H ask 2D", "0: KD AD 4D 5D", "1: KC 3C 4C 5C")
    assert picked_up(play(HIDDEN, *tricks, caller=N, trump="5S")) == [0, 0, 3]


@pytest.mark.ruling("CP-21")
def test_cp_21_the_callers_discard_is_face_down_and_cannot_win_even_when_the_trump_is_shown_later() -> None:
    table = play(HIDDEN, "0: 2H 3H 4H 5H", "3: KD AS ask 2C 3C", caller=N, trump="5S")
    event = next(event for event in table.events if isinstance(event, CardPlayed) and event.card == "AS")
    assert event.face_down
    assert winner_of(table) == W
    assert [card.face_down for card in COURT_PIECE.view(table.state, E).tricks[1].cards] == [False, True, False, False]
    assert not any(card.trump for card in COURT_PIECE.view(table.state, N).tricks[1].cards)


@pytest.mark.ruling("CP-21")
def test_cp_21_after_the_showing_the_callers_cards_lie_open() -> None:
    table = play(HIDDEN, "0: KH 3H ask 2D 5H", "0: 2H 9H 8D JH", "3: KC 9D 2C 3C", caller=N, trump="5S")
    assert not any(isinstance(event, CardPlayed) and event.face_down for event in table.events)


@pytest.mark.ruling("CP-22")
@pytest.mark.parametrize("card", ["AS", "9C", "AH"])
def test_cp_22_any_of_the_twelve_cards_may_be_thrown_and_is_disclosed_to_nobody(card: str) -> None:
    table = play(HIDDEN, "0: 2H 3H 4H 5H", f"3: KD {card}", caller=N, trump="5S", holding={E: "2D"})
    assert COURT_PIECE.view(table.state, N).trick[-1].card == card
    for seat in (E, S, W, None):
        lying = COURT_PIECE.view(table.state, seat).trick[-1]
        assert (lying.card, lying.face_down, lying.trump) == (None, True, False)
    event = table.events[-1]
    shown = COURT_PIECE.show(table.state, event)
    assert card not in str(shown.public)
    assert shown.secret == {N: {"card": card}}


@pytest.mark.ruling("CP-22")
def test_cp_22_the_caller_alone_still_knows_it_when_the_trick_is_taken() -> None:
    table = play(HIDDEN, "0: 2H 3H 4H 5H", "3: KD 9C 2D 3D", caller=N, trump="5S")
    for seat in (N, E, S, W, None):
        thrown = COURT_PIECE.view(table.state, seat).tricks[1].cards[1]
        assert (thrown.card, thrown.face_down) == ("9C" if seat == N else None, True)


@pytest.mark.ruling("CP-22")
def test_cp_22_other_seats_discards_lie_open() -> None:
    table = play(HIDDEN, "0: KH 9S 3H 4H", caller=N, trump="5S")
    assert [card.card for card in COURT_PIECE.view(table.state, W).tricks[0].cards] == ["KH", "9S", "3H", "4H"]


@pytest.mark.ruling("CP-22")
def test_cp_22_what_was_thrown_away_is_in_the_rounds_result() -> None:
    found = 0
    for seed in range(40):
        *_, last = random_game(COURT_PIECE, HIDDEN, seed, rounds_max=1, power_share=0.05)
        ended = last.events[-1]
        assert isinstance(ended, RoundEnded)
        thrown = {TEXTS[card] for card in range(52) if last.after.play.face_down >> card & 1}
        assert set(ended.face_down) == thrown
        assert set(COURT_PIECE.show(last.before, ended).public["face_down"]) == thrown
        found += len(thrown)
    assert found > 40


@pytest.mark.ruling("CP-23")
def test_cp_23_the_caller_leads_the_indicator_to_trick_thirteen_by_itself() -> None:
    tricks = tricks_won_by([N] * 13, caller=N, trump="S")
    table = start(HIDDEN, *tricks, caller=N, trump="2S").then(*tricks[:12])
    shown, played = table.events[-2:]
    assert shown == TrumpShown(N, "due", "2S", "S", must_play_trump=True, to_act=N, turn=50)
    assert played == CardPlayed(N, "2S", winning=N, turn=51, to_act=E)
    ended = table.then(tricks[12].replace("2S", "2S*"))
    assert winner_of(ended) == N
    assert picked_up(ended) == [0] * 12 + [13]


@pytest.mark.ruling("CP-23")
def test_cp_23_the_caller_plays_the_indicator_to_trick_thirteen_by_itself() -> None:
    tricks = tricks_won_by([N] * 11 + [W, N], caller=N, trump="S")
    table = start(HIDDEN, *tricks, caller=N, trump="2S").then(*tricks[:12])
    assert COURT_PIECE.turn(table.state).seats == (W,)
    assert trump_is_hidden(table.state)
    leads = table.then(f"3: {tricks[12].split()[1]}")
    assert [type(event) for event in leads.events[-3:]] == [CardPlayed, TrumpShown, CardPlayed]
    assert COURT_PIECE.turn(leads.state).seats == (E,)  # the caller was asked nothing
    ended = leads.then(f"3: {' '.join(tricks[12].split()[3:])}")
    assert winner_of(ended) == N  # shown before it was played, so it has trump power


@pytest.mark.ruling("CP-23")
def test_cp_23_a_trump_played_before_the_automatic_showing_has_no_power() -> None:
    ended = last_trick(HIDDEN, "2: 2C AS 2S* 3C", caller=N, trump="2S")
    assert [type(event) for event in ended.events[-5:]] == [CardPlayed, TrumpShown, CardPlayed, CardPlayed, RoundEnded]
    assert winner_of(ended) == N


@pytest.mark.ruling("CP-23")
def test_cp_23_as_the_last_seat_the_caller_ends_the_round_with_it() -> None:
    tricks = tricks_won_by([N] * 11 + [E, N], caller=N, trump="S")
    table = start(HIDDEN, *tricks, caller=N, trump="2S").then(*tricks[:12])
    last = tricks[12].split()
    ended = table.then(f"1: {' '.join(last[1:4])}")
    assert [type(event) for event in ended.events[-4:]] == [CardPlayed, TrumpShown, CardPlayed, RoundEnded]
    assert ended.state.match.phase == "waiting"


@pytest.mark.ruling("CP-23")
def test_cp_23_somebody_could_have_asked_before_trick_thirteen() -> None:
    for seed in range(60):
        steps = list(random_game(COURT_PIECE, HIDDEN, seed, rounds_max=1, power_share=0.0))
        asked = [step for step in steps if step.seat is not None and COURT_PIECE.legal(step.before, step.seat).also]
        assert asked
