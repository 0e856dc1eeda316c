"""A table loaded from a snapshot is the one that its whole log gives; a snapshot that fits nothing is ignored."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest
from golden_log import FOLDER, rows_of
from table_scripts import ANN, BOB, SETTINGS, Script
from table_stack import Stack, StartTable
from test_table_events import golden

from darbar_kit.testing import TestDatabase, eventually
from darbar_rules.game import AnyGame
from darbar_rules.games import ALL
from darbar_table.app import SERVICE
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.loading import Loaded, replayed
from darbar_table.engine.node import TableNode
from darbar_table.engine.snapshots import STATE_VERSION, SnapshotUnfit, opened, stored, taken
from darbar_table.handlers.log_reader import fingerprint
from darbar_table.store.codec import Codecs
from darbar_table.store.store import OpenTable, StoredEvent, StoredSnapshot

CODECS = Codecs()
MADE_AGAIN = ("rules", "options", "running")
STATES = Path(__file__).parent / "golden" / "states.json"


def loaded(game: str, rows: list[StoredEvent], snapshot: StoredSnapshot | None = None) -> Loaded:
    table = OpenTable(UUID(Script().table.table_id), game, len(rows))
    begun = None if snapshot is None else opened(snapshot, CODECS.of(game)[0])
    rest = rows if snapshot is None else [row for row in rows if row.version > snapshot.version]
    return replayed(table, rest, CODECS, SETTINGS, snapshot=begun)


def rounds_of(script: Script) -> Iterator[int]:
    """The versions at which a snapshot may be taken: after the seeds of a round."""
    return (
        version
        for version, (_, event, after) in enumerate(script.log, start=1)
        if after.running is None and type(event).__name__ == "SeedsShown"
    )


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_every_round_of_every_game_can_be_loaded_from(rules: AnyGame) -> None:
    script = Script(rules=rules).sit(BOB).starts_now(ANN).play_game()
    rows = rows_of(script)
    whole = loaded(script.table.rules.name, rows)
    versions = list(rounds_of(script))
    assert versions
    for version in versions:
        begun = loaded(script.table.rules.name, rows[:version])
        short = loaded(script.table.rules.name, rows, stored(taken(begun.live)))
        assert fingerprint(short.live.table) == fingerprint(whole.live.table)
        assert (short.began, short.live.chain, short.live.moved_at) == (
            whole.began,
            rows[-1].chain,
            whole.live.moved_at,
        )
        assert {who: (ids.seat, ids.remembered) for who, ids in short.live.ids.items()} == {
            who: (ids.seat, ids.remembered) for who, ids in whole.live.ids.items()
        }


def a_snapshot() -> StoredSnapshot:
    script = Script().dealt().play_round()
    return stored(taken(loaded("court_piece", rows_of(script)).live))


FAULTS: dict[str, Callable[[StoredSnapshot], StoredSnapshot]] = {
    "old": lambda good: good._replace(state_version="0.court_piece.1.0"),
    "cut": lambda good: good._replace(body=good.body[:-1]),
    "damaged": lambda good: good._replace(body=bytes([good.body[0] ^ 1]) + good.body[1:]),
    "not packed": lambda good: good._replace(body=hashlib.blake2b(b"{}", digest_size=16).digest() + b"{}"),
    "of another version": lambda good: good._replace(version=good.version + 1),
    "of another table": lambda good: good._replace(table_id=UUID(int=1)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_snapshot_that_fits_nothing_is_not_taken(fault: str) -> None:
    good = a_snapshot()
    assert opened(good, CODECS.of("court_piece")[0]).table.version == good.version
    with pytest.raises(SnapshotUnfit):
        opened(FAULTS[fault](good), CODECS.of("court_piece")[0])


def test_the_same_events_give_the_same_state_as_long_as_its_version_is_the_same() -> None:
    """Where this fails a kept state means something else than its log: raise STATE_VERSION, or the state_version of the
    game, and write down in states.json what these logs give now. A new field with its default changes nothing here."""
    now: dict[str, str] = {}
    for path in sorted(FOLDER.glob("*.ndjson")):
        head, rows = golden(path)
        table = loaded(head["game"], rows).live.table
        version = f"{STATE_VERSION}.{table.rules.state_version}"
        now[f"{path.stem} {version}"] = hashlib.sha256(msgspec.json.encode(_plain(table))).hexdigest()
    assert now == msgspec.json.decode(STATES.read_bytes()), msgspec.json.format(msgspec.json.encode(now)).decode()


def _plain(value: object) -> object:
    """Without what has its default; what is made again at loading is left out."""
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.fields(value)
        values = {field.name: getattr(value, field.name) for field in fields if field.name not in MADE_AGAIN}
        return {name: _plain(held) for name, held in values.items() if held != _default(fields, name)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def _default(fields: tuple[msgspec.structs.FieldInfo, ...], name: str) -> object:
    [field] = [field for field in fields if field.name == name]
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def node_of(stack: Stack) -> TableNode:
    return stack.runner.app[SERVICE].present_node()


def held(stack: Stack, table_id: str) -> LiveTable:
    return node_of(stack).owner.live_tables[UUID(table_id)]


async def test_a_successor_reads_the_snapshot_and_what_came_after_and_ignores_one_that_is_not_of_this_log(
    start_table: StartTable, table_database: TestDatabase
) -> None:
    stack = await start_table(count_in_seconds=0.05, seeds_open_seconds=0.05)
    table_id, players = await stack.full_table()
    await asyncio.gather(*(player.play(_round_is_over) for player in players))
    connection = await asyncpg.connect(table_database.owner_url)

    async def is_kept() -> bool:
        return bool(await connection.fetchval("SELECT version FROM table_snapshot WHERE table_id = $1", UUID(table_id)))

    await eventually(is_kept)
    await stack.runner.cleanup()
    stays = {"count_in_seconds": 3600.0}
    short = await start_table(**stays)
    begun, unfit = held(short, table_id), short.runner.app[SERVICE].metrics.snapshots_unfit
    assert (begun.round_start.version > 60, unfit._value.get()) == (True, 0)
    await short.runner.cleanup()
    await connection.execute("UPDATE table_snapshot SET chain = decode(repeat('00', 32), 'hex')")
    whole = await start_table(**stays)
    assert fingerprint(held(whole, table_id).table) == fingerprint(begun.table)
    await connection.close()


def _round_is_over(frame: dict[str, Any]) -> bool:
    return frame.get("kind") == "seeds_shown"
