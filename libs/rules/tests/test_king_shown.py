"""What each event of King shows to whom, word for word: clients read these."""

from __future__ import annotations

import pytest

from darbar_rules.cards import packed
from darbar_rules.game import Shown
from darbar_rules.games.king.events import CardPlayed, DealRecord, Declared, RoundDealt, RoundEnded, TrickTaken
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.options import King20Options, KingLongOptions
from darbar_rules.games.king.state import Deal, State
from darbar_rules.testing import sent

HANDS = (("2C", "3C"), ("4C", "5C"), ("6C", "7C"), ("8C", "9C"))
OWN_HANDS = {seat: {"hand": list(hand)} for seat, hand in enumerate(HANDS)}


def before(*, blind: bool = False) -> State:
    state: State = KING_LONG.new(KingLongOptions(blind_choice=blind), 4)
    return state._replace(deal=Deal(hands=packed(HANDS), blind=blind))


def test_round_dealt_shows_everybody_his_own_cards() -> None:
    event = RoundDealt(3, leader=2, hands=HANDS, turn=0, declarer=1, to_act=1)
    assert sent(KING_20, KING_20.new(King20Options(), 4), event) == Shown(
        {
            "round": 3,
            "leader": 2,
            "declarer": 1,
            "contract": None,
            "blind": False,
            "hand_counts": [2, 2, 2, 2],
            "to_act": 1,
            "turn": 0,
        },
        OWN_HANDS,
    )


def test_round_dealt_of_the_short_game_says_the_contract() -> None:
    event = RoundDealt(4, leader=2, hands=HANDS, turn=0, contract="no_queens", to_act=2)
    assert sent(KING_SHORT, before(), event) == Shown(
        {
            "round": 4,
            "leader": 2,
            "declarer": None,
            "contract": "no_queens",
            "blind": False,
            "hand_counts": [2, 2, 2, 2],
            "to_act": 2,
            "turn": 0,
        },
        OWN_HANDS,
    )


def test_a_blind_deal_shows_nobody_a_card() -> None:
    event = RoundDealt(3, leader=1, hands=HANDS, turn=0, declarer=1, blind=True, to_act=1)
    shown = sent(KING_LONG, before(blind=True), event)
    assert (shown.public["blind"], shown.public["hand_counts"], shown.secret) == (True, [2, 2, 2, 2], {})


@pytest.mark.parametrize("blind", [False, True])
def test_declared_shows_the_contract_and_after_a_blind_choice_the_cards(blind: bool) -> None:
    event = Declared(1, "take_queens", turn=1, to_act=1, forced=True)
    assert sent(KING_LONG, before(blind=blind), event) == Shown(
        {"seat": 1, "contract": "take_queens", "suit": None, "forced": True, "to_act": 1, "turn": 1},
        OWN_HANDS if blind else {},
    )


def test_declared_shows_the_trump_suit() -> None:
    event = Declared(3, "trump", turn=1, to_act=3, suit="H")
    assert sent(KING_20, before(), event) == Shown(
        {"seat": 3, "contract": "trump", "suit": "H", "forced": False, "to_act": 3, "turn": 1}
    )


def test_card_played_shows_the_card_and_what_came_of_its_trick() -> None:
    assert sent(KING_20, before(), CardPlayed(3, "5S", winning=2, turn=9, to_act=0)) == Shown(
        {"seat": 3, "card": "5S", "winning": 2, "to_act": 0, "turn": 9}
    )
    taken = TrickTaken(winner=2, counts=(0, 0, 3, 0), points=(0, 0, -90, 0), hearts_broken=True)
    assert sent(KING_20, before(), CardPlayed(3, "5S", winning=2, turn=9, trick=taken)) == Shown(
        {
            "seat": 3,
            "card": "5S",
            "winning": 2,
            "to_act": None,
            "turn": 9,
            "trick": {"winner": 2, "counts": [0, 0, 3, 0], "points": [0, 0, -90, 0], "hearts_broken": True},
        }
    )
    other = TrickTaken(winner=2, counts=(0, 0, 1, 0), points=(0, 0, 50, 0))
    assert sent(KING_20, before(), CardPlayed(3, "5S", winning=2, turn=9, trick=other)).public["trick"] == {
        "winner": 2,
        "counts": [0, 0, 1, 0],
        "points": [0, 0, 50, 0],
    }


def test_round_ended_shows_all_that_was_hidden() -> None:
    event = RoundEnded(
        round=20,
        contract="trump",
        counts=(4, 3, 3, 3),
        points=(200, 150, 150, 150),
        totals=(100, -50, -50, 0),
        game_over=True,
        deal=DealRecord(1, HANDS, 1),
        suit="D",
        stopped_early=True,
        places=(1, 3, 3, 2),
        positive=(True, False, False, False),
    )
    assert sent(KING_20, before(), event) == Shown(
        {
            "round": 20,
            "contract": "trump",
            "suit": "D",
            "counts": [4, 3, 3, 3],
            "points": [200, 150, 150, 150],
            "totals": [100, -50, -50, 0],
            "stopped_early": True,
            "game_over": True,
            "places": [1, 3, 3, 2],
            "positive": [True, False, False, False],
            "deal": {"declarer": 1, "leader": 1, "hands": [list(hand) for hand in HANDS]},
        }
    )
