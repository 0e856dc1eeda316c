"""Seats, turns, following suit, refusals and timeouts of Court Piece (CP-1, CP-4, CP-5, CP-35, GEN-1 to GEN-5)."""

from __future__ import annotations

from typing import Any

import pytest

from darbar_rules.cards import SUITS, TEXTS
from darbar_rules.game import Legal, Refusal, RuleRefused, Turn
from darbar_rules.games.court_piece.events import (
    AskTrump,
    CardPlayed,
    ChooseTrump,
    Decision,
    PlayCard,
    RoundDealt,
    ShowTrump,
    TrickTaken,
    TrumpChosen,
    TrumpShown,
)
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.options import CourtPieceOptions, TrumpMode
from darbar_rules.games.court_piece.state import State
from darbar_rules.games.court_piece.testing import NO_CHANCE, Played, last_trick, play, start
from darbar_rules.testing import at_least, chance_of, evolved, random_game

OPEN = CourtPieceOptions(trump="open")
HIDDEN = CourtPieceOptions()
N, E, S, W = 0, 1, 2, 3


def dealt(options: CourtPieceOptions, seed: int = 1) -> State:
    state = COURT_PIECE.new(options, 4)
    after: State = evolved(COURT_PIECE, state, COURT_PIECE.deal(state, chance_of(seed, round=1)))
    return after


def refusal(state: State, seat: int, decision: Any) -> Refusal:
    with pytest.raises(RuleRefused) as refused:
        COURT_PIECE.decide(state, seat, decision, NO_CHANCE)
    return refused.value.code


@pytest.mark.ruling("CP-1")
def test_cp_1_four_seats_in_two_teams_that_sit_opposite_each_other() -> None:
    assert COURT_PIECE.seat_counts(OPEN) == (4,)
    assert COURT_PIECE.partners(OPEN, 4) == ((0, 2), (1, 3))
    assert COURT_PIECE.direction == "anticlockwise"


@pytest.mark.ruling("CP-1")
def test_cp_1_the_turn_goes_to_the_next_seat() -> None:
    table = play(OPEN, "2: KH 3H 2H", caller=S, trump="S", holding={E: "9H"})
    assert [event.to_act for event in table.events if isinstance(event, CardPlayed)] == [W, N, E]


@pytest.mark.ruling("CP-4")
@pytest.mark.parametrize("mode", ["hidden", "open", "kaat"])
def test_cp_4_the_caller_leads_and_then_the_winner_of_each_trick(mode: TrumpMode) -> None:
    for seed in range(10):
        steps = list(random_game(COURT_PIECE, CourtPieceOptions(trump=mode), seed, rounds_max=1))
        leaders = [trick.leader for trick in steps[-1].after.middle.tricks]
        winners = [trick.winner for trick in steps[-1].after.middle.tricks]
        assert leaders == [steps[0].events[0].caller, *winners[:-1]]


@pytest.mark.ruling("CP-5")
def test_cp_5_follow_suit_if_able() -> None:
    table = start(OPEN, "0: KH", caller=N, trump="S", holding={E: "2H AH 3S 4D"}).then("0: KH")
    assert COURT_PIECE.legal(table.state, E) == Legal(play=("2H", "AH"))
    assert refusal(table.state, E, PlayCard("3S")) is Refusal.MUST_FOLLOW_SUIT


@pytest.mark.ruling("CP-5")
def test_cp_5_who_cannot_follow_plays_any_card_with_no_duty_to_trump_or_to_beat() -> None:
    table = start(OPEN, "0: KH 2S", caller=N, trump="S", holding={S: "3S AS 4D"}).then("0: KH 2S")
    assert COURT_PIECE.legal(table.state, S).play == ("4D", "3S", "AS")
    lets_go = start(OPEN, "0: QH 2H 3H KH", caller=N, trump="S", holding={W: "4H"}).then("0: QH 2H 3H")
    assert COURT_PIECE.legal(lets_go.state, W).play == ("4H", "KH")


