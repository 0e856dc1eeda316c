"""What holds for every King bot in every deal. Open this when a bot plays or declares something illegal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from darbar_bots.king import NOVICE, REGULAR
from darbar_bots.king.any_legal import AnyLegal
from darbar_bots.king.matches import play_game
from darbar_bots.policy import Policy, ViewInvalid
from darbar_rules.game import AnyGame
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.play import choices
from darbar_rules.testing import option_values

GAMES = (KING_20, KING_SHORT, KING_LONG)
BOTS = (REGULAR, NOVICE)
ROUNDS = 6


def every_table() -> Iterator[tuple[AnyGame, Any]]:
    """Every combination of the options of each game."""
    for game in GAMES:
        for values in product(*option_values(game).values()):
            yield game, game.options_type(**dict(zip(option_values(game), values, strict=True)))


TABLES = list(every_table())


def must_be_legal(view: Any, decision: Any) -> None:
    assert decision in choices(view.legal), f"{decision} in {view}"


@pytest.mark.parametrize(("game", "options"), TABLES, ids=lambda part: getattr(part, "name", str(part)))
def test_a_king_bot_among_bots_and_chance_decides_only_what_is_legal(game: AnyGame, options: Any) -> None:
    seats: list[Policy] = [REGULAR, AnyLegal(Random(1)), NOVICE, AnyLegal(Random(2))]
    play_game(game, options, seats, seed=1, rounds=ROUNDS, look=must_be_legal)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_king_bots_play_whole_games(game: AnyGame) -> None:
    results = play_game(game, game.options_type(), [REGULAR, NOVICE, REGULAR, NOVICE], seed=2, look=must_be_legal)
    assert results[-1].game_over


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    table=st.sampled_from(TABLES),
    seed=st.integers(0, 2**64),
    bots=st.lists(st.sampled_from((REGULAR, NOVICE, None)), min_size=4, max_size=4),
)
def test_a_king_bot_in_any_company_decides_only_what_is_legal(
    table: tuple[AnyGame, Any], seed: int, bots: list[Policy | None]
) -> None:
    seats: list[Policy] = [AnyLegal(Random(seed)) if bot is None else bot for bot in bots]
    play_game(*table, seats, seed=seed, rounds=2, look=must_be_legal)


@pytest.mark.parametrize("bot", BOTS, ids=["regular", "novice"])
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_the_same_king_view_gives_the_same_decision(game: AnyGame, bot: Policy) -> None:
    seen: list[tuple[Any, Any]] = []
    play_game(
        game,
        game.options_type(),
        [bot] * 4,
        seed=3,
        rounds=2,
        look=lambda view, decision: seen.append((view, decision)),
    )
    assert len(seen) > 20
    assert [bot.decide(view) for view, _ in seen] == [decision for _, decision in seen]


def views_of(game: AnyGame) -> list[Any]:
    views: list[Any] = []
    anybody = AnyLegal(Random(1))
    play_game(game, game.options_type(), [anybody] * 4, seed=1, rounds=1, look=lambda view, _: views.append(view))
    return views


@pytest.mark.parametrize("bot", BOTS, ids=["regular", "novice"])
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_a_view_in_which_there_is_nothing_to_decide_is_refused(game: AnyGame, bot: Policy) -> None:
    state = game.new(game.options_type(), 4)
    with pytest.raises(ViewInvalid):
        bot.decide(game.view(state, 1))
    for view in views_of(game):
        for wrong in (replace(view, seat=None), replace(view, legal=type(view.legal)())):
            with pytest.raises(ViewInvalid):
                bot.decide(wrong)


@pytest.mark.parametrize("bot", BOTS, ids=["regular", "novice"])
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_a_view_with_what_there_is_not_is_refused(game: AnyGame, bot: Policy) -> None:
    for view in views_of(game):
        wrong = [replace(view, hand=("1X", *view.hand))]
        if view.phase == "playing":
            wrong += [
                replace(view, contract="no_jokers"),
                replace(view, hand_counts=(1, 2)),
                replace(view, legal=replace(view.legal, play=("AS", "KS", "QS", "JS", "TS", "9S"))),
            ]
        for broken in wrong:
            with pytest.raises(ViewInvalid):
                bot.decide(broken)
