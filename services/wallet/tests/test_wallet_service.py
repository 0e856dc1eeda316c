"""The wallet as other services and browsers meet it, over real NATS and PostgreSQL."""

from __future__ import annotations

from uuid import uuid4

import msgspec

from darbar_contracts.subjects import WALLET_GRANT, WALLET_SETTLE, WALLET_STAKE
from darbar_contracts.wallet import (
    GrantRequest,
    SettleRequest,
    Share,
    WalletReason,
    WalletView,
)
from darbar_kit.bus import Bus
from darbar_wallet.testing import HttpClient, ask, bearer_of, stake_of, welcome


async def test_a_new_account_gets_its_coins_once(wallet: HttpClient, bus: Bus) -> None:
    request = GrantRequest(str(uuid4()), "ann", "new_account")

    first = await ask(bus, WALLET_GRANT, request)
    again = await ask(bus, WALLET_GRANT, request)
    other = await ask(bus, WALLET_GRANT, GrantRequest(str(uuid4()), "ann", "new_account"))

    assert first.done
    assert first.balances == {"ann": 5000}
    assert again == first
    assert (other.done, other.reason) == (False, WalletReason.ALREADY_GRANTED)


async def test_a_stake_is_taken_shared_out_and_shown(wallet: HttpClient, bus: Bus, token_key: str) -> None:
    await welcome(bus, "ann", "bob")
    stake = stake_of("ann", None, "bob", None)

    taken = await ask(bus, WALLET_STAKE, stake)

    assert taken.done
    assert taken.balances == {"ann": 4800, "bob": 4800}
    during = await _view(wallet, token_key, "ann")
    assert (during.balance_coins, during.reserved_coins, during.in_pots_coins) == (4800, 100, 100)

    shares = (Share(0, "ann", 200), Share(2, "bob", 200))
    settled = await ask(bus, WALLET_SETTLE, SettleRequest("s", stake.key, "t1", "g1.r1", (), shares))

    assert settled.balances == {"ann": 5100, "bob": 5100}
    after = await _view(wallet, token_key, "ann")
    assert (after.balance_coins, after.reserved_coins, after.in_pots_coins) == (5100, 0, 0)
    assert [(entry.reason, entry.coins, entry.unit, entry.table_id) for entry in after.entries] == [
        ("share", 200, "g1.r1", "t1"),
        ("reserve_back", 100, "g1.r1", "t1"),
        ("reserve", -100, "g1.r1", "t1"),
        ("bet", -100, "g1.r1", "t1"),
        ("new_account", 5000, None, None),
    ]
    assert sum(entry.coins for entry in after.entries) == after.balance_coins


async def _view(wallet: HttpClient, token_key: str, account_id: str, query: str = "") -> WalletView:
    async with wallet.get(f"/v1/me/wallet{query}", headers=bearer_of(token_key, account_id)) as response:
        assert response.status == 200, await response.text()
        return msgspec.json.decode(await response.read(), type=WalletView)
