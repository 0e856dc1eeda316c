"""A row whose existence is the fence of one process. Open this about leases, fences and the time nobody could answer.

Every write of the holder locks the row FOR KEY SHARE in the same statement: once it is deleted, the holder stores
nothing more. The expiry only says when others may delete it, by the database's clock.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeAlias

import asyncpg
import msgspec
import structlog

from darbar_kit.database.away import DatabaseAway, translated
from darbar_kit.database.pool import connect

RENEW_SECONDS = 1.0
ANSWERING_SECONDS = 3.0
EXPIRY_SECONDS = 4.0
# A row that can't be given back in time expires by itself.
RELEASE_SECONDS_MAX = 2.0

_Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
_log = structlog.get_logger()


class FenceLost(Exception):
    """The row is gone: this process has been declared dead, and stores nothing any more under this id."""


class LeaseQueries(msgspec.Struct, frozen=True, kw_only=True):
    """The statements about the row. Each returns a row when it took effect, and is one autocommitted statement.

    `claim`: $1 the holder's id, $2 seconds until the expiry, $3 and on what the holder adds. `renew`: $1, $2, and it
    must not lock the key. `release`: $1. `expire`, when given, runs before each claim and takes nothing.
    """

    claim: str
    renew: str
    release: str
    expire: str | None = None


class LeaseSeconds(msgspec.Struct, frozen=True, kw_only=True):
    """`answering`: how long after a good renewal was sent its holder still answers from memory; shorter than `expiry`,
    so that it falls silent before anybody may declare it dead. `renew`: how often it renews."""

    renew: float = RENEW_SECONDS
    answering: float = ANSWERING_SECONDS
    expiry: float = EXPIRY_SECONDS

    def __post_init__(self) -> None:
        if not 0 < self.renew < self.answering < self.expiry:
            raise ValueError("a lease needs 0 < renew < answering < expiry")


class Lease:
    """One row for one id. Renewed on a connection of its own: a busy pool must not cost the lease.

    `was_silent` is called with the seconds of a silence as soon as it is over, before anything else is answered.
    """

    def __init__(
        self,
        database_url: str,
        queries: LeaseQueries,
        *,
        holder_id: object,
        added: tuple[object, ...] = (),
        seconds: LeaseSeconds | None = None,
        now: Callable[[], float] = time.monotonic,
        was_silent: Callable[[float], None] | None = None,
    ) -> None:
        self._database_url = database_url
        self._queries = queries
        self._holder_id = holder_id
        self._added = added
        self._seconds = LeaseSeconds() if seconds is None else seconds
        self._now = now
        self._was_silent = was_silent
        self._connection: _Connection | None = None
        self._good_until: float | None = None
        self._silent_seconds = 0.0
        self._is_over = False

    @property
    def may_answer(self) -> bool:
        """Looked at before anything is said from memory."""
        return not self._is_over and self._good_until is not None and self._now() < self._good_until

    @property
    def silent_seconds(self) -> float:
        """How long, all in all, this holder could not answer since it got the row, this moment included."""
        if self._good_until is None:
            return 0.0
        return self._silent_seconds + max(0.0, self._now() - self._good_until)

    def clock(self) -> float:
        """Monotonic seconds that stand still while the holder may not answer.

        A deadline kept on this clock is put off by every outage of ours, without anybody having to think of it.
        """
        now, good_until = self._now(), self._good_until
        if good_until is None or now < good_until:
            return now - self._silent_seconds
        return good_until - self._silent_seconds

    async def claim(self) -> bool:
        """One attempt to get the row; False when somebody else has it. Raises DatabaseAway."""
        try:
            connection = await self._connected()
            with translated():
                if self._queries.expire is not None:
                    await connection.execute(self._queries.expire)
                sent = self._now()
                row = await connection.fetchrow(
                    self._queries.claim, self._holder_id, self._seconds.expiry, *self._added
                )
        except BaseException:
            self._drop()
            raise
        if row is not None:
            self._good_until = sent + self._seconds.answering
        return row is not None

    async def keep(self) -> None:
        """Renews for ever; while the database is away it only falls silent. Raises FenceLost when the row is gone."""
        try:
            while not self._is_over:
                sent = self._now()
                try:
                    async with asyncio.timeout(self._seconds.answering):
                        await self._renew(sent)
                except (DatabaseAway, TimeoutError) as error:
                    self._drop()
                    _log.warning("lease_not_renewed", error=str(error) or type(error).__name__)
                await asyncio.sleep(max(0.0, sent + self._seconds.renew - self._now()))
        finally:
            self._drop()
        raise FenceLost(str(self._holder_id))

    async def release(self) -> None:
        """The row goes away, so that others need not wait for its expiry. Ends in time also without a database."""
        self._is_over = True
        self._drop()
        try:
            async with asyncio.timeout(RELEASE_SECONDS_MAX):
                # Not the connection of `keep`, which may be in the middle of a renewal.
                connection = await connect(self._database_url)
                try:
                    with translated():
                        await connection.execute(self._queries.release, self._holder_id)
                finally:
                    connection.terminate()
        except (DatabaseAway, TimeoutError) as error:
            _log.warning("lease_not_released", error=str(error) or type(error).__name__)

    async def _renew(self, sent: float) -> None:
        connection = await self._connected()
        with translated():
            row = await connection.fetchrow(self._queries.renew, self._holder_id, self._seconds.expiry)
        if row is None:
            self._is_over = True
            raise FenceLost(str(self._holder_id))
        self._note_renewal(sent)

    def _note_renewal(self, sent: float) -> None:
        good_until, now = sent + self._seconds.answering, self._now()
        if now >= good_until:
            return  # The answer took too long to be worth anything: we are still silent.
        silent_seconds = 0.0 if self._good_until is None else max(0.0, now - self._good_until)
        self._silent_seconds += silent_seconds
        self._good_until = good_until
        if silent_seconds > 0:
            _log.warning("lease_was_silent", seconds=round(silent_seconds, 3))
            if self._was_silent is not None:
                self._was_silent(silent_seconds)

    async def _connected(self) -> _Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(self._database_url, command_seconds_max=self._seconds.answering)
        return self._connection

    def _drop(self) -> None:
        """Ends the connection without waiting for anybody."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()
