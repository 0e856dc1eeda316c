"""A wallet for tests: started whole, asked as other services do. Open this when a test needs coins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias
from uuid import uuid4

import msgspec
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from darbar_contracts.subjects import WALLET_BALANCES, WALLET_GRANT
from darbar_contracts.wallet import BalancesAnswer, BalancesRequest, GrantRequest, StakeRequest, StakeSeat, WalletAnswer
from darbar_kit.bus import Bus
from darbar_kit.tokens import Claims, TokenWriter
from darbar_wallet.app import build_app
from darbar_wallet.settings import Settings

ASK_SECONDS_MAX = 10.0

HttpClient: TypeAlias = "TestClient[web.Request, web.Application]"


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[HttpClient]:
    """The service, as its own process would run it."""
    client = TestClient(TestServer(build_app(settings)))
    await client.start_server()
    try:
        yield client
    finally:
        await client.close()


async def is_ready(client: HttpClient) -> bool:
    """Whether somebody writes."""
    async with client.get("/readyz") as response:
        return response.status == 200


def bearer_of(token_key: str, account_id: str) -> dict[str, str]:
    """The headers of a browser that is signed in."""
    claims = Claims(account_id=account_id, name="Ann", avatar="owl", role="player")
    return {"Authorization": f"Bearer {TokenWriter(token_key).write(claims)}"}


async def ask(bus: Bus, subject: str, request: msgspec.Struct) -> WalletAnswer:
    """One request, as the table service sends it."""
    return await bus.request(subject, request, WalletAnswer, timeout_seconds=ASK_SECONDS_MAX)


async def grant_new_accounts(bus: Bus, *account_ids: str) -> None:
    """Gives each of them the new account's coins."""
    for account_id in account_ids:
        answer = await ask(bus, WALLET_GRANT, GrantRequest(str(uuid4()), account_id, "new_account"))
        assert answer.done, answer


async def balances(bus: Bus, *account_ids: str) -> dict[str, int]:
    """What they can spend."""
    request = BalancesRequest(account_ids)
    answer = await bus.request(WALLET_BALANCES, request, BalancesAnswer, timeout_seconds=ASK_SECONDS_MAX)
    return answer.balances


def stake_of(*account_ids: str | None, bet_coins: int = 100, key: str = "", table_id: str = "t1") -> StakeRequest:
    """A stake of these seats, in order; None is a bot."""
    seats = tuple(StakeSeat(seat, account_id) for seat, account_id in enumerate(account_ids))
    return StakeRequest(key or str(uuid4()), table_id, "g1.r1", 1, bet_coins, seats)
