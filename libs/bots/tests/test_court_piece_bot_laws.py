"""What holds for every bot in every round. Open this when a bot plays something illegal."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from darbar_bots.court_piece.any_legal import AnyLegal, legal_decisions
from darbar_bots.duels import play_round
from darbar_bots.policies import NoPolicy, decide, find
from darbar_bots.policy import Policy, ViewInvalid
from darbar_rules.games import BY_NAME
from darbar_rules.games.court_piece.options import CourtPieceOptions, PileSizes, TrumpMode
from darbar_rules.options import OptionInvalid

GAME = BY_NAME["court_piece"]
LEVELS = ("easy", "normal", "strong")
ROUNDS_OF_EACH_TABLE = 10


def every_table() -> list[CourtPieceOptions]:
    """Every combination of the options that change how cards are played."""
    tables = []
    for trump, piles, ace, one, two in product(
        get_args(TrumpMode), get_args(PileSizes), (False, True), (False, True), (False, True)
    ):
        options = CourtPieceOptions(
            trump=trump,
            piles=piles,
            ace_cannot_win_pile=ace,
            show_on_lead_must_lead_trump=one,
            fresh_win_must_be_after_showing=two,
        )
        try:
            GAME.check_options(options)
        except OptionInvalid:
            continue
        tables.append(options)
    return tables


def must_be_legal(view: Any, decision: Any) -> None:
    assert decision in legal_decisions(view), f"{decision} in {view}"


@pytest.mark.parametrize("options", every_table(), ids=str)
def test_a_bot_among_bots_and_chance_decides_only_what_is_legal(options: CourtPieceOptions) -> None:
    for seed in range(ROUNDS_OF_EACH_TABLE * len(LEVELS)):
        level = LEVELS[seed % len(LEVELS)]
        bot, chance = find("court_piece", level), AnyLegal(Random(seed))
        seats: list[Policy] = [bot, chance, bot, chance] if seed % 2 else [chance, bot, bot, bot]
        play_round(GAME, options, seats, seed=seed, look=must_be_legal)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    options=st.sampled_from(every_table()),
    seed=st.integers(0, 2**64),
    level=st.sampled_from(LEVELS),
    bots=st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_a_bot_in_any_company_decides_only_what_is_legal(
    options: CourtPieceOptions, seed: int, level: str, bots: list[bool]
) -> None:
    seats = [find("court_piece", level) if is_bot else AnyLegal(Random(seed)) for is_bot in bots]
    play_round(GAME, options, seats, seed=seed, look=must_be_legal)


def test_the_same_view_gives_the_same_decision() -> None:
    seen: list[tuple[Any, Any]] = []
    bot = find("court_piece", "normal")
    play_round(GAME, CourtPieceOptions(), [bot] * 4, seed=3, look=lambda view, decision: seen.append((view, decision)))
    assert len(seen) > 20
    assert [decide("court_piece", "normal", view) for view, _ in seen] == [decision for _, decision in seen]


def test_every_game_has_a_bot_of_every_level() -> None:
    for game, level in product(BY_NAME, LEVELS):
        assert find(game, level) is not None


def test_a_level_that_nobody_plays_is_refused() -> None:
    with pytest.raises(NoPolicy):
        find("court_piece", "godlike")


@pytest.mark.parametrize("seat", [None, 1])
def test_a_seat_that_may_not_decide_is_refused(seat: int | None) -> None:
    views: list[Any] = []
    anybody = AnyLegal(Random(1))
    play_round(GAME, CourtPieceOptions(), [anybody] * 4, seed=1, look=lambda view, _: views.append(view))
    state = GAME.new(CourtPieceOptions(), 4)
    with pytest.raises(ViewInvalid):
        decide("court_piece", "normal", GAME.view(state, seat))
