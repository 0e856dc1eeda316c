"""The database as a service uses it, with one error when it is away. Open this when a query is asked twice, or not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TypeAlias

import asyncpg
import structlog

from darbar_kit.database.away import DatabaseAway, is_dead_connection, translated
from darbar_kit.database.pool import open_pool

Connection: TypeAlias = "asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"
Record: TypeAlias = asyncpg.Record

ACQUIRE_SECONDS_MAX = 5.0
CLOSE_SECONDS_MAX = 3.0

_log = structlog.get_logger()


class Database:
    """A pool whose every method raises DatabaseAway while the database is away, and the driver's error for a mistake.

    The first request after a restart of the server finds dead connections in the pool: what may be repeated (a read,
    the BEGIN of a transaction) is then asked once more on a fresh one.
    """

    def __init__(self, pool: asyncpg.Pool[asyncpg.Record]) -> None:
        self._pool = pool

    @classmethod
    async def open(cls, url: str, *, size_min: int = 1, size_max: int = 8, unsafe_storage: bool = False) -> Database:
        """Raises DatabaseAway, and StorageUnsafe unless `unsafe_storage`."""
        with translated(maybe_done=False):
            return cls(await open_pool(url, size_min=size_min, size_max=size_max, unsafe_storage=unsafe_storage))

    @property
    def pool(self) -> asyncpg.Pool[asyncpg.Record]:
        """The driver's own, for what this class does not offer; use it inside `translated()`."""
        return self._pool

    async def read(self, statement: str, *arguments: object) -> list[Record]:
        """The rows of one statement that changes nothing."""
        try:
            return await self._fetch(statement, *arguments)
        except DatabaseAway as away:
            await self._renew_after(away)
        return await self._fetch(statement, *arguments)

    async def read_row(self, statement: str, *arguments: object) -> Record | None:
        """The first row of one statement that changes nothing."""
        rows = await self.read(statement, *arguments)
        return rows[0] if rows else None

    async def write(self, statement: str, *arguments: object) -> list[Record]:
        """One statement, committed, and what it returns. Never repeated: DatabaseAway says whether it may be done."""
        return await self._fetch(statement, *arguments)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Several statements, each by itself. Nothing but calls of the driver belongs inside."""
        connection = await self._acquired()
        try:
            with translated():
                yield connection
        finally:
            await self._release(connection)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """All or nothing. Nothing but calls of the driver belongs inside."""
        connection, transaction = await self._begun()
        try:
            try:
                with translated(maybe_done=False):
                    yield connection
            except BaseException:
                with _connection_may_be_gone():
                    await transaction.rollback()
                raise
            with translated():
                await transaction.commit()
        finally:
            await self._release(connection)

    async def answers(self) -> bool:
        """Whether the database answers now."""
        try:
            await self.read("SELECT 1")
        except DatabaseAway:
            return False
        return True

    async def close(self) -> None:
        """Ends within CLOSE_SECONDS_MAX: what is still in use then is dropped."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS_MAX):
                await self._pool.close()
        except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            _log.warning("pool_dropped", error=type(error).__name__)
            self._pool.terminate()

    async def _fetch(self, statement: str, *arguments: object) -> list[Record]:
        async with self.connection() as connection:
            return await connection.fetch(statement, *arguments)

    async def _begun(self) -> tuple[Connection, asyncpg.transaction.Transaction]:
        """A connection on which BEGIN has been answered; a dead one is replaced once, as nothing was done on it."""
        try:
            return await self._begun_once()
        except DatabaseAway as away:
            await self._renew_after(away)
        return await self._begun_once()

    async def _begun_once(self) -> tuple[Connection, asyncpg.transaction.Transaction]:
        connection = await self._acquired()
        transaction = connection.transaction()
        try:
            with translated(maybe_done=False):
                await transaction.start()
        except BaseException:
            await self._release(connection)
            raise
        return connection, transaction

    async def _renew_after(self, away: DatabaseAway) -> None:
        """Raises it again unless a dead connection was the cause; all others of that age are as dead as this one."""
        if away.__cause__ is None or not is_dead_connection(away.__cause__):
            raise away
        await self._pool.expire_connections()

    async def _acquired(self) -> Connection:
        try:
            with translated(maybe_done=False):
                return await self._pool.acquire(timeout=ACQUIRE_SECONDS_MAX)
        except asyncpg.PostgresError as error:
            # Whatever the reason why nobody is let in: it is the operator's, not the caller's.
            raise DatabaseAway(f"nobody is let in: {type(error).__name__}", maybe_done=False) from error

    async def _release(self, connection: Connection) -> None:
        # What was asked has its answer by now, whatever becomes of the connection.
        with _connection_may_be_gone():
            await self._pool.release(connection)


@contextmanager
def _connection_may_be_gone() -> Iterator[None]:
    """For what is needless without a connection: the server has then ended the transaction, the pool drops the rest."""
    with suppress(DatabaseAway), translated():
        yield
