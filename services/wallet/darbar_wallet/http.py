"""The wallet's HTTP, all for reading. Which routes there are is in the contracts."""

from __future__ import annotations

from aiohttp import web

from darbar_contracts.routes import WALLET
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


async def wallet(request: web.Request) -> web.Response:
    limits = request.app[LIMITS]
    limits.by_address.take(request.app[ADDRESSES].of(request))
    claims = bearer(request, request.app[TOKENS])
    limits.by_account.take(claims.account_id)
    return answer(await request.app[READER].wallet(claims.account_id, read_query(request, WalletQuery)))


async def wallet_audit(request: web.Request) -> web.Response:
    limits, address = request.app[LIMITS], request.app[ADDRESSES].of(request)
    limits.by_address.take(address)
    limits.audits.take(address)
    return answer(await request.app[AUDITOR].result())


_ACTS = {"wallet": wallet, "wallet_audit": wallet_audit}


def public_routes() -> list[web.RouteDef]:
    """Every public route of the contracts."""
    return [web.route(route.method, route.path, _ACTS[route.name]) for route in WALLET]
