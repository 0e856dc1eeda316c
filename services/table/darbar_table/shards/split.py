"""Makes a database one of several, with a part of the shards. Open this when one PostgreSQL is to become two.

It is for a new database, and for both copies of one that is split: each forgets what the other one keeps.
"""

from __future__ import annotations

from uuid import UUID

import asyncpg

from darbar_kit.database import queries
from darbar_table.shards.placement import SHARDS, shard_of

CONNECT_SECONDS_MAX = 10.0
LOCK_SECONDS_MAX = 5
LOGS_AT_ONCE = 500
_FORGETS = (
    "forget_tables",
    "forget_milestones",
    "forget_outages",
    "forget_seats",
    "forget_frozen",
    "forget_snapshots",
    "forget_shards",
)


class SplitRefused(Exception):
    """Nothing was changed; the message says what is in the way."""


async def keep_shards(owner_url: str, first: int, last: int, *, removes: bool) -> int:
    """The database keeps these shards, and tables of no others; how many logs went. Raises SplitRefused.

    `removes`: tables and logs of others are here, and another database has them. What this has begun, it may be asked
    again to finish.
    """
    if not 0 <= first <= last < SHARDS:
        raise SplitRefused(f"shards are numbered 0 to {SHARDS - 1}")
    sql = queries("darbar_table.store", "split.sql")
    connection = await asyncpg.connect(owner_url, timeout=CONNECT_SECONDS_MAX)
    try:
        await connection.execute(sql["define"])
        async with connection.transaction():
            await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS_MAX}s'")
            await connection.execute(sql["lock"])
            if await connection.fetchval(sql["shards_there"], first, last) != last - first + 1:
                raise SplitRefused("this database does not have all of these shards")
            others = await connection.fetchval(sql["tables_of_others"], first, last)
            if others and not removes:
                raise SplitRefused(f"{others} open tables of other shards are here: has another database a copy?")
            if await connection.fetchval(sql["shards_of_others"], first, last):
                if await connection.fetchval(sql["processes"]):
                    raise SplitRefused("table processes are connected to this database: stop them first")
                for forget in _FORGETS:
                    await connection.execute(sql[forget], first, last)
        return await _remove_logs(connection, range(first, last + 1)) if removes else 0
    finally:
        await connection.close()


async def _remove_logs(connection: asyncpg.Connection[asyncpg.Record], kept: range) -> int:
    """A few at a time, so that tables of the shards that stay may be served meanwhile."""
    sql, tables_after = queries("darbar_table.store", "split.sql"), queries("darbar_table.store")["tables_after"]
    after: UUID | None = None
    count = 0
    while rows := await connection.fetch(tables_after, after, LOGS_AT_ONCE):
        table_ids = [UUID(str(row["table_id"])) for row in rows]
        after = table_ids[-1]
        removed = [table_id for table_id in table_ids if shard_of(table_id) not in kept]
        async with connection.transaction():
            for remove in ("remove_logs", "remove_archived_logs"):
                await connection.execute(sql[remove], removed)
        count += len(removed)
    return count
