"""The connection to PostgreSQL is cut around commits, the writer is declared dead: each request is done once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from uuid import uuid4

import asyncpg
import msgspec
import pytest
import pytest_asyncio

from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import WALLET_BALANCES, WALLET_GRANT, WALLET_REFUND, WALLET_STAKE
from darbar_contracts.wallet import (
    BalancesAnswer,
    BalancesRequest,
    GrantRequest,
    RefundPurpose,
    RefundRequest,
    WalletAnswer,
    WalletAudit,
)
from darbar_kit.bus import Bus
from darbar_kit.errors import Unavailable
from darbar_kit.settings import load
from darbar_kit.testing import Cut, CuttingProxy, TestDatabase, Tunnel, eventually, keep_ending_sessions
from darbar_wallet.app import AUDITOR
from darbar_wallet.settings import Settings
from darbar_wallet.testing import HttpClient, ask, balances, grant_new_accounts, is_ready, running, stake_of


class KillingTimes(msgspec.Struct, frozen=True, kw_only=True):
    """How long connections are killed, and how often."""

    killing_seconds: float = 5.0
    killing_every_seconds: float = 0.1


@pytest_asyncio.fixture(loop_scope="session")
async def proxy(database: TestDatabase) -> AsyncIterator[CuttingProxy]:
    proxy = CuttingProxy(database.url, at_commit=True)
    yield proxy
    await proxy.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def proxied(settings: Settings, proxy: CuttingProxy) -> AsyncIterator[HttpClient]:
    """A wallet that reaches its database through the proxy."""
    through = msgspec.structs.replace(settings, database_url=await proxy.start())
    async with running(through) as client:
        await eventually(lambda: is_ready(client))
        yield client


@pytest_asyncio.fixture(loop_scope="session")
async def owner(database: TestDatabase) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """Whoever may change the tables and the rights of the service."""
    connection = await asyncpg.connect(database.owner_url)
    yield connection
    await connection.close()


async def ask_until_answered(bus: Bus, subject: str, request: msgspec.Struct) -> WalletAnswer:
    """As the table service does: the same request again until there is an answer."""

    async def answered() -> WalletAnswer | None:
        try:
            return await ask(bus, subject, request)
        except Unavailable:
            return None

    answer: WalletAnswer = await eventually(answered, seconds=30)
    return answer


async def audit(wallet: HttpClient) -> WalletAudit:
    assert wallet.app is not None
    return await wallet.app[AUDITOR].result()


def assert_good(found: WalletAudit) -> None:
    assert found.is_good, found


@pytest.mark.parametrize("cuts", [["before"], ["after"], ["before", "after"], ["after", "before", "after"]])
async def test_a_cut_around_the_commit_is_answered_once(
    proxied: HttpClient, proxy: CuttingProxy, bus: Bus, ledger: asyncpg.Connection[asyncpg.Record], cuts: list[Cut]
) -> None:
    await grant_new_accounts(bus, "ann", "bob")
    stake = stake_of("ann", "bob")

    proxy.arm(*cuts)
    answer = await ask(bus, WALLET_STAKE, stake)

    assert proxy.cuts == len(cuts)
    assert answer == WalletAnswer(True, balances={"ann": 4800, "bob": 4800})
    assert await balances(bus, "ann", "bob") == {"ann": 4800, "bob": 4800}
    assert await ledger.fetchval("SELECT count(*) FROM transfer WHERE key = $1", stake.key) == 1
    assert await ask(bus, WALLET_STAKE, stake) == answer
    assert_good(await audit(proxied))


async def test_a_database_that_is_gone_for_a_while_costs_no_coin(
    proxied: HttpClient, proxy: CuttingProxy, bus: Bus
) -> None:
    await grant_new_accounts(bus, "ann", "bob")
    stake = stake_of("ann", "bob")

    proxy.go_away()
    asking = asyncio.ensure_future(ask_until_answered(bus, WALLET_STAKE, stake))
    await eventually(lambda: _metric(proxied, 'wallet_batches_failed_total{reason="database_away"}'))
    assert not asking.done()
    assert await missing(proxied) == ["database"]
    proxy.come_back()

    assert (await asking).balances == {"ann": 4800, "bob": 4800}
    assert_good(await audit(proxied))


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_cuts_under_load_lose_and_double_nothing(
    proxied: HttpClient, proxy: CuttingProxy, bus: Bus, seed: int
) -> None:
    chance = random.Random(seed)
    players = [f"p{number}" for number in range(8)]
    await grant_new_accounts(bus, *players)

    async def play(table: int) -> int:
        taken = 0
        for unit in range(6):
            stake = stake_of(*chance.sample(players, 2), bet_coins=chance.randint(25, 400), table_id=f"t{table}")
            if chance.random() < 0.3:
                proxy.arm(chance.choice(["before", "after"]))
            if (await ask_until_answered(bus, WALLET_STAKE, stake)).done and chance.random() < 0.5:
                back = RefundRequest(
                    f"back-{table}-{unit}", stake.key, stake.table_id, stake.unit, RefundPurpose.VOIDED
                )
                assert (await ask_until_answered(bus, WALLET_REFUND, back)).done
            elif (await ask_until_answered(bus, WALLET_STAKE, stake)).done:
                taken += 4 * stake.bet_coins
        return taken

    taken = sum(await asyncio.gather(*(play(table) for table in range(10))))

    assert proxy.cuts > 0
    left = await balances(bus, *players)
    assert sum(left.values()) == 5000 * len(players) - taken
    found = await audit(proxied)
    assert_good(found)
    assert found.pots_coins == found.reserves_coins == taken // 2


async def test_a_writer_that_was_declared_dead_stores_nothing_and_comes_back_under_a_new_id(
    wallet: HttpClient, bus: Bus, ledger: asyncpg.Connection[asyncpg.Record]
) -> None:
    await grant_new_accounts(bus, "ann")
    first = await ledger.fetchval("SELECT writer_id FROM wallet_writer")

    await ledger.execute("DELETE FROM wallet_writer")
    answer = await ask_until_answered(bus, WALLET_GRANT, GrantRequest(str(uuid4()), "bob", "new_account"))

    assert answer.balances == {"bob": 5000}
    assert await ledger.fetchval("SELECT writer_id FROM wallet_writer") != first
    assert_good(await audit(wallet))


async def test_a_standby_waits_and_takes_over_when_the_writer_stops(settings: Settings, bus: Bus) -> None:
    async with running(settings) as first:
        await eventually(lambda: is_ready(first))
        await grant_new_accounts(bus, "ann")
        async with running(settings) as standby:
            assert await is_ready(standby)
            assert not await _metric(standby, "wallet_leader")
            stake = stake_of("ann", None)
            await first.close()

            answer = await ask_until_answered(bus, WALLET_STAKE, stake)

            assert answer.balances == {"ann": 4800}
            assert await _metric(standby, "wallet_leader")


async def test_a_standby_takes_over_when_the_writer_no_longer_renews(
    settings: Settings, bus: Bus, ledger: asyncpg.Connection[asyncpg.Record]
) -> None:
    slow = msgspec.structs.replace(settings, renew_seconds=60, lease_seconds=61)
    async with running(slow) as stalled, running(settings) as standby:
        await eventually(lambda: _metric(stalled, "wallet_leader"))
        writer_id = await ledger.fetchval("SELECT writer_id FROM wallet_writer")

        async def taken() -> bool:
            # The first renewal may come after this: so it is said again.
            await ledger.execute(
                "UPDATE wallet_writer SET expires_at = now() - interval '1 second' WHERE writer_id = $1", writer_id
            )
            return bool(await _metric(standby, "wallet_leader"))

        await eventually(taken)

        # Whichever of the two gets a request: one of them stores it, the other says that it has moved.
        for number in range(4):
            answer = await ask_until_answered(
                bus, WALLET_GRANT, GrantRequest(f"g{number}", f"p{number}", "new_account")
            )
            assert answer.balances == {f"p{number}": 5000}
        assert_good(await audit(standby))


async def test_a_writer_that_nobody_can_reach_over_nats_leaves_the_row_to_one_that_can_be(
    settings: Settings, bus: Bus
) -> None:
    quick = msgspec.structs.replace(settings, renew_seconds=0.1, lease_seconds=0.5)
    async with Tunnel.to(settings.nats_url) as tunnel:
        away = msgspec.structs.replace(quick, nats_url=tunnel.url)
        async with running(away) as first:
            await eventually(lambda: _metric(first, "wallet_leader"))
            async with running(quick) as standby:
                await tunnel.close()
                await eventually(lambda: _metric(standby, "wallet_leader"))

                grant = GrantRequest(str(uuid4()), "ann", "new_account")
                assert (await ask_until_answered(bus, WALLET_GRANT, grant)).balances == {"ann": 5000}
                assert not await _metric(first, "wallet_leader")
                assert not await is_ready(first)
                await tunnel.open()
                await eventually(lambda: is_ready(first))


async def test_connections_killed_all_the_time_cost_no_coin_and_no_answer(
    wallet: HttpClient,
    bus: Bus,
    database: TestDatabase,
    postgres_server: str,
    record_property: Callable[[str, object], None],
) -> None:
    times = load(KillingTimes, prefix="DARBAR_TEST_WALLET_")
    players = [f"p{number}" for number in range(8)]
    await grant_new_accounts(bus, *players)
    over = asyncio.Event()
    answered = 0

    async def play(table: int) -> None:
        nonlocal answered
        chance = random.Random(table)
        while not over.is_set():
            stake = stake_of(*chance.sample(players, 2), bet_coins=25, table_id=f"t{table}")
            taken = await ask_until_answered(bus, WALLET_STAKE, stake)
            back = RefundRequest(str(uuid4()), stake.key, stake.table_id, stake.unit, RefundPurpose.VOIDED)
            assert taken.done
            assert (await ask_until_answered(bus, WALLET_REFUND, back)).done
            answered += 2

    async with asyncio.TaskGroup() as tasks:
        for table in range(4):
            tasks.create_task(play(table))
        seconds = {"seconds": times.killing_seconds, "every_seconds": times.killing_every_seconds}
        kills = await keep_ending_sessions(postgres_server, database.url, **seconds)
        over.set()

    await eventually(lambda: is_ready(wallet))
    record_property("count", f"{kills} connections killed, {answered} answers")
    assert kills >= times.killing_seconds / times.killing_every_seconds / 4
    assert answered > 0
    assert await balances(bus, *players) == dict.fromkeys(players, 5000)
    assert_good(await audit(wallet))


async def test_a_database_away_for_longer_than_the_lease_is_led_again_when_it_is_back(
    settings: Settings, proxy: CuttingProxy, bus: Bus, ledger: asyncpg.Connection[asyncpg.Record]
) -> None:
    through = msgspec.structs.replace(settings, database_url=await proxy.start(), renew_seconds=0.1, lease_seconds=0.5)
    async with running(through) as wallet:
        await eventually(lambda: is_ready(wallet))
        await grant_new_accounts(bus, "ann")
        first = await ledger.fetchval("SELECT writer_id FROM wallet_writer")

        proxy.go_away()
        await eventually(lambda: _expired(ledger))
        # What another wallet would do meanwhile.
        await ledger.execute("DELETE FROM wallet_writer")
        proxy.come_back()

        stake = stake_of("ann", None)
        assert (await ask_until_answered(bus, WALLET_STAKE, stake)).balances == {"ann": 4800}
        assert await ledger.fetchval("SELECT writer_id FROM wallet_writer") != first
        await eventually(lambda: is_ready(wallet))
        assert_good(await audit(wallet))


async def test_requests_that_can_not_be_stored_make_the_wallet_unready_until_they_are(
    settings: Settings, proxy: CuttingProxy, bus: Bus
) -> None:
    through = msgspec.structs.replace(settings, database_url=await proxy.start())
    async with running(through) as wallet:
        await eventually(lambda: is_ready(wallet))
        await grant_new_accounts(bus, "ann")
        proxy.go_away()
        asking = asyncio.ensure_future(ask_until_answered(bus, WALLET_STAKE, stake_of("ann", None)))
        await eventually(lambda: _fails(wallet, "storage"))
        proxy.come_back()
        assert (await asking).balances == {"ann": 4800}
        await eventually(lambda: is_ready(wallet))


async def _expired(ledger: asyncpg.Connection[asyncpg.Record]) -> bool:
    found: bool = await ledger.fetchval("SELECT expires_at < clock_timestamp() FROM wallet_writer")
    return found


async def test_a_statement_that_fails_at_the_start_makes_it_unready_until_it_is_mended(
    settings: Settings, bus: Bus, owner: asyncpg.Connection[asyncpg.Record], ledger: asyncpg.Connection[asyncpg.Record]
) -> None:
    role = await ledger.fetchval("SELECT current_user")
    await owner.execute(f"REVOKE INSERT ON wallet_writer FROM {role}")
    async with running(settings) as wallet:
        await eventually(lambda: _metric(wallet, 'wallet_task_restarts_total{task="leader"}'))
        assert "lease" in await missing(wallet)
        await eventually(lambda: _fails(wallet, "task:leader"))
        await owner.execute(f"GRANT INSERT ON wallet_writer TO {role}")

        grant = GrantRequest(str(uuid4()), "ann", "new_account")
        assert (await ask_until_answered(bus, WALLET_GRANT, grant)).balances == {"ann": 5000}


async def test_a_takeover_that_fails_at_first_is_tried_again(
    settings: Settings, bus: Bus, owner: asyncpg.Connection[asyncpg.Record], ledger: asyncpg.Connection[asyncpg.Record]
) -> None:
    """The lease is ours, but the ledger can't be read: those who ask are told so, and the next ones are answered."""
    role = await ledger.fetchval("SELECT current_user")
    async with running(settings) as first:
        await eventually(lambda: is_ready(first))
        await grant_new_accounts(bus, "ann")
        async with running(settings) as standby:
            await owner.execute(f"REVOKE SELECT ON transfer FROM {role}")
            await first.close()
            await eventually(lambda: _metric(standby, "wallet_leader"))

            with pytest.raises(Unavailable, match="request_failed"):
                await ask(bus, WALLET_STAKE, stake_of("ann", None))
            await owner.execute(f"GRANT SELECT ON transfer TO {role}")

            assert (await ask(bus, WALLET_STAKE, stake_of("ann", None))).balances == {"ann": 4800}
            assert_good(await audit(standby))