@pytest.mark.ruling("GEN-1")
@pytest.mark.parametrize(
    ("seat", "decision", "code"),
    [
        (E, PlayCard("AH"), Refusal.MUST_FOLLOW_SUIT),
        (E, PlayCard("2C"), Refusal.CARD_NOT_HELD),
        (E, PlayCard("KH"), Refusal.CARD_NOT_HELD),  # lies on the table
        (E, PlayCard("1C"), Refusal.CARD_UNKNOWN),
        (E, PlayCard("as"), Refusal.CARD_UNKNOWN),
        (E, PlayCard("AH#2"), Refusal.CARD_UNKNOWN),
        (E, PlayCard(""), Refusal.CARD_UNKNOWN),
        (N, PlayCard("4D"), Refusal.NOT_YOUR_TURN),
        (S, PlayCard("6D"), Refusal.NOT_YOUR_TURN),
        (7, PlayCard("6D"), Refusal.NOT_YOUR_TURN),
        (E, ChooseTrump(suit="S"), Refusal.NOT_NOW),
        (E, AskTrump(), Refusal.MAY_NOT_ASK),
        (E, ShowTrump(), Refusal.MAY_NOT_SHOW),
        (E, "AS", Refusal.DECISION_UNKNOWN),
        (E, None, Refusal.DECISION_UNKNOWN),
    ],
)
def test_gen_1_what_is_not_legal_changes_nothing_and_gets_a_reason(seat: int, decision: Any, code: Refusal) -> None:
    table = start(OPEN, "0: KD", caller=N, trump="S", holding={N: "4D", E: "5D AH", S: "6D"}).then("0: KD")
    before = table.state
    assert refusal(table.state, seat, decision) is code
    assert table.state == before
    assert COURT_PIECE.legal(table.state, E).play == ("5D",)


@pytest.mark.ruling("GEN-1")
def test_gen_1_before_the_trump_is_chosen_nobody_plays_and_only_the_caller_chooses() -> None:
    state = dealt(OPEN)
    caller = state.match.caller
    assert caller is not None
    card = COURT_PIECE.view(state, caller).hand[0]
    assert refusal(state, caller, PlayCard(card)) is Refusal.TRUMP_NOT_CHOSEN
    assert refusal(state, caller, AskTrump()) is Refusal.TRUMP_NOT_CHOSEN
    assert refusal(state, caller, ShowTrump()) is Refusal.TRUMP_NOT_CHOSEN
    assert refusal(state, (caller + 1) % 4, ChooseTrump(suit="S")) is Refusal.NOT_YOUR_TURN
    assert refusal(state, caller, ChooseTrump(suit="X")) is Refusal.SUIT_UNKNOWN
    assert refusal(state, caller, ChooseTrump(suit="CD")) is Refusal.SUIT_UNKNOWN
    assert refusal(state, caller, ChooseTrump(card=card)) is Refusal.SUIT_UNKNOWN


@pytest.mark.ruling("GEN-1")
def test_gen_1_what_else_a_client_says_about_its_choice_is_ignored() -> None:
    state = dealt(HIDDEN)
    caller = state.match.caller
    assert caller is not None
    card = COURT_PIECE.view(state, caller).hand[0]
    (event,) = COURT_PIECE.decide(state, caller, ChooseTrump(card=card, suit="X"), NO_CHANCE)
    assert isinstance(event, TrumpChosen)
    assert (event.card, event.suit) == (card, card[1])
    state = dealt(OPEN)
    caller = state.match.caller
    assert caller is not None
    (event,) = COURT_PIECE.decide(state, caller, ChooseTrump(card=card, suit="H"), NO_CHANCE)
    assert isinstance(event, TrumpChosen)
    assert (event.card, event.suit) == (None, "H")


@pytest.mark.ruling("GEN-1")
def test_gen_1_when_a_round_is_over_nobody_decides_anything() -> None:
    over = last_trick(OPEN, "0: 3S 2C 2D 2H", caller=N, trump="S").state
    for seat in range(4):
        assert COURT_PIECE.legal(over, seat) == Legal()
        for decision in (PlayCard("AS"), ChooseTrump(suit="S"), AskTrump(), ShowTrump()):
            assert refusal(over, seat, decision) is Refusal.NOT_NOW
    new = COURT_PIECE.new(OPEN, 4)
    assert refusal(new, N, PlayCard("AS")) is Refusal.NOT_NOW


@pytest.mark.ruling("GEN-1")
def test_gen_1_a_refused_card_comes_with_the_cards_that_may_be_played() -> None:
    table = start(OPEN, "0: KD", caller=N, trump="S", holding={E: "5D 7D AH"}).then("0: KD")
    with pytest.raises(RuleRefused) as refused:
        COURT_PIECE.decide(table.state, E, PlayCard("AH"), NO_CHANCE)
    assert refused.value.details == {"legal": ("5D", "7D")}


