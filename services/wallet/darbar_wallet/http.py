"""The wallet's HTTP, all for reading. Which routes there are is in the contracts."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiohttp import web

from darbar_contracts.public.routes import WALLET
from darbar_contracts.route import CSV
from darbar_contracts.wallet import (
    WALLET_ENTRIES_MAX,
    EntriesAsTextQuery,
    EntriesQuery,
    EntryList,
    WalletQuery,
)
from darbar_kit.http import answer, bearer, read_query, streamed
from darbar_kit.http.client_address import ClientAddresses
from darbar_kit.tokens import TokenReader
from darbar_wallet.domain.entry_text import as_text
from darbar_wallet.limits import Limits
from darbar_wallet.store.ledger_reader import LedgerReader

READER: web.AppKey[LedgerReader] = web.AppKey("wallet_reader", LedgerReader)
TOKENS: web.AppKey[TokenReader] = web.AppKey("wallet_tokens", TokenReader)
LIMITS: web.AppKey[Limits] = web.AppKey("wallet_limits", Limits)
ADDRESSES: web.AppKey[ClientAddresses] = web.AppKey("wallet_addresses", ClientAddresses)


async def wallet(request: web.Request) -> web.Response:
    account_id = _account_id(request)
    return answer(await request.app[READER].wallet(account_id, read_query(request, WalletQuery)))


async def wallet_entries(request: web.Request) -> web.Response:
    account_id = _account_id(request)
    return answer(await request.app[READER].entries(account_id, read_query(request, EntriesQuery)))


async def wallet_entries_as_text(request: web.Request) -> web.StreamResponse:
    account_id = _account_id(request)
    query = EntriesQuery(read_query(request, EntriesAsTextQuery).reason, limit=WALLET_ENTRIES_MAX)
    pages = request.app[READER].pages(account_id, query)
    return await streamed(request, CSV, (as_text(page.entries, first=first) async for first, page in _counted(pages)))


def _account_id(request: web.Request) -> str:
    limits = request.app[LIMITS]
    limits.by_address.take(request.app[ADDRESSES].of(request))
    claims = bearer(request, request.app[TOKENS])
    limits.by_account.take(claims.account_id)
    return claims.account_id


async def _counted(pages: AsyncIterator[EntryList]) -> AsyncIterator[tuple[bool, EntryList]]:
    """Each with whether it is the first."""
    first = True
    async for page in pages:
        yield first, page
        first = False


_ACTS = {"wallet": wallet, "wallet_entries": wallet_entries, "wallet_entries_as_text": wallet_entries_as_text}


def public_routes() -> list[web.RouteDef]:
    """Every public route of the contracts."""
    return [web.route(route.method, route.path, _ACTS[route.name]) for route in WALLET]
