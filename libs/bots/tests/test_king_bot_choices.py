"""What people expect of a King bot in plain positions. Open this when one plays a card that people find stupid."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from darbar_bots.king import NOVICE, REGULAR
from darbar_bots.king.declaring import WEIGHTS_20, WEIGHTS_32
from darbar_bots.king.known import known_from
from darbar_rules.games.king.events import Declare, PlayCard
from darbar_rules.games.king.options import King20Options, KingLongOptions, KingShortOptions
from darbar_rules.games.king.testing import Played, declaring, play, start

K20 = King20Options()
SHORT = KingShortOptions()
LONG = KingLongOptions()
N, E, S, W = 0, 1, 2, 3


def chosen(table: Played) -> str:
    """What the bot on turn plays."""
    (seat,) = table.game.turn(table.state).seats
    decision = REGULAR.decide(table.game.view(table.state, seat))
    assert isinstance(decision, PlayCard)
    return decision.card


def declared(options: Any, hand: str, *gone: tuple[int, str]) -> Declare:
    table = declaring(options, *gone, hand=hand)
    view: Any = replace(table.game.view(table.state, N), hand_counts=(len(hand.split()),) * 4)
    decision = REGULAR.decide(view)
    assert isinstance(decision, Declare)
    return decision


@pytest.mark.parametrize(
    ("contract", "trick", "hand", "card"),
    [
        ("no_tricks", "0: 9C 4C 5C", "2C 8C AC", "8C"),  # the highest that stays under
        ("no_girls", "0: AC 4C 5C", "2C QC", "QC"),  # slip the queen under the ace
        ("no_girls", "0: JC 4C 5C", "2C QC", "2C"),  # but do not take the trick with her
        ("no_boys", "0: AD 4D 5D", "3D KD", "KD"),
        ("no_tricks", "0: 9C 4C 5C", "JC AC", "AC"),  # it has to be won: with the highest
        ("no_hearts", "0: 9C 4C 5C", "KC 3C AS", "KC"),  # a trick that costs nothing is the time for a king
    ],
)
def test_the_last_to_follow_ducks_and_gets_rid_of_what_is_dangerous(
    contract: str, trick: str, hand: str, card: str
) -> None:
    assert chosen(play(K20, contract, trick, holding={N: "2S", E: "3S", S: "4S", W: hand})) == card


@pytest.mark.parametrize(
    ("contract", "hand", "card"),
    [
        ("no_tricks", "2D 3H AS", "AS"),
        ("no_girls", "QH QS 2H 3H 4H", "QS"),  # the bare queen, not the guarded one
        ("no_hearts", "2H 3H AH", "AH"),
        ("no_king_of_hearts", "KH 2D", "KH"),
    ],
)
def test_who_cannot_follow_throws_what_is_dangerous(contract: str, hand: str, card: str) -> None:
    others = {N: "2S 3S 4S 5S", E: "6S 7S 8S 9S", S: "7D 8D 9D TD"}
    assert chosen(play(K20, contract, "0: 9C 4C 5C", holding=others | {W: hand})) == card


@pytest.mark.parametrize(
    ("contract", "trick"),
    [("no_hearts", "0: AC 9H 8H 7H"), ("no_tricks", "0: AC 9D 8D 7D"), ("no_girls", "0: AC 9D 8D QD")],
)
def test_a_shown_void_is_not_led_into_for_nothing(contract: str, trick: str) -> None:
    """Nobody else has clubs any more: any club would win the trick, with whatever they throw."""
    table = play(K20, contract, trick, holding={N: "3C 4S", E: "5S 5H", S: "6S 6H", W: "7S KH"})
    assert chosen(table) == "4S"


@pytest.mark.parametrize(
    ("options", "contract", "trick", "hand", "card"),
    [
        (K20, "trump:S", "0: 9C 4C 5C", "2C TC AC", "TC"),  # as cheaply as possible
        (K20, "trump:S", "0: KC 4C 5C", "2C QC", "2C"),  # it cannot be won: the lowest
        (K20, "trump:S", "0: 9C 4C 5C", "2S AS", "2S"),
        (SHORT, "take_tricks", "0: 9C 7C 8C", "TC AC", "TC"),
        (SHORT, "take_hearts", "0: 9C JH 8C", "TC 7C", "TC"),
        (SHORT, "take_queens", "0: 9C QH 8C", "TC 7C", "TC"),
    ],
)
def test_tricks_that_are_wanted_are_taken(options: Any, contract: str, trick: str, hand: str, card: str) -> None:
    others = {N: "7D 8D", E: "9D TD", S: "JD KD"}
    assert chosen(play(options, contract, trick, holding=others | {W: hand})) == card


def test_a_card_that_somebody_had_to_throw_and_did_not_is_not_expected_there() -> None:
    table = play(K20, "no_girls", "0: AC 9D", holding={N: "2S", E: "3S", S: "4C", W: "5C"})
    known = known_from(table.game.view(table.state, S))
    queens = table.state.form.contracts["no_girls"].counted_cards
    assert known.cannot[E] & queens == queens
    assert known.voids[E] == 1
    assert known.cannot[N] == known.voids[N] == 0


def test_a_long_strong_suit_is_declared_as_trump() -> None:
    assert declared(K20, "AS KS QS JS TS 9S 8S AC KC AD 2D AH 2H") == Declare("trump", "S")
    assert declared(K20, "AH KH QH JH TH 9H 8H AC KC AD 2D AS 2S") == Declare("trump", "H")


def test_a_low_hand_is_declared_to_take_nothing() -> None:
    low = "2C 3C 4C 2D 3D 5D 6D 2H 3H 4H 2S 3S 5S"
    assert declared(K20, low).contract == "no_tricks"
    assert declared(K20, low, (E, "no_tricks"), (S, "no_tricks")).contract != "no_tricks"
    assert declared(LONG, "7C 8C 9C 7D 8D 7H 8H 7S").contract == "nothing"


def test_a_high_hand_is_declared_to_take_everything() -> None:
    assert declared(LONG, "AC KC QC AD KD AH KH AS").contract == "take_everything"


def test_the_first_contract_of_the_list_is_chosen_blindly() -> None:
    table = declaring(KingLongOptions(blind_choice=True), (N, "no_tricks"), hand="AC", blind=True)
    assert REGULAR.decide(table.game.view(table.state, N)) == Declare("no_hearts")


def test_a_beginner_declares_what_the_clock_would() -> None:
    for options, hand in ((K20, "2C 3C 4C AS KS"), (LONG, "AC KC QC AD KD AH KH AS")):
        table = declaring(options, hand=hand)
        view = table.game.view(table.state, N)
        assert NOVICE.decide(view) == table.game.fallback(view)


def test_every_contract_has_its_weights() -> None:
    assert list(WEIGHTS_20) == list(start(K20, "no_girls").state.form.contracts)
    assert list(WEIGHTS_32) == list(start(LONG, "no_queens").state.form.contracts)
