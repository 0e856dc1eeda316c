"""What those who run Darbar see of a table: every hand of what is over, and of a running round when they say why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from uuid import UUID

import msgspec

from darbar_contracts.admin.disclosure import (
    FROZEN_TABLES_MAX,
    CoinsLogPage,
    CoinsLogRequest,
    FrozenTable,
    FrozenTables,
    FrozenTablesRequest,
    LoggedCoins,
    LoggedEvent,
    LogPage,
    LogRequest,
    LogVerified,
    StateRequest,
    TableState,
    VerifyLog,
)
from darbar_contracts.frames import TableReason
from darbar_kit.offload import Offload
from darbar_table.domain import events
from darbar_table.domain.events import KIND_OF
from darbar_table.domain.refusals import refused
from darbar_table.handlers.log_reader import read_state, verify_log
from darbar_table.handlers.questions import table_id_of
from darbar_table.settings import Settings
from darbar_table.store.store import TURN_BEGINS, VERSION_MAX, ReplayHead, Store, StoredEvent

EVENTS_MAX = 200
# A message of the bus has a limit.
BODIES_BYTES_MAX = 256 * 1024
STATES_READ_AT_ONCE_MAX = 1
STATES_WAITING_MAX = 8
STATE_SECONDS_MAX = 20.0

COINS_TABLES_MAX = 50
# A kind and a key, with what stands around them.
COIN_LINE_BYTES = 50
_ASKED = {
    KIND_OF[events.StakesAsked]: "stake",
    KIND_OF[events.SettleAsked]: "settle",
    KIND_OF[events.RefundAsked]: "refund",
}
_ANSWERED = {
    KIND_OF[events.StakesGranted]: "stake",
    KIND_OF[events.Settled]: "settle",
    KIND_OF[events.Refunded]: "refund",
}
_OWN_KINDS = frozenset(KIND_OF.values())
_COUNT_IN = KIND_OF[events.CountInStarted]
_BAG_OPENED = KIND_OF[events.BagOpened]


class Disclosure:
    """Who asks has been let in by the lobby. Seeds that are not shown yet are told to nobody."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._states = Offload(
            running_max=STATES_READ_AT_ONCE_MAX, waiting_max=STATES_WAITING_MAX, seconds_max=STATE_SECONDS_MAX
        )

    async def log(self, request: LogRequest) -> LogPage:
        """Raises Refused: table_unknown, own_table."""
        table_id = table_id_of(request.table_id)
        head = await self._head(table_id, request)
        last = VERSION_MAX if request.running else head.last
        rows = await self._store.log_page(table_id, after=request.after, last=last, rows_max=EVENTS_MAX + 1)
        page = list(_that_fits(rows[:EVENTS_MAX]))
        due = await self._store.turn_began(table_id, request.after)
        shown = tuple(_shown(row, head, due_at) for row, due_at in _with_due(page, due))
        return LogPage(request.table_id, shown, more=len(rows) > len(page))

    async def state(self, request: StateRequest) -> TableState:
        """Raises Refused: table_unknown, version_unknown, own_table."""
        table_id = table_id_of(request.table_id)
        head = await self._head(table_id, request)
        if not 1 <= request.version <= (VERSION_MAX if request.running else head.last):
            raise refused(TableReason.VERSION_UNKNOWN)
        found = await self._states.run(read_state, self._settings.database_url, table_id, request.version)
        if found is None:
            raise refused(TableReason.VERSION_UNKNOWN)
        return found

    async def verify(self, request: VerifyLog) -> LogVerified:
        """Raises Refused table_unknown for what is no id; of a table without a log the first version is missing."""
        table_id = table_id_of(request.table_id)
        return await self._states.run(verify_log, self._settings.database_url, table_id, request.version, request.chain)

    async def coins(self, request: CoinsLogRequest) -> CoinsLogPage:
        """As many tables as a message takes, and one at least."""
        after = None if request.after is None else table_id_of(request.after)
        if request.table_ids:
            asked = sorted(_ids_among(request.table_ids))
            wanted = [table_id for table_id in asked if after is None or table_id > after]
        else:
            wanted = await self._store.tables_after(after, COINS_TABLES_MAX)
        page = wanted[:COINS_TABLES_MAX]
        tables = list(_coins_that_fit(page, await self._store.coins_of(page, sorted({*_ASKED, *_ANSWERED}))))
        is_all = len(tables) == len(wanted) and (bool(request.table_ids) or len(page) < COINS_TABLES_MAX)
        return CoinsLogPage(tuple(tables), None if is_all or not tables else tables[-1].table_id)

    async def frozen(self, _request: FrozenTablesRequest) -> FrozenTables:
        rows = await self._store.frozen_tables(FROZEN_TABLES_MAX)
        return FrozenTables(tuple(FrozenTable(str(row[0]), *row[1:]) for row in rows))

    async def _head(self, table_id: UUID, request: LogRequest | StateRequest) -> ReplayHead:
        head = await self._store.replay_head(table_id, "")
        if head is None:
            raise refused(TableReason.TABLE_UNKNOWN)
        if request.running and await self._store.sits_there(table_id, request.own_account_ids):
            raise refused(TableReason.OWN_TABLE)
        return head


