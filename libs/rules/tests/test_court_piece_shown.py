"""What each event of Court Piece shows to whom, word for word: clients read these."""

from __future__ import annotations

import pytest

from darbar_rules.game import Shown
from darbar_rules.games.court_piece.events import (
    CardPlayed,
    DealRecord,
    DealTry,
    RoundDealt,
    RoundEnded,
    TrickTaken,
    TrumpChosen,
    TrumpShown,
)
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.options import CourtPieceOptions, TrumpMode
from darbar_rules.games.court_piece.state import State
from darbar_rules.testing import at_least, random_game, sent

TRIES = (DealTry(1, 0, ("aces",)), DealTry(1, 1))


def before(mode: TrumpMode) -> State:
    state: State = COURT_PIECE.new(CourtPieceOptions(trump=mode), 4)
    return state


@pytest.mark.parametrize("mode", ["hidden", "open"])
def test_round_dealt_shows_the_caller_his_five_cards(mode: TrumpMode) -> None:
    event = RoundDealt(
        round=3,
        caller=2,
        hands=(("2C", "3C"), ("4C", "5C"), ("6C", "7C"), ("8C", "9C")),
        rest=(("2D",), ("3D",), ("4D",), ("5D",)),
        filtered=True,
        tries=TRIES,
        to_act=2,
        turn=0,
    )
    assert sent(COURT_PIECE, before(mode), event) == Shown(
        {"round": 3, "caller": 2, "hand_counts": [2, 2, 2, 2], "to_act": 2, "turn": 0},
        {2: {"hand": ["6C", "7C"]}},
    )


def test_round_dealt_shows_everybody_his_hand_with_kaat() -> None:
    event = RoundDealt(
        round=3,
        caller=2,
        hands=(("2C",), ("4C",), ("6C",), ("8C",)),
        rest=((), (), (), ()),
        filtered=True,
        tries=TRIES,
        to_act=2,
        turn=0,
    )
    assert sent(COURT_PIECE, before("kaat"), event) == Shown(
        {"round": 3, "caller": 2, "hand_counts": [1, 1, 1, 1], "to_act": 2, "turn": 0},
        {0: {"hand": ["2C"]}, 1: {"hand": ["4C"]}, 2: {"hand": ["6C"]}, 3: {"hand": ["8C"]}},
    )


def test_trump_chosen_shows_a_hidden_trump_to_the_caller_alone() -> None:
    event = TrumpChosen(
        seat=1,
        suit="D",
        hands=(("2C",), ("4D", "4C"), ("6C",), ("8C",)),
        tries=TRIES,
        to_act=1,
        turn=1,
        card="4D",
    )
    assert sent(COURT_PIECE, before("hidden"), event) == Shown(
        {"seat": 1, "hand_counts": [1, 1, 1, 1], "to_act": 1, "turn": 1},
        {
            0: {"hand": ["2C"]},
            1: {"hand": ["4C"], "card": "4D", "suit": "D"},
            2: {"hand": ["6C"]},
            3: {"hand": ["8C"]},
        },
    )


def test_trump_chosen_shows_an_open_trump_to_all() -> None:
    event = TrumpChosen(1, "D", (("2C",), ("4D",), ("6C",), ("8C", "9C")), TRIES, to_act=1, turn=1)
    assert sent(COURT_PIECE, before("open"), event) == Shown(
        {"seat": 1, "suit": "D", "hand_counts": [1, 1, 1, 2], "to_act": 1, "turn": 1},
        {0: {"hand": ["2C"]}, 1: {"hand": ["4D"]}, 2: {"hand": ["6C"]}, 3: {"hand": ["8C", "9C"]}},
    )


def test_trump_shown_shows_everything_to_all() -> None:
    event = TrumpShown(3, "asked", "5S", "S", must_play_trump=True, to_act=3, turn=9)
    assert sent(COURT_PIECE, before("hidden"), event) == Shown(
        {
            "seat": 3,
            "how": "asked",
            "card": "5S",
            "suit": "S",
            "must_play_trump": True,
            "to_act": 3,
            "turn": 9,
        }
    )


def test_card_played_shows_an_open_card_to_all() -> None:
    assert sent(COURT_PIECE, before("open"), CardPlayed(3, "5S", winning=2, turn=9, to_act=0)) == Shown(
        {"seat": 3, "card": "5S", "winning": 2, "to_act": 0, "turn": 9}
    )


def test_card_played_shows_a_face_down_card_to_its_player_alone() -> None:
    event = CardPlayed(3, "5S", winning=2, turn=9, to_act=0, face_down=True)
    assert sent(COURT_PIECE, before("hidden"), event) == Shown(
        {"seat": 3, "card": None, "face_down": True, "winning": 2, "to_act": 0, "turn": 9},
        {3: {"card": "5S"}},
    )


def test_card_played_shows_what_came_of_it() -> None:
    taken = TrickTaken(winner=2, picked_up=5, pile=0, collected=(5, 0), streak=2)
    event = CardPlayed(3, "5S", winning=2, turn=9, to_act=2, trump="S", trick=taken)
    assert sent(COURT_PIECE, before("kaat"), event).public == {
        "seat": 3,
        "card": "5S",
        "winning": 2,
        "to_act": 2,
        "turn": 9,
        "trump": "S",
        "trick": {"winner": 2, "picked_up": 5, "pile": 0, "collected": [5, 0], "streak": 2},
    }


ENDED = RoundEnded(
    round=3,
    outcome="court",
    winners=(0, 2),
    points=(2, 0),
    totals=(11, 4),
    collected=(13, 0),
    next_caller=2,
    game_over=True,
    deal=DealRecord(0, (("2C",), ("4D",), ("6C",), ("8C", "9C")), True, TRIES, "D", "4D"),
    trump="D",
    trump_seat=0,
    face_down=("9C",),
    places=(1, 2, 1, 2),
)


def test_round_ended_shows_all_that_was_hidden() -> None:
    assert sent(COURT_PIECE, before("hidden"), ENDED) == Shown(
        {
            "round": 3,
            "outcome": "court",
            "winners": [0, 2],
            "points": [2, 0],
            "totals": [11, 4],
            "collected": [13, 0],
            "next_caller": 2,
            "game_over": True,
            "places": [1, 2, 1, 2],
            "trump": "D",
            "trump_seat": 0,
            "face_down": ["9C"],
            "deal": {
                "caller": 0,
                "hands": [["2C"], ["4D"], ["6C"], ["8C", "9C"]],
                "filtered": True,
                "tries": [
                    {"stage": 1, "attempt": 0, "one_sided": ["aces"]},
                    {"stage": 1, "attempt": 1, "one_sided": []},
                ],
                "trump": "D",
                "indicator": "4D",
            },
        }
    )


@pytest.mark.parametrize("mode", ["hidden", "open", "kaat"])
def test_the_last_card_of_a_trick_says_to_whom_it_goes(mode: TrumpMode) -> None:
    steps = random_game(COURT_PIECE, CourtPieceOptions(trump=mode), 4, rounds_max=2)
    played = [event for step in steps for event in step.events if isinstance(event, CardPlayed)]
    ended = ((event.winning, event.trick) for event in played if event.trick is not None)
    for winning, trick in at_least(15, ended):
        assert winning == trick.winner
