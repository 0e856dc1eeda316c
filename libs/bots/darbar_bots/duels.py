"""Two policies against each other on the same deals, with seats swapped. Open this to measure a bot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import Any, Final, TypeVar

from darbar_bots.policy import Policy
from darbar_rules.deal import FILTERED_IN_BAG, FLAGS_IN_BAG, Chance
from darbar_rules.game import AnyGame, RoundResult

# A policy for each game, made with that game's own dice.
Entrant = Callable[[Random], Policy]
State = TypeVar("State")
Look = Callable[[Any, Any], None]

SEED_BYTES: Final = 32
NORMAL_95: Final = 1.96
ROUNDS_MAX: Final = 1_000  # no game lasts so long


@dataclass(frozen=True, slots=True)
class Duel:
    """What the first policy made of pairs of games; a half-width is half of a 95 % interval over pairs."""

    pairs: int
    won: float  # the share of games in which its side came first, half of one for equal points
    won_half_width: float
    points: float  # of one seat in a round
    points_half_width: float

    @property
    def won_lower_end(self) -> float:
        return self.won - self.won_half_width


def duel(
    game: AnyGame, options: Any, one: Entrant, other: Entrant, *, pairs: int, rounds: int = 1, first_seed: int = 0
) -> Duel:
    """Each deal is played twice: `one` holds the even seats first, the odd ones then. A game is its first `rounds`."""
    played = [
        _pair(game, options, (one, other), seed=seed, rounds=rounds) for seed in range(first_seed, first_seed + pairs)
    ]
    won, points = [share for share, _ in played], [points for _, points in played]
    return Duel(pairs, fmean(won), half_width(won), fmean(points), half_width(points))


def play(
    game: AnyGame, options: Any, policies: Sequence[Policy], *, seed: int, rounds: int = 1, look: Look | None = None
) -> list[RoundResult]:
    """A game's first rounds, or all that there are: a policy a seat, all chance from the seed.

    `look` is shown each view and what was decided on it.
    """
    state = game.new(options, len(policies))
    results: list[RoundResult] = []
    while not game.turn(state).game_over and len(results) < rounds:
        chance = chance_of(seed, round=len(results) + 1)
        state = reduce(game.evolve, game.deal(state, chance), state)
        state = play_round(game, state, policies, chance, look=look)
        result = game.result(state)
        assert result is not None
        results.append(result)
    return results


def play_round(
    game: AnyGame, state: State, policies: Sequence[Policy], chance: Chance, *, look: Look | None = None
) -> State:
    """The state at the end of the round that this state is in."""
    while seats := game.turn(state).seats:
        view = game.view(state, seats[0])
        decision = policies[seats[0]].decide(view)
        if look is not None:
            look(view, decision)
        state = reduce(game.evolve, game.decide(state, seats[0], decision, chance), state)
    return state


def chance_of(seed: int, *, round: int = 1) -> Chance:
    """The chance of a round; as many rounds are filtered as at any table (CP-7)."""
    filtered = (seed + round - 1) % FLAGS_IN_BAG < FILTERED_IN_BAG
    return Chance(seed.to_bytes(SEED_BYTES, "big"), table_id="duel", game=1, round=round, filtered=filtered)


def _pair(
    game: AnyGame, options: Any, entrants: tuple[Entrant, Entrant], *, seed: int, rounds: int
) -> tuple[float, float]:
    """The share of both games that the first policy won, and its points of a seat in a round."""
    seats = game.seat_counts(options)[0]
    won = points = 0.0
    for side in (0, 1):
        pair = [entrant(Random(f"{seed} {side}")) for entrant in entrants]
        results = play(game, options, [pair[(seat + side) % 2] for seat in range(seats)], seed=seed, rounds=rounds)
        totals = results[-1].totals
        own, others = fmean(totals[side::2]), fmean(totals[1 - side :: 2])
        won += 0.5 if own == others else float(own > others)
        points += own / len(results)
    return won / 2, points / 2


def half_width(values: Sequence[float]) -> float:
    """Half of the 95 % interval of their mean."""
    return NORMAL_95 * stdev(values) / sqrt(len(values))