async def test_when_nobody_watches_the_leader_any_more_the_process_says_that_it_is_lost(settings: Settings) -> None:
    async with running(settings) as wallet:
        await eventually(lambda: is_ready(wallet))
        assert await health(wallet) == (200, [])

        for task in asyncio.all_tasks():
            if task.get_name() == "supervisor":
                task.cancel()

        await eventually(lambda: _fails(wallet, "task:leader"))
        assert await health(wallet) == (503, ["task:leader"])


async def health(wallet: HttpClient) -> tuple[int, list[str]]:
    async with wallet.get("/healthz") as response:
        return response.status, (await response.json()).get("missing", [])


async def test_a_stop_finishes_what_is_being_written_and_gives_the_lease_back(
    settings: Settings, bus: Bus, ledger: asyncpg.Connection[asyncpg.Record]
) -> None:
    async with running(settings) as wallet:
        await eventually(lambda: is_ready(wallet))
        await grant_new_accounts(bus, "ann")
        async with ledger.transaction():
            await ledger.execute("SELECT 1 FROM account WHERE account = 'player:ann' FOR UPDATE")
            asking = asyncio.ensure_future(ask(bus, WALLET_STAKE, stake_of("ann")))
            await eventually(lambda: _lock_waits(settings))
            stopping = asyncio.ensure_future(wallet.close())
            await eventually(lambda: _is_leaving(bus))
        await stopping

    assert (await asking).balances == {"ann": 4800}
    assert await ledger.fetchval("SELECT count(*) FROM wallet_writer") == 0


async def _is_leaving(bus: Bus) -> bool:
    """Nobody takes requests any more."""
    try:
        await bus.request(WALLET_BALANCES, BalancesRequest(()), BalancesAnswer, timeout_seconds=0.05)
    except Unavailable as unavailable:
        return unavailable.code == Reason.NO_RESPONDERS
    return False


async def _lock_waits(settings: Settings) -> bool:
    other = await asyncpg.connect(settings.database_url)
    waits: bool = await other.fetchval("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)")
    await other.close()
    return waits


async def missing(wallet: HttpClient) -> list[str]:
    async with wallet.get("/readyz") as response:
        found: list[str] = (await response.json())["missing"]
    return found


async def _fails(wallet: HttpClient, name: str) -> bool:
    return name in await missing(wallet)


async def _metric(client: HttpClient, name: str) -> float:
    async with client.get("/metrics") as response:
        lines = (await response.text()).splitlines()
    return next((float(line.removeprefix(name)) for line in lines if line.startswith(f"{name} ")), 0.0)
