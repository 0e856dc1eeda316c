"""What can be looked up without the writer: a player's ledger, the audit. Open this when a page shows wrong lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from uuid import UUID

import asyncpg
import msgspec

from darbar_contracts.refusals import Reason
from darbar_contracts.wallet import WalletAudit, WalletEntry, WalletView
from darbar_kit.errors import Unavailable
from darbar_wallet.domain.transfers import player
from darbar_wallet.store.ledger_store import UNREACHABLE, Connection

# The audit reads the whole ledger.
AUDIT_SECONDS_MAX = 60
# Anybody may ask for the audit: it runs once at a time, and a young answer is given again. The larger the ledger, the
# longer: whoever asks without a pause makes the server audit for a tenth of the time at most.
AUDIT_FRESH_SECONDS_MIN = 0.2
AUDIT_FRESH_FACTOR = 10.0
_NUMBER_MAX = 2**63 - 1


class LedgerReader:
    """Reads what is committed, in one snapshot each."""

    def __init__(self, pool: asyncpg.Pool[asyncpg.Record], queries: Mapping[str, str]) -> None:
        self._pool = pool
        self._queries = queries
        self._auditing = asyncio.Lock()
        self._audit: WalletAudit | None = None
        self._audit_fresh_until = 0.0

    async def wallet(self, account_id: str, *, limit: int, before: int | None) -> WalletView:
        """The newest lines below `before`. An account that was never seen has nothing."""
        account = player(account_id)
        async with self._snapshot() as connection:
            funds = await connection.fetchrow(self._queries["funds"], account)
            # One more than asked for says whether there is a next page.
            below = _NUMBER_MAX if before is None else before
            rows = await connection.fetch(self._queries["entries"], account, below, limit + 1)
        entries = tuple(WalletEntry(**row) for row in rows[:limit])
        return WalletView(
            account_id=account_id,
            balance_coins=funds["balance_coins"] if funds else 0,
            # A seat puts the bet into the pot and as much again into the reserve.
            reserved_coins=funds["staked_coins"] if funds else 0,
            in_pots_coins=funds["staked_coins"] if funds else 0,
            entries=entries,
            next_before=entries[-1].number if len(rows) > limit else None,
        )

    async def audit(self) -> WalletAudit:
        """Whether the coins add up."""
        loop = asyncio.get_running_loop()
        async with self._auditing:
            if self._audit is not None and loop.time() < self._audit_fresh_until:
                return self._audit
            started = loop.time()
            self._audit = await self._audited()
            taken = loop.time() - started
            self._audit_fresh_until = loop.time() + max(AUDIT_FRESH_SECONDS_MIN, AUDIT_FRESH_FACTOR * taken)
            return self._audit

    async def _audited(self) -> WalletAudit:
        async with self._snapshot() as connection:
            await connection.execute(f"SET LOCAL statement_timeout = '{AUDIT_SECONDS_MAX}s'")
            row = await connection.fetchrow(self._queries["audit"], timeout=AUDIT_SECONDS_MAX)
        return msgspec.convert(dict(row or {}), WalletAudit)

    async def living_writer(self) -> UUID | None:
        """Who writes, here or elsewhere."""
        async with self._snapshot() as connection:
            found: UUID | None = await connection.fetchval(self._queries["living_writer"])
            return found

    @asynccontextmanager
    async def _snapshot(self) -> AsyncIterator[Connection]:
        """Everything read inside is of one moment. Raises Unavailable when the database is out of reach."""
        try:
            async with (
                self._pool.acquire() as connection,
                connection.transaction(isolation="repeatable_read", readonly=True),
            ):
                yield connection
        except UNREACHABLE as error:
            raise Unavailable(Reason.STORAGE_UNAVAILABLE, type(error).__name__) from error
