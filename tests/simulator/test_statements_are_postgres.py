"""What the double of the database answered in some histories, PostgreSQL answers too: statement by statement, in the
order in which they were carried out, with the clock of the simulation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import tables_statements
import virtual_time
import wallet_statements
from database_double import Executed
from simulated_history import History

from darbar_kit.testing import MakeDatabase, TestDatabase

# So many, and then as many more as it takes until every statement that is not seldom has been met.
HISTORIES_MIN, HISTORIES_MAX = 10, 100
# Lost connections, a lost fence, and a wallet that gives its lease back.
SEEDS_FIRST = (54, 143, 114)
SIMULATED_CLOCK = """
CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
AS $$ SELECT current_setting('simulated.now')::timestamptz $$
"""
SELDOM = frozenset(("freeze", "close_table", "open_table"))


@pytest.fixture(scope="module")
def told() -> dict[int, list[Executed]]:
    """The statements of each history, by its seed."""
    virtual_time.install()
    found: dict[int, list[Executed]] = {}
    unmet = {text for names in (tables_statements.NAMES, wallet_statements.NAMES) for text in _not_seldom(names)}
    for seed in (*SEEDS_FIRST, *range(HISTORIES_MAX)):
        if len(found) >= HISTORIES_MIN and not unmet:
            break
        executed: list[Executed] = []
        History(seed, whole_game=False).run(executed=executed)
        found[seed] = executed
        unmet -= {one.statement for one in executed}
    return found


@pytest.mark.parametrize(
    ("package", "names"),
    [("darbar_table", tables_statements.NAMES), ("darbar_wallet", wallet_statements.NAMES)],
    ids=["tables", "wallet"],
)
async def test_postgres_answers_as_the_double_does(
    told: dict[int, list[Executed]], package: str, names: dict[str, str], make_database: MakeDatabase
) -> None:
    folder = Path(str(resources.files(package))) / "migrations"
    counts: Counter[str] = Counter()
    for seed, executed in told.items():
        database = await make_database("simulated", folder)
        others = _other_names(names)
        mine = [one for one in executed if one.statement not in others]
        await _compare(database, mine, f"seed {seed}")
        counts.update(names[one.statement] for one in mine if one.statement in names)
    assert {names[text] for text in _not_seldom(names)} <= set(counts), "statements that were never compared"


def _not_seldom(names: dict[str, str]) -> set[str]:
    return {text for text, name in names.items() if name not in SELDOM}


def _other_names(names: dict[str, str]) -> set[str]:
    every = {*tables_statements.NAMES, *wallet_statements.NAMES}
    return every - set(names)


async def _compare(database: TestDatabase, executed: Sequence[Executed], where: str) -> None:
    owner = await asyncpg.connect(database.owner_url)
    await owner.execute(SIMULATED_CLOCK)
    await owner.close()
    sessions: dict[int, asyncpg.Connection[asyncpg.Record]] = {}
    try:
        for one in executed:
            if one.session not in sessions:
                sessions[one.session] = await asyncpg.connect(
                    database.url,
                    server_settings={"timezone": "UTC", "search_path": "public, pg_catalog", "lock_timeout": "2s"},
                )
            assert await _outcome(sessions[one.session], one) == _plain(one.outcome), f"{where}: {one}"
    finally:
        for session in sessions.values():
            session.terminate()


async def _outcome(session: asyncpg.Connection[asyncpg.Record], one: Executed) -> Any:
    await session.execute("SELECT set_config('simulated.now', $1, false)", one.at.isoformat())
    try:
        if not one.arguments:
            return _plain(await session.fetch(one.statement))
        return _plain(await session.fetch(one.statement, *one.arguments))
    except asyncpg.PostgresError as error:
        return (error.sqlstate, error.constraint_name)


def _plain(outcome: Any) -> Any:
    """Rows in no order, as most statements promise none."""
    if isinstance(outcome, tuple):
        return outcome
    return sorted((tuple(row.values()) if hasattr(row, "values") else tuple(row) for row in outcome), key=repr)
