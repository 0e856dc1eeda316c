"""A player's own ledger, as committed. Open this when a page shows wrong lines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import msgspec

from darbar_contracts.wallet import EntriesQuery, EntryList, WalletEntry, WalletQuery, WalletView
from darbar_kit.database import Database
from darbar_wallet.domain.transfers import player

_NUMBER_MAX = 2**63 - 1
_ENTRY_FIELDS = WalletEntry.__struct_fields__


class LedgerReader:
    """Reads without the writer, in one snapshot each."""

    def __init__(self, database: Database, queries: Mapping[str, str]) -> None:
        self._database = database
        self._queries = queries

    async def entries(self, account_id: str, query: EntriesQuery) -> EntryList:
        """The newest lines below `before`. Raises DatabaseAway."""
        view = await self.wallet(account_id, query)
        return EntryList(view.entries, view.next_before)

    async def pages(self, account_id: str, query: EntriesQuery) -> AsyncIterator[EntryList]:
        """All lines, page after page. Raises DatabaseAway."""
        page = await self.entries(account_id, query)
        yield page
        while page.next_before is not None:
            page = await self.entries(account_id, msgspec.structs.replace(query, before=page.next_before))
            yield page

    async def wallet(self, account_id: str, query: WalletQuery | EntriesQuery) -> WalletView:
        """The newest lines below `before`. An account that was never seen has nothing. Raises DatabaseAway."""
        limit, below = query.limit, _NUMBER_MAX if query.before is None else query.before
        reason = query.reason if isinstance(query, EntriesQuery) else None
        # One more than asked for says whether there is a next page.
        rows = await self._database.read(self._queries["wallet"], player(account_id), below, limit + 1, reason)
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
