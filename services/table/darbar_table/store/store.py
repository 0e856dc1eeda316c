"""Everything the table service asks its database, but for appends (writer.py). The statements are in queries.sql."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

import asyncpg

from darbar_kit.database import Database
from darbar_table.domain import events
from darbar_table.domain.events import KIND_OF

VERSION_MAX = 2**31 - 1
_SEAT_TAKEN = KIND_OF[events.SeatTaken]
_SEEDS_SHOWN = KIND_OF[events.SeedsShown]
_OPTIONS_CHANGED = KIND_OF[events.OptionsChanged]
_TABLE_VOIDED = KIND_OF[events.TableVoided]
# From then on a decision is due; else from the decision before.
TURN_BEGINS = frozenset({KIND_OF[events.RoundStarted], KIND_OF[events.TableResumed]})
_NO_TURN_BEGINS = sorted(set(KIND_OF.values()) - TURN_BEGINS)
# What may follow the seeds of a finished round and belongs to it.
_COINS_MOVED = (events.SettleAsked, events.Settled, events.RefundAsked, events.Refunded, events.RefundRefused)
_AFTER_SEEDS_SHOWN = [KIND_OF[kind] for kind in (*_COINS_MOVED, events.GameEnded, events.TableClosed)]
TABLES_READ_AT_ONCE = 200
ROWS_READ_AT_ONCE = 10_000
OUTBOX_READ_AT_ONCE = 500


class OpenTable(NamedTuple):
    """A table that may be played at, and how many events its log has."""

    table_id: UUID
    game: str
    events: int


class StoredEvent(NamedTuple):
    """One row of the event table."""

    version: int
    kind: str
    body: str
    at: datetime
    chain: bytes


class StoredSnapshot(NamedTuple):
    """The state of a table at a version, as bytes that only `state_version` can read; `chain` is that version's."""

    table_id: UUID
    version: int
    state_version: str
    chain: bytes
    body: bytes


class ReplayHead(NamedTuple):
    """`terms` are the JSON of the newest ones; events up to `last` belong to rounds whose result is stored."""

    terms: str
    has_sat_here: bool
    last: int
    bags_shown: frozenset[int]


