"""Which subjects the wallet answers. Open this when a request finds nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

import msgspec

from darbar_contracts import subjects
from darbar_contracts.wallet import (
    AccountWalletRequest,
    AdjustRequest,
    AuditRequest,
    AuditTablesRequest,
    BalancesRequest,
    GrantRequest,
    RefundRequest,
    SettleRequest,
    StakeRequest,
    TablesAudit,
    WalletAudit,
    WalletView,
)
from darbar_kit.bus import Bus
from darbar_wallet.engine.auditor import Auditor
from darbar_wallet.engine.writer import Writer
from darbar_wallet.store.ledger_reader import LedgerReader

_Request = TypeVar("_Request", bound=msgspec.Struct)


async def serve_administrators(
    bus: Bus, reader: LedgerReader, auditor: Auditor[WalletAudit], tables_auditor: Auditor[TablesAudit]
) -> None:
    """What the lobby asks for those who run Darbar; a standby answers too."""

    async def wallet(request: AccountWalletRequest) -> WalletView:
        return await reader.wallet(request.account_id, request.query)

    async def audit(_request: AuditRequest) -> WalletAudit:
        return await auditor.result()

    async def audit_tables(_request: AuditTablesRequest) -> TablesAudit:
        return await tables_auditor.result()

    await bus.serve(subjects.WALLET_AUDIT_TABLES, AuditTablesRequest, audit_tables, queue=subjects.WALLET_QUEUE)
    await bus.serve(subjects.WALLET_OF_ACCOUNT, AccountWalletRequest, wallet, queue=subjects.WALLET_QUEUE)
    await bus.serve(subjects.WALLET_AUDIT, AuditRequest, audit, queue=subjects.WALLET_QUEUE)


@asynccontextmanager
async def serving(bus: Bus, writer: Writer) -> AsyncIterator[None]:
    """Only the process that writes listens: a standby would take requests that it can't answer."""
    async with AsyncExitStack() as stack:

        async def serve(
            subject: str, request_type: type[_Request], ask: Callable[[_Request], Awaitable[msgspec.Struct]]
        ) -> None:
            listening = await bus.serve(subject, request_type, ask, queue=subjects.WALLET_QUEUE)
            stack.push_async_callback(listening.stop)

        await serve(subjects.WALLET_STAKE, StakeRequest, writer.ask)
        await serve(subjects.WALLET_SETTLE, SettleRequest, writer.ask)
        await serve(subjects.WALLET_REFUND, RefundRequest, writer.ask)
        await serve(subjects.WALLET_GRANT, GrantRequest, writer.ask)
        await serve(subjects.WALLET_ADJUST, AdjustRequest, writer.ask)
        await serve(subjects.WALLET_BALANCES, BalancesRequest, writer.ask)
        yield
