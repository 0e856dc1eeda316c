"""How good the King bots are. Open this when one has become weaker."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest

from darbar_bots.any_legal import AnyLegal
from darbar_bots.duels import ROUNDS_MAX, Duel, Entrant, duel
from darbar_bots.king import NOVICE, REGULAR
from darbar_bots.policy import Policy
from darbar_rules.game import AnyGame
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT

# Each game is played twice on the same deals, two bots against two others, seats swapped.
PAIRS = {"king_20": 6, "king_short": 12, "king_long": 4}
# Points of a seat in a deal. Over many games it is 55, 20 and 25; so few have an interval of about +-7.
POINTS_MIN = {"king_20": 40, "king_short": 8, "king_long": 12}
GAMES = pytest.mark.parametrize("game", [KING_20, KING_SHORT, KING_LONG], ids=lambda game: game.name)


def regular(_dice: Random) -> Policy:
    return REGULAR


def novice(_dice: Random) -> Policy:
    return NOVICE


def games(game: AnyGame, one: Entrant, other: Entrant, *, pairs: int) -> Duel:
    """Whole games."""
    return duel(game, game.options_type(), one, other, pairs=pairs, rounds=ROUNDS_MAX)


@GAMES
def test_the_normal_king_bot_beats_chance(game: AnyGame) -> None:
    played = games(game, regular, partial(AnyLegal, game), pairs=PAIRS[game.name])
    assert played.points >= POINTS_MIN[game.name]
    assert played.won >= 0.75


@GAMES
def test_the_easy_king_bot_beats_chance_and_loses_to_the_normal_one(game: AnyGame) -> None:
    assert games(game, novice, partial(AnyLegal, game), pairs=PAIRS[game.name]).points > 0
    assert games(game, novice, regular, pairs=2 * PAIRS[game.name]).points < 0


def test_a_king_bot_against_itself_gains_nothing() -> None:
    played = games(KING_20, regular, regular, pairs=2)
    assert (played.points, played.won) == (0.0, 0.5)
