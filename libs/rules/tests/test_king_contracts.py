"""What tricks and cards are worth in each contract, and that a game sums to nothing (K20-1, K20-15, K32-3, K32-4)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from darbar_rules.cards import TEXTS, mask_of_texts, texts_of
from darbar_rules.game import AnyGame
from darbar_rules.games.king.contracts import DECK_32, DECK_52, contracts_20, contracts_32
from darbar_rules.games.king.events import RoundEnded
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.options import King20Options, KingLongOptions, KingOptions, KingShortOptions
from darbar_rules.games.king.testing import last_tricks, play
from darbar_rules.testing import random_game

K20 = King20Options()
SHORT = KingShortOptions()
LONG = KingLongOptions()
N, E, S, W = 0, 1, 2, 3

TOTALS_20 = {
    "trump": 650,
    "no_tricks": -650,
    "no_hearts": -390,
    "no_boys": -480,
    "no_girls": -400,
    "no_king_of_hearts": -320,
    "no_last_two": -360,
}
SIX_32 = ("tricks", "hearts", "kings_or_jacks", "queens", "king_of_hearts", "last_two")
TOTALS_32 = (
    {f"no_{name}": -160 for name in SIX_32}
    | {"nothing": -960}
    | {f"take_{name}": 160 for name in SIX_32}
    | {"take_everything": 960}
)
COUNTS_20 = {
    "trump": 13,
    "no_tricks": 13,
    "no_hearts": 13,
    "no_boys": 8,
    "no_girls": 4,
    "no_king_of_hearts": 1,
    "no_last_two": 2,
}
COUNTS_OF_SEVEN_32 = (8, 8, 8, 4, 1, 2, 8)


def ended_rounds(game: AnyGame, options: Any, seed: int) -> list[RoundEnded]:
    """The results of a random game."""
    events = (event for step in random_game(game, options, seed) for event in step.events)
    return [event for event in events if isinstance(event, RoundEnded)]


@pytest.mark.ruling("K20-1")
def test_k20_1_each_contract_sums_to_its_total() -> None:
    assert {contract.name: contract.total(DECK_52) for contract in contracts_20(K20)} == TOTALS_20
    negatives = [total for total in TOTALS_20.values() if total < 0]
    assert 8 * TOTALS_20["trump"] + 2 * sum(negatives) == 0


@pytest.mark.ruling("K20-1")
@pytest.mark.parametrize(
    ("contract", "trick", "points"),
    [
        ("trump:S", "0: 2C 3C 2S 4C", (0, 0, 50, 0)),
        ("no_tricks", "0: 2C AC 3C 4C", (0, -50, 0, 0)),
        ("no_hearts", "0: 2H AH 3H 4C", (0, -90, 0, 0)),
        ("no_hearts", "0: 2C AC 3C 4C", (0, 0, 0, 0)),
        ("no_boys", "0: 2C AC KC JD", (0, -120, 0, 0)),
        ("no_boys", "0: 2C AC QC TC", (0, 0, 0, 0)),
        ("no_girls", "0: QC AC QH QD", (0, -300, 0, 0)),
        ("no_king_of_hearts", "3: AC KH 2C 3C", (0, 0, 0, -320)),
        ("no_king_of_hearts", "3: AC QH KC KD", (0, 0, 0, 0)),
    ],
)
def test_k20_1_what_a_trick_is_worth(contract: str, trick: str, points: tuple[int, ...]) -> None:
    assert play(K20, contract, trick).points == points


@pytest.mark.ruling("K20-1")
@pytest.mark.parametrize("seed", range(6))
def test_k20_1_every_hand_sums_to_its_total_and_twenty_hands_to_nothing(seed: int) -> None:
    rounds = ended_rounds(KING_20, K20, seed)
    assert len(rounds) == 20
    for ended in rounds:
        assert sum(ended.points) == TOTALS_20[ended.contract]
    assert sum(rounds[-1].totals) == 0
    assert rounds[-1].totals == tuple(sum(points) for points in zip(*(ended.points for ended in rounds), strict=True))


@pytest.mark.ruling("K20-15")
def test_k20_15_only_the_last_two_tricks_count_in_last_two() -> None:
    same = last_tricks(K20, "no_last_two", "1: AC 2C 3C 4C", "1: AD 2D 3D 4D", "1: AS 2S 3S 4S")
    assert same.ended is not None
    assert same.ended.points == (0, -360, 0, 0)
    assert same.ended.counts == (0, 2, 0, 0)
    two = last_tricks(K20, "no_last_two", "1: AC 2C 3C 4C", "1: AD 2D 3D 4D", "1: 2S AS 3S 4S")
    assert two.ended is not None
    assert two.ended.points == (0, -180, -180, 0)
    first_eleven = play(K20, "no_last_two", "1: AC 2C 3C 4C", tricks_before=10, holding={E: "2H"})
    assert first_eleven.points == first_eleven.counts == (0, 0, 0, 0)


@pytest.mark.ruling("K20-19")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", [K20, King20Options(early_stop=False)], ids=["early stop", "to the end"])
def test_k20_19_the_score_sheet_counts_every_trick_or_card_of_a_contract(options: King20Options, seed: int) -> None:
    for ended in ended_rounds(KING_20, options, seed):
        assert sum(ended.counts) == COUNTS_20[ended.contract]
        each = TOTALS_20[ended.contract] // COUNTS_20[ended.contract]
        assert ended.points == tuple(each * count for count in ended.counts)


@pytest.mark.ruling("K20-19")
def test_k20_19_the_view_has_the_sheet_and_marks_the_last_finished_round() -> None:
    steps = list(random_game(KING_20, K20, 3, rounds_max=3))
    view = KING_20.view(steps[-1].after, N)
    assert [line.round for line in view.sheet] == [1, 2, 3]
    assert view.last_finished == 3
    line, ended = view.sheet[-1], steps[-1].after.match.ended
    assert (line.declarer, line.contract, line.suit) == (ended.deal.declarer, ended.contract, ended.suit)
    assert (line.counts, line.points) == (ended.counts, ended.points)
    assert KING_20.view(steps[0].after, None).sheet == ()
    assert KING_20.view(steps[0].after, None).last_finished is None


@pytest.mark.ruling("K20-19")
def test_k20_19_everybody_sees_how_many_contracts_of_each_kind_a_player_has_declared() -> None:
    for step in random_game(KING_20, K20, 5):
        view = KING_20.view(step.after, None)
        declared = [(one.seat, one.contract == "trump") for one in step.after.match.declared]
        assert view.trumps_declared == tuple(declared.count((seat, True)) for seat in range(4))
        assert view.negatives_declared == tuple(declared.count((seat, False)) for seat in range(4))
    assert (view.trumps_declared, view.negatives_declared) == ((2, 2, 2, 2), (3, 3, 3, 3))


@pytest.mark.ruling("K20-19")
@pytest.mark.parametrize(("game", "options"), [(KING_SHORT, SHORT), (KING_LONG, LONG)], ids=["short", "long"])
def test_k20_19_in_everything_the_sheet_counts_tricks(game: AnyGame, options: KingOptions) -> None:
    names = list(TOTALS_32)
    for ended in ended_rounds(game, options, 1):
        assert sum(ended.counts) == COUNTS_OF_SEVEN_32[names.index(ended.contract) % 7]


@pytest.mark.ruling("K32-3")
def test_k32_3_each_contract_sums_to_160_and_everything_to_the_six() -> None:
    assert {contract.name: contract.total(DECK_32) for contract in contracts_32(SHORT)} == TOTALS_32
    assert {contract.name: contract.total(DECK_32) for contract in contracts_32(LONG)} == TOTALS_32


@pytest.mark.ruling("K32-3")
@pytest.mark.parametrize("sign", ["no", "take"])
@pytest.mark.parametrize(
    ("contract", "trick", "points"),
    [
        ("tricks", "0: 7C AC 8C 9C", 20),
        ("hearts", "0: 7C AC 8H 9H", 40),
        ("kings_or_jacks", "0: 7C AC KC JD", 40),
        ("queens", "0: QC AC QH 9D", 80),
        ("king_of_hearts", "0: 7C AC KH 9C", 160),
        ("last_two", "0: 7C AC KH 9C", 0),
    ],
)
def test_k32_3_what_a_trick_is_worth(sign: str, contract: str, trick: str, points: int) -> None:
    due = points if sign == "take" else -points
    assert play(SHORT, f"{sign}_{contract}", trick, tricks_before=2).points == (0, due, 0, 0)


@pytest.mark.ruling("K32-3")
@pytest.mark.parametrize(("contract", "each"), [("no_last_two", -80), ("take_last_two", 80)])
def test_k32_3_the_last_two_tricks(contract: str, each: int) -> None:
    table = last_tricks(SHORT, contract, "1: AC 7C 8C 9C", "1: AD 7D 8D 9D", "1: 7S AS 8S 9S")
    assert table.ended is not None
    assert table.ended.points == (0, each, each, 0)


@pytest.mark.ruling("K32-3")
@pytest.mark.parametrize("seed", range(3))
def test_k32_3_every_deal_sums_to_its_total(seed: int) -> None:
    for game, options in ((KING_SHORT, SHORT), (KING_LONG, LONG)):
        for ended in ended_rounds(game, options, seed):
            assert sum(ended.points) == TOTALS_32[ended.contract]
        assert sum(ended.totals) == 0


@pytest.mark.ruling("K32-4")
@pytest.mark.parametrize(("contract", "sign"), [("nothing", -1), ("take_everything", 1)])
def test_k32_4_a_last_trick_of_four_hearts_is_worth_420(contract: str, sign: int) -> None:
    table = last_tricks(SHORT, contract, "2: AH KH QH JH")
    assert table.ended is not None
    assert table.ended.points == (0, 0, sign * 420, 0)


@pytest.mark.ruling("K32-4")
@pytest.mark.parametrize(
    ("heart", "worth"), [("KH", 200), ("QH", 60), ("JH", 40), ("9H", 20), ("QS", 40), ("KD", 20), ("JC", 20), ("AS", 0)]
)
def test_k32_4_what_a_card_is_worth_in_everything(heart: str, worth: int) -> None:
    assert play(SHORT, "nothing", f"0: AD 7D 8D {heart}").points == (-20 - worth, 0, 0, 0)
    assert play(SHORT, "take_everything", f"0: AD 7D 8D {heart}").points == (20 + worth, 0, 0, 0)


@pytest.mark.ruling("K32-4")
def test_k32_4_tricks_seven_and_eight_are_worth_80_more() -> None:
    table = last_tricks(SHORT, "nothing", "0: AC 7C 8C 9C", "0: AD 7D 8D 9D", "0: 7S AS 8S 9S")
    assert table.ended is not None
    assert table.ended.points == (-20 - 100, -100, 0, 0)


@pytest.mark.ruling("K32-4")
def test_k32_4_everything_is_the_sum_of_the_six() -> None:
    """The same cards played in all seven contracts, wherever the rules let them."""
    dice = random.Random(4)
    contracts = contracts_32(SHORT)
    cards = list(texts_of(DECK_32))
    for number in range(8):
        trick = mask_of_texts(dice.sample(cards, 4))
        worth = [
            contract.trick_points[number]
            + sum((trick & mask).bit_count() * each for mask, each in contract.card_points)
            for contract in contracts
        ]
        assert worth[6] == sum(worth[:6])
        assert worth[7:] == [-points for points in worth[:7]]


@pytest.mark.ruling("K32-1")
def test_k32_1_the_deck_has_32_cards_from_the_seven_up() -> None:
    assert DECK_32.bit_count() == 32
    assert {text[0] for text in texts_of(DECK_32)} == set("789TJQKA")
    assert set(texts_of(DECK_52)) == set(TEXTS[:52])
