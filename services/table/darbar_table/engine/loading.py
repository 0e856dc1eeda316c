"""From stored events to tables in memory. Open this when a restart is slow or a table does not come back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

import msgspec
import structlog

from darbar_table.domain.state import Phase
from darbar_table.engine.live_table import LiveTable
from darbar_table.shards.placement import shard_of
from darbar_table.store.codec import Codecs, KindUnknown, LogBroken
from darbar_table.store.replay import decode, rebuilt
from darbar_table.store.store import TABLES_READ_AT_ONCE, Store, StoredEvent

log = structlog.get_logger()


def live_table_of(table_id: UUID, rows: Sequence[StoredEvent], codecs: Codecs, game: str) -> LiveTable:
    """A table as its owner holds it, with the ids of commands that may come again."""
    rules, codec = codecs.of(game)
    events = list(decode(rows, codec))
    table = rebuilt(table_id, events, rules)
    live = LiveTable(table_id, shard=shard_of(table_id), codec=codec, table=table, chain=rows[-1].chain)
    for version, event in enumerate(events, start=1):
        live.remember_id(event, version)
    return live


async def load(store: Store, codecs: Codecs, shards: Iterable[int]) -> list[LiveTable]:
    """The open tables of these shards. A log that can't be replayed freezes its table alone."""
    games = await store.open_tables(shards)
    ids = list(games)
    live_tables: list[LiveTable] = []
    for start in range(0, len(ids), TABLES_READ_AT_ONCE):
        group = ids[start : start + TABLES_READ_AT_ONCE]
        frozen = await store.frozen(group)
        logs = await store.events_of(group)
        for table_id, rows in logs.items():
            live = await _load_one(store, codecs, table_id, rows=rows, game=games[table_id])
            if live is not None:
                live.frozen = table_id in frozen
                live_tables.append(live)
    return live_tables


async def _load_one(
    store: Store, codecs: Codecs, table_id: UUID, *, rows: list[StoredEvent], game: str
) -> LiveTable | None:
    if not rows:
        return None
    try:
        live = live_table_of(table_id, rows, codecs, game)
    except (LogBroken, KindUnknown, msgspec.DecodeError) as error:
        log.error("table_not_loaded", table_id=str(table_id), error=str(error))
        await store.freeze(table_id, reason=f"not loaded: {error}", command=None)
        return None
    if live.table.phase is Phase.CLOSED:
        await store.close_table(table_id)
        return None
    return live
