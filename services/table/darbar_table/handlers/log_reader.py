"""Reads whole logs, in a process of its own: `inspection` gives the work away. Open this about audits and milestones.

Each function opens a connection, reads page after page and holds no more than one of them.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias, TypeVar
from uuid import UUID

import msgspec

from darbar_contracts.admin.disclosure import LogVerified, TableState
from darbar_contracts.tables import MILESTONES_ANSWERED_MAX, Milestone, MilestonesAnswer, TableTerms
from darbar_kit.database import Database, queries
from darbar_table.domain import events
from darbar_table.domain.evolve import evolve
from darbar_table.domain.milestones import milestone_of
from darbar_table.domain.seat_view import snapshot
from darbar_table.domain.state import Table, unopened
from darbar_table.domain.visibility import at_rest
from darbar_table.store.codec import Codecs
from darbar_table.store.replay import chain_fault, decode
from darbar_table.store.store import VERSION_MAX, Store, StoredEvent

PAGE_ROWS = 2_000

_Answer = TypeVar("_Answer")
_Replayed: TypeAlias = tuple[StoredEvent, events.TableEvent, Table]


class LogAudit(msgspec.Struct, frozen=True):
    """What a log says of itself. `chain_fault`: the first version that does not follow from the one before."""

    version: int
    has_sat_here: bool
    at_rest: bool
    chain_fault: int | None
    fingerprint: str


def read_audit(database_url: str, table_id: UUID, account_id: str, version_max: int | None) -> LogAudit | None:
    """The log up to a version, replayed and its chain followed; None for no table.

    Raises DatabaseAway, and LogBroken or KindUnknown for a log that is whole and can't be read by this version.
    """
    return _with_store(database_url, lambda store: _audit(store, table_id, account_id, version_max))


def read_milestones(database_url: str, table_id: UUID, after: int, generation: int) -> MilestonesAnswer | None:
    """The milestones of a table after a number, made again from its events; None for no table."""
    return _with_store(database_url, lambda store: _milestones(store, table_id, after, generation))


def read_state(database_url: str, table_id: UUID, version: int) -> TableState | None:
    """How a table stood after a version, as each seat knew it; None for no such version."""
    return _with_store(database_url, lambda store: _state(store, table_id, version))


def verify_log(database_url: str, table_id: UUID, version: int, chain: str) -> LogVerified:
    """Every link made again, and the link at a version compared with what others were told (in hex; version 0: with
    nothing)."""
    return _with_store(database_url, lambda store: _verified(store, table_id, version, chain))


def fingerprint(table: Table) -> str:
    """Equal states have equal ones. The chance of a round is left out: it is an object of its own."""
    return hashlib.sha256(repr(msgspec.structs.replace(table, running=None)).encode()).hexdigest()


async def _audit(store: Store, table_id: UUID, account_id: str, version_max: int | None) -> LogAudit | None:
    """A log is replayed up to where its chain breaks: what comes after it may be anything."""
    last = VERSION_MAX if version_max is None else version_max
    fault = await _chain_fault(store, table_id, last)
    sat_here = False
    table: Table | None = None
    async for _, event, after in _replayed(store, table_id, last if fault is None else max(1, fault - 1)):
        table, sat_here = after, sat_here or _seats(event) == account_id
    if table is None:
        return None
    return LogAudit(table.version, sat_here, fault is not None or at_rest(table), fault, fingerprint(table))


async def _chain_fault(store: Store, table_id: UUID, last: int) -> int | None:
    before: StoredEvent | None = None
    while rows := await store.log_page(
        table_id, after=0 if before is None else before.version, last=last, rows_max=PAGE_ROWS
    ):
        fault = chain_fault(table_id, rows, after=before)
        if fault is not None:
            return fault
        before = rows[-1]
    return None


async def _milestones(store: Store, table_id: UUID, after: int, generation: int) -> MilestonesAnswer | None:
    found: list[Milestone] = []
    table: Table | None = None
    async for row, event, table in _replayed(store, table_id, VERSION_MAX):
        milestone = milestone_of(event, table, at=row.at, generation=generation, chain=row.chain)
        if milestone is None or milestone.number <= after:
            continue
        if len(found) == MILESTONES_ANSWERED_MAX:
            return MilestonesAnswer(milestones=tuple(found), more=True)
        found.append(milestone)
    return None if table is None else MilestonesAnswer(milestones=tuple(found))


async def _verified(store: Store, table_id: UUID, version: int, chain: str) -> LogVerified:
    before: StoredEvent | None = None
    is_known = version == 0
    while rows := await store.log_page(
        table_id, after=0 if before is None else before.version, last=VERSION_MAX, rows_max=PAGE_ROWS
    ):
        fault = chain_fault(table_id, rows, after=before)
        if fault is not None:
            return LogVerified(str(table_id), fault - 1, fault, "does not follow from the one before")
        for row in rows:
            if row.version == version:
                if row.chain.hex() != chain:
                    return LogVerified(str(table_id), version, version, "is not the one of which others were told")
                is_known = True
        before = rows[-1]
    last = 0 if before is None else before.version
    if not is_known:
        return LogVerified(str(table_id), last, last + 1, f"is missing; others were told of version {version}")
    return LogVerified(str(table_id), last)


async def _state(store: Store, table_id: UUID, version: int) -> TableState | None:
    async for row, _, table in _replayed(store, table_id, version):
        if row.version == version:
            seats = tuple(msgspec.json.decode(snapshot(table, seat, None)) for seat in range(len(table.seats)))
            return TableState(str(table_id), version, row.kind, row.at, seats)
    return None


async def _replayed(
    store: Store, table_id: UUID, last: int
) -> AsyncIterator[tuple[StoredEvent, events.TableEvent, Table]]:
    """Every event of a log with the state after it."""
    head = await store.replay_head(table_id, "")
    if head is None:
        return
    rules, codec = Codecs().of(msgspec.json.decode(head.terms, type=TableTerms).game)
    table = unopened(str(table_id), rules)
    while rows := await store.log_page(table_id, after=table.version, last=last, rows_max=PAGE_ROWS):
        for row, event in zip(rows, decode(rows, codec, after=table.version), strict=True):
            table = evolve(table, event)
            yield row, event, table


def _with_store(database_url: str, ask: Callable[[Store], Awaitable[_Answer]]) -> _Answer:
    async def connected() -> _Answer:
        database = await Database.open(database_url, size_max=1, unsafe_storage=True)
        try:
            return await ask(Store(database, queries("darbar_table.store")))
        finally:
            await database.close()

    return asyncio.run(connected())


def _seats(event: events.TableEvent) -> str | None:
    """The account that an event seats."""
    match event:
        case events.TableCreated():
            return event.host.account_id
        case events.SeatTaken():
            return event.account_id
    return None
