"""The wallet's HTTP routes, all for reading. Open this to add one."""

from __future__ import annotations

from aiohttp import web

from darbar_kit.http import answer, bearer
from darbar_kit.tokens import TokenReader
from darbar_wallet import handlers
from darbar_wallet.store.ledger_reader import LedgerReader

READER: web.AppKey[LedgerReader] = web.AppKey("reader", LedgerReader)
TOKENS: web.AppKey[TokenReader] = web.AppKey("tokens", TokenReader)

routes = web.RouteTableDef()


@routes.get("/v1/me/wallet")
async def get_my_wallet(request: web.Request) -> web.Response:
    claims = bearer(request, request.app[TOKENS])
    view = await handlers.show_wallet(
        request.app[READER],
        claims.account_id,
        limit=request.query.get("limit"),
        before=request.query.get("before"),
    )
    return answer(view)


@routes.get("/v1/wallet/audit")
async def get_audit(request: web.Request) -> web.Response:
    return answer(await request.app[READER].audit())
