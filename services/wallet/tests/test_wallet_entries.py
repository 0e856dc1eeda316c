"""A ledger in pages, for one reason and for a spreadsheet; and coins that an administrator puts right."""

from __future__ import annotations

import csv
import io
from uuid import uuid4

import asyncpg
import msgspec
import pytest
from documented_answers import documented

from darbar_contracts.subjects import (
    WALLET_ADJUST,
    WALLET_AUDIT,
    WALLET_OF_ACCOUNT,
    WALLET_SETTLE,
    WALLET_STAKE,
)
from darbar_contracts.wallet import (
    AccountWalletRequest,
    AdjustRequest,
    AuditRequest,
    EntriesQuery,
    EntryList,
    SettlePurpose,
    SettleRequest,
    Share,
    WalletAudit,
    WalletView,
)
from darbar_kit.bus import Bus
from darbar_wallet.domain.entry_text import COLUMNS
from darbar_wallet.testing import HttpClient, ask, balances, bearer_of, grant_new_accounts, stake_of


async def entries(wallet: HttpClient, token_key: str, query: str = "") -> EntryList:
    path = f"/v1/me/wallet/entries{query}"
    async with wallet.get(path, headers=bearer_of(token_key, "ann")) as response:
        body = await response.read()
        documented("GET", path, response.status, msgspec.json.decode(body))
        assert response.status == 200, body
        return msgspec.json.decode(body, type=EntryList)


async def played(bus: Bus) -> None:
    """Ann and bob staked 100 each in a round, and ann won both."""
    await grant_new_accounts(bus, "ann", "bob")
    stake = stake_of("ann", "bob", table_id="table-1")
    await ask(bus, WALLET_STAKE, stake)
    settle = SettleRequest(
        key=str(uuid4()),
        stake_key=stake.key,
        table_id="table-1",
        unit="g1.r1",
        purpose=SettlePurpose.ROUND_ENDED,
        shares=(Share(0, "ann", 200),),
    )
    assert (await ask(bus, WALLET_SETTLE, settle)).done


async def test_a_ledger_comes_in_pages_and_for_one_reason(wallet: HttpClient, bus: Bus, token_key: str) -> None:
    await played(bus)
    whole = await entries(wallet, token_key)
    assert {entry.reason for entry in whole.entries} == {"new_account", "bet", "reserve", "reserve_back", "share"}
    assert whole.next_before is None
    paged: list[int] = []
    query = "?limit=2"
    while True:
        page = await entries(wallet, token_key, query)
        paged += [entry.number for entry in page.entries]
        if page.next_before is None:
            break
        query = f"?limit=2&before={page.next_before}"
    assert paged == [entry.number for entry in whole.entries]
    [share] = (await entries(wallet, token_key, "?reason=share")).entries
    assert (share.coins, share.table_id, share.unit, share.purpose) == (200, "table-1", "g1.r1", "round_ended")


async def test_a_reason_that_there_is_not_is_refused(wallet: HttpClient, token_key: str) -> None:
    async with wallet.get("/v1/me/wallet/entries?reason=luck", headers=bearer_of(token_key, "ann")) as response:
        assert (response.status, (await response.json())["code"]) == (400, "query_invalid")


async def test_a_spreadsheet_has_every_line_with_its_table_and_round(
    wallet: HttpClient, bus: Bus, token_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_wallet.http.WALLET_ENTRIES_MAX", 2)
    await played(bus)
    async with wallet.get("/v1/me/wallet/entries.csv", headers=bearer_of(token_key, "ann")) as response:
        assert (response.status, response.content_type) == (200, "text/csv")
        rows = list(csv.reader(io.StringIO(await response.text())))
    assert tuple(rows[0]) == COLUMNS
    lines = [dict(zip(COLUMNS, row, strict=True)) for row in rows[1:]]
    whole = await entries(wallet, token_key)
    assert [(int(line["number"]), int(line["coins"])) for line in lines] == [
        (entry.number, entry.coins) for entry in whole.entries
    ]
    assert {(line["table"], line["game"], line["round"]) for line in lines} == {("table-1", "1", "1"), ("", "", "")}


async def test_administrators_see_any_wallet_and_the_audit(wallet: HttpClient, bus: Bus) -> None:
    await played(bus)
    request = AccountWalletRequest("ann", EntriesQuery(reason="bet"))
    view = await bus.request(WALLET_OF_ACCOUNT, request, WalletView, timeout_seconds=5)
    assert (view.balance_coins, [entry.coins for entry in view.entries]) == (5100, [-100])
    assert (await bus.request(WALLET_AUDIT, AuditRequest(), WalletAudit, timeout_seconds=10)).is_good


def adjustment(coins: int, *, account_id: str = "ann", key: str = "") -> AdjustRequest:
    return AdjustRequest(key or f"adjust:olga:{uuid4()}", account_id, coins, "olga", "lost to a fault")


async def test_an_adjustment_moves_coins_between_bank_and_player_once(
    wallet: HttpClient, bus: Bus, token_key: str, ledger: asyncpg.Connection[asyncpg.Record]
) -> None:
    await grant_new_accounts(bus, "ann")
    more = adjustment(300)
    assert [await ask(bus, WALLET_ADJUST, more) for _ in range(2)] == [await ask(bus, WALLET_ADJUST, more)] * 2
    assert (await ask(bus, WALLET_ADJUST, adjustment(-5100))).balances == {"ann": 200}
    assert await balances(bus, "ann") == {"ann": 200}
    found = (await entries(wallet, token_key, "?reason=adjustment")).entries
    assert [(entry.coins, entry.table_id) for entry in found] == [(-5100, None), (300, None)]
    stored = await ledger.fetchval("SELECT request FROM transfer WHERE key = $1", more.key)
    assert msgspec.json.decode(stored, type=AdjustRequest) == more
    assert (await bus.request(WALLET_AUDIT, AuditRequest(), WalletAudit, timeout_seconds=10)).is_good


@pytest.mark.parametrize(
    ("account_id", "coins", "reason"),
    [
        ("ann", -5001, "short_of_coins"),
        ("ann", 0, "amount_invalid"),
        ("ann", 1_000_001, "amount_invalid"),
        ("nobody", 5, "wallet_missing"),
    ],
)
async def test_an_adjustment_that_can_not_be(
    wallet: HttpClient, bus: Bus, account_id: str, coins: int, reason: str
) -> None:
    await grant_new_accounts(bus, "ann")
    answer = await ask(bus, WALLET_ADJUST, adjustment(coins, account_id=account_id))
    assert (answer.done, answer.reason) == (False, reason)
    assert await balances(bus, "ann") == {"ann": 5000}
