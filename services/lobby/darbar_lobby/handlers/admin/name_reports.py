"""Names that players report and administrators deal with. Open this when a report is lost."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from darbar_contracts.admin.api import DismissName, NamesQuery, ReportedName, ReportedNames
from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused
from darbar_lobby.domain.instants import instant, microseconds
from darbar_lobby.handlers.accounts import Accounts
from darbar_lobby.handlers.admin.acts import Acts
from darbar_lobby.handlers.admin.coins import validated_account_id
from darbar_lobby.store.administrators import SignedIn
from darbar_lobby.store.name_reports import NameReportStore, Place

_HANDLE = re.compile("[0-9a-f]{20}")
_PLACE = re.compile("([0-9]{1,9})_([0-9]{1,17})_([0-9a-f]{32})")
_FIRST = Place(2**31 - 1, datetime.min.replace(tzinfo=UTC), "")


class NameReports:
    """Nobody is told who has reported a name, administrators neither."""

    def __init__(self, *, store: NameReportStore, accounts: Accounts, acts: Acts) -> None:
        self._store = store
        self._accounts = accounts
        self._acts = acts

    async def report(self, reporter_id: str, handle: str) -> None:
        """Once for each name: reporting it again changes nothing. Raises Refused."""
        await self._accounts.account(reporter_id)
        account_id = await self._store.report(handle, reporter_id=reporter_id) if _HANDLE.fullmatch(handle) else None
        if account_id is None:
            raise Refused(Reason.PLAYER_UNKNOWN)
        if account_id == reporter_id:
            raise Refused(Reason.NAME_OWN)

    async def waiting(self, query: NamesQuery) -> ReportedNames:
        """Raises Refused query_invalid for an `after` that is none of ours."""
        names = await self._store.waiting(_place(query.after), query.limit + 1)
        page = tuple(names[: query.limit])
        return ReportedNames(page, _next(page[-1]) if len(names) > query.limit else None)

    async def dismiss(self, who: SignedIn, account_id: str, body: DismissName) -> None:
        """The same again is answered alike. Raises Refused player_unknown and name_not_reported."""
        validated_account_id(account_id)
        async with self._acts.noted(who, "dismiss_name", f"account:{account_id}", reason=body.reason, name=body.name):
            if not await self._store.dismiss(account_id, body.name):
                raise Refused(Reason.NAME_NOT_REPORTED)


def _next(last: ReportedName) -> str:
    return f"{last.reports}_{microseconds(last.reported_at)}_{last.account_id}"


def _place(text: str | None) -> Place:
    if text is None:
        return _FIRST
    found = _PLACE.fullmatch(text)
    if found is None:
        raise Refused(Reason.QUERY_INVALID, "this is no `next` of a page", {"field": "after"})
    return Place(int(found[1]), instant(int(found[2])), found[3])