@pytest.mark.ruling("GEN-1")
def test_gen_1_a_refusal_says_what_was_wrong() -> None:
    table = start(OPEN, "0: KD", caller=N, trump="S", holding={E: "5D"}).then("0: KD")
    choosing = dealt(OPEN)
    wrongs: tuple[tuple[State, Decision, dict[str, object]], ...] = (
        (table.state, PlayCard("1X"), {"card": "1X"}),
        (table.state, PlayCard("AS"), {"card": "AS"}),
        (choosing, ChooseTrump(suit="X"), {"suit": "X"}),
    )
    for state, decision, details in wrongs:
        with pytest.raises(RuleRefused) as refused:
            COURT_PIECE.decide(state, COURT_PIECE.turn(state).seats[0], decision, NO_CHANCE)
        assert refused.value.details == details
        assert str(refused.value) == refused.value.code.value


@pytest.mark.ruling("GEN-2")
def test_gen_2_a_duty_binds_only_while_it_leaves_a_card() -> None:
    follows = start(HIDDEN, "0: KH ask", caller=N, trump="5S", holding={E: "2C 9D"}).then("0: KH ask")
    assert COURT_PIECE.view(follows.state, E).must_play_trump
    assert COURT_PIECE.legal(follows.state, E).play == ("2C", "9D")


@pytest.mark.ruling("GEN-3")
@pytest.mark.parametrize(
    ("trick", "winner"),
    [
        ("0: KH AH 3H 4H", E),
        ("2: 3H 4H AH KH", N),
        ("3: 2H 2S 3S AH", E),
        ("1: 2H AC AD 3H", N),
        ("1: AH 2S KH 3H", S),
        ("3: QS KS 2H AS", S),
    ],
)
def test_gen_3_the_winner_is_a_seat_found_from_the_order_of_play(trick: str, winner: int) -> None:
    table = play(OPEN, trick, caller=int(trick[0]), trump="S")
    assert table.state.middle.tricks[-1].winner == winner
    assert COURT_PIECE.turn(table.state).seats == (winner,)


@pytest.mark.ruling("GEN-4")
@pytest.mark.parametrize("mode", ["hidden", "open", "kaat"])
def test_gen_4_each_decision_has_a_number_of_its_own_in_its_round(mode: TrumpMode) -> None:
    steps = list(random_game(COURT_PIECE, CourtPieceOptions(trump=mode), 3, rounds_max=3))
    turns = [(step, COURT_PIECE.turn(step.before), COURT_PIECE.turn(step.after)) for step in steps]
    for _, before, after in at_least(3, (turn for turn in turns if turn[0].seat is None)):
        assert (after.round, after.turn) == (before.round + 1, 0)
    for step, before, after in at_least(100, (turn for turn in turns if turn[0].seat is not None and turn[2].seats)):
        assert after.round == before.round
        # An automatic showing and card (CP-23) count as well.
        assert after.turn == before.turn + len(step.events)


@pytest.mark.ruling("GEN-4")
def test_gen_4_the_second_of_two_same_decisions_is_refused() -> None:
    table = start(OPEN, "0: KD 5D", caller=N, trump="S", holding={N: "4D"}).then("0: KD")
    assert refusal(table.state, N, PlayCard("KD")) is Refusal.NOT_YOUR_TURN
    assert refusal(table.then("0: 5D").state, E, PlayCard("5D")) is Refusal.NOT_YOUR_TURN


@pytest.mark.ruling("GEN-5")
@pytest.mark.parametrize(("hand", "chosen"), [("3S 2C 2D", "2C"), ("AS KD", "KD"), ("TD TH TS", "TD"), ("9H 8S", "8S")])
def test_gen_5_a_late_seat_plays_its_lowest_card_clubs_first(hand: str, chosen: str) -> None:
    table = start(OPEN, "0: KH 3H 4H 5H", caller=N, trump="S", holding={N: hand}).then("0: KH 3H 4H 5H")
    assert COURT_PIECE.fallback(COURT_PIECE.view(table.state, N)) == PlayCard(chosen)


