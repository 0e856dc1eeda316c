"""Looking at a table's log from outside: replays of finished rounds, chain and state checked. Open this for audits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import NamedTuple
from uuid import UUID

import msgspec

from darbar_contracts.api import Replay, ReplayEvent, TableAudit
from darbar_contracts.frames import TableReason
from darbar_contracts.tables import MilestonesAnswer, MilestonesRequest, TableTerms
from darbar_kit.limits import AtOnce, Rate, TooManyRequests
from darbar_kit.offload import Offload
from darbar_rules.game import Refusal
from darbar_table.domain import events
from darbar_table.domain.events import KIND_OF
from darbar_table.domain.refusals import refused
from darbar_table.domain.visibility import at_rest, may_read_log
from darbar_table.engine.node import TableNode
from darbar_table.handlers.elsewhere import AuditRequest, ReplayRequest
from darbar_table.handlers.log_reader import fingerprint, read_audit, read_milestones
from darbar_table.handlers.questions import table_id_of
from darbar_table.settings import Settings
from darbar_table.store.chain import first_link, shared_body
from darbar_table.store.replay import is_shared_link
from darbar_table.store.store import ReplayHead, Store, StoredEvent

REPLAY_EVENTS_MAX = 500
# Whoever reads on needs no second look through the whole log for what the first one told.
HEAD_KEPT_SECONDS = 10.0
HEADS_KEPT_MAX = 64
# The loop that serves moves has never more than one page to do between two of them.
PAGES_READ_AT_ONCE_MAX = 1
PAGES_WAITING_MAX = 64
LOGS_READ_AT_ONCE_MAX = 1
LOGS_WAITING_MAX = 16
LOG_SECONDS_MAX = 20.0
ONE_AT_A_TIME_SECONDS = 1.0
MINUTE_SECONDS = 60.0


class _KeptHead(NamedTuple):
    head: ReplayHead
    until: float


class Inspection:
    """Only logs, only what is finished, only for those who sat there unless the table is public.

    A replay is read page by page in SQL; what needs the whole log is done in another process. Whoever asks often, or
    again before the last answer, waits.
    """

    def __init__(self, settings: Settings, *, store: Store, node: Callable[[], TableNode]) -> None:
        self._settings = settings
        self._store = store
        self._node = node
        self._replays = Rate("replays", settings.replays_a_minute_max, MINUTE_SECONDS, clock=monotonic)
        self._audits = Rate("audits", settings.audits_a_minute_max, MINUTE_SECONDS, clock=monotonic)
        self._asking: set[str] = set()
        self._heads: dict[tuple[UUID, str], _KeptHead] = {}
        self._pages = AtOnce(running_max=PAGES_READ_AT_ONCE_MAX, waiting_max=PAGES_WAITING_MAX)
        self._log_readers = Offload(
            running_max=LOGS_READ_AT_ONCE_MAX, waiting_max=LOGS_WAITING_MAX, seconds_max=LOG_SECONDS_MAX
        )

    async def replay(self, request: ReplayRequest) -> Replay:
        """Raises Refused table_unknown, table_private, too_many_requests, and Unavailable busy."""
        with self._one_at_a_time(request.account_id, self._replays):
            async with self._pages.running():
                return await self._page(table_id_of(request.table_id), request.account_id, after=request.after)

    async def audit(self, request: AuditRequest) -> TableAudit:
        """The log against the chain and against memory. Between rounds, for those who sit or sat there."""
        table_id = table_id_of(request.table_id)
        with self._one_at_a_time(request.account_id, self._audits):
            held = self._node().owner.live_tables.get(table_id)
            # What is in memory is stored, and more may be stored before the log is read.
            live = None if held is None else held.table
            if live is not None and not at_rest(live):
                raise refused(Refusal.NOT_NOW)
            version_max = None if live is None else live.version
            found = await self._log_readers.run(
                read_audit, self._settings.database_url, table_id, request.account_id, version_max
            )
        if found is None:
            raise refused(TableReason.TABLE_UNKNOWN)
        if not found.has_sat_here:
            raise refused(TableReason.TABLE_PRIVATE)
        if not found.at_rest:
            raise refused(Refusal.NOT_NOW)
        return TableAudit(
            version=found.version,
            events=found.version,
            chain_holds=found.chain_fault is None,
            replay_equals_live=live is None or found.fingerprint == fingerprint(live),
        )

    async def milestones(self, request: MilestonesRequest) -> MilestonesAnswer:
        """The milestones of a table after a number, made again from its events."""
        table_id = table_id_of(request.table_id)
        answer = await self._log_readers.run(
            read_milestones, self._settings.database_url, table_id, request.after, self._settings.generation
        )
        if answer is None:
            raise refused(TableReason.TABLE_UNKNOWN)
        return answer

    async def _page(self, table_id: UUID, account_id: str, *, after: int) -> Replay:
        head = await self._head(table_id, account_id, after=after)
        terms = _terms(head)
        # With the row before the page: the first link of the page follows from its one.
        rows = await self._store.log_page(
            table_id, after=max(after - 1, 0), last=head.last, rows_max=REPLAY_EVENTS_MAX + 2
        )
        before = rows.pop(0) if rows and rows[0].version == after else None
        links = [first_link(table_id) if before is None else before.chain, *(row.chain for row in rows)]
        page = zip(rows[:REPLAY_EVENTS_MAX], links, strict=False)
        return Replay(
            table_id=str(table_id),
            terms=terms,
            events=tuple(_shown(table_id, row, previous, head.bags_shown) for row, previous in page),
            more=len(rows) > REPLAY_EVENTS_MAX,
        )

    async def _head(self, table_id: UUID, account_id: str, *, after: int) -> ReplayHead:
        """Read anew for the first page, and for one that goes beyond what was finished when it was read."""
        key, now = (table_id, account_id), monotonic()
        kept = self._heads.pop(key, None)
        if kept is None or now >= kept.until or not 0 < after < kept.head.last - REPLAY_EVENTS_MAX:
            head = await self._store.replay_head(table_id, account_id)
            if head is None:
                raise refused(TableReason.TABLE_UNKNOWN)
            kept = _KeptHead(head, now + HEAD_KEPT_SECONDS)
        self._heads[key] = kept
        if len(self._heads) > HEADS_KEPT_MAX:
            del self._heads[next(iter(self._heads))]
        return kept.head

    @contextmanager
    def _one_at_a_time(self, account_id: str, rate: Rate) -> Iterator[None]:
        if account_id in self._asking:
            raise TooManyRequests(f"{rate.name}_at_once", ONE_AT_A_TIME_SECONDS)
        rate.take(account_id)
        self._asking.add(account_id)
        try:
            yield
        finally:
            self._asking.discard(account_id)


def _terms(head: ReplayHead) -> TableTerms:
    terms = msgspec.json.decode(head.terms, type=TableTerms)
    if not may_read_log(terms, has_sat_here=head.has_sat_here):
        raise refused(TableReason.TABLE_PRIVATE)
    return terms


def _shown(table_id: UUID, row: StoredEvent, previous: bytes, bags_shown: frozenset[int]) -> ReplayEvent:
    """With aliases in place of account ids. Hidden: a bag's seed until the bag is empty, since it tells the flags of
    rounds to come; an operator's name and words; and in an older log, whose links cover the ids, what names an account.
    """
    body = shared_body(table_id, row.body.encode()).decode()
    hidden = (
        row.kind in _OPERATED
        or (row.kind == _BAG_OPENED and msgspec.json.decode(row.body, type=events.BagOpened).bag not in bags_shown)
        or (body != row.body and not is_shared_link(table_id, row, previous))
    )
    return ReplayEvent(row.version, row.kind, row.at, None if hidden else body, row.chain.hex())


_BAG_OPENED = KIND_OF[events.BagOpened]
_OPERATED = (KIND_OF[events.TableResumed], KIND_OF[events.TableVoided])
