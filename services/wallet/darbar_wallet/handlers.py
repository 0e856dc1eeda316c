"""What a browser asks, made into what the ledger is asked. Open this when a query is read wrongly."""

from __future__ import annotations

from darbar_contracts.refusals import Reason
from darbar_contracts.wallet import (
    WALLET_ENTRIES_PAGE,
    WALLET_ENTRIES_PAGE_MAX,
    WalletView,
)
from darbar_kit.errors import Refused
from darbar_wallet.store.ledger_reader import LedgerReader

_NUMBER_MAX = 2**63 - 1


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
