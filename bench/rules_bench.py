"""Moves a second through the rules alone: legal, decide and evolve of random Court Piece rounds, on one core.

    python bench/rules_bench.py

The decisions are drawn beforehand, so that only the rules are timed. What is counted is a decision, the call included.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from statistics import median
from typing import Any, Final, NamedTuple

from darbar_rules.deal import Chance
from darbar_rules.games import BY_NAME
from darbar_rules.testing import random_game

GAME: Final = BY_NAME["court_piece"]
MODES: Final = ("hidden", "open", "kaat")
ROUNDS_A_MODE: Final = 200
REPEATS: Final = 5


class Recorded(NamedTuple):
    """A round that has been dealt, and what was decided in it."""

    dealt: Any
    chance: Chance
    decisions: tuple[tuple[int, Any], ...]


def measure() -> float:
    """Moves a CPU-second: the median of a few repeats over the same rounds."""
    rounds = recorded()
    return median(moves_a_second(rounds) for _ in range(REPEATS))


def recorded() -> list[Recorded]:
    rounds: list[Recorded] = []
    for mode in MODES:
        options = GAME.options_type(trump=mode)
        for seed in range(ROUNDS_A_MODE):
            deal, *steps = random_game(GAME, options, seed, rounds_max=1)
            decisions = tuple((step.seat, step.decision) for step in steps if step.seat is not None)
            rounds.append(Recorded(deal.after, deal.chance, decisions))
    return rounds


def moves_a_second(rounds: Sequence[Recorded]) -> float:
    legal, decide, evolve = GAME.legal, GAME.decide, GAME.evolve
    started = time.process_time()
    for dealt, chance, decisions in rounds:
        state = dealt
        for seat, decision in decisions:
            legal(state, seat)
            for event in decide(state, seat, decision, chance):
                state = evolve(state, event)
    return sum(len(played.decisions) for played in rounds) / (time.process_time() - started)


if __name__ == "__main__":
    sys.stdout.write(f"{measure():,.0f} moves/s\n")
