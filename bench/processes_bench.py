"""Moves for a second of CPU with two table processes, beside one. Open this about the row of two processes.

    python -m bench.processes_bench [--seconds 4] [--turns 4] [--tables 100]

CPU is that of the table processes and of PostgreSQL. For each turn a second process comes, takes its half of the tables
over from the first, and leaves again. Players' sockets go to the process that has their table.
"""

from __future__ import annotations

import sys

from bench.program import main
from bench.rows import Row, made
from bench.turns import Turns, faults, opened

SECOND = "table2"


async def bench(*, tables: int, turns: int, seconds: float) -> list[Row]:
    """Bring everything up, measure one and two in turns, take it down."""
    one = Turns("table", "postgres", name="one process")
    two = Turns("table", SECOND, "postgres", name="two processes")
    async with opened(tables) as (darbar, played):
        for _ in range(turns):
            one.add(await played.window(seconds))
            async with darbar.table_process(SECOND):
                await played.at_home()
                two.add(await played.window(seconds))
            await played.at_home()
    return [row(one, two)]


def row(one: Turns, two: Turns) -> Row:
    """What the windows say."""
    return made(
        "two_processes",
        "moves for a CPU-second of two table processes and PostgreSQL",
        value=two.moves_per_cpu_second,
        reference="one table process and PostgreSQL",
        reference_value=one.moves_per_cpu_second,
        beside={
            "moves_a_second": two.moves / two.seconds,
            "moves_a_second_of_one": one.moves / one.seconds,
            "core_of_first": two.core("table"),
            "core_of_second": two.core(SECOND),
            "core_of_one": one.core("table"),
            "postgres_core": two.core("postgres"),
            "postgres_core_of_one": one.core("postgres"),
            **faults(one, two),
        },
    )


if __name__ == "__main__":
    sys.exit(main(bench, __doc__, seconds=4.0, turns=4, tables=100))
