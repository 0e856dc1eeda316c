"""Replays and audits over HTTP. Their paths and answers are in the contracts."""

from __future__ import annotations

from aiohttp import web

from darbar_contracts.api import ReplayQuery
from darbar_kit.http import answer, bearer, read_query
from darbar_kit.tokens import TokenReader
from darbar_table.handlers.inspection import Inspection
from darbar_table.handlers.questions import table_id_of


class Pages:
    """What is read over HTTP."""

    def __init__(self, inspection: Inspection, tokens: TokenReader) -> None:
        self._inspection = inspection
        self._tokens = tokens

    async def replay(self, request: web.Request) -> web.Response:
        claims = bearer(request, self._tokens)
        table_id, query = table_id_of(request.match_info["table_id"]), read_query(request, ReplayQuery)
        return answer(await self._inspection.replay(table_id, claims, after=query.after))

    async def audit(self, request: web.Request) -> web.Response:
        claims = bearer(request, self._tokens)
        return answer(await self._inspection.audit(table_id_of(request.match_info["table_id"]), claims))
