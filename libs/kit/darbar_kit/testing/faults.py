"""Faults that servers have in real life, made on purpose: ended sessions, a closed database. Open this to break one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import asyncpg

# The server answers when a session has ended, at the latest after this.
_ENDED_MILLISECONDS_MAX = 10_000


async def end_sessions(admin_url: str, database_url: str) -> int:
    """Ends every session of a database, as a restart does, and waits until they are gone; how many it were."""
    admin = await asyncpg.connect(admin_url)
    try:
        return await _ended(admin, database_url)
    finally:
        await admin.close()


async def keep_ending_sessions(admin_url: str, database_url: str, *, seconds: float, every_seconds: float) -> int:
    """Ends every session again and again, the new ones too; how many it were."""
    admin = await asyncpg.connect(admin_url)
    end, ended = time.monotonic() + seconds, 0
    try:
        while time.monotonic() < end:
            ended += await _ended(admin, database_url)
            await asyncio.sleep(every_seconds)
    finally:
        await admin.close()
    return ended


@asynccontextmanager
async def closed_database(admin_url: str, database_url: str) -> AsyncIterator[None]:
    """The database is lost to all who use it; its server is there."""
    admin, database = await asyncpg.connect(admin_url), _name(database_url)
    await admin.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")
    await _ended(admin, database_url)
    try:
        yield
    finally:
        await admin.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS true")
        await admin.close()


async def _ended(admin: asyncpg.Connection[asyncpg.Record], database_url: str) -> int:
    # Whoever looks at the database as the admin meanwhile is no service.
    statement = (
        "SELECT pg_terminate_backend(pid, $2) FROM pg_stat_activity WHERE datname = $1 AND usename <> current_user"
    )
    return len(await admin.fetch(statement, _name(database_url), _ENDED_MILLISECONDS_MAX))


def _name(database_url: str) -> str:
    return urlsplit(database_url).path.removeprefix("/")
