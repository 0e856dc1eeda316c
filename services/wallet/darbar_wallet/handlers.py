"""What each request from another service or a browser does. Open this to follow one from the wire inwards."""

from __future__ import annotations

from darbar_contracts.refusals import Reason
from darbar_contracts.wallet import (
    WALLET_ENTRIES_PAGE,
    WALLET_ENTRIES_PAGE_MAX,
    BalancesAnswer,
    BalancesRequest,
    GrantRequest,
    RefundRequest,
    SettleRequest,
    StakeRequest,
    WalletAnswer,
    WalletView,
)
from darbar_kit.errors import Refused
from darbar_wallet.engine.writer import Writer
from darbar_wallet.store.ledger_reader import LedgerReader

_NUMBER_MAX = 2**63 - 1


class BusHandlers:
    """The requests of other services. All that concerns balances goes through the one writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def stake(self, request: StakeRequest) -> WalletAnswer:
        return await self._writer.ask(request)

    async def settle(self, request: SettleRequest) -> WalletAnswer:
        return await self._writer.ask(request)

    async def refund(self, request: RefundRequest) -> WalletAnswer:
        return await self._writer.ask(request)

    async def grant(self, request: GrantRequest) -> WalletAnswer:
        return await self._writer.ask(request)

    async def balances(self, request: BalancesRequest) -> BalancesAnswer:
        return await self._writer.ask(request)


async def show_wallet(reader: LedgerReader, account_id: str, *, limit: str | None, before: str | None) -> WalletView:
    """A page of the player's own ledger. Raises Refused when a number is none."""
    return await reader.wallet(
        account_id,
        limit=_number(limit, "limit", maximum=WALLET_ENTRIES_PAGE_MAX) if limit else WALLET_ENTRIES_PAGE,
        before=_number(before, "before", maximum=_NUMBER_MAX) if before else None,
    )


def _number(text: str, name: str, *, maximum: int) -> int:
    # isdecimal() takes digits of every script, and int() as well: all of them are numbers.
    number = int(text) if text.isdecimal() and len(text) <= len(str(maximum)) else 0
    if not 1 <= number <= maximum:
        raise Refused(
            Reason.QUERY_INVALID,
            f"{name} must be a number from 1 to {maximum}",
            {"field": name, "minimum": 1, "maximum": maximum},
            400,
        )
    return number
