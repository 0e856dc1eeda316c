"""Replays and audits over HTTP. Their paths and answers are in the contracts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from darbar_contracts.api import Replay, ReplayQuery, TableAudit
from darbar_kit.http import answer, bearer, read_query
from darbar_kit.tokens import TokenReader
from darbar_table.handlers.elsewhere import AuditRequest, ReplayRequest
from darbar_table.handlers.questions import table_id_of


class Pages:
    """What is read over HTTP."""

    def __init__(
        self,
        tokens: TokenReader,
        *,
        replay: Callable[[ReplayRequest], Awaitable[Replay]],
        audit: Callable[[AuditRequest], Awaitable[TableAudit]],
    ) -> None:
        self._tokens = tokens
        self._replay = replay
        self._audit = audit

    async def replay(self, request: web.Request) -> web.Response:
        claims, query = bearer(request, self._tokens), read_query(request, ReplayQuery)
        return answer(await self._replay(ReplayRequest(_table_of(request), claims.account_id, query.after)))

    async def audit(self, request: web.Request) -> web.Response:
        claims = bearer(request, self._tokens)
        return answer(await self._audit(AuditRequest(_table_of(request), claims.account_id)))


def _table_of(request: web.Request) -> str:
    return str(table_id_of(request.match_info["table_id"]))
