"""What administrators look for and look at: tables, their logs, how they stood; and what they do to a stopped one."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from uuid import UUID

from darbar_contracts.admin.api import AdminTable, AdminTableList, AdminTablesQuery, LogQuery, StateQuery
from darbar_contracts.admin.disclosure import (
    FrozenTables,
    FrozenTablesRequest,
    LogPage,
    LogRequest,
    StateRequest,
    TableState,
)
from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import TABLE_FROZEN, TABLE_LOG, TABLE_STATE, table_operate
from darbar_contracts.tables import OperateTable, OperatorAction, TableOperated
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable
from darbar_lobby.domain.directory_model import State
from darbar_lobby.domain.instants import EPOCH, instant, microseconds
from darbar_lobby.handlers.admin.acts import Acts
from darbar_lobby.handlers.table_client import TableClient
from darbar_lobby.handlers.tables import validated_table_id
from darbar_lobby.store.administrators import SignedIn
from darbar_lobby.store.search import Found, Place, TableSearch, Wanted

ASK_SECONDS_MAX = 5.0
# Reading a whole log takes its time.
STATE_SECONDS_MAX = 25.0
OPERATE_SECONDS_MAX = 15.0
OPERATE_TRIES_MAX = 3

_STATES: dict[str, tuple[tuple[State, bool], ...]] = {
    "asked": (("asked", False),),
    "waiting": (("open", False),),
    "playing": (("open", True),),
    "closed": (("closed", False),),
}
_ANY = tuple(state for states in _STATES.values() for state in states)
_LATEST = Place(datetime(9999, 1, 1, tzinfo=UTC), 0)
_PLACE = re.compile(r"([0-9]{1,17})_([0-9]{1,18})")
_HANDLE_CHARACTERS = 20
_ACCOUNT = re.compile(f"[0-9a-f]{{32}}|[0-9a-f]{{{_HANDLE_CHARACTERS}}}")


class TableInspector:
    """Asks the directory which tables there are, and the table service for everything else about them."""

    def __init__(self, *, search: TableSearch, bus: Bus, table_client: TableClient, acts: Acts) -> None:
        self._search = search
        self._bus = bus
        self._table_client = table_client
        self._acts = acts

    async def found(self, who: SignedIn, query: AdminTablesQuery) -> AdminTableList:
        """Newest first. A code names one table; frozen ones are few, and come in one page."""
        if query.code is not None:
            return await self._listed(await self._search.named(await self._search.with_code(query.code)), None)
        if query.state == "frozen":
            frozen = await self.frozen()
            return await self._listed(await self._search.named([UUID(one.table_id) for one in frozen.tables]), None)
        account_id = await self._account_id(query.player)
        if query.player is not None and account_id is None:
            return AdminTableList((), None)
        if account_id is not None:
            await self._acts.looked(who, "look_for_tables", f"account:{account_id}")
        wanted = Wanted(
            game=query.game,
            states=_ANY if query.state is None else _STATES[query.state],
            before=_place(query),
            since=EPOCH if query.since is None else query.since,
            account_id=account_id,
        )
        found = await self._search.found(wanted, query.limit + 1)
        is_last = len(found) <= query.limit
        return await self._listed(found[: query.limit], None if is_last else _next(found[query.limit - 1]))

    async def events(self, who: SignedIn, table_id: str, query: LogQuery) -> AsyncIterator[LogPage]:
        """Page after page. With a reason, which is noted, those of a running round too. Raises Refused."""
        running = await self._let_see(who, validated_table_id(table_id), query.reason, "look_at_log")
        after = query.after
        while True:
            request = LogRequest(table_id, after, running, who.account_ids)
            page = await self._bus.request(TABLE_LOG, request, LogPage, timeout_seconds=ASK_SECONDS_MAX)
            yield page
            if not page.more:
                return
            after = page.events[-1].version

    async def state(self, who: SignedIn, table_id: str, version: str, query: StateQuery) -> TableState:
        if not re.fullmatch("[0-9]{1,9}", version):
            raise Refused(Reason.VERSION_UNKNOWN)
        running = await self._let_see(who, validated_table_id(table_id), query.reason, "look_at_state")
        request = StateRequest(table_id, int(version), running, who.account_ids)
        return await self._bus.request(TABLE_STATE, request, TableState, timeout_seconds=STATE_SECONDS_MAX)

    async def frozen(self) -> FrozenTables:
        return await self._bus.request(
            TABLE_FROZEN, FrozenTablesRequest(), FrozenTables, timeout_seconds=ASK_SECONDS_MAX
        )

    async def operate(self, who: SignedIn, table_id: str, action: OperatorAction, reason: str) -> TableOperated:
        """As `darbar thaw` and `darbar void` do. Raises Refused with the table's reason, or Unavailable."""
        subject = f"table:{validated_table_id(table_id)}"
        async with self._acts.noted(who, f"{action}_table", subject, reason=reason):
            for _ in range(OPERATE_TRIES_MAX):
                process_id = await self._table_client.where(table_id)
                if process_id is None:
                    break
                request = OperateTable(table_id, action, who.name, reason)
                try:
                    return await self._bus.request(
                        table_operate(process_id), request, TableOperated, timeout_seconds=OPERATE_SECONDS_MAX
                    )
                except Refused as refused:
                    # It is on its way to another process.
                    if refused.code != Reason.NOT_OWNER:
                        raise
            raise Unavailable(Reason.TABLES_UNAVAILABLE)

    async def _let_see(self, who: SignedIn, table_id: str, reason: str | None, act: str) -> bool:
        """Whether a running round is shown. Raises Refused."""
        if reason is None:
            await self._acts.looked(who, act, f"table:{table_id}")
            return False
        if who.role != "admin":
            raise Refused(Reason.ADMIN_NEEDED)
        async with self._acts.noted(who, act, f"table:{table_id}", reason=reason):
            return True

    async def _account_id(self, player: str | None) -> str | None:
        """By the account's id, or by the handle that strangers know; None for what is neither."""
        if player is None or not _ACCOUNT.fullmatch(player):
            return None
        return await self._search.account_of_handle(player) if len(player) == _HANDLE_CHARACTERS else player

    async def _listed(self, found: Sequence[Found], next_place: str | None) -> AdminTableList:
        players = await self._search.players([one.entry.table_id for one in found])
        tables = tuple(
            AdminTable(
                table_id=one.entry.table_id,
                state="playing" if one.entry.playing else "waiting" if one.entry.state == "open" else one.entry.state,
                terms=one.entry.terms,
                host_account_id=one.entry.host_id,
                round=one.entry.round,
                created_at=one.entry.created_at,
                closed_at=one.closed_at,
                players=tuple(players[one.entry.table_id]),
            )
            for one in found
        )
        return AdminTableList(tables, next_place)


def _place(query: AdminTablesQuery) -> Place:
    """Raises Refused for what no page has as its `next`."""
    if query.after is None:
        return _LATEST if query.until is None else Place(query.until, 0)
    found = _PLACE.fullmatch(query.after)
    if found is None:
        raise Refused(Reason.QUERY_INVALID, "this is no `next` of a page", {"field": "after"})
    return Place(instant(int(found[1])), int(found[2]))


def _next(last: Found) -> str:
    return f"{microseconds(last.entry.created_at)}_{last.entry.sequence}"
