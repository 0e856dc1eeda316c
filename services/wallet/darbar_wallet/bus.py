"""Which subjects the wallet answers. Open this when a request finds nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeAlias, TypeVar

import msgspec

from darbar_contracts.subjects import (
    WALLET_BALANCES,
    WALLET_GRANT,
    WALLET_QUEUE,
    WALLET_REFUND,
    WALLET_SETTLE,
    WALLET_STAKE,
)
from darbar_contracts.wallet import (
    BalancesRequest,
    GrantRequest,
    RefundRequest,
    SettleRequest,
    StakeRequest,
)
from darbar_kit.bus import Bus
from darbar_wallet.handlers import BusHandlers

_Request = TypeVar("_Request", bound=msgspec.Struct)
_Handler: TypeAlias = Callable[[_Request], Awaitable[msgspec.Struct]]


@asynccontextmanager
async def serving(bus: Bus, handlers: BusHandlers) -> AsyncIterator[None]:
    """Only the process that writes listens: a standby would take requests that it can't answer."""
    async with AsyncExitStack() as stack:

        async def serve(subject: str, request_type: type[_Request], handler: _Handler[_Request]) -> None:
            listening = await bus.serve(subject, request_type, handler, queue=WALLET_QUEUE)
            stack.push_async_callback(listening.stop)

        await serve(WALLET_STAKE, StakeRequest, handlers.stake)
        await serve(WALLET_SETTLE, SettleRequest, handlers.settle)
        await serve(WALLET_REFUND, RefundRequest, handlers.refund)
        await serve(WALLET_GRANT, GrantRequest, handlers.grant)
        await serve(WALLET_BALANCES, BalancesRequest, handlers.balances)
        yield
