"""What a move costs at a table with a long history, beside one with a short history. Open this about the growth rows.

    python -m bench.growth_bench [--seconds 4] [--turns 5] [--tables 40]

Half of the tables begin with 50 events and half with 5,000, all loaded by one process. Each half is played in turns, at
one pace and so slowly that histories stay what they are: a window adds about 80 events to each table.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg
from bench import stack
from bench.load import compiled
from bench.logs import PEOPLE, Script, StoredRow, plant, stored
from bench.program import main
from bench.rows import Row, made
from bench.turns import Tables, Turns, faults

YOUNG_EVENTS = 50
OLD_EVENTS = 5_000
LOGS = 4  # so many different ones; the others are copies with players of their own
MOVES_A_SECOND_OF_TABLE = 10.0


class Half:
    """Tables with one length of history."""

    def __init__(self, name: str, events: int, tables: int) -> None:
        self.table_ids = [str(uuid4()) for _ in range(tables)]
        self.turns = Turns("table", name=name)
        self._events = events

    async def plant(self, connection: asyncpg.Connection[Any], darbar: stack.Darbar) -> None:
        """Logs that end between two rounds, so that the wallet need not know of what was played."""
        different = [stored(Script().play_to_rest(self._events)) for _ in range(LOGS)]
        for number, table_id in enumerate(self.table_ids):
            rows = with_players_of(table_id, different[number % LOGS])
            await plant(connection, UUID(table_id), rows, datetime.now(UTC))
            await darbar.give_coins(table_id)


def with_players_of(table_id: str, rows: list[StoredRow]) -> list[StoredRow]:
    """The same log, played by others."""
    found = []
    accounts = stack.players_of(table_id)
    for row in rows:
        body = row.body
        for person, account in zip(PEOPLE, accounts, strict=True):
            body = body.replace(person.account_id.encode(), account.encode())
        found.append(StoredRow(row.kind, body))
    return found


async def bench(*, tables: int, turns: int, seconds: float) -> list[Row]:
    """Plant, load, and play both halves in turns."""
    young, old = Half("young", YOUNG_EVENTS, tables), Half("old", OLD_EVENTS, tables)

    async def planted(darbar: stack.Darbar) -> None:
        connection = await asyncpg.connect(darbar.tables_url)
        try:
            for half in (young, old):
                await half.plant(connection, darbar)
            await connection.execute("ANALYZE")
        finally:
            await connection.close()

    async with stack.servers() as servers, stack.darbar(servers, planted) as darbar:
        program = compiled(servers.folder)
        pace = tables * MOVES_A_SECOND_OF_TABLE
        for turn in range(turns):
            for half in (young, old) if turn % 2 == 0 else (old, young):
                played = Tables(darbar, program, half.table_ids)
                half.turns.add(await played.window(seconds, moves_a_second=pace))
    return rows(young.turns, old.turns)


def rows(young: Turns, old: Turns) -> list[Row]:
    """Processor time, and the middle one of the windows' medians, old beside young."""
    beside = {"moves": float(old.moves), "young_moves": float(young.moves), **faults(young, old)}
    return [
        made(
            "growth_cpu",
            f"microseconds of the table process for a move after {OLD_EVENTS:,} events",
            value=1e6 / old.moves_per_cpu_second,
            reference=f"after {YOUNG_EVENTS}",
            reference_value=1e6 / young.moves_per_cpu_second,
            beside=beside,
        ),
        made(
            "growth_p50",
            f"ms, p50 of a move after {OLD_EVENTS:,} events",
            value=old.median("p50_ms"),
            reference=f"after {YOUNG_EVENTS}",
            reference_value=young.median("p50_ms"),
            beside=beside,
        ),
    ]


if __name__ == "__main__":
    sys.exit(main(bench, __doc__, seconds=4.0, turns=5, tables=40))
