"""Connections with limits on every wait. Open this when one is refused, or waits too long."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import asyncpg

from darbar_kit.database.away import translated

STATEMENT_SECONDS_MAX = 5
LOCK_SECONDS_MAX = 5
IDLE_IN_TRANSACTION_SECONDS_MAX = 2
# The server's limit counts from when the statement arrives; this one also ends waiting for a server that is gone.
COMMAND_SECONDS_MAX = 10.0
CONNECT_SECONDS_MAX = 10.0

# Also given to service roles, so that a session opened by hand has them too.
SESSION_LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "statement_timeout": f"{STATEMENT_SECONDS_MAX}s",
        "lock_timeout": f"{LOCK_SECONDS_MAX}s",
        "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_SECONDS_MAX}s",
    }
)


class StorageUnsafe(Exception):
    """The server may lose what it has acknowledged: it runs with fsync or synchronous_commit off."""


async def open_pool(
    url: str, *, size_min: int = 1, size_max: int = 8, unsafe_storage: bool = False
) -> asyncpg.Pool[asyncpg.Record]:
    """Connections in UTC and with limits on every wait. Raises StorageUnsafe unless `unsafe_storage`."""
    pool = await asyncpg.create_pool(
        url,
        min_size=size_min,
        max_size=size_max,
        command_timeout=COMMAND_SECONDS_MAX,
        timeout=CONNECT_SECONDS_MAX,
        reset=_leave_as_it_is,
        server_settings={"timezone": "UTC", **SESSION_LIMITS},
    )
    if not unsafe_storage:
        try:
            async with pool.acquire() as connection:
                await refuse_unsafe(connection)
        except BaseException:
            await pool.close()
            raise
    return pool


async def _leave_as_it_is(_connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """No statement of ours changes its session beyond its transaction, so nothing has to be undone for the next one:
    the driver would ask the server to, after each. What a transaction left open is still rolled back."""


async def connect(url: str, *, command_seconds_max: float = COMMAND_SECONDS_MAX) -> asyncpg.Connection[asyncpg.Record]:
    """One connection outside the pool, for what must not wait for others. Raises DatabaseAway."""
    with translated(maybe_done=False):
        return await asyncpg.connect(
            url,
            timeout=CONNECT_SECONDS_MAX,
            command_timeout=command_seconds_max,
            server_settings={"timezone": "UTC", **SESSION_LIMITS},
        )


async def refuse_unsafe(connection: asyncpg.pool.PoolConnectionProxy[asyncpg.Record]) -> None:
    """Raises StorageUnsafe when a commit on this connection would not survive a power cut."""
    off = [
        name
        for name in ("fsync", "full_page_writes", "synchronous_commit")
        if await connection.fetchval("SELECT current_setting($1)", name) == "off"
    ]
    if off:
        raise StorageUnsafe(
            f"the PostgreSQL server runs with {', '.join(off)} off and may lose what it acknowledged; "
            "turn it on, or set DARBAR_UNSAFE_STORAGE=1 where losing data doesn't matter"
        )
