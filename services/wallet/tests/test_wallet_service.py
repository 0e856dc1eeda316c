"""The wallet as other services and browsers meet it, over real NATS and PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias
from uuid import uuid4

import asyncpg
import msgspec
import pytest
from aiohttp.test_utils import TestClient, TestServer
from documented_answers import documented

from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import PERMISSIONS, WALLET_GRANT, WALLET_REFUND, WALLET_SETTLE, WALLET_STAKE
from darbar_contracts.wallet import (
    GrantRequest,
    RefundPurpose,
    RefundRequest,
    SettlePurpose,
    SettleRequest,
    Share,
    WalletAnswer,
    WalletAudit,
    WalletView,
)
from darbar_kit.bus import Bus
from darbar_kit.embedded.nats_rights import Permissions
from darbar_kit.errors import Unavailable
from darbar_kit.testing import MakeNats, TestDatabase
from darbar_wallet import http
from darbar_wallet.app import AUDITOR, build_app
from darbar_wallet.limits import REQUESTS_A_MINUTE_BY_ACCOUNT as ACCOUNT_REQUESTS_MAX
from darbar_wallet.limits import Limits
from darbar_wallet.settings import Settings
from darbar_wallet.testing import HttpClient, ask, balances, bearer_of, grant_new_accounts, stake_of

StartWallet: TypeAlias = Callable[[Settings], Awaitable[HttpClient]]


async def test_a_new_account_gets_its_coins_once(wallet: HttpClient, bus: Bus) -> None:
    request = GrantRequest(str(uuid4()), "ann", "new_account")

    first = await ask(bus, WALLET_GRANT, request)
    again = await ask(bus, WALLET_GRANT, request)
    other = await ask(bus, WALLET_GRANT, GrantRequest(str(uuid4()), "ann", "new_account"))

    assert first.done
    assert first.balances == {"ann": 5000}
    assert again == first
    assert (other.done, other.reason) == (False, Reason.ALREADY_GRANTED)


async def test_a_stake_is_taken_shared_out_and_shown(wallet: HttpClient, bus: Bus, token_key: str) -> None:
    await grant_new_accounts(bus, "ann", "bob")
    stake = stake_of("ann", None, "bob", None)

    taken = await ask(bus, WALLET_STAKE, stake)

    assert taken.done
    assert taken.balances == {"ann": 4800, "bob": 4800}
    during = await _view(wallet, token_key, "ann")
    assert (during.balance_coins, during.reserved_coins, during.in_pots_coins) == (4800, 100, 100)

    shares = (Share(0, "ann", 200), Share(2, "bob", 200))
    settled = await ask(
        bus, WALLET_SETTLE, SettleRequest("s", stake.key, "t1", "g1.r1", SettlePurpose.ROUND_ENDED, (), shares)
    )

    assert settled.balances == {"ann": 5100, "bob": 5100}
    after = await _view(wallet, token_key, "ann")
    assert (after.balance_coins, after.reserved_coins, after.in_pots_coins) == (5100, 0, 0)
    lines = [(entry.reason, entry.purpose, entry.coins, entry.unit, entry.table_id) for entry in after.entries]
    assert lines == [
        ("share", "round_ended", 200, "g1.r1", "t1"),
        ("reserve_back", "round_ended", 100, "g1.r1", "t1"),
        ("reserve", None, -100, "g1.r1", "t1"),
        ("bet", None, -100, "g1.r1", "t1"),
        ("new_account", None, 5000, None, None),
    ]
    assert sum(entry.coins for entry in after.entries) == after.balance_coins


async def _view(wallet: HttpClient, token_key: str, account_id: str, query: str = "") -> WalletView:
    async with wallet.get(f"/v1/me/wallet{query}", headers=bearer_of(token_key, account_id)) as response:
        assert response.status == 200, await response.text()
        return msgspec.json.decode(await response.read(), type=WalletView)


@pytest.mark.ruling("TL-37")
async def test_a_player_s_lines_say_why_the_stake_ended(wallet: HttpClient, bus: Bus, token_key: str) -> None:
    await grant_new_accounts(bus, "ann", "bob")
    stake, other = stake_of("ann", "bob"), stake_of("ann", "bob")
    for request in (stake, other):
        await ask(bus, WALLET_STAKE, request)
    closing = SettleRequest(
        "s", stake.key, "t1", "g1.r1", SettlePurpose.TABLE_CLOSED, bets_back=(0,), forfeit_coins=100
    )

    assert (await ask(bus, WALLET_SETTLE, closing)).balances == {"ann": 4800, "bob": 4700}
    refund = RefundRequest("r", other.key, "t1", "g1.r1", RefundPurpose.LEFT_WHILE_STAKING)
    assert (await ask(bus, WALLET_REFUND, refund)).balances == {"ann": 5000, "bob": 4900}

    seen = {
        name: [(entry.reason, entry.purpose) for entry in (await _view(wallet, token_key, name, "?limit=4")).entries]
        for name in ("ann", "bob")
    }
    back = [("reserve_back", "left_while_staking"), ("bet_back", "left_while_staking")]
    assert seen["ann"] == [*back, ("bet_back", "table_closed"), ("reserve_back", "table_closed")]
    assert seen["bob"] == [*back, ("reserve_back", "table_closed"), ("reserve", None)]


@pytest.mark.ruling("CP-34")
async def test_a_sweep_is_paid_out_and_posting_it_twice_is_a_no_op(wallet: HttpClient, bus: Bus) -> None:
    await grant_new_accounts(bus, "ann", "bob", "cid", "dan")
    stake = stake_of("ann", "bob", "cid", "dan")
    shares = (Share(0, "ann", 300), Share(2, "cid", 300))
    settle = SettleRequest("s", stake.key, "t1", "g1.r1", SettlePurpose.ROUND_ENDED, (1, 3), shares)
    await ask(bus, WALLET_STAKE, stake)

    first = await ask(bus, WALLET_SETTLE, settle)
    again = await ask(bus, WALLET_SETTLE, settle)

    assert first == again
    assert await balances(bus, "ann", "bob", "cid", "dan") == {"ann": 5200, "bob": 4800, "cid": 5200, "dan": 4800}


async def test_refusals_travel_as_answers(wallet: HttpClient, bus: Bus) -> None:
    await grant_new_accounts(bus, "ann")
    short = await ask(bus, WALLET_STAKE, stake_of("ann", "bob"))
    unknown = await ask(
        bus, WALLET_SETTLE, SettleRequest("s", "nothing", "t1", "g1.r1", SettlePurpose.ROUND_ENDED, (), ())
    )

    assert (short.reason, short.short, short.balances) == ("short_of_coins", ("bob",), {"ann": 5000, "bob": 0})
    assert unknown.reason == "stake_unknown"


async def test_a_refund_before_the_stake_cancels_it(wallet: HttpClient, bus: Bus) -> None:
    await grant_new_accounts(bus, "ann")
    stake = stake_of("ann")

    assert (await ask(bus, WALLET_REFUND, RefundRequest("r", stake.key, "t1", "g1.r1", RefundPurpose.VOIDED))).done
    assert (await ask(bus, WALLET_STAKE, stake)).reason == "stake_cancelled"
    assert await balances(bus, "ann") == {"ann": 5000}


@pytest.mark.ruling("TL-23")
async def test_a_top_up_once_a_day_by_the_database_s_date(wallet: HttpClient, bus: Bus, database: TestDatabase) -> None:
    await grant_new_accounts(bus, "ann")
    lost = stake_of("ann", None, bet_coins=2480)
    await ask(bus, WALLET_STAKE, lost)
    await ask(
        bus,
        WALLET_SETTLE,
        SettleRequest("s", lost.key, "t1", "g1.r1", SettlePurpose.ROUND_ENDED, (0, 1), (Share(1, None, 9920),)),
    )
    assert await balances(bus, "ann") == {"ann": 40}

    granted_top_up = await ask(bus, WALLET_GRANT, GrantRequest("day-1", "ann", "top_up"))
    assert granted_top_up.balances == {"ann": 1000}
    lost = stake_of("ann", None, bet_coins=500)
    await ask(bus, WALLET_STAKE, lost)
    await ask(
        bus,
        WALLET_SETTLE,
        SettleRequest("s2", lost.key, "t1", "g1.r1", SettlePurpose.ROUND_ENDED, (0, 1), (Share(1, None, 2000),)),
    )
    same_day = await ask(bus, WALLET_GRANT, GrantRequest("day-1-again", "ann", "top_up"))
    assert same_day.reason == "already_granted"

    # Only the owner of the tables can do what a night does.
    owner = await asyncpg.connect(database.owner_url)
    await owner.execute("UPDATE transfer SET day = day - 1")
    await owner.close()
    assert (await ask(bus, WALLET_GRANT, GrantRequest("day-2", "ann", "top_up"))).balances == {"ann": 1000}


@pytest.mark.parametrize("account_id", ["", "a b", "ann\u0000", "é", "x" * 129, "\ud83c"])
async def test_a_name_that_is_none_is_refused_at_the_border(wallet: HttpClient, bus: Bus, account_id: str) -> None:
    body = b'{"key":"k","account_id":%s,"kind":"new_account"}' % json.dumps(account_id).encode()

    answered = await bus.client.request(WALLET_GRANT, body, timeout=10)

    assert b"message_invalid" in answered.data


async def test_pages_of_the_ledger_follow_each_other(wallet: HttpClient, bus: Bus, token_key: str) -> None:
    await grant_new_accounts(bus, "ann")
    for number in range(7):
        stake = stake_of("ann", table_id=f"t{number}")
        await ask(bus, WALLET_STAKE, stake)
        await ask(
            bus, WALLET_REFUND, RefundRequest(f"r{number}", stake.key, f"t{number}", "g1.r1", RefundPurpose.VOIDED)
        )
    whole = await _view(wallet, token_key, "ann", "?limit=200")

    page = await _view(wallet, token_key, "ann", "?limit=5")
    lines = [*page.entries]
    while page.next_before is not None:
        page = await _view(wallet, token_key, "ann", f"?limit=5&before={page.next_before}")
        lines += page.entries

    assert whole.next_before is None
    assert len(lines) == 7 * 4 + 1
    assert tuple(lines) == whole.entries
    assert sum(line.coins for line in lines) == whole.balance_coins == 5000


async def test_an_account_that_was_never_seen_has_an_empty_wallet(wallet: HttpClient, token_key: str) -> None:
    assert await _view(wallet, token_key, "nobody") == WalletView("nobody", 0, 0, 0, ())


@pytest.mark.parametrize(
    ("query", "headers", "status", "code"),
    [
        ("", {}, 401, "token_missing"),
        ("", {"Authorization": "Bearer nonsense"}, 401, "token_invalid"),
        ("?limit=0", None, 400, "query_invalid"),
        ("?limit=201", None, 400, "query_invalid"),
        ("?limit=many", None, 400, "query_invalid"),
        ("?limit=1&limit=2", None, 400, "query_invalid"),
        ("?before=null", None, 400, "query_invalid"),
        ("?limit=²", None, 400, "query_invalid"),
        ("?before=-1", None, 400, "query_invalid"),
        ("?before=99999999999999999999", None, 400, "query_invalid"),
    ],
)
async def test_a_wrong_look_at_a_wallet_is_refused(
    wallet: HttpClient, token_key: str, query: str, headers: dict[str, str] | None, status: int, code: str
) -> None:
    sent = bearer_of(token_key, "ann") if headers is None else headers

    async with wallet.get(f"/v1/me/wallet{query}", headers=sent) as response:
        body = await response.json()
        documented("GET", "/v1/me/wallet", response.status, body)
        assert (response.status, body["code"]) == (status, code)


async def audit_of(wallet: HttpClient) -> WalletAudit:
    assert wallet.app is not None
    return await wallet.app[AUDITOR].result()


async def test_the_audit_tells_that_the_coins_add_up(wallet: HttpClient, bus: Bus) -> None:
    await grant_new_accounts(bus, "ann", "bob")
    await ask(bus, WALLET_STAKE, stake_of("ann", None, "bob", None))

    found = await audit_of(wallet)

    assert found.is_good
    assert found == WalletAudit(
        at=found.at,
        transfers=3,
        entries=12,
        sum_coins=0,
        balances_match=True,
        players_below_zero=0,
        transfers_unbalanced=0,
        transfers_missing=0,
        stakes_open=1,
        pots_coins=400,
        reserves_coins=400,
        pots_match=True,
        stakes_match=True,
    )
    assert await sample(wallet, "wallet_audit_good") == 1
    assert await sample(wallet, "wallet_audit_transfers") == 3


async def test_an_audit_that_finds_a_coin_off_is_a_metric(wallet: HttpClient, bus: Bus, database: TestDatabase) -> None:
    await grant_new_accounts(bus, "ann")
    owner = await asyncpg.connect(database.owner_url)
    await owner.execute("UPDATE account SET balance_coins = balance_coins + 1 WHERE number = 1")
    await owner.close()

    assert not (await audit_of(wallet)).is_good
    assert await sample(wallet, "wallet_audit_good") == 0


async def test_who_asks_too_often_is_told_to_wait(settings: Settings, token_key: str) -> None:
    proxied = msgspec.structs.replace(settings, trusted_proxies=("127.0.0.1",))
    async with at_one_moment(proxied, requests_a_minute_max=2) as wallet:
        headers = bearer_of(token_key, "ann")
        paths = ("/v1/me/wallet", "/v1/me/wallet/entries", "/v1/me/wallet/entries.csv")

        seen = [await limited(wallet, path=path, headers=headers) for path in paths]

        assert seen == [None, None, "requests_by_address"]
        assert await limited(wallet, path=paths[0], headers=headers | {"X-Forwarded-For": "192.0.2.7"}) is None


async def test_one_account_asks_no_more_than_it_may_from_many_addresses(settings: Settings, token_key: str) -> None:
    async with at_one_moment(settings, requests_a_minute_max=0) as wallet:
        headers = bearer_of(token_key, "ann")
        seen = [await limited(wallet, path="/v1/me/wallet", headers=headers) for _ in range(ACCOUNT_REQUESTS_MAX + 1)]

    assert seen == [None] * ACCOUNT_REQUESTS_MAX + ["requests_by_account"]


@asynccontextmanager
async def at_one_moment(settings: Settings, **maxima: int) -> AsyncIterator[HttpClient]:
    """A wallet for whose limits no time passes."""
    app = build_app(settings)
    app[http.LIMITS] = Limits(**maxima, clock=lambda: 0.0)
    async with TestClient(TestServer(app)) as client:
        yield client


async def limited(wallet: HttpClient, *, path: str, headers: dict[str, str]) -> str | None:
    """The limit that refused it."""
    async with wallet.get(path, headers=headers) as response:
        body = await response.json()
        if response.status == 200:
            return None
        assert (response.status, body["code"]) == (429, "too_many_requests")
        assert int(response.headers["Retry-After"]) > 0
        limit: str = body["details"]["limit"]
        return limit


async def test_what_was_done_is_counted(wallet: HttpClient, bus: Bus) -> None:
    await grant_new_accounts(bus, "ann")
    await ask(bus, WALLET_STAKE, stake_of("bob"))

    async with wallet.get("/metrics") as response:
        page = await response.text()

    assert 'wallet_transfers_total{kind="new_account"} 1.0' in page
    assert 'wallet_refusals_total{reason="short_of_coins"} 1.0' in page
    assert "wallet_batch_seconds_count 2.0" in page
    assert "wallet_leader 1.0" in page


async def test_it_works_with_the_rights_that_its_nats_user_has(
    settings: Settings, start_wallet: StartWallet, make_nats: MakeNats
) -> None:
    users = {name: Permissions(*rights) for name, rights in PERMISSIONS.items()}
    server = await make_nats(users)
    await start_wallet(msgspec.structs.replace(settings, nats_url=server.url("wallet")))
    lobby = await Bus.connect(server.url("lobby"), name="lobby")
    table = await Bus.connect(server.url("table"), name="table")

    await grant_new_accounts(lobby, "ann")
    assert (await ask(table, WALLET_STAKE, stake_of("ann"))).done
    with pytest.raises(Unavailable):
        await lobby.request(WALLET_STAKE, stake_of("ann"), WalletAnswer, timeout_seconds=0.3)

    assert await balances(table, "ann") == {"ann": 4800}
    await lobby.close()
    await table.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"top_up_below_coins": 2000},
        {"new_account_coins": 0},
        {"renew_seconds": 5.0},
        {"database_connections_max": 0},
    ],
)
def test_settings_that_contradict_each_other_stop_the_start(wrong: dict[str, object]) -> None:
    given = {"database_url": "postgresql://x", "nats_url": "nats://x", "token_public_key": "x"}

    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given | wrong, Settings)


async def sample(wallet: HttpClient, name: str) -> float:
    async with wallet.get("/metrics") as response:
        lines = (await response.text()).splitlines()
    return next(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name} "))
