"""What may happen where a disk is full, and what else meanwhile. Open this to add something worse to it."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from fault_stack import Disks, FaultStack, lasts
from faults import PAST_A_LEASE_SECONDS, Faults

from darbar_kit.testing import eventually

# Until Darbar says what it misses. A NATS server without space goes on for a while with what it frees itself.
TOLD_SECONDS_MAX = 60.0
# Of a table process here: a fault is told of soon.
SETTINGS = {"table_milestones_late_seconds": "2"}


class FullDisks:
    """Each ends when there is space again, and leaves the rest to Darbar and to the machine, which starts servers."""

    def __init__(self, stack: FaultStack, faults: Faults) -> None:
        self._stack = stack
        self._faults = faults

    async def postgres_waits(self) -> None:
        """Its log goes on in old files; nothing that needs a new page is stored."""
        async with self._postgres_full():
            await lasts(PAST_A_LEASE_SECONDS)

    async def postgres_ends(self) -> None:
        """It can't even be started again: there is no space for its pid."""
        server = await self._stack.postgres_process()
        async with self._postgres_full():
            server.send_signal(signal.SIGQUIT)
            await self._told("lease")
            await lasts(PAST_A_LEASE_SECONDS)

    async def nats_waits(self) -> None:
        async with self._nats_full():
            await lasts(PAST_A_LEASE_SECONDS)

    async def owner_is_killed_beside_postgres(self) -> None:
        """Who takes over can store neither its lease for long nor a move."""
        owner = await self._stack.owner()
        async with self._postgres_full():
            owner.process.kill()
            await lasts(PAST_A_LEASE_SECONDS)

    async def owners_are_killed_beside_nats(self) -> None:
        """Who comes back meets a stream that takes nothing."""
        async with self._nats_full():
            await self._faults.owners_are_killed()
            await lasts(PAST_A_LEASE_SECONDS)

    async def both_wait(self) -> None:
        """PostgreSQL has space first, and what it stores then can't be published."""
        async with self._nats_full():
            await self.postgres_ends()
            await lasts(PAST_A_LEASE_SECONDS)

    @property
    def _disks(self) -> Disks:
        assert self._stack.disks is not None
        return self._stack.disks

    @asynccontextmanager
    async def _postgres_full(self) -> AsyncIterator[None]:
        async with self._disks.postgres.full():
            await self._told("storage", "lease")
            yield

    @asynccontextmanager
    async def _nats_full(self) -> AsyncIterator[None]:
        async with self._disks.nats.full():
            await self._told("milestones")
            yield

    async def _told(self, *words: str) -> None:
        """Waits until readiness misses one of these: otherwise nothing was tried."""

        async def is_missing() -> bool:
            return any([await self._stack.missing(word) for word in words])

        await eventually(is_missing, seconds=TOLD_SECONDS_MAX)


FULL_DISKS: Mapping[str, Callable[[FullDisks], Awaitable[None]]] = {
    "PostgreSQL's disk is full": FullDisks.postgres_waits,
    "PostgreSQL crashes on a full disk": FullDisks.postgres_ends,
    "NATS's disk is full": FullDisks.nats_waits,
    "owner is killed, PostgreSQL's disk is full": FullDisks.owner_is_killed_beside_postgres,
    "both owners are killed, NATS's disk is full": FullDisks.owners_are_killed_beside_nats,
    "PostgreSQL's and NATS's disks are full": FullDisks.both_wait,
}