@pytest.mark.ruling("GEN-5")
def test_gen_5_a_late_seat_plays_the_lowest_of_its_legal_cards_only() -> None:
    table = start(OPEN, "0: KH", caller=N, trump="S", holding={E: "9H AH 2C"}).then("0: KH")
    assert COURT_PIECE.fallback(COURT_PIECE.view(table.state, E)) == PlayCard("9H")
    asked = start(HIDDEN, "0: KH ask", caller=N, trump="5S", holding={E: "2C AS"}).then("0: KH ask")
    assert COURT_PIECE.fallback(COURT_PIECE.view(asked.state, E)) == PlayCard("AS")


@pytest.mark.ruling("GEN-5")
def test_gen_5_nothing_is_asked_or_shown_for_a_late_seat() -> None:
    led = start(HIDDEN, "0: KH", caller=N, trump="5S", holding={E: "QS 9D"}).then("0: KH")
    assert COURT_PIECE.legal(led.state, E).also == ("ask_trump",)
    assert COURT_PIECE.fallback(COURT_PIECE.view(led.state, E)) == PlayCard("9D")
    won = play(HIDDEN, "0: KH 3H 4H 5H", caller=N, trump="5S", holding={N: "QS 9D"})
    assert COURT_PIECE.legal(won.state, N).also == ("show_trump",)
    assert COURT_PIECE.fallback(COURT_PIECE.view(won.state, N)) == PlayCard("9D")


def with_five(options: CourtPieceOptions, five: str) -> State:
    """A caller who has just got these five cards."""
    state = dealt(options)
    assert state.match.caller == state.play.to_act
    caller = state.match.caller
    assert caller is not None
    mask = sum(1 << TEXTS.index(card) for card in five.split())
    hands = tuple(mask if seat == caller else 0 for seat in range(4))
    return state._replace(play=state.play._replace(hands=hands))


@pytest.mark.ruling("CP-35")
@pytest.mark.parametrize(
    ("five", "card", "suit"),
    [
        ("2C AS KS 9S 3D", "9S", "S"),
        ("2C 3C AD KD 9S", "2C", "C"),  # two each: clubs before diamonds
        ("2S 3S AH KH QD", "KH", "H"),
        ("2S 3D 4H 5H 6H", "4H", "H"),
        ("AC AD AH AS KC", "KC", "C"),
    ],
)
def test_cp_35_a_late_caller_chooses_the_lowest_card_of_his_longest_suit(five: str, card: str, suit: str) -> None:
    for options, expected in ((HIDDEN, ChooseTrump(card=card)), (OPEN, ChooseTrump(suit=suit))):
        state = with_five(options, five)
        assert COURT_PIECE.fallback(COURT_PIECE.view(state, state.match.caller)) == expected


@pytest.mark.ruling("GEN-9")
@pytest.mark.parametrize("mode", ["hidden", "open", "kaat"])
def test_gen_9_caller_and_leader_are_seats_in_the_events_and_survive_a_replay(mode: TrumpMode) -> None:
    options = CourtPieceOptions(trump=mode)
    steps = list(random_game(COURT_PIECE, options, 11, rounds_max=3))
    replayed = evolved(COURT_PIECE, COURT_PIECE.new(options, 4), tuple(e for step in steps for e in step.events))
    assert replayed == steps[-1].after
    assert replayed.match.caller == steps[-1].after.match.ended.next_caller
    callers = [step.events[0].caller for step in steps if step.seat is None]
    chosen = [event.seat for step in steps for event in step.events if isinstance(event, TrumpChosen)]
    assert chosen == ([] if mode == "kaat" else callers)


def test_blind_choices_are_everything_that_is_legal_the_powers_last() -> None:
    legal = Legal(play=("2C", "AS"), also=("ask_trump",))
    assert COURT_PIECE.choices(legal) == (PlayCard("2C"), PlayCard("AS"), AskTrump())
    assert COURT_PIECE.choices(Legal(also=("show_trump",))) == (ShowTrump(),)
    assert COURT_PIECE.choices(Legal(name=("2C", "AS"))) == (ChooseTrump(card="2C"), ChooseTrump(card="AS"))
    assert COURT_PIECE.choices(Legal(name=("C", "S"))) == (ChooseTrump(suit="C"), ChooseTrump(suit="S"))


