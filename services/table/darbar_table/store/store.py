"""Everything the table service asks its database, but for appends (writer.py). The statements are in queries.sql."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from darbar_table.domain import events
from darbar_table.domain.events import KIND_OF

VERSION_MAX = 2**31 - 1
_SEAT_TAKEN = KIND_OF[events.SeatTaken]
_SEEDS_SHOWN = KIND_OF[events.SeedsShown]
# What may follow the seeds of a finished round and belongs to it.
_COINS_MOVED = (events.SettleAsked, events.Settled, events.RefundAsked, events.Refunded, events.RefundRefused)
_AFTER_SEEDS_SHOWN = [KIND_OF[kind] for kind in (*_COINS_MOVED, events.GameEnded, events.TableClosed)]
TABLES_READ_AT_ONCE = 200
OUTBOX_READ_AT_ONCE = 500
# What it looks like when the database does not answer: try again later.
AWAY = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


class StoredEvent(NamedTuple):
    """One row of the event table."""

    version: int
    kind: str
    body: str
    at: datetime
    chain: bytes


class ReplayHead(NamedTuple):
    """`created` is the body of the first event; events up to `last` belong to rounds whose result is stored."""

    created: str
    has_sat_here: bool
    last: int
    bags_shown: frozenset[int]


class Store:
    """Reads and small writes; every method is one statement."""

    def __init__(self, pool: asyncpg.Pool[asyncpg.Record], queries: Mapping[str, str]) -> None:
        self._pool = pool
        self._queries = queries

    async def register(self, process_id: str, *, address: str, seconds: float) -> None:
        """A new process row, alive for so many seconds of the database's clock."""
        await self._pool.execute(self._queries["register"], process_id, address, seconds)

    async def renew(self, process_id: str, *, seconds: float) -> bool:
        """False: the row is gone, this process has been declared dead."""
        return await self._pool.fetchval(self._queries["renew"], process_id, seconds) is not None

    async def retire(self, process_id: str) -> None:
        """A process that stops takes its row away, so that nobody waits for its expiry."""
        await self._pool.execute(self._queries["retire"], process_id)

    async def expire_processes(self) -> list[str]:
        """The processes that this call has declared dead."""
        return [row["process_id"] for row in await self._pool.fetch(self._queries["expire_processes"])]

    async def processes(self) -> dict[str, str]:
        """The living processes and their addresses."""
        return {row["process_id"]: row["address"] for row in await self._pool.fetch(self._queries["processes"])}

    async def shards(self) -> list[str | None]:
        """The living owner of every shard, by its number."""
        return [row["process_id"] for row in await self._pool.fetch(self._queries["shards"])]

    async def claim_shards(self, process_id: str, shards: Iterable[int]) -> list[int]:
        """Those of the asked shards that had no living owner and are now this process's."""
        rows = await self._pool.fetch(self._queries["claim_shards"], process_id, list(shards))
        return [row["shard"] for row in rows]

    async def close_table(self, table_id: UUID) -> None:
        """A closed table is not loaded again."""
        await self._pool.execute(self._queries["close_table"], table_id)

    async def open_tables(self, shards: Iterable[int]) -> dict[UUID, str]:
        """Open tables of these shards and their games."""
        rows = await self._pool.fetch(self._queries["open_tables"], list(shards))
        return {UUID(str(row["table_id"])): row["game"] for row in rows}

    async def events_of(self, table_ids: Sequence[UUID]) -> dict[UUID, list[StoredEvent]]:
        """The whole logs of at most TABLES_READ_AT_ONCE tables."""
        assert len(table_ids) <= TABLES_READ_AT_ONCE
        logs: dict[UUID, list[StoredEvent]] = {table_id: [] for table_id in table_ids}
        for table_id, *row in await self._pool.fetch(self._queries["events_of"], list(table_ids)):
            logs[table_id].append(StoredEvent(*row))
        return logs

    async def replay_head(self, table_id: UUID, account_id: str) -> ReplayHead | None:
        """What decides how much of a log this account may read; None for no table."""
        row = await self._pool.fetchrow(
            self._queries["replay_head"], table_id, account_id, _SEAT_TAKEN, _SEEDS_SHOWN, _AFTER_SEEDS_SHOWN
        )
        if row is None or row["created"] is None:
            return None
        last = row["last_end"] if row["first_end"] is not None else 0
        return ReplayHead(row["created"], row["has_sat_here"], last, frozenset(row["bags_shown"]))

    async def log_page(
        self, table_id: UUID, *, after: int, last: int = VERSION_MAX, rows_max: int
    ) -> list[StoredEvent]:
        """At most `rows_max` events of a log after one version and up to another."""
        rows = await self._pool.fetch(self._queries["log_page"], table_id, after, last, rows_max)
        return [StoredEvent(*row) for row in rows]

    async def frozen(self, table_ids: Sequence[UUID]) -> set[UUID]:
        """Which of these tables are frozen."""
        rows = await self._pool.fetch(self._queries["frozen"], list(table_ids))
        return {UUID(str(row["table_id"])) for row in rows}

    async def freeze(self, table_id: UUID, *, reason: str, command: str | None) -> None:
        """Keep what stopped a table, for an admin."""
        await self._pool.execute(self._queries["freeze"], table_id, reason, command)

    async def outbox_of(self, shards: Iterable[int]) -> list[tuple[UUID, int, str]]:
        """Milestones that wait to be published, in order."""
        rows = await self._pool.fetch(self._queries["outbox_of"], list(shards), OUTBOX_READ_AT_ONCE)
        return [(UUID(str(row["table_id"])), row["number"], row["message"]) for row in rows]

    async def outbox_done(self, told: Sequence[tuple[UUID, int]]) -> None:
        """Published and acknowledged."""
        await self._pool.execute(
            self._queries["outbox_done"], [table_id for table_id, _ in told], [number for _, number in told]
        )

    async def claim_of(self, account_id: str) -> UUID | None:
        """The table where an account has a seat."""
        found = await self._pool.fetchval(self._queries["claim_of"], account_id)
        return None if found is None else UUID(str(found))

    async def mend_claims(self, table_id: UUID, account_ids: Sequence[str]) -> None:
        """Only these accounts sit here."""
        await self._pool.execute(self._queries["mend_claims"], table_id, list(account_ids))

    async def sweep_claims(self) -> None:
        """Claims for tables that are not open go away."""
        await self._pool.execute(self._queries["sweep_claims"])
