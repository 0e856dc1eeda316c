"""States of tables kept at the ends of rounds, so that loading reads few events. Open this when a load is slow.

A cache and nothing more: what can't be read, does not fit the log, or is of another version of the code is ignored, and
the whole log is replayed.
"""

from __future__ import annotations

import asyncio
import hashlib
import zlib
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import NamedTuple
from uuid import UUID

import msgspec
import structlog
from msgspec.structs import replace

from darbar_kit.database import DatabaseAway
from darbar_rules.game import AnyGame
from darbar_table.domain.events import RefundAsked, SettleAsked, StakesAsked
from darbar_table.domain.evolve import shared_terms
from darbar_table.domain.state import Staking, Table, unopened
from darbar_table.domain.timers import KeptSeatTimer, Timer, VoteTimer
from darbar_table.engine.live_table import Ids, LiveTable
from darbar_table.engine.round_start import state_decoder
from darbar_table.metrics import Metrics
from darbar_table.store.store import Store, StoredSnapshot

# Raised whenever the same events give another state than before; what was kept until then is of no use any more.
STATE_VERSION = 1
FLUSH_SECONDS = 1.0
SNAPSHOTS_AT_ONCE = 100
# These fields are made again: rules and options from the terms, and between rounds there is no chance.
_MADE_AGAIN = frozenset(("rules", "options", "state", "running", "staking"))
_DIGEST_BYTES = 16

log = structlog.get_logger()


class SnapshotUnfit(Exception):
    """A snapshot that is not taken: damaged, or of another version."""


class _Ids(msgspec.Struct, frozen=True):
    account_id: str
    seat: int
    remembered: bytes


class _Kept(msgspec.Struct, frozen=True):
    """Since when a clock runs beside the one that everybody plays by."""

    timer: KeptSeatTimer | None
    vote: VoteTimer | None
    since: datetime


_StoredTable = msgspec.defstruct(
    "_StoredTable",
    [(field.name, field.type) for field in msgspec.structs.fields(Table) if field.name not in _MADE_AGAIN],
    frozen=True,
)


class _Question(msgspec.Struct, frozen=True):
    """What the wallet is asked; one of the three is there."""

    stakes: StakesAsked | None = None
    settle: SettleAsked | None = None
    refund: RefundAsked | None = None


class _Staking(msgspec.Struct, frozen=True):
    """The table's, with what is asked by its kind."""

    key: str
    unit: str
    asked: _Question
    granted: bool
    stakers: tuple[str | None, ...]
    given_up: tuple[str, ...]


class _Body(msgspec.Struct, frozen=True):
    table: msgspec.Raw
    staking: _Staking | None
    state: msgspec.Raw
    ids: tuple[_Ids, ...]
    kept: tuple[_Kept, ...]
    moved_at: datetime


_decode = msgspec.json.Decoder(_Body).decode
_decode_table = msgspec.json.Decoder(_StoredTable).decode
_encode = msgspec.json.Encoder().encode


class Snapshot(NamedTuple):
    """What loading begins with: a table between two rounds, and what its owner remembered beside it."""

    table: Table
    chain: bytes
    ids: dict[str, Ids]
    began: dict[Timer, datetime]
    moved_at: datetime


def taken(live: LiveTable) -> Snapshot:
    """The table as it is now."""
    ids = {account_id: Ids(ids.seat, ids.remembered) for account_id, ids in live.ids.items()}
    return Snapshot(live.table, live.chain, ids, live.began, live.moved_at)


def state_version(rules: AnyGame) -> str:
    """Of the table's own state and of its game's; their shapes are part of it, so that no new field is forgotten."""
    return f"{STATE_VERSION}.{rules.name}.{rules.state_version}.{_shape(rules)}"


def stored(snapshot: Snapshot) -> StoredSnapshot:
    """As bytes."""
    table = snapshot.table
    assert table.running is None, "between two rounds there is no chance"
    body = _Body(
        table=msgspec.Raw(_encode({name: getattr(table, name) for name in _StoredTable.__struct_fields__})),
        staking=None if table.staking is None else _staking(table.staking),
        state=msgspec.Raw(_encode(table.state)),
        ids=tuple(_Ids(account_id, ids.seat, ids.remembered) for account_id, ids in snapshot.ids.items()),
        kept=tuple(_kept(timer, since) for timer, since in snapshot.began.items()),
        moved_at=snapshot.moved_at,
    )
    encoded = zlib.compress(_encode(body), zlib.Z_BEST_SPEED)
    return StoredSnapshot(
        UUID(table.table_id), table.version, state_version(table.rules), snapshot.chain, _digest(encoded) + encoded
    )