def test_a_table_that_has_not_dealt_waits_for_the_deal() -> None:
    state = COURT_PIECE.new(HIDDEN, 4)
    assert COURT_PIECE.turn(state) == Turn(round=0, turn=0, seats=(), game_over=False)
    assert COURT_PIECE.result(state) is None
    assert COURT_PIECE.view(state, None).phase == "waiting"
    with pytest.raises(AssertionError):
        COURT_PIECE.deal(dealt(HIDDEN), NO_CHANCE)
    with pytest.raises(AssertionError):
        COURT_PIECE.new(HIDDEN, 5)


def test_what_a_decision_is_called_on_the_wire() -> None:
    names: dict[str, type[Decision]] = dict(COURT_PIECE.decisions)
    assert names == {
        "choose_trump": ChooseTrump,
        "play_card": PlayCard,
        "ask_trump": AskTrump,
        "show_trump": ShowTrump,
    }
    assert COURT_PIECE.stake_unit == "round"
    assert COURT_PIECE.same_clock_after == {"trump_shown"}


def test_a_seat_sees_what_the_table_shows() -> None:
    table: Played = play(OPEN, "0: KH 3H AH 4H", "2: QC 5C", caller=N, trump="S", holding={N: "9D", S: "8S"})
    view = COURT_PIECE.view(table.state, N)
    assert (view.seat, view.phase, view.round, view.turn, view.to_act) == (N, "playing", 1, 7, N)
    assert view.hand == ("9D",)
    assert view.hand_counts == (1, 0, 1, 0)
    assert [(card.seat, card.card) for card in view.trick] == [(S, "QC"), (W, "5C")]
    assert (view.leader, view.winning, view.pile, view.streak, view.trump_from) == (S, S, 1, S, 0)
    assert [(trick.leader, trick.winner, trick.picked_up) for trick in view.tricks] == [(N, S, 0)]
    assert (view.caller, view.trump, view.trump_shown, view.totals, view.collected) == (N, "S", True, (0, 0), (0, 0))
    assert view.must_play_trump is False
    assert view.legal == Legal(play=("9D",))
    spectator = COURT_PIECE.view(table.state, None)
    assert (spectator.hand, spectator.legal, spectator.seat) == ((), Legal(), None)
    assert COURT_PIECE.view(play(OPEN, caller=N, trump="S").state, N).winning is None
    assert (view.ended, spectator.ended) == (None, None)


def test_everybody_sees_all_of_a_round_that_is_over() -> None:
    over = last_trick(OPEN, "0: 3S 2C 2D 2H", caller=N, trump="S")
    for seat in (N, E, S, W, None):
        assert COURT_PIECE.view(over.state, seat).ended == over.events[-1]


def test_what_an_event_says_is_copied_whether_the_rules_would_say_so_or_not() -> None:
    hands = (("2C", "2D"), ("3C",), ("4C",), ("5C",))
    state = COURT_PIECE.new(HIDDEN, 4)
    state = COURT_PIECE.evolve(state, RoundDealt(9, 2, hands, hands, True, (), to_act=1, turn=7))
    assert COURT_PIECE.turn(state) == Turn(9, 7, (1,))
    state = COURT_PIECE.evolve(state, TrumpChosen(3, "D", hands, (), to_act=0, turn=3, card="2D"))
    assert COURT_PIECE.turn(state) == Turn(9, 3, (0,))
    assert (state.deal.trump_seat, state.deal.trump, state.play.leader) == (3, SUITS.index("D"), 0)
    state = COURT_PIECE.evolve(state, TrumpShown(1, "asked", "2D", "H", must_play_trump=False, to_act=2, turn=11))
    assert COURT_PIECE.turn(state) == Turn(9, 11, (2,))
    assert COURT_PIECE.view(state, None).trump_shown
    taken = TrickTaken(winner=3, picked_up=4, pile=8, collected=(2, 5), streak=1)
    state = COURT_PIECE.evolve(state, CardPlayed(0, "2C", winning=1, turn=20, to_act=1, trick=taken))
    assert COURT_PIECE.turn(state) == Turn(9, 20, (1,))
    view = COURT_PIECE.view(state, None)
    assert (view.leader, view.pile, view.collected, view.streak) == (3, 8, (2, 5), 1)
    assert [(trick.winner, trick.picked_up) for trick in view.tricks] == [(3, 4)]
