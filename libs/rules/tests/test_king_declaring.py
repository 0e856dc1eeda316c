"""Who declares, what may be declared, and what is declared for who is late (K20-3 to K20-8, K32-10 to K32-17)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from darbar_rules.cards import unpacked
from darbar_rules.game import AnyGame, Legal, Refusal, RuleRefused
from darbar_rules.games.king.events import Declare, Declared, PlayCard, RoundDealt
from darbar_rules.games.king.forms import Declaration, Form20
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.options import King20Options, KingLongOptions, KingShortOptions
from darbar_rules.games.king.state import State
from darbar_rules.games.king.testing import NO_CHANCE, Played, declaring, start
from darbar_rules.testing import Step, at_least, chance_of, evolved, random_game, sent

K20 = King20Options()
SHORT = KingShortOptions()
LONG = KingLongOptions()
N, E, S, W = 0, 1, 2, 3
TRUMPS = ("trump:C", "trump:D", "trump:H", "trump:S")
NEGATIVES = ("no_tricks", "no_hearts", "no_boys", "no_girls", "no_king_of_hearts", "no_last_two")
FOURTEEN = (
    "no_tricks",
    "no_hearts",
    "no_kings_or_jacks",
    "no_queens",
    "no_king_of_hearts",
    "no_last_two",
    "nothing",
    "take_tricks",
    "take_hearts",
    "take_kings_or_jacks",
    "take_queens",
    "take_king_of_hearts",
    "take_last_two",
    "take_everything",
)


def dealt(game: AnyGame, options: Any, seed: int = 1) -> State:
    after: State = evolved(game, game.new(options, 4), game.deal(game.new(options, 4), chance_of(seed, round=1)))
    return after


def refusal(table: Played, seat: int, decision: Any) -> Refusal:
    with pytest.raises(RuleRefused) as refused:
        table.game.decide(table.state, seat, decision, NO_CHANCE)
    return refused.value.code


def named(table: Played, seat: int) -> tuple[str, ...]:
    return table.game.legal(table.state, seat).name


def deals_of(game: AnyGame, options: Any, seed: int) -> list[Step]:
    return [step for step in random_game(game, options, seed) if step.seat is None]


@pytest.mark.ruling("K20-3")
@pytest.mark.parametrize("seed", range(6))
def test_k20_3_the_holder_of_the_two_of_diamonds_declares_first_and_then_everybody_in_turn(seed: int) -> None:
    declarers = [step.events[0].declarer for step in deals_of(KING_20, K20, seed)]
    first = dealt(KING_20, K20, seed)
    assert "2D" in unpacked(first.deal.hands)[declarers[0]]
    assert declarers == [(declarers[0] + hand) % 4 for hand in range(20)]
    assert set(Counter(declarers).values()) == {5}


@pytest.mark.ruling("K20-3")
def test_k20_3_the_two_of_diamonds_never_matters_again() -> None:
    elsewhere = 0
    for step in deals_of(KING_20, K20, 2)[1:]:
        elsewhere += "2D" not in step.events[0].hands[step.events[0].declarer]
    assert elsewhere > 0


@pytest.mark.ruling("K20-4")
def test_k20_4_the_declarer_sees_thirteen_cards_and_everybody_else_waits() -> None:
    state = dealt(KING_20, K20)
    (declarer,) = KING_20.turn(state).seats
    assert len(KING_20.view(state, declarer).hand) == 13
    assert KING_20.view(state, declarer).phase == "declaring"
    for seat in range(4):
        card = KING_20.view(state, seat).hand[0]
        due = Refusal.CONTRACT_NOT_DECLARED if seat == declarer else Refusal.NOT_YOUR_TURN
        assert refusal(Played(KING_20, state), seat, PlayCard(card)) is due
    for seat in {0, 1, 2, 3} - {declarer}:
        assert KING_20.legal(state, seat) == Legal()
        assert refusal(Played(KING_20, state), seat, Declare("no_tricks")) is Refusal.NOT_YOUR_TURN


@pytest.mark.ruling("K20-5")
def test_k20_5_a_player_declares_two_trumps_and_three_negatives_in_any_order() -> None:
    fresh = declaring(K20)
    assert named(fresh, N) == TRUMPS + NEGATIVES
    one_trump = declaring(K20, (N, "trump:S"))
    assert named(one_trump, N) == TRUMPS + NEGATIVES
    two_trumps = declaring(K20, (N, "trump:S"), (N, "trump:S"))
    assert named(two_trumps, N) == NEGATIVES
    assert refusal(two_trumps, N, Declare("trump", "H")) is Refusal.CONTRACT_NOT_LEFT
    three_negatives = declaring(K20, (N, "no_girls"), (N, "no_boys"), (N, "no_tricks"))
    assert named(three_negatives, N) == TRUMPS
    assert refusal(three_negatives, N, Declare("no_hearts")) is Refusal.CONTRACT_NOT_LEFT


@pytest.mark.ruling("K20-5")
def test_k20_5_each_negative_is_played_twice_at_most_in_the_whole_game() -> None:
    once = declaring(K20, (E, "no_girls"))
    assert named(once, N) == TRUMPS + NEGATIVES
    twice = declaring(K20, (E, "no_girls"), (S, "no_girls"))
    assert named(twice, N) == TRUMPS + tuple(name for name in NEGATIVES if name != "no_girls")
    assert refusal(twice, N, Declare("no_girls")) is Refusal.CONTRACT_NOT_LEFT


@pytest.mark.ruling("K20-5")
@pytest.mark.parametrize("seed", range(5))
def test_k20_5_at_the_end_everything_has_been_declared(seed: int) -> None:
    *_, last = random_game(KING_20, K20, seed)
    declared = last.after.match.declared
    assert Counter(one.contract for one in declared) == Counter(dict.fromkeys(NEGATIVES, 2)) + Counter(trump=8)
    for seat in range(4):
        assert sum(one.contract == "trump" for one in declared if one.seat == seat) == 2
    assert KING_20.view(last.after, N).remaining == ((), (), (), ())


@pytest.mark.ruling("K20-5")
def test_k20_5_a_trump_suit_may_be_declared_again_and_there_is_none_without_a_suit() -> None:
    table = declaring(K20, (N, "trump:S"))
    (event,) = KING_20.decide(table.state, N, Declare("trump", "S"), NO_CHANCE)
    assert event == Declared(N, "trump", turn=1, to_act=N, suit="S")
    for suit in (None, "", "N", "CD", "NT"):
        assert refusal(table, N, Declare("trump", suit)) is Refusal.SUIT_UNKNOWN
    assert refusal(table, N, Declare("no_trump")) is Refusal.CONTRACT_UNKNOWN


@pytest.mark.ruling("K20-6")
def test_k20_6_a_player_who_owes_a_negative_always_finds_one() -> None:
    """Everything that can be declared, in whatever order; players and contracts that are alike are one."""
    seen = {_likeness(())}
    waiting: list[tuple[Declaration, ...]] = [()]
    while waiting:
        declared = waiting.pop()
        seat = len(declared) % 4
        names = Form20(K20).remaining(declared)[seat]
        assert names or len(declared) == 20, declared
        for name in names:
            after = (*declared, Declaration(seat, name))
            key = _likeness(after)
            if key not in seen:
                seen.add(key)
                waiting.append(after)
    assert len(seen) == 1792


def _likeness(declared: tuple[Declaration, ...]) -> object:
    """How many negatives each player has declared, and how many contracts were declared once and twice."""
    by_seat = tuple(sum(one.seat == seat and one.contract != "trump" for one in declared) for seat in range(4))
    uses = Counter(one.contract for one in declared if one.contract != "trump")
    return len(declared), by_seat, tuple(sorted(uses.values()))


@pytest.mark.ruling("K20-7")
def test_k20_7_one_player_may_declare_the_same_negative_twice() -> None:
    table = declaring(K20, (N, "no_girls"))
    assert KING_20.decide(table.state, N, Declare("no_girls"), NO_CHANCE)
    a, b, c, d, e, f = NEGATIVES
    others = [(N, a), (N, b), (N, c), (E, a), (E, b), (E, d), (S, c), (S, d), (S, e), (W, e), (W, f)]
    last = declaring(K20, *others, (W, "trump:S"), (W, "trump:S"), seat=W)
    assert named(last, W) == (f,)


@pytest.mark.ruling("K20-8")
def test_k20_8_the_only_contract_left_is_still_asked_for_and_a_late_seat_gets_it() -> None:
    a, b, c, d, e, f = NEGATIVES
    others = [(N, a), (N, b), (N, c), (E, a), (E, b), (E, d), (S, c), (S, d), (S, e), (W, e), (W, f)]
    last = declaring(K20, *others, (W, "trump:S"), (W, "trump:S"), seat=W)
    assert KING_20.turn(last.state).seats == (W,)
    assert KING_20.fallback(KING_20.view(last.state, W)) == Declare(f)
    for step in deals_of(KING_20, K20, 1):
        assert [type(event) for event in step.events] == [RoundDealt]


@pytest.mark.ruling("K20-8")
@pytest.mark.parametrize(
    ("hand", "suit"),
    [
        ("2C 3C 4C AS KS", "C"),
        ("2C 3C AD 2D", "D"),  # equally long: the highest card
        ("KC 3C KD 2D AS", "C"),  # equally high: clubs before diamonds
        ("2H 3H 4S 5S AC", "S"),
        ("AC AD AH AS", "C"),
    ],
)
def test_k20_8_a_late_seat_declares_trump_in_its_longest_suit(hand: str, suit: str) -> None:
    table = declaring(K20, hand=hand)
    assert KING_20.fallback(KING_20.view(table.state, N)) == Declare("trump", suit)


@pytest.mark.ruling("K20-8")
def test_k20_8_without_trumps_a_late_seat_declares_the_first_free_negative_of_a_fixed_order() -> None:
    order = ["no_last_two", "no_tricks", "no_girls", "no_boys", "no_hearts", "no_king_of_hearts"]
    gone = [(N, "trump:S"), (N, "trump:S")]
    for contract in order:
        table = declaring(K20, *gone, hand="2C")
        assert KING_20.fallback(KING_20.view(table.state, N)) == Declare(contract)
        gone += [(E, contract), (E, contract)]


@pytest.mark.ruling("K32-10")
@pytest.mark.parametrize("seed", range(3))
def test_k32_10_the_short_game_has_a_fixed_order_and_nobody_declares(seed: int) -> None:
    deals = deals_of(KING_SHORT, SHORT, seed)
    assert [step.events[0].contract for step in deals] == list(FOURTEEN)
    assert {step.events[0].declarer for step in deals} == {None}
    assert "declare" not in KING_SHORT.decisions
    assert {KING_SHORT.turn(step.after).seats for step in deals} == {(step.events[0].leader,) for step in deals}
    assert KING_SHORT.view(deals[0].after, N).remaining == ((), (), (), ())
    table = start(SHORT, "no_tricks", "0: 7C 8C 9C TC")
    assert refusal(table, N, Declare("no_tricks")) is Refusal.NOT_NOW


@pytest.mark.ruling("K32-11")
@pytest.mark.parametrize("seed", range(6))
def test_k32_11_a_lot_picks_the_leader_of_the_first_deal_and_then_the_lead_goes_round(seed: int) -> None:
    leaders = [step.events[0].leader for step in deals_of(KING_SHORT, SHORT, seed)]
    assert leaders[0] == chance_of(seed, round=1).lot("first_leader", 4)
    assert leaders == [(leaders[0] + deal) % 4 for deal in range(14)]
    assert sorted(Counter(leaders).values()) == [3, 3, 4, 4]


@pytest.mark.ruling("K32-11")
def test_k32_11_the_lot_may_fall_on_anybody() -> None:
    firsts = {dealt(KING_SHORT, SHORT, seed).deal.leader for seed in range(40)}
    assert firsts == {dealt(KING_LONG, LONG, seed).deal.declarer for seed in range(40)} == {0, 1, 2, 3}


@pytest.mark.ruling("K32-13")
def test_k32_13_a_long_game_has_56_deals() -> None:
    deals = deals_of(KING_LONG, LONG, 1)
    assert len(deals) == 56
    assert KING_LONG.view(deals[0].after, None).rounds == 56
    assert KING_SHORT.view(dealt(KING_SHORT, SHORT), None).rounds == 14
    assert KING_20.view(dealt(KING_20, K20), None).rounds == 20


@pytest.mark.ruling("K32-14")
@pytest.mark.parametrize("seed", range(3))
def test_k32_14_each_player_declares_each_contract_once_and_they_take_turns(seed: int) -> None:
    steps = list(random_game(KING_LONG, LONG, seed))
    declared = steps[-1].after.match.declared
    first = chance_of(seed, round=1).lot("first_declarer", 4)
    assert [one.seat for one in declared] == [(first + deal) % 4 for deal in range(56)]
    for seat in range(4):
        assert sorted(one.contract for one in declared if one.seat == seat) == sorted(FOURTEEN)


@pytest.mark.ruling("K32-14")
def test_k32_14_the_lists_are_independent_of_each_other() -> None:
    table = declaring(LONG, (E, "no_queens"), (S, "no_queens"), (N, "take_queens"))
    assert named(table, N) == tuple(name for name in FOURTEEN if name != "take_queens")
    assert refusal(table, N, Declare("take_queens")) is Refusal.CONTRACT_NOT_LEFT
    assert refusal(table, N, Declare("no_girls")) is Refusal.CONTRACT_UNKNOWN
    assert refusal(table, N, Declare("trump", "S")) is Refusal.CONTRACT_UNKNOWN
    assert KING_LONG.decide(table.state, N, Declare("no_queens", suit="S"), NO_CHANCE) == (
        Declared(N, "no_queens", turn=1, to_act=N),
    )
    left = KING_LONG.view(table.state, W).remaining
    assert [len(names) for names in left] == [13, 13, 13, 14]


@pytest.mark.ruling("K32-14")
@pytest.mark.parametrize("blind", [False, True])
def test_k32_14_the_last_contract_of_a_player_is_declared_by_itself(blind: bool) -> None:
    for number, step in enumerate(deals_of(KING_LONG, KingLongOptions(blind_choice=blind), 4), start=1):
        if number <= 52:
            assert len(step.events) == 1
            continue
        deal, declared = step.events
        (left,) = KING_LONG.view(step.before, None).remaining[deal.declarer]
        assert deal.to_act is None
        assert declared == Declared(deal.declarer, left, turn=1, to_act=deal.leader, forced=True)
        assert KING_LONG.turn(step.after).seats == (deal.leader,)
        assert step.after.match.phase == "playing"
    assert number == 56


@pytest.mark.ruling("K32-15")
def test_k32_15_the_declarer_sees_eight_cards_first() -> None:
    state = dealt(KING_LONG, LONG)
    (event,) = KING_LONG.deal(KING_LONG.new(LONG, 4), chance_of(1, round=1))
    for seat in range(4):
        assert len(KING_LONG.view(state, seat).hand) == 8
        assert sent(KING_LONG, KING_LONG.new(LONG, 4), event).secret[seat]["hand"] == list(event.hands[seat])


@pytest.mark.ruling("K32-15")
def test_k32_15_with_a_blind_choice_nobody_sees_cards_before_it_is_made() -> None:
    options = KingLongOptions(blind_choice=True)
    before = KING_LONG.new(options, 4)
    (event,) = KING_LONG.deal(before, chance_of(1, round=1))
    shown = sent(KING_LONG, before, event)
    assert not shown.secret
    assert shown.public["hand_counts"] == [8, 8, 8, 8]
    state = KING_LONG.evolve(before, event)
    (declarer,) = KING_LONG.turn(state).seats
    assert [KING_LONG.view(state, seat).hand for seat in range(4)] == [(), (), (), ()]
    assert KING_LONG.legal(state, declarer).name == FOURTEEN
    assert KING_LONG.fallback(KING_LONG.view(state, declarer)) == Declare("no_tricks")
    (declared,) = KING_LONG.decide(state, declarer, Declare("take_hearts"), NO_CHANCE)
    secret = sent(KING_LONG, state, declared).secret
    after = KING_LONG.evolve(state, declared)
    for seat in range(4):
        assert secret[seat]["hand"] == list(event.hands[seat])
        assert sorted(KING_LONG.view(after, seat).hand) == sorted(event.hands[seat])


@pytest.mark.ruling("K32-16")
@pytest.mark.parametrize(("first_leader", "step_on"), [("chooser", 0), ("next", 1)])
def test_k32_16_the_declarer_leads_or_by_the_option_the_next_seat(first_leader: Any, step_on: int) -> None:
    steps = list(random_game(KING_LONG, KingLongOptions(first_leader=first_leader), 2))
    for step in at_least(56, (step for step in steps if step.seat is None)):
        assert step.events[0].leader == (step.events[0].declarer + step_on) % 4
    for step in at_least(52, (step for step in steps if isinstance(step.events[0], Declared))):
        assert KING_LONG.turn(step.after).seats == (((step.seat or 0) + step_on) % 4,)
    declared = [one.seat for one in steps[-1].after.match.declared]
    assert declared == [(declared[0] + deal) % 4 for deal in range(56)]


@pytest.mark.ruling("K32-17")
def test_k32_17_a_late_seat_declares_its_first_contract_of_the_list_that_is_left() -> None:
    gone: list[tuple[int, str]] = []
    for contract in FOURTEEN[:-1]:
        table = declaring(LONG, *gone, hand="7C")
        assert KING_LONG.fallback(KING_LONG.view(table.state, N)) == Declare(contract)
        gone.append((N, contract))


@pytest.mark.ruling("K32-17")
def test_k32_17_a_game_of_1792_cards_goes_on_from_any_point() -> None:
    """From stored events alone, in the middle of any trick, with the next decision due as before."""
    state, cards = KING_LONG.new(KingLongOptions(early_stop=False), 4), 0
    for step in random_game(KING_LONG, KingLongOptions(early_stop=False), 6):
        assert KING_LONG.turn(state) == KING_LONG.turn(step.before)
        assert state == step.before
        state = evolved(KING_LONG, state, step.events)
        cards += isinstance(step.decision, PlayCard)
    assert cards == 56 * 32 == 1792
    assert KING_LONG.turn(state).game_over


@pytest.mark.ruling("GEN-4")
@pytest.mark.parametrize(("game", "options"), [(KING_20, K20), (KING_SHORT, SHORT), (KING_LONG, LONG)])
def test_gen_4_each_decision_of_king_has_a_number_of_its_own_in_its_round(game: AnyGame, options: Any) -> None:
    steps = list(random_game(game, options, 3))
    turns = [(step, game.turn(step.before), game.turn(step.after)) for step in steps]
    for step, before, after in at_least(14, (turn for turn in turns if turn[0].seat is None)):
        assert (after.round, after.turn) == (before.round + 1, len(step.events) - 1)
    for _, before, after in at_least(14 * 8, (turn for turn in turns if turn[0].seat is not None)):
        assert (after.round, after.turn) == (before.round, before.turn + 1)


@pytest.mark.ruling("GEN-9")
@pytest.mark.parametrize(("game", "options"), [(KING_20, K20), (KING_SHORT, SHORT), (KING_LONG, LONG)])
def test_gen_9_declarer_and_leader_of_king_are_seats_in_the_events(game: AnyGame, options: Any) -> None:
    for step in deals_of(game, options, 8):
        view = game.view(step.after, None)
        assert view.declarer == step.events[0].declarer
        assert view.leader == step.events[0].leader


@pytest.mark.ruling("GEN-1")
@pytest.mark.parametrize(
    ("decision", "details"),
    [
        (Declare("no_trump"), {"contract": "no_trump"}),
        (Declare("trump", "X"), {"suit": "X"}),
        (Declare("no_girls"), {"legal": TRUMPS + tuple(name for name in NEGATIVES if name != "no_girls")}),
    ],
)
def test_gen_1_a_refused_declaration_says_what_was_wrong(decision: Declare, details: dict[str, object]) -> None:
    table = declaring(K20, (E, "no_girls"), (S, "no_girls"))
    with pytest.raises(RuleRefused) as refused:
        KING_20.decide(table.state, N, decision, NO_CHANCE)
    assert refused.value.details == details


def test_what_declarations_stand_for() -> None:
    legal = Legal(name=("trump:C", "no_girls"))
    assert KING_20.choices(legal) == (Declare("trump", "C"), Declare("no_girls"))


def test_a_declared_deal_is_not_declared_again() -> None:
    table = start(K20, "no_girls", "0: 2C 3C 4C 5C")
    assert refusal(table, N, Declare("no_girls")) is Refusal.NOT_NOW
    view = KING_20.view(table.state, W)
    assert (view.phase, view.declarer, view.contract, view.trump) == ("playing", N, "no_girls", None)
    assert KING_20.view(start(K20, "trump:H", "0: 2C 3C 4C 5C").state, W).trump == "H"