def opened(row: StoredSnapshot, rules: AnyGame) -> Snapshot:
    """Raises SnapshotUnfit."""
    if row.state_version != state_version(rules):
        raise SnapshotUnfit("of another version")
    digest, encoded = row.body[:_DIGEST_BYTES], row.body[_DIGEST_BYTES:]
    if digest != _digest(encoded):
        raise SnapshotUnfit("damaged")
    try:
        body = _decode(zlib.decompress(encoded))
        state = state_decoder(rules).decode(body.state)
        kept = _decode_table(body.table)
    except (zlib.error, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SnapshotUnfit(f"unreadable: {error}") from error
    fields = {name: getattr(kept, name) for name in _StoredTable.__struct_fields__}
    if (fields["table_id"], fields["version"]) != (str(row.table_id), row.version):
        raise SnapshotUnfit("of another table")
    fields["terms"], options = shared_terms(_encode(fields["terms"]), rules)
    staking = None if body.staking is None else _staking_again(body.staking)
    table = replace(unopened(fields["table_id"], rules), **fields, options=options, state=state, staking=staking)
    ids = {one.account_id: Ids(one.seat, one.remembered) for one in body.ids}
    return Snapshot(table, row.chain, ids, dict(map(_began, body.kept)), body.moved_at)


class Snapshots:
    """Of one node. `note` is cheap; what is noted is written a moment later, many in one statement."""

    def __init__(self, store: Store, *, metrics: Metrics) -> None:
        self._store = store
        self._metrics = metrics
        self._noted: dict[UUID, Snapshot] = {}

    def note(self, live: LiveTable) -> None:
        """A round of this table is over."""
        self._noted[live.table_id] = taken(live)

    async def run(self) -> None:
        """For ever. What the database does not take now is taken at the end of a later round."""
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            noted, self._noted = list(self._noted.values()), {}
            for start in range(0, len(noted), SNAPSHOTS_AT_ONCE):
                await self._write(list(map(stored, noted[start : start + SNAPSHOTS_AT_ONCE])))

    async def find(self, games: Mapping[UUID, AnyGame]) -> dict[UUID, Snapshot]:
        """Of these tables, those whose snapshot fits their log and this code. Raises DatabaseAway."""
        found: dict[UUID, Snapshot] = {}
        for row in await self._store.snapshots(list(games)):
            try:
                found[row.table_id] = opened(row, games[row.table_id])
            except SnapshotUnfit as unfit:
                self._metrics.snapshots_unfit.inc()
                log.info("snapshot_ignored", table_id=str(row.table_id), reason=str(unfit))
        return found

    async def _write(self, rows: list[StoredSnapshot]) -> None:
        try:
            await self._store.keep_snapshots(rows)
        except DatabaseAway as away:
            log.warning("snapshots_not_kept", reason=away.message)


def _kept(timer: Timer, since: datetime) -> _Kept:
    return _Kept(
        timer if isinstance(timer, KeptSeatTimer) else None, timer if isinstance(timer, VoteTimer) else None, since
    )


def _began(kept: _Kept) -> tuple[Timer, datetime]:
    timer = kept.vote if kept.timer is None else kept.timer
    if timer is None:
        raise SnapshotUnfit("a clock of nothing")
    return timer, kept.since


def _staking(staking: Staking) -> _Staking:
    match staking.asked:
        case StakesAsked() as stakes:
            asked = _Question(stakes=stakes)
        case SettleAsked() as settle:
            asked = _Question(settle=settle)
        case refund:
            asked = _Question(refund=refund)
    return _Staking(staking.key, staking.unit, asked, staking.granted, staking.stakers, staking.given_up)


def _staking_again(kept: _Staking) -> Staking:
    asked = kept.asked.stakes or kept.asked.settle or kept.asked.refund
    return Staking(kept.key, kept.unit, asked, kept.granted, kept.stakers, kept.given_up)


def _digest(encoded: bytes) -> bytes:
    return hashlib.blake2b(encoded, digest_size=_DIGEST_BYTES).digest()


@cache
def _shape(rules: AnyGame) -> str:
    shapes = (
        msgspec.json.schema(_Body),
        msgspec.json.schema(_StoredTable),
        msgspec.json.schema(rules.state_type | None),
    )
    return hashlib.sha256(msgspec.json.encode(shapes, order="deterministic")).hexdigest()[:16]
