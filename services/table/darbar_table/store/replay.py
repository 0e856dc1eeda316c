"""The state that a log gives. Open this when a replayed table is not the one that was played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from darbar_rules.game import AnyGame
from darbar_table.domain.events import TableCreated, TableEvent
from darbar_table.domain.evolve import evolve
from darbar_table.domain.state import Table, unopened
from darbar_table.store.chain import first_link, link, whole_link
from darbar_table.store.codec import EventCodec, LogBroken
from darbar_table.store.store import StoredEvent


def replay(table_id: UUID, rows: Sequence[StoredEvent], rules: AnyGame, codec: EventCodec) -> Table:
    """The state that a log gives."""
    return rebuilt(table_id, decode(rows, codec), rules)


def rebuilt(table_id: UUID, events: Iterable[TableEvent], rules: AnyGame) -> Table:
    """The state that these events give."""
    table = unopened(str(table_id), rules)
    for event in events:
        if table.version == 0 and not isinstance(event, TableCreated):
            raise LogBroken("a log begins with table_created")
        table = evolve(table, event)
    return table


def chain_fault(table_id: UUID, rows: Sequence[StoredEvent], *, after: StoredEvent | None = None) -> int | None:
    """The first version whose chain does not follow from the one before; None when the log is as it was written.

    `after` is the row before these, None at the beginning.
    """
    previous = first_link(table_id) if after is None else after.chain
    for expected, row in enumerate(rows, start=1 if after is None else after.version + 1):
        follows = is_shared_link(table_id, row, previous) or _is_whole_link(table_id, row, previous)
        if row.version != expected or not follows:
            return expected
        previous = row.chain
    return None


def is_shared_link(table_id: UUID, row: StoredEvent, previous: bytes) -> bool:
    """Whether a row's link can be made again from its body as it is shared; those of older logs can't."""
    return row.chain == link(previous, table_id, row.version, kind=row.kind, at=row.at, body=row.body.encode())


def _is_whole_link(table_id: UUID, row: StoredEvent, previous: bytes) -> bool:
    return row.chain == whole_link(previous, table_id, row.version, kind=row.kind, at=row.at, body=row.body.encode())


def decode(rows: Iterable[StoredEvent], codec: EventCodec, *, after: int = 0) -> Iterator[TableEvent]:
    """Stored rows as events, checked for gaps; `after` is the version before the first."""
    for expected, row in enumerate(rows, start=after + 1):
        if row.version != expected:
            raise LogBroken(f"version {expected} is missing")
        yield codec.decode(row.kind, row.body)
