"""What holds for every bot of every game of the registry. Open this when a bot decides something illegal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_tricks.game import PLAIN_TRICKS

from darbar_bots.any_legal import AnyLegal
from darbar_bots.court_piece.search import SearchPolicy
from darbar_bots.duels import ROUNDS_MAX, play
from darbar_bots.policies import LEVELS, POLICIES, NoPolicy, decide, find
from darbar_bots.policy import Policy, ViewInvalid
from darbar_bots.search import Effort
from darbar_rules.game import AnyGame, Legal
from darbar_rules.games import ALL, BY_NAME
from darbar_rules.testing import pairwise_options, tables

# For plain tricks, which only tests register, nobody has written a policy.
GAMES = pytest.mark.parametrize("game", [*ALL, PLAIN_TRICKS], ids=lambda game: game.name)
EACH_LEVEL = pytest.mark.parametrize("level", LEVELS)

ANY_COMPANY = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
SEEDS_OF_EACH_TABLE = 2
DECISIONS_MIN = 26
LITTLE = Effort(cards_max=2_000, worlds_max=6)


@pytest.fixture(autouse=True)
def plain_tricks_is_registered() -> Iterator[None]:
    with BY_NAME.registered(PLAIN_TRICKS):
        yield


def quick(policy: Policy) -> Policy:
    """The same policy, thinking no longer than a test may take."""
    return replace(policy, effort=LITTLE) if isinstance(policy, SearchPolicy) else policy


def company(game: AnyGame, options: Any, seed: int) -> list[Policy]:
    """Bots of every level and chance, mixed."""
    dice = Random(seed)
    bots = [quick(find(game.name, level)) for level in LEVELS]
    return [dice.choice([*bots, AnyLegal(game, dice)]) for _ in range(game.seat_counts(options)[0])]


@GAMES
def test_a_bot_at_every_kind_of_table_decides_only_what_is_legal(game: AnyGame) -> None:
    """Whoever decides something illegal is refused: the round does not come to its end."""
    for options in pairwise_options(game):
        for seed in range(SEEDS_OF_EACH_TABLE):
            assert len(play(game, options, company(game, options, seed), seed=seed, rounds=2)) >= 1


@GAMES
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_bot_in_any_company_decides_only_what_is_legal(game: AnyGame, data: st.DataObject) -> None:
    options, seed = data.draw(tables(game)), data.draw(st.integers(0, 2**64))
    assert len(play(game, options, company(game, options, seed), seed=seed)) == 1


@GAMES
def test_bots_play_whole_games(game: AnyGame) -> None:
    options = game.options_type()
    results = play(game, options, company(game, options, 2), seed=2, rounds=ROUNDS_MAX)
    assert results[-1].game_over


@GAMES
@EACH_LEVEL
def test_the_same_view_gives_the_same_decision(game: AnyGame, level: str) -> None:
    seen: list[tuple[Any, Any]] = []
    seats = game.seat_counts(game.options_type())[0]
    bot = quick(find(game.name, level))
    play(game, game.options_type(), [bot] * seats, seed=3, look=lambda view, decision: seen.append((view, decision)))
    assert len(seen) >= DECISIONS_MIN
    again = quick(find(game.name, level))
    assert [again.decide(view) for view, _ in seen] == [decision for _, decision in seen]


@GAMES
@EACH_LEVEL
def test_a_view_in_which_there_is_nothing_to_decide_is_refused(game: AnyGame, level: str) -> None:
    views: list[Any] = []
    options = game.options_type()
    seats = game.seat_counts(options)[0]
    anybody = AnyLegal(game, Random(1))
    play(game, options, [anybody] * seats, seed=1, look=lambda view, _: views.append(view))
    before = game.new(options, seats)
    nothing = [game.view(before, 1), game.view(before, None)]
    nothing += [replace(view, seat=None) for view in views] + [replace(view, legal=Legal()) for view in views]
    assert len(nothing) > DECISIONS_MIN
    for view in nothing:
        with pytest.raises(ViewInvalid):
            decide(game.name, level, view)


@pytest.mark.parametrize(("game", "level"), [("court_piece", "godlike"), ("snap", "easy")])
def test_a_game_or_level_that_nobody_plays_is_refused(game: str, level: str) -> None:
    with pytest.raises(NoPolicy):
        find(game, level)


def test_a_policy_is_for_a_game_that_there_is() -> None:
    assert set(POLICIES) <= set(BY_NAME)


def test_without_a_policy_a_bot_plays_what_the_clock_would() -> None:
    seen: list[tuple[Any, Any]] = []
    bot = find("plain_tricks", "strong")
    play(PLAIN_TRICKS, PLAIN_TRICKS.options_type(), [bot] * 4, seed=5, look=lambda *both: seen.append(both))
    assert len(seen) == 52
    assert all(decision == PLAIN_TRICKS.fallback(view) for view, decision in seen)