class Store:
    """Reads and small writes; every method is one statement, and raises DatabaseAway."""

    def __init__(self, database: Database, queries: Mapping[str, str]) -> None:
        self._database = database
        self._queries = queries

    async def close_table(self, table_id: UUID) -> None:
        """A closed table is not loaded again."""
        await self._database.write(self._queries["close_table"], table_id)

    async def open_tables(self, shards: Iterable[int]) -> list[OpenTable]:
        """The open tables of these shards."""
        return [_open_table(row) for row in await self._database.read(self._queries["open_tables"], list(shards))]

    async def open_table(self, table_id: UUID) -> OpenTable | None:
        """This table, while it is open."""
        row = await self._database.read_row(self._queries["open_table"], table_id)
        return None if row is None else _open_table(row)

    async def was_voided(self, table_id: UUID) -> bool | None:
        """Whether an operator has ended this table; None for no table."""
        row = await self._database.read_row(self._queries["was_voided"], table_id, _TABLE_VOIDED)
        return None if row is None else bool(row["was_voided"])

    async def logs(
        self, tables: Iterable[OpenTable], after: Mapping[UUID, int] = MappingProxyType({})
    ) -> AsyncIterator[tuple[OpenTable, list[StoredEvent]]]:
        """The log of each table, after a version or the whole of it, read in portions of at most ROWS_READ_AT_ONCE."""
        rest = [table._replace(events=table.events - after.get(table.table_id, 0)) for table in tables]
        for group in _portions(rest):
            found: dict[UUID, list[StoredEvent]] = {table.table_id: [] for table in group}
            known = [after.get(table_id, 0) for table_id in found]
            longest = max(table.events for table in group)
            for start in range(0, max(longest, 1), ROWS_READ_AT_ONCE):
                rows = await self._database.read(
                    self._queries["events_between"], list(found), known, start, start + ROWS_READ_AT_ONCE
                )
                for table_id, *row in rows:
                    found[table_id].append(StoredEvent(*row))
            for table in group:
                yield table, found[table.table_id]

    async def snapshots(self, table_ids: Sequence[UUID]) -> list[StoredSnapshot]:
        """The snapshots of these tables that lie on their logs."""
        rows = await self._database.read(self._queries["snapshots"], list(table_ids))
        return [StoredSnapshot(UUID(str(table_id)), *row) for table_id, *row in rows]

    async def keep_snapshots(self, snapshots: Sequence[StoredSnapshot]) -> None:
        """In place of older ones."""
        await self._database.write(self._queries["keep_snapshots"], *map(list, zip(*snapshots, strict=True)))

    async def replay_head(self, table_id: UUID, account_id: str) -> ReplayHead | None:
        """What decides how much of a log this account may read; None for no table."""
        row = await self._database.read_row(
            self._queries["replay_head"],
            table_id,
            account_id,
            _SEAT_TAKEN,
            _SEEDS_SHOWN,
            _AFTER_SEEDS_SHOWN,
            _OPTIONS_CHANGED,
        )
        if row is None or row["terms"] is None:
            return None
        last = row["last_end"] if row["first_end"] is not None else 0
        return ReplayHead(row["terms"], row["has_sat_here"], last, frozenset(row["bags_shown"]))

    async def log_page(
        self, table_id: UUID, *, after: int, last: int = VERSION_MAX, rows_max: int
    ) -> list[StoredEvent]:
        """At most `rows_max` events of a log after one version and up to another."""
        rows = await self._database.read(self._queries["log_page"], table_id, after, last, rows_max)
        return [StoredEvent(*row) for row in rows]

    async def turn_began(self, table_id: UUID, version: int) -> datetime | None:
        """When what is decided after this version became due; None before the first round."""
        row = await self._database.read_row(self._queries["turn_began"], table_id, version, _NO_TURN_BEGINS)
        return None if row is None else row["at"]

    async def sits_there(self, table_id: UUID, account_ids: Sequence[str]) -> bool:
        """Whether one of these accounts has a seat at this table."""
        row = await self._database.read_row(self._queries["sits_there"], table_id, list(account_ids))
        return row is not None and bool(row["sits"])

    async def tables_after(self, table_id: UUID | None, count_max: int) -> list[UUID]:
        """The ids of the next tables that have a log."""
        rows = await self._database.read(self._queries["tables_after"], table_id, count_max)
        return [UUID(str(row["table_id"])) for row in rows]

    async def coins_of(self, table_ids: Sequence[UUID], kinds: Sequence[str]) -> list[tuple[str, str, str]]:
        """The events of these kinds as table, kind and key, table by table."""
        rows = await self._database.read(self._queries["coins_of"], list(table_ids), list(kinds))
        return [(str(row["table_id"]), row["kind"], row["key"]) for row in rows]

    async def frozen_tables(self, count_max: int) -> list[tuple[UUID, datetime, str, str | None]]:
        """The last ones, each with why it was stopped and by which command."""
        rows = await self._database.read(self._queries["frozen_tables"], count_max)
        return [(UUID(str(row["table_id"])), row["at"], row["reason"], row["command"]) for row in rows]

    async def frozen(self, table_ids: Sequence[UUID]) -> set[UUID]:
        """Which of these tables are frozen."""
        rows = await self._database.read(self._queries["frozen"], list(table_ids))
        return {UUID(str(row["table_id"])) for row in rows}

    async def freeze(self, table_id: UUID, *, reason: str, command: str | None) -> None:
        """Keep what stopped a table, for an admin."""
        await self._database.write(self._queries["freeze"], table_id, reason, command)

    async def outbox_of(self, shards: Iterable[int]) -> list[tuple[UUID, int, str]]:
        """Milestones that wait to be published, in order."""
        rows = await self._database.read(self._queries["outbox_of"], list(shards), OUTBOX_READ_AT_ONCE)
        return [(UUID(str(row["table_id"])), row["number"], row["message"]) for row in rows]

    async def outbox_done(self, told: Sequence[tuple[UUID, int]]) -> None:
        """Published and acknowledged."""
        await self._database.write(
            self._queries["outbox_done"], [table_id for table_id, _ in told], [number for _, number in told]
        )

    async def archive_tables(self, closed_before: datetime, *, tables_max: int) -> int:
        """Logs of tables that closed before then go to the archive; how many of them did."""
        rows = await self._database.write(self._queries["archive_tables"], closed_before, tables_max)
        return int(rows[0]["tables"])

    async def claim_of(self, account_id: str) -> UUID | None:
        """The table where an account has a seat."""
        row = await self._database.read_row(self._queries["claim_of"], account_id)
        return None if row is None else UUID(str(row["table_id"]))

    async def mend_claims(self, table_ids: Sequence[UUID], sitting: Sequence[tuple[str, UUID]]) -> None:
        """At these tables, only these accounts sit."""
        accounts, tables = [account_id for account_id, _ in sitting], [table_id for _, table_id in sitting]
        await self._database.write(self._queries["mend_claims"], table_ids, accounts, tables)


def _open_table(row: asyncpg.Record) -> OpenTable:
    return OpenTable(UUID(str(row["table_id"])), row["game"], row["events"])


def _portions(tables: Iterable[OpenTable]) -> Iterator[list[OpenTable]]:
    """Groups whose logs together are one portion; a longer log is a group of its own."""
    group: list[OpenTable] = []
    events = 0
    for table in tables:
        if group and (events + table.events > ROWS_READ_AT_ONCE or len(group) >= TABLES_READ_AT_ONCE):
            yield group
            group, events = [], 0
        group.append(table)
        events += table.events
    if group:
        yield group
