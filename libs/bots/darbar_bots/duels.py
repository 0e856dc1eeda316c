"""Two policies against each other on the same deals, with seats swapped. Open this to measure a bot."""

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

# A policy for each round, made with that round's own dice.
Entrant = Callable[[Random], Policy]

SEED_BYTES: Final = 32
NORMAL_95: Final = 1.96
# Flags of the bag: 5 rounds of 7 are dealt again until they are fair (CP-7).
FILTERED_OF_SEVEN: Final = 5


@dataclass(frozen=True, slots=True)
class Share:
    """The share of rounds won by the first policy; `half_width` is half of its 95 % interval, over pairs of rounds."""

    pairs: int
    won: float
    half_width: float

    @property
    def lower_end(self) -> float:
        return self.won - self.half_width


def duel(game: AnyGame, options: Any, one: Entrant, other: Entrant, *, pairs: int, first_seed: int = 0) -> Share:
    """Each deal is played twice: `one` holds the even seats first, the odd ones then."""
    shares = [_pair(game, options, (one, other), seed) for seed in range(first_seed, first_seed + pairs)]
    return Share(pairs, fmean(shares), NORMAL_95 * stdev(shares) / sqrt(pairs))


def play_round(
    game: AnyGame,
    options: Any,
    policies: Sequence[Policy],
    *,
    seed: int,
    look: Callable[[Any, Any], None] | None = None,
) -> RoundResult:
    """One round from its deal to its result, a policy a seat, all chance from the seed.

    `look` is shown each view and what was decided on it.
    """
    chance = Chance(
        seed.to_bytes(SEED_BYTES, "big"), table_id="duel", game=1, round=1, filtered=seed % 7 < FILTERED_OF_SEVEN
    )
    state = game.new(options, len(policies))
    state = reduce(game.evolve, game.deal(state, chance), state)
    while seats := game.turn(state).seats:
        seat = seats[0]
        view = game.view(state, seat)
        decision = policies[seat].decide(view)
        if look is not None:
            look(view, decision)
        state = reduce(game.evolve, game.decide(state, seat, decision, chance), state)
    result = game.result(state)
    assert result is not None
    return result


def _pair(game: AnyGame, options: Any, entrants: tuple[Entrant, Entrant], seed: int) -> float:
    seats = game.seat_counts(options)[0]
    won = 0
    for side in (0, 1):
        teams = [entrant(Random(f"{seed} {side}")) for entrant in entrants]
        result = play_round(game, options, [teams[(seat + side) % 2] for seat in range(seats)], seed=seed)
        won += result.winners[0] % 2 == side
    return won / 2
