"""What each event of Kings and Rebels shows to whom, word for word: clients read these."""

from __future__ import annotations

import pytest

from darbar_rules.game import Shown
from darbar_rules.games.kings_and_rebels.events import (
    BidMade,
    BidPassed,
    CardPlayed,
    Convert,
    ConvertsNamed,
    DealRecord,
    Fate,
    RoundDealt,
    RoundEnded,
    TrickTaken,
)
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.state import Deal, State
from darbar_rules.testing import sent

HANDS = (("3C", "4C"), ("5C", "6C"), ("7C", "8C"), ("9C", "TC"), ("JC", "QC"))


def before(*, public: bool = False) -> State:
    options = KingsAndRebelsOptions(convert_cards="public" if public else "secret")
    state: State = KINGS_AND_REBELS.new(options, 5)
    return state._replace(deal=Deal(leader=3, rebels=(3,)))


def test_round_dealt_shows_everybody_his_own_cards() -> None:
    event = RoundDealt(3, dealer=1, hands=HANDS, turn=7, to_act=2, attempt=2, must_bid=True)
    assert sent(KINGS_AND_REBELS, before(), event) == Shown(
        {
            "round": 3,
            "attempt": 2,
            "dealer": 1,
            "removed": ["2C", "2D"],
            "hand_counts": [2, 2, 2, 2, 2],
            "must_bid": True,
            "to_act": 2,
            "turn": 7,
        },
        {seat: {"hand": list(hand)} for seat, hand in enumerate(HANDS)},
    )


def test_bids_and_passes_are_said_aloud() -> None:
    assert sent(KINGS_AND_REBELS, before(), BidMade(2, 165, turn=4, to_act=3)) == Shown(
        {"seat": 2, "points": 165, "forced": False, "leader": None, "to_act": 3, "turn": 4}
    )
    assert sent(KINGS_AND_REBELS, before(), BidPassed(2, turn=4, to_act=1, leader=1)) == Shown(
        {"seat": 2, "leader": 1, "to_act": 1, "turn": 4}
    )


@pytest.mark.parametrize("public", [False, True])
def test_converts_named_shows_the_trump_and_to_the_leader_the_cards(public: bool) -> None:
    event = ConvertsNamed(3, "H", (Convert("AH"), Convert("TC", 2)), turn=6, to_act=3)
    told = {"seat": 3, "trump": "H", "to_act": 3, "turn": 6}
    converts = {"converts": [{"card": "AH", "ordinal": 1}, {"card": "TC", "ordinal": 2}]}
    assert sent(KINGS_AND_REBELS, before(public=public), event) == (
        Shown(told | converts) if public else Shown(told, {3: converts})
    )


@pytest.mark.parametrize("public", [False, True])
def test_card_played_shows_the_card_its_trick_and_who_joined(public: bool) -> None:
    state = before(public=public)
    told = {"seat": 4, "card": "5S", "winning": 2, "to_act": 0, "turn": 9}
    assert sent(KINGS_AND_REBELS, state, CardPlayed(4, "5S", winning=2, turn=9, to_act=0)) == Shown(told)
    event = CardPlayed(4, "5S", winning=2, turn=9, to_act=0, converted=Convert("5S"))
    assert sent(KINGS_AND_REBELS, state, event) == Shown(told | {"converted": {"card": "5S", "ordinal": 1}})
    taken = TrickTaken(winner=2, captured=(0, 0, 35, 0, 10))
    spent = {"spent": {"card": "5S", "ordinal": 2}}
    event = CardPlayed(4, "5S", winning=2, turn=9, trick=taken, spent=Convert("5S", 2))
    told |= {"to_act": None, "trick": {"winner": 2, "captured": [0, 0, 35, 0, 10]}}
    assert sent(KINGS_AND_REBELS, state, event) == (Shown(told | spent) if public else Shown(told, {3: spent}))


def test_round_ended_shows_all_that_was_hidden() -> None:
    event = RoundEnded(
        round=5,
        leader=3,
        bid=160,
        trump="D",
        rebels=(3, 0),
        converts=(Fate("AH", 1, 3, False), Fate("TC", 2, 0, True)),
        captured=(60, 20, 30, 100, 40),
        red_points=160,
        success=True,
        winners=(0, 3),
        points=(160, 0, 0, 160, 0),
        totals=(160, 150, 0, 160, 0),
        game_over=True,
        deal=DealRecord(1, 0, HANDS),
        places=(1, 3, 4, 1, 4),
    )
    assert sent(KINGS_AND_REBELS, before(), event) == Shown(
        {
            "round": 5,
            "leader": 3,
            "bid": 160,
            "trump": "D",
            "rebels": [3, 0],
            "converts": [
                {"card": "AH", "ordinal": 1, "seat": 3, "joined": False},
                {"card": "TC", "ordinal": 2, "seat": 0, "joined": True},
            ],
            "captured": [60, 20, 30, 100, 40],
            "red_points": 160,
            "success": True,
            "winners": [0, 3],
            "points": [160, 0, 0, 160, 0],
            "totals": [160, 150, 0, 160, 0],
            "game_over": True,
            "places": [1, 3, 4, 1, 4],
            "deal": {"dealer": 1, "attempt": 0, "hands": [list(hand) for hand in HANDS]},
        }
    )
