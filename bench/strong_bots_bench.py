"""The strong level against the rule bot, in Court Piece and two contracts of King. Open this when it plays worse.

    python -m bench.strong_bots_bench

With compiled kernels where they can be had: bots decide the same then, only sooner. In Court Piece each deal is played
twice with the seats swapped; in King one strong seat sits among three rule bots, at each place of each deal once.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import reduce
from random import Random
from statistics import fmean
from typing import Final, get_args

import msgspec
from bench.bots_bench import regular
from bench.kernels_bench import FOLDER, ROOT, compiled
from bench.rows import Row, made

from darbar_bots.duels import chance_of, duel, half_width, play_round
from darbar_bots.policies import find
from darbar_bots.policy import Policy
from darbar_kit.settings import environment
from darbar_rules.games import BY_NAME
from darbar_rules.games.court_piece.options import CourtPieceOptions, TrumpMode
from darbar_rules.games.king.events import Declare
from darbar_rules.games.king.options import SEATS, King20Options

MEASURE: Final = "--measure"
PAIRS: Final = 300
PAIRS_AT_ONCE: Final = 5
# Other deals than those by which the bots were made.
FIRST_SEED: Final = 20_000
DEALS: Final = 40
# So many units of a penalty there are in a deal: hearts, or tricks.
UNITS: Final = 13
CONTRACTS: Final = ("no_hearts", "no_tricks")


def strong(_dice: Random) -> Policy:
    return find("court_piece", "strong")


def won_of_few(seed: int) -> float:
    """The share of PAIRS_AT_ONCE pairs of rounds that the strong side won; the ways to the trump take turns."""
    ways = get_args(TrumpMode)
    options = CourtPieceOptions(trump=ways[seed // PAIRS_AT_ONCE % len(ways)])
    return duel(BY_NAME["court_piece"], options, strong, regular, pairs=PAIRS_AT_ONCE, first_seed=seed).won


def units_of(contract: str, seed: int) -> float:
    """What the strong seat takes of a deal in which this contract is declared, on average over the four seats."""
    game, strong_one, rule = BY_NAME["king_20"], find("king_20", "strong"), find("king_20", "normal")
    chance, taken = chance_of(seed), []
    for seat in range(SEATS):
        state = game.new(King20Options(), SEATS)
        state = reduce(game.evolve, game.deal(state, chance), state)
        (declarer,) = game.turn(state).seats
        state = reduce(game.evolve, game.decide(state, declarer, Declare(contract, None), chance), state)
        policies = [strong_one if place == seat else rule for place in range(SEATS)]
        points = play_round(game, state, policies, chance).match.ended.points
        taken.append(UNITS * points[seat] / sum(points))
    return fmean(taken)


def court_piece_row(pool: Executor) -> Row:
    won = list(pool.map(won_of_few, range(FIRST_SEED, FIRST_SEED + PAIRS, PAIRS_AT_ONCE)))
    beside = {"share": fmean(won), "half_width": half_width(won), "pairs": float(PAIRS)}
    return made(
        "strong_court_piece",
        "share of rounds won against the rule bot, lower end of the 95 % interval",
        value=beside["share"] - beside["half_width"],
        reference="the rule bot itself",
        reference_value=0.5,
        beside=beside,
    )


def king_rows(pool: Executor) -> Iterator[Row]:
    for contract in CONTRACTS:
        taken: Sequence[float] = list(
            pool.map(units_of, [contract] * DEALS, range(FIRST_SEED, FIRST_SEED + DEALS), chunksize=5)
        )
        yield made(
            f"strong_{contract}",
            "units of the penalty in a deal, among three rule bots",
            value=fmean(taken),
            reference="one of four equal ones",
            reference_value=UNITS / SEATS,
            beside={"half_width": half_width(taken), "deals": float(DEALS)},
        )


def main() -> int:
    if MEASURE not in sys.argv and compiled():
        variables = {**environment(), "PYTHONPATH": str(FOLDER)}
        command = [sys.executable, "-m", "bench.strong_bots_bench", MEASURE]
        return subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
    with ProcessPoolExecutor() as pool:
        found = [court_piece_row(pool), *king_rows(pool)]
    for row in found:
        print(msgspec.json.encode(row).decode())
    return 0 if all(row.met for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
