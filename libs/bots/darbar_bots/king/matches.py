"""Whole King games of two policies on the same deals, with seats swapped. Open this to measure a bot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import Any, Final

from darbar_bots.policy import Policy
from darbar_rules.deal import Chance
from darbar_rules.game import AnyGame, RoundResult
from darbar_rules.games.king.options import SEATS

# A policy for each game, made with that game's own dice.
Entrant = Callable[[Random], Policy]

SEED_BYTES: Final = 32
NORMAL_95: Final = 1.96


@dataclass(frozen=True, slots=True)
class Compared:
    """Games in which two seats each are held by two policies; every deal is played twice, with the seats swapped."""

    pairs: int
    points: float  # of one seat of the first policy in one deal
    half_width: float  # half of the 95 % interval of that, over pairs
    won: float  # the share of pairs of games in which the first policy's seats had more points

    @property
    def lower_end(self) -> float:
        return self.points - self.half_width


def compare(game: AnyGame, options: Any, one: Entrant, other: Entrant, *, pairs: int, first_seed: int = 0) -> Compared:
    """The deals of both games of a pair are the same, though what is declared may differ."""
    points = [_pair(game, options, (one, other), seed) for seed in range(first_seed, first_seed + pairs)]
    won = fmean(0.5 if gained == 0 else float(gained > 0) for gained in points)
    return Compared(pairs, fmean(points), NORMAL_95 * stdev(points) / sqrt(pairs), won)


def play_game(
    game: AnyGame,
    options: Any,
    policies: Sequence[Policy],
    *,
    seed: int,
    rounds: int | None = None,
    look: Callable[[Any, Any], None] | None = None,
) -> list[RoundResult]:
    """A whole game or its first rounds, a policy a seat, all chance from the seed.

    `look` is shown each view and what was decided on it.
    """
    state = game.new(options, SEATS)
    results: list[RoundResult] = []
    while not game.turn(state).game_over and len(results) != rounds:
        chance = Chance(seed.to_bytes(SEED_BYTES, "big"), table_id="match", game=1, round=len(results) + 1)
        state = reduce(game.evolve, game.deal(state, chance), state)
        while seats := game.turn(state).seats:
            view = game.view(state, seats[0])
            decision = policies[seats[0]].decide(view)
            if look is not None:
                look(view, decision)
            state = reduce(game.evolve, game.decide(state, seats[0], decision, chance), state)
        result = game.result(state)
        assert result is not None
        results.append(result)
    return results


def _pair(game: AnyGame, options: Any, entrants: tuple[Entrant, Entrant], seed: int) -> float:
    """The mean points of the first policy's seats in a deal; the others have as many less."""
    gained = rounds = 0
    for side in (0, 1):
        pair = [entrant(Random(f"{seed} {side}")) for entrant in entrants]
        results = play_game(game, options, [pair[(seat + side) % 2] for seat in range(SEATS)], seed=seed)
        gained += sum(results[-1].totals[side::2])
        rounds += len(results)
    return gained / (rounds * SEATS / 2)
