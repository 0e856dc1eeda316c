"""Moves a second through the rules alone, for every game, on one core. Open this about what is timed.

    python bench/rules_bench.py

The decisions are drawn beforehand at random, and the cards dealt, so that only the rules are timed: legal, decide and
evolve. A decision is a move, whatever it is. With the view, what the seat that is next may know is made after each.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from darbar_rules.deal import Chance
from darbar_rules.game import AnyGame
from darbar_rules.games import BY_NAME
from darbar_rules.testing import random_game

MOVES_MIN: Final = 8_000
REPEATS: Final = 5

# What is played at each table: the game, and its options; rounds of several are taken in equal shares.
TABLES: Final[Mapping[str, tuple[str, tuple[Mapping[str, Any], ...]]]] = MappingProxyType(
    {
        "court_piece": ("court_piece", ({"trump": "hidden"}, {"trump": "open"}, {"trump": "kaat"})),
        "king_20": ("king_20", ({},)),
        "king_short": ("king_short", ({},)),
        "king_long": ("king_long", ({},)),
        "kings_and_rebels_4": ("kings_and_rebels", ({"seats": 4},)),
        "kings_and_rebels_12": ("kings_and_rebels", ({"seats": 12, "decks": 2},)),
    }
)


class Recorded(NamedTuple):
    """A round that has been dealt, and what was decided in it."""

    dealt: Any
    chance: Chance
    decisions: tuple[tuple[int, Any], ...]


class Table(NamedTuple):
    """A game and rounds of it."""

    game: AnyGame
    rounds: tuple[Recorded, ...]
    moves: int


def recorded(name: str) -> Table:
    """Whole random games, until there are enough moves."""
    game_name, choices = TABLES[name]
    game = BY_NAME[game_name]
    rounds: list[Recorded] = []
    moves = seed = 0
    while moves < MOVES_MIN:
        for choice in choices:
            for played in rounds_of(game, game.options_type(**choice), seed):
                rounds.append(played)
                moves += len(played.decisions)
        seed += 1
    return Table(game, tuple(rounds), moves)


def rounds_of(game: AnyGame, options: Any, seed: int) -> Iterator[Recorded]:
    deal, decisions = None, []
    for step in random_game(game, options, seed):
        if step.seat is not None:
            decisions.append((step.seat, step.decision))
            continue
        if deal is not None:
            yield Recorded(deal.after, deal.chance, tuple(decisions))
        deal, decisions = step, []
    if deal is not None:
        yield Recorded(deal.after, deal.chance, tuple(decisions))


def moves_a_second(table: Table) -> float:
    """Through legal, decide and evolve."""
    legal, decide, evolve = table.game.legal, table.game.decide, table.game.evolve
    started = time.process_time()
    for dealt, chance, decisions in table.rounds:
        state = dealt
        for seat, decision in decisions:
            legal(state, seat)
            for event in decide(state, seat, decision, chance):
                state = evolve(state, event)
    return table.moves / (time.process_time() - started)


def moves_a_second_with_view(table: Table) -> float:
    """The same, and after each move what the seat that is next sees; a spectator when the round is over."""
    legal, decide, evolve = table.game.legal, table.game.decide, table.game.evolve
    turn, view = table.game.turn, table.game.view
    started = time.process_time()
    for dealt, chance, decisions in table.rounds:
        state = dealt
        for seat, decision in decisions:
            legal(state, seat)
            for event in decide(state, seat, decision, chance):
                state = evolve(state, event)
            seats = turn(state).seats
            view(state, seats[0] if seats else None)
    return table.moves / (time.process_time() - started)


def settle(tables: Sequence[Table]) -> None:
    """Each once without a clock; what was drawn beforehand is no work for the collector."""
    for table in tables:
        moves_a_second(table)
    gc.collect()
    gc.freeze()


def main() -> None:
    tables = {name: recorded(name) for name in TABLES}
    settle(list(tables.values()))
    for name, table in tables.items():
        rules = median(moves_a_second(table) for _ in range(REPEATS))
        with_view = median(moves_a_second_with_view(table) for _ in range(REPEATS))
        sys.stdout.write(f"{name}: {rules:,.0f} moves/s, {with_view:,.0f} with a view\n")


if __name__ == "__main__":
    main()