def coins_of_all(pages: Sequence[CoinsLogPage]) -> CoinsLogPage:
    """Pages of several databases for one request, as one: nothing beyond where the first of them ends."""
    last = min((page.next for page in pages if page.next is not None), default=None)
    found: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for table in (table for page in pages for table in page.tables):
        if last is None or table.table_id <= last:
            asked, answered = found.get(table.table_id, ((), ()))
            found[table.table_id] = asked + table.asked, answered + table.answered
    size = 0
    tables: list[LoggedCoins] = []
    for table_id, (asked, answered) in sorted(found.items()):
        size += COIN_LINE_BYTES * (1 + len(asked) + len(answered))
        if tables and size > BODIES_BYTES_MAX:
            return CoinsLogPage(tuple(tables), tables[-1].table_id)
        tables.append(LoggedCoins(table_id, asked, answered))
    return CoinsLogPage(tuple(tables), last)


def frozen_of_all(answers: Sequence[FrozenTables]) -> FrozenTables:
    """The last ones of several databases."""
    tables = (table for answer in answers for table in answer.tables)
    return FrozenTables(tuple(sorted(tables, key=lambda table: table.at, reverse=True)[:FROZEN_TABLES_MAX]))


def _ids_among(table_ids: Iterable[str]) -> Iterator[UUID]:
    """A ledger may name what is no table at all: of that no log says anything."""
    for table_id in table_ids:
        with suppress(ValueError):
            yield UUID(table_id)


def _coins_that_fit(page: Sequence[UUID], rows: Sequence[tuple[str, str, str]]) -> Iterator[LoggedCoins]:
    found: dict[str, tuple[list[str], list[str]]] = {str(table_id): ([], []) for table_id in page}
    for table_id, kind, key in rows:
        asked, answered = found[table_id]
        if kind in _ASKED:
            asked.append(f"{_ASKED[kind]} {key}")
        else:
            answered.append(f"{_ANSWERED[kind]} {key}")
    size = 0
    for place, (table_id, (asked, answered)) in enumerate(found.items()):
        size += COIN_LINE_BYTES * (1 + len(asked) + len(answered))
        if place and size > BODIES_BYTES_MAX:
            return
        yield LoggedCoins(table_id, tuple(asked), tuple(answered))


class _Decided(msgspec.Struct, frozen=True):
    by: str | None = None
    seat: int | None = None


def _that_fits(rows: Iterable[StoredEvent]) -> Iterator[StoredEvent]:
    """The first of them, as many as a message takes; one at least."""
    size = 0
    for row in rows:
        size += len(row.body)
        if size > BODIES_BYTES_MAX and size > len(row.body):
            return
        yield row


def _with_due(rows: Iterable[StoredEvent], due: datetime | None) -> Iterator[tuple[StoredEvent, datetime | None]]:
    """Each with the moment at which a decision became due: what was decided before, or the start of play."""
    for row in rows:
        yield row, due
        if row.kind not in _OWN_KINDS or row.kind in TURN_BEGINS:
            due = row.at


def _shown(row: StoredEvent, head: ReplayHead, due: datetime | None) -> LoggedEvent:
    is_running = row.version > head.last
    holds_seed = (is_running and row.kind == _COUNT_IN) or (
        row.kind == _BAG_OPENED and msgspec.json.decode(row.body, type=events.BagOpened).bag not in head.bags_shown
    )
    decided = _Decided() if row.kind in _OWN_KINDS else msgspec.json.decode(row.body, type=_Decided)
    is_timed = due is not None and decided.by in ("player", "clock", "bot")
    return LoggedEvent(
        version=row.version,
        kind=row.kind,
        at=row.at,
        body=None if holds_seed else row.body,
        chain=None if is_running else row.chain.hex(),
        by=decided.by,
        seat=decided.seat,
        seconds=round((row.at - due).total_seconds(), 3) if due is not None and is_timed else None,
    )
