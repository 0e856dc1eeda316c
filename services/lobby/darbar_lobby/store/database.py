"""One place where a driver's error becomes ours. Open this when a lost database answers 500 and not 503."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

import asyncpg

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Unavailable

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
Connection: TypeAlias = "asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"

ACQUIRE_SECONDS_MAX = 5.0
# The server went away, is full, or took too long: the same request may work in a moment.
_PASSING = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    # The server has said goodbye, but the end of the connection has not been seen yet.
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.QueryCanceledError,
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)


class Database:
    """Connections with or without a transaction; raises Unavailable when the database is not there."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Each statement by itself."""
        try:
            connection = await self._pool.acquire(timeout=ACQUIRE_SECONDS_MAX)
        except (*_PASSING, asyncpg.PostgresError) as error:
            # Whatever the reason why nobody gets in: it is the operator's, not the caller's.
            raise _unavailable() from error
        try:
            try:
                yield connection
            finally:
                await self._pool.release(connection)
        except _PASSING as error:
            raise _unavailable() from error

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """All or nothing."""
        async with self.connection() as connection, connection.transaction():
            yield connection

    async def answers(self) -> bool:
        try:
            async with self.connection() as connection:
                await connection.execute("SELECT 1")
        except Unavailable:
            return False
        return True


def _unavailable() -> Unavailable:
    return Unavailable(Reason.STORAGE_UNAVAILABLE)
