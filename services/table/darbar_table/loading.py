"""From stored events to tables in memory. Open this when a restart is slow or a table does not come back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

import msgspec
import structlog

from darbar_rules.game import Game
from darbar_rules.games import BY_NAME
from darbar_table.entry import Entry
from darbar_table.events import Event, EventCodec, KindUnknown, TableCreated
from darbar_table.evolve import created, evolve
from darbar_table.shards import shard_of
from darbar_table.state import Phase, Table
from darbar_table.store import TABLES_READ_AT_ONCE, Store, StoredEvent

log = structlog.get_logger()


class LogBroken(Exception):
    """Stored events that can't be replayed: the table is frozen, nothing is guessed."""


class Codecs:
    """One codec a game, made once."""

    def __init__(self) -> None:
        self._codecs = {name: EventCodec(game) for name, game in BY_NAME.items()}

    def of(self, game: str) -> tuple[Game, EventCodec]:
        """Raises LogBroken for a game that this version does not know."""
        if game not in self._codecs:
            raise LogBroken(f"unknown game {game}")
        return BY_NAME[game], self._codecs[game]


def replay(table_id: UUID, rows: Sequence[StoredEvent], rules: Game, codec: EventCodec) -> Table:
    """The state that a log gives."""
    return rebuilt(table_id, decode(rows, codec), rules)


def rebuilt(table_id: UUID, events: Iterable[Event], rules: Game) -> Table:
    """The state that these events give."""
    events = iter(events)
    first = next(events, None)
    if not isinstance(first, TableCreated):
        raise LogBroken("a log begins with table_created")
    options = msgspec.convert(first.options, rules.options_type)
    table = created(str(table_id), first, rules, options)
    for event in events:
        table = evolve(table, event)
    return table


def decode(rows: Iterable[StoredEvent], codec: EventCodec) -> Iterator[Event]:
    """Stored rows as events, checked for gaps."""
    for expected, row in enumerate(rows, start=1):
        if row.version != expected:
            raise LogBroken(f"version {expected} is missing")
        yield codec.decode(row.kind, row.body)


def entry_of(table_id: UUID, rows: Sequence[StoredEvent], codecs: Codecs, game: str) -> Entry:
    """A table as its owner holds it, with the ids of commands that may come again."""
    rules, codec = codecs.of(game)
    events = list(decode(rows, codec))
    table = rebuilt(table_id, events, rules)
    entry = Entry(table_id, shard=shard_of(table_id), codec=codec, table=table, chain=rows[-1].chain)
    for version, event in enumerate(events, start=1):
        entry.remember_id(event, version)
    return entry


async def load(store: Store, codecs: Codecs, shards: Iterable[int]) -> list[Entry]:
    """The open tables of these shards. A log that can't be replayed freezes its table alone."""
    games = await store.open_tables(shards)
    ids = list(games)
    entries: list[Entry] = []
    for start in range(0, len(ids), TABLES_READ_AT_ONCE):
        group = ids[start : start + TABLES_READ_AT_ONCE]
        frozen = await store.frozen(group)
        logs = await store.events_of(group)
        for table_id, rows in logs.items():
            entry = await _load_one(store, codecs, table_id, rows=rows, game=games[table_id])
            if entry is not None:
                entry.frozen = table_id in frozen
                entries.append(entry)
    return entries


async def _load_one(
    store: Store, codecs: Codecs, table_id: UUID, *, rows: list[StoredEvent], game: str
) -> Entry | None:
    if not rows:
        return None
    try:
        entry = entry_of(table_id, rows, codecs, game)
    except (LogBroken, KindUnknown, msgspec.DecodeError) as error:
        log.error("table_not_loaded", table_id=str(table_id), error=str(error))
        await store.freeze(table_id, reason=f"not loaded: {error}", command=None)
        return None
    if entry.table.phase is Phase.CLOSED:
        await store.close_table(table_id)
        return None
    return entry
