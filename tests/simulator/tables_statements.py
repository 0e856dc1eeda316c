"""The table service's statements in plain Python, one step each. Open this beside `queries.sql` of its store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
from database_double import Blocked, Rows, Session

from darbar_kit.database import queries

FENCE = "EXISTS (SELECT 1 FROM alive)"
OUTAGES_KEPT = timedelta(hours=1)


class Living(NamedTuple):
    """A row of `table_process`."""

    address: str
    expires_at: datetime
    renewed_since: datetime | None = None  # None: since ever
    leaving: bool = False


class EventRow(NamedTuple):
    """A row of `event`."""

    version: int
    kind: str
    body: str
    at: datetime
    chain: bytes


class Stored(NamedTuple):
    """An append that was carried out: by whom, and who owned the table's shard then."""

    process_id: str
    table_id: UUID
    version: int
    had_row: bool
    owner: str | None


class SnapshotRow(NamedTuple):
    version: int
    state_version: str
    chain: bytes
    body: bytes


class TablesDatabase:
    """What is stored of tables."""

    def __init__(self, shards: int, shard_of: Callable[[UUID], int]) -> None:
        self._shard_of = shard_of
        self.processes: dict[str, Living] = {}
        self.owners: list[str | None] = [None] * shards
        self.events: dict[UUID, list[EventRow]] = {}
        self.versions: dict[UUID, set[int]] = {}  # of those events
        self.open_tables: dict[UUID, tuple[int, str]] = {}
        self.outbox: dict[tuple[UUID, int], tuple[int, str]] = {}
        self.claims: dict[str, UUID] = {}
        self.frozen: dict[UUID, tuple[str, str | None]] = {}
        self.outages: list[tuple[int, datetime, datetime | None]] = []
        self.snapshots: dict[UUID, SnapshotRow] = {}
        self.appends: list[Stored] = []

    def run(self, statement: str, arguments: Sequence[Any], now: datetime, session: Session) -> Rows | Blocked:
        name = NAMES.get(statement)
        if name is None:
            return self._unfenced(statement, arguments, now)
        rows: Rows = getattr(self, f"_{name}")(now, *arguments)
        return rows

    def unlock(self, session: Session) -> None:
        """No statement of this service leaves anything locked."""

    def _unfenced(self, statement: str, arguments: Sequence[Any], now: datetime) -> Rows:
        """For a planted bug: an append that has lost its fence does what it says."""
        for name in ("append", "append_moves"):
            if statement == without_fence(STATEMENTS[name]):
                return self._stored(now, *arguments, fenced=False)
        raise asyncpg.UndefinedFunctionError(f"nobody has told the double what this does: {statement}")

    # Processes and shards.

    def _register(self, now: datetime, process_id: str, seconds: float, address: str) -> Rows:
        if process_id in self.processes:
            raise unique_violation("table_process_pkey")
        self.processes[process_id] = Living(address, now + timedelta(seconds=seconds))
        return [{"process_id": process_id}]

    def _renew(self, now: datetime, process_id: str, seconds: float) -> Rows:
        row = self.processes.get(process_id)
        if row is None:
            return []
        since = now if row.expires_at < now else row.renewed_since
        self.processes[process_id] = row._replace(expires_at=now + timedelta(seconds=seconds), renewed_since=since)
        return [{"process_id": process_id}]

    def _expire_processes(self, now: datetime, process_id: str, seconds: float) -> Rows:
        judge = self.processes.get(process_id)
        span = timedelta(seconds=seconds)
        if (
            judge is None
            or judge.expires_at < now
            or not (judge.renewed_since is None or judge.renewed_since <= now - span)
        ):
            return []
        dead = {name: row for name, row in self.processes.items() if row.expires_at < now and name != process_id}
        for name, row in dead.items():
            self._note_outages(name, row.expires_at - span)
        for name in dead:
            del self.processes[name]
        return [{"process_id": name} for name in dead]

    def _retire(self, now: datetime, process_id: str) -> Rows:
        if process_id in self.processes:
            self._note_outages(process_id, now)
            del self.processes[process_id]
        return []

    def _note_outages(self, process_id: str, began: datetime) -> None:
        going_on = {shard for shard, _, ended in self.outages if ended is None}
        for shard, owner in enumerate(self.owners):
            if owner == process_id and shard not in going_on:
                self.outages.append((shard, began, None))

    def _living_processes(self, now: datetime) -> Rows:
        living = sorted(name for name, row in self.processes.items() if row.expires_at >= now and not row.leaving)
        return [{"process_id": name} for name in living]

    def _begin_leaving(self, now: datetime, process_id: str) -> Rows:
        if process_id in self.processes:
            self.processes[process_id] = self.processes[process_id]._replace(leaving=True)
        return []

    def _hand_over_shards(self, now: datetime, process_id: str, shards: list[int], successor: str) -> Rows:
        row = self.processes.get(successor)
        if row is None or row.expires_at < now or row.leaving:
            return []
        going_on = {shard for shard, _, ended in self.outages if ended is None}
        for shard in sorted(shards):
            if self.owners[shard] == process_id:
                self.owners[shard] = successor
                if shard not in going_on:
                    self.outages.append((shard, now, None))
        return []

    def _shard_owners(self, now: datetime) -> Rows:
        processes = self.processes
        return [
            {"shard": shard, "process_id": owner if owner in processes else None}
            for shard, owner in enumerate(self.owners)
        ]

    def _claim_shards(self, now: datetime, process_id: str, shards: list[int]) -> Rows:
        if process_id not in self.processes:
            return []
        free = [shard for shard in sorted(shards) if self.owners[shard] not in self.processes]
        for shard in free:
            self.owners[shard] = process_id
        return [{"shard": shard} for shard in free]

    def _outages(self, now: datetime, shards: list[int]) -> Rows:
        wanted = set(shards)
        return [
            {"shard": shard, "began": began, "ended": now if ended is None else ended}
            for shard, began, ended in self.outages
            if shard in wanted
        ]

    def _note_outage(self, now: datetime, shards: list[int], seconds: float) -> Rows:
        self.outages += [(shard, now - timedelta(seconds=seconds), now) for shard in shards]
        return []

    def _end_outages(self, now: datetime, shards: list[int]) -> Rows:
        wanted = set(shards)
        kept = [
            outage
            for outage in self.outages
            if outage[0] not in wanted or outage[2] is None or outage[2] >= now - OUTAGES_KEPT
        ]
        self.outages = [
            (shard, began, now if ended is None and shard in wanted else ended) for shard, began, ended in kept
        ]
        return []

    # Events.

    def _append_moves(self, now: datetime, *columns: Any) -> Rows:
        return self._stored(now, *columns)

    def _append(self, now: datetime, *columns: Any) -> Rows:
        return self._stored(now, *columns)

    def _stored(self, now: datetime, process_id: str, *columns: Any, fenced: bool = True) -> Rows:
        (tables, versions, kinds, bodies, ats, chains), beside = columns[:6], columns[6:]
        has_row = process_id in self.processes
        if fenced and not has_row:
            if beside:
                self._forget_published(*beside[12:])
            return [{"count": 0}]
        rows = list(zip(tables, versions, kinds, bodies, ats, chains, strict=True))
        self._refuse_known([(table_id, version) for table_id, version, *_ in rows], beside)
        for table_id, version, kind, body, at, chain in rows:
            self.events.setdefault(table_id, []).append(EventRow(version, kind, body, at, chain))
            self.versions.setdefault(table_id, set()).add(version)
            self.appends.append(Stored(process_id, table_id, version, has_row, self.owners[self._shard_of(table_id)]))
            if kind in ("table_resumed", "table_voided"):
                self.frozen.pop(table_id, None)
        if beside:
            self._store_beside(*beside[:12])
            self._forget_published(*beside[12:])
        return [{"count": len(rows)}]

    def _refuse_known(self, versions: list[tuple[UUID, int]], beside: tuple[Any, ...]) -> None:
        """All or nothing: constraints are looked at first."""
        for table_id, version in versions:
            if version in self.versions.get(table_id, ()):
                raise unique_violation("event_pkey")
        if not beside:
            return
        told_tables, told_numbers, _, _, opened, _, _, _, claimed, *_ = beside
        if any(key in self.outbox for key in zip(told_tables, told_numbers, strict=True)):
            raise unique_violation("outbox_pkey")
        if any(table_id in self.open_tables for table_id in opened):
            raise unique_violation("open_table_pkey")
        if len(set(claimed)) < len(claimed) or any(account_id in self.claims for account_id in claimed):
            raise unique_violation("seat_claim_pkey")

    def _store_beside(
        self,
        told_tables: list[UUID],
        told_numbers: list[int],
        told_shards: list[int],
        messages: list[str],
        opened: list[UUID],
        opened_shards: list[int],
        games: list[str],
        closed: list[UUID],
        claimed: list[str],
        claimed_tables: list[UUID],
        freed: list[str],
        freed_tables: list[UUID],
    ) -> None:
        before = set(self.claims)
        for table_id, number, shard, message in zip(told_tables, told_numbers, told_shards, messages, strict=True):
            self.outbox[table_id, number] = (shard, message)
        # What a statement deletes is what was there before it.
        for table_id in closed:
            self.open_tables.pop(table_id, None)
        for table_id, shard, game in zip(opened, opened_shards, games, strict=True):
            self.open_tables[table_id] = (shard, game)
        for account_id, table_id in zip(freed, freed_tables, strict=True):
            if account_id in before and self.claims.get(account_id) == table_id:
                del self.claims[account_id]
        for account_id, table_id in zip(claimed, claimed_tables, strict=True):
            self.claims[account_id] = table_id

    def _forget_published(self, tables: list[UUID], numbers: list[int]) -> None:
        for key in zip(tables, numbers, strict=True):
            self.outbox.pop(key, None)

    def _lock_own_row(self, now: datetime, process_id: str) -> Rows:
        return [{"?column?": 1}] if process_id in self.processes else []

    def _chains_at(self, now: datetime, tables: list[UUID], versions: list[int]) -> Rows:
        return [
            {"table_id": table_id, "version": version, "chain": row.chain}
            for table_id, version in zip(tables, versions, strict=True)
            for row in self.events.get(table_id, ())
            if row.version == version
        ]

    def _events_between(self, now: datetime, tables: list[UUID], known: list[int], first: int, last: int) -> Rows:
        asked = sorted(zip(tables, known, strict=True))
        return [
            (table_id, *row)
            for table_id, after in asked
            for row in self._log(table_id)
            if after + first < row.version <= after + last
        ]

    def _log_page(self, now: datetime, table_id: UUID, after: int, last: int, rows_max: int) -> Rows:
        return [row for row in self._log(table_id) if after < row.version <= last][:rows_max]

    def _log(self, table_id: UUID) -> list[EventRow]:
        return sorted(self.events.get(table_id, ()))

    # Tables and what lies beside them.

    def _open_tables(self, now: datetime, shards: list[int]) -> Rows:
        wanted = set(shards)
        found = sorted((table_id, game) for table_id, (shard, game) in self.open_tables.items() if shard in wanted)
        return [{"table_id": table_id, "game": game, "events": self._last(table_id)} for table_id, game in found]

    def _open_table(self, now: datetime, table_id: UUID) -> Rows:
        row = self.open_tables.get(table_id)
        return [] if row is None else [{"table_id": table_id, "game": row[1], "events": self._last(table_id)}]

    def _last(self, table_id: UUID) -> int:
        return max((row.version for row in self.events.get(table_id, ())), default=0)

    def _close_table(self, now: datetime, table_id: UUID) -> Rows:
        self.open_tables.pop(table_id, None)
        return []

    def _snapshots(self, now: datetime, tables: list[UUID]) -> Rows:
        return [
            (table_id, *snapshot)
            for table_id in tables
            if (snapshot := self.snapshots.get(table_id)) is not None
            and any((row.version, row.chain) == (snapshot.version, snapshot.chain) for row in self._log(table_id))
        ]

    def _keep_snapshots(
        self,
        now: datetime,
        tables: list[UUID],
        versions: list[int],
        state_versions: list[str],
        chains: list[bytes],
        bodies: list[bytes],
    ) -> Rows:
        rows = zip(versions, state_versions, chains, bodies, strict=True)
        for table_id, snapshot in zip(tables, map(SnapshotRow._make, rows), strict=True):
            before = self.snapshots.get(table_id)
            if before is None or snapshot.version > before.version or snapshot.state_version != before.state_version:
                self.snapshots[table_id] = snapshot
        return []

    def _outbox_of(self, now: datetime, shards: list[int], rows_max: int) -> Rows:
        wanted = set(shards)
        found = sorted((*key, message) for key, (shard, message) in self.outbox.items() if shard in wanted)
        return [{"table_id": table_id, "number": number, "message": text} for table_id, number, text in found][
            :rows_max
        ]

    def _outbox_done(self, now: datetime, tables: list[UUID], numbers: list[int]) -> Rows:
        self._forget_published(tables, numbers)
        return []

    def _claim_of(self, now: datetime, account_id: str) -> Rows:
        table_id = self.claims.get(account_id)
        return [] if table_id is None else [{"table_id": table_id}]

    def _mend_claims(self, now: datetime, tables: list[UUID], accounts: list[str], seats: list[UUID]) -> Rows:
        wanted, sitting = set(tables), set(zip(accounts, seats, strict=True))
        self.claims = {
            account_id: table_id
            for account_id, table_id in self.claims.items()
            if table_id not in wanted or (account_id, table_id) in sitting
        }
        return []

    def _freeze(self, now: datetime, table_id: UUID, reason: str, command: str | None) -> Rows:
        self.frozen[table_id] = (reason, command)
        return []

    def _frozen(self, now: datetime, tables: list[UUID]) -> Rows:
        return [{"table_id": table_id} for table_id in tables if table_id in self.frozen]


def without_fence(statement: str) -> str:
    """The statement as somebody writes it who has not heard of fences."""
    return statement.replace(FENCE, "true")


def unique_violation(constraint: str) -> asyncpg.UniqueViolationError:
    error = asyncpg.UniqueViolationError(f'duplicate key value violates unique constraint "{constraint}"')
    error.constraint_name = constraint
    return error


STATEMENTS = queries("darbar_table.store")
NAMES = {text: name for name, text in STATEMENTS.items() if hasattr(TablesDatabase, f"_{name}")}
