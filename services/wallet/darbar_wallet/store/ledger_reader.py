"""A player's own ledger, as committed. Open this when a page shows wrong lines."""

from __future__ import annotations

from collections.abc import Mapping

from darbar_contracts.wallet import WalletEntry, WalletQuery, WalletView
from darbar_kit.database import Database
from darbar_wallet.domain.transfers import player

_NUMBER_MAX = 2**63 - 1
_ENTRY_FIELDS = WalletEntry.__struct_fields__


class LedgerReader:
    """Reads without the writer, in one snapshot each."""

    def __init__(self, database: Database, queries: Mapping[str, str]) -> None:
        self._database = database
        self._queries = queries

    async def wallet(self, account_id: str, query: WalletQuery) -> WalletView:
        """The newest lines below `before`. An account that was never seen has nothing. Raises DatabaseAway."""
        limit, below = query.limit, _NUMBER_MAX if query.before is None else query.before
        # One more than asked for says whether there is a next page.
        rows = await self._database.read(self._queries["wallet"], player(account_id), below, limit + 1)
        lines = [row for row in rows if row["number"] is not None]
        entries = tuple(WalletEntry(*(row[field] for field in _ENTRY_FIELDS)) for row in lines[:limit])
        staked_coins = rows[0]["staked_coins"] if rows else 0
        return WalletView(
            account_id=account_id,
            balance_coins=rows[0]["balance_coins"] if rows else 0,
            # A seat puts the bet into the pot and as much again into the reserve.
            reserved_coins=staked_coins,
            in_pots_coins=staked_coins,
            entries=entries,
            next_before=entries[-1].number if len(lines) > limit else None,
        )
