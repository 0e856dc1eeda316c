"""The wallet's HTTP routes, all for reading. Open this to add one."""

from __future__ import annotations

from aiohttp import web

from darbar_contracts.wallet import WalletQuery
from darbar_kit.http import answer, bearer, read_query
from darbar_kit.http.client_address import ClientAddresses
from darbar_kit.tokens import TokenReader
from darbar_wallet.engine.auditor import Auditor
from darbar_wallet.limits import Limits
from darbar_wallet.store.ledger_reader import LedgerReader

READER: web.AppKey[LedgerReader] = web.AppKey("wallet_reader", LedgerReader)
AUDITOR: web.AppKey[Auditor] = web.AppKey("wallet_auditor", Auditor)
TOKENS: web.AppKey[TokenReader] = web.AppKey("wallet_tokens", TokenReader)
LIMITS: web.AppKey[Limits] = web.AppKey("wallet_limits", Limits)
ADDRESSES: web.AppKey[ClientAddresses] = web.AppKey("wallet_addresses", ClientAddresses)

routes = web.RouteTableDef()


@routes.get("/v1/me/wallet")
async def get_my_wallet(request: web.Request) -> web.Response:
    limits = request.app[LIMITS]
    limits.by_address.take(request.app[ADDRESSES].of(request))
    claims = bearer(request, request.app[TOKENS])
    limits.by_account.take(claims.account_id)
    return answer(await request.app[READER].wallet(claims.account_id, read_query(request, WalletQuery)))


@routes.get("/v1/wallet/audit")
async def get_audit(request: web.Request) -> web.Response:
    limits, address = request.app[LIMITS], request.app[ADDRESSES].of(request)
    limits.by_address.take(address)
    limits.audits.take(address)
    return answer(await request.app[AUDITOR].result())
