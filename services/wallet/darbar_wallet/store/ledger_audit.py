"""Whether all coins add up: the whole ledger read in slices. Open this when the audit is slow, or says that they don't.

Nothing is taken over from an earlier pass. Entries and transfers never change, so slices may be read one after the
other while the ledger grows; a balance is compared in the same statement that reads the last of its entries.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime

import asyncpg
import msgspec

from darbar_contracts.wallet import WalletAudit
from darbar_kit.database import connect, translated

# A long pass reads for a tenth of the time: the writer needs the same disk. A short one rests when it is over.
SECONDS_WITHOUT_REST = 0.5
REST_FACTOR = 9.0

HOUSE_ACCOUNT_LAST = -4


class Slices(msgspec.Struct, frozen=True):
    """What one statement reads at most."""

    transfers: int = 2_000
    entries: int = 20_000
    accounts: int = 20_000


SLICES = Slices()


async def audited(database_url: str, queries: Mapping[str, str], *, slices: Slices = SLICES) -> WalletAudit:
    """One pass, on a connection of its own: nobody else waits for it. Raises DatabaseAway."""
    connection = await connect(database_url)
    try:
        return await _Pass(connection, queries, slices).run()
    finally:
        connection.terminate()


class _Pass:
    def __init__(
        self, connection: asyncpg.Connection[asyncpg.Record], queries: Mapping[str, str], slices: Slices
    ) -> None:
        self._connection = connection
        self._queries = queries
        self._slices = slices
        self._read_seconds = 0.0
        self._transfers = 0  # how many there are up to _last, the number of the last one that was read
        self._last = 0
        self._entries = 0
        self._sum_coins = 0
        self._transfers_unbalanced = 0
        self._house_coins = [0] * 4
        self._balances_wrong = 0
        self._players_below_zero = 0
        self._stakes_open: list[int] = []
        self._accounts: list[int] = []  # those with coins at tables, and pots and reserves that are not empty

    async def run(self) -> WalletAudit:
        await self._read_transfers()
        await self._read_players()
        await self._read_pots()
        await self._read_transfers()  # What has come meanwhile, so that the last statement reads little.
        end = await self._row("audit_end", self._last, self._house_coins, self._stakes_open, self._accounts)
        return WalletAudit(
            at=datetime.now(UTC),
            transfers=self._transfers,
            entries=self._entries,
            sum_coins=self._sum_coins,
            balances_match=not self._balances_wrong and end["house_matches"],
            players_below_zero=self._players_below_zero,
            transfers_unbalanced=self._transfers_unbalanced,
            transfers_missing=self._last - self._transfers,
            stakes_open=end["stakes_open"],
            pots_coins=end["pots_coins"],
            reserves_coins=end["reserves_coins"],
            pots_match=end["pots_match"],
            stakes_match=end["stakes_match"],
        )

    async def _read_transfers(self) -> None:
        head = (await self._row("audit_head"))["number"]
        while self._last < head:
            through = min(self._last + self._slices.transfers, head)
            row = await self._row("audit_transfers", self._last, through)
            self._last = through
            self._transfers += row["transfers"]
            self._entries += row["entries"]
            self._sum_coins += row["sum_coins"]
            self._transfers_unbalanced += row["transfers_unbalanced"]
            self._house_coins = [sum(both) for both in zip(self._house_coins, row["house_coins"], strict=True)]
            self._stakes_open += row["stakes_open"]

    async def _read_players(self) -> None:
        place: tuple[int, ...] = (0, 0, 0, 0)
        while True:
            row = await self._row("audit_players", *place, self._slices.entries)
            self._balances_wrong += row["balances_wrong"]
            self._players_below_zero += row["below_zero"]
            self._accounts += row["with_stakes"]
            if row["is_last"]:
                return
            place = (row["account_number"], row["transfer_number"], row["line"], row["coins"])

    async def _read_pots(self) -> None:
        number = HOUSE_ACCOUNT_LAST
        while True:
            row = await self._row("audit_pots", number, self._slices.accounts)
            self._accounts += row["with_coins"]
            if row["is_last"]:
                return
            number = row["number"]

    async def _row(self, name: str, *arguments: object) -> asyncpg.Record:
        started = time.monotonic()
        with translated():
            row = await self._connection.fetchrow(self._queries[name], *arguments)
        assert row is not None
        taken = time.monotonic() - started
        self._read_seconds += taken
        if self._read_seconds > SECONDS_WITHOUT_REST:
            await asyncio.sleep(REST_FACTOR * taken)
        return row
