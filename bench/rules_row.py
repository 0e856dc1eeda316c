"""The rows of the rules: every game beside the card games of others. Open this about the rows, rules_bench for figures.

A row without a view stands beside RLCard's rules, one with a view beside RLCard's environment, which makes a view as
well. OpenSpiel is written in C++ and stands in `beside` only. All are asked in turns, and each figure is a median;
`slowest` and `fastest` are its ends.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Final, NamedTuple

import msgspec
from bench.rows import Row, made
from bench.rules_bench import TABLES, Table, moves_a_second, moves_a_second_with_view, recorded, settle
from bench.rules_peers import NAMES, Peers, opened

TURNS: Final = 7


class Figures(NamedTuple):
    """Moves a CPU-second, turn by turn. A peer that has not been measured has no turns."""

    rules: list[float]
    with_view: list[float]
    peers: Mapping[str, list[float]]


def measured(table: Table, peers: Peers) -> Figures:
    figures = Figures([], [], {name: [] for name in NAMES})
    for _ in range(TURNS):
        figures.rules.append(moves_a_second(table))
        figures.with_view.append(moves_a_second_with_view(table))
        for name, turns in figures.peers.items():
            if (figure := peers.measure(name)) is not None:
                turns.append(figure)
    return figures


def rows_of(name: str, table: Table, figures: Figures) -> Iterator[Row]:
    middle = {peer: median(turns) if len(turns) == TURNS else 0.0 for peer, turns in figures.peers.items()}
    beside = {"turns": float(TURNS), "moves": float(table.moves)} | middle
    rules, with_view = median(figures.rules), median(figures.with_view)
    yield made(
        f"rules_{name}",
        "moves/s: legal, decide, evolve",
        value=rules,
        reference="RLCard bridge: legal, step",
        reference_value=middle["rlcard_rules"],
        beside=beside | spread("", figures.rules) | spread("reference_", figures.peers["rlcard_rules"]),
    )
    yield made(
        f"rules_with_view_{name}",
        "moves/s: legal, decide, evolve, view",
        value=with_view,
        reference="RLCard bridge: step of its environment",
        reference_value=middle["rlcard_environment"],
        beside=beside
        | {"view_microseconds": 1e6 / with_view - 1e6 / rules}
        | spread("", figures.with_view)
        | spread("reference_", figures.peers["rlcard_environment"]),
    )


def spread(prefix: str, turns: Sequence[float]) -> dict[str, float]:
    """The slowest and the fastest turn."""
    return {f"{prefix}slowest": min(turns), f"{prefix}fastest": max(turns)} if turns else {}


def main() -> int:
    tables = {name: recorded(name) for name in TABLES}
    settle(list(tables.values()))
    found = []
    with opened() as peers:
        for name, table in tables.items():
            for row in rows_of(name, table, measured(table, peers)):
                print(msgspec.json.encode(row).decode(), flush=True)
                found.append(row)
    return 0 if all(row.met for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
