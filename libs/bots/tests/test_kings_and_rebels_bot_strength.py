"""How good the Kings and Rebels bots are. Open this when one has become weaker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from random import Random
from statistics import fmean
from typing import Any

import pytest

from darbar_bots.any_legal import AnyLegal
from darbar_bots.duels import chance_of, play
from darbar_bots.kings_and_rebels import NOVICE, REGULAR
from darbar_bots.policy import Policy
from darbar_rules.cards import IDS
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.pack import COPIES

ROUNDS = 40
OPTIONS = KingsAndRebelsOptions()
# Of all points: what bots take more than chance would as Rebels, and leave less to the Rebels as Kings. Measured: 0.08
# and 0.15.
REBELS_BETTER_MIN = 0.03
KINGS_BETTER_MIN = 0.08

Entrant = Callable[[int], Policy]


def regular(_seed: int) -> Policy:
    return REGULAR


def novice(_seed: int) -> Policy:
    return NOVICE


def chance(seed: int) -> Policy:
    return AnyLegal(KINGS_AND_REBELS, Random(seed))


def red_share(rebels: Entrant, kings: Entrant) -> float:
    """The part of all points that the Rebels take, when each side has its own policy, after auctions of good bots."""
    return fmean(_red_share(rebels(seed), kings(seed), seed) for seed in range(ROUNDS))


def _red_share(rebels: Policy, kings: Policy, seed: int) -> float:
    dice = chance_of(seed)
    state = KINGS_AND_REBELS.new(OPTIONS, OPTIONS.seats)
    state = reduce(KINGS_AND_REBELS.evolve, KINGS_AND_REBELS.deal(state, dice), state)
    red: set[int] = set()
    while seats := KINGS_AND_REBELS.turn(state).seats:
        seat = seats[0]
        policy = REGULAR
        if state.match.phase == "playing":
            red = red or _rebels(state)
            policy = rebels if seat in red else kings
        decision = policy.decide(KINGS_AND_REBELS.view(state, seat))
        state = reduce(KINGS_AND_REBELS.evolve, KINGS_AND_REBELS.decide(state, seat, decision, dice), state)
    assert state.match.ended is not None
    return float(state.match.ended.red_points / state.setup.total)


def _rebels(state: Any) -> set[int]:
    named = [COPIES[IDS[convert.card]] for convert in state.deal.converts]
    return {state.deal.leader} | {
        seat for seat, hand in enumerate(state.play.hands) if any(hand & one for one in named)
    }


def test_bots_play_better_than_chance_on_both_sides() -> None:
    both = red_share(regular, regular)
    assert both - red_share(chance, regular) >= REBELS_BETTER_MIN
    assert red_share(regular, chance) - both >= KINGS_BETTER_MIN


def test_the_easy_bot_plays_worse_on_both_sides_together() -> None:
    assert red_share(regular, novice) > red_share(novice, regular)


@pytest.mark.parametrize("options", [OPTIONS, KingsAndRebelsOptions(seats=4)], ids=str)
def test_bots_among_chance_score_more(options: KingsAndRebelsOptions) -> None:
    scored: dict[bool, list[int]] = {True: [], False: []}
    for seed in range(ROUNDS):
        bots = [(seat + seed) % 2 == 0 for seat in range(options.seats)]
        seats = [REGULAR if bot else AnyLegal(KINGS_AND_REBELS, Random(seed)) for bot in bots]
        (result,) = play(KINGS_AND_REBELS, options, seats, seed=seed)
        for bot, points in zip(bots, result.points, strict=True):
            scored[bot].append(points)
    assert fmean(scored[True]) > 1.5 * fmean(scored[False])


def test_the_bids_of_good_bots_are_made_more_often_than_not_but_not_always() -> None:
    made = 0
    for seed in range(ROUNDS):
        leaders: list[int | None] = []
        keep = partial(_keep_leader, leaders)
        (result,) = play(KINGS_AND_REBELS, OPTIONS, [REGULAR] * OPTIONS.seats, seed=seed, look=keep)
        made += leaders[-1] in result.winners
    assert 0.5 < made / ROUNDS < 0.95


def _keep_leader(leaders: list[int | None], view: Any, _decision: Any) -> None:
    leaders.append(view.rebel_leader)
