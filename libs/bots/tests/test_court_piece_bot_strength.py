"""How good the bots are. Open this when one has become weaker; bench/bots_bench.py has the full figures."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import get_args

import pytest

from darbar_bots.any_legal import AnyLegal
from darbar_bots.duels import duel
from darbar_bots.policies import find
from darbar_bots.policy import Policy
from darbar_rules.games import BY_NAME
from darbar_rules.games.court_piece.options import CourtPieceOptions, TrumpMode

GAME = BY_NAME["court_piece"]
PAIRS = 60
# The target is 0.8 over many rounds; so few have an interval of +-0.06.
WON_MIN = 0.75


def regular(_dice: Random) -> Policy:
    return find("court_piece", "normal")


def novice(_dice: Random) -> Policy:
    return find("court_piece", "easy")


@pytest.mark.parametrize("options", [CourtPieceOptions(trump=trump) for trump in get_args(TrumpMode)], ids=str)
def test_the_normal_bot_beats_chance(options: CourtPieceOptions) -> None:
    share = duel(GAME, options, regular, partial(AnyLegal, GAME), pairs=PAIRS)
    assert share.won >= WON_MIN


def test_the_easy_bot_loses_to_the_normal_one() -> None:
    share = duel(GAME, CourtPieceOptions(), novice, regular, pairs=PAIRS)
    assert share.won < 0.5


def test_a_bot_against_itself_wins_half() -> None:
    assert duel(GAME, CourtPieceOptions(), regular, regular, pairs=PAIRS).won == 0.5
