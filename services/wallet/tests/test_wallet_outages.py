"""The connection to PostgreSQL is cut around commits, the writer is declared dead: each request is done once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Literal, TypeAlias
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import asyncpg
import msgspec
import pytest
import pytest_asyncio

from darbar_contracts.subjects import WALLET_GRANT, WALLET_REFUND, WALLET_STAKE
from darbar_contracts.wallet import GrantRequest, RefundPurpose, RefundRequest, WalletAnswer, WalletAudit
from darbar_kit.bus import Bus
from darbar_kit.errors import Unavailable
from darbar_kit.testing import TestDatabase, eventually
from darbar_wallet.settings import Settings
from darbar_wallet.testing import HttpClient, ask, balances, is_ready, running, stake_of, welcome

Cut: TypeAlias = Literal["before", "after"]

CHUNK_BYTES = 64 * 1024
COMMIT = b"COMMIT;"


class CuttingProxy:
    """Stands between the wallet and PostgreSQL; cuts the connection that sends the next COMMIT.

    "before": the server never sees it. "after": the server has answered it, and the answer is lost.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._armed: list[Cut] = []
        self._writers: set[asyncio.StreamWriter] = set()
        self.cuts = 0
        self.port = 0
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Also after stop(), on the same port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Cuts everything, and takes no new connection."""
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.close()
        await self._server.wait_closed()

    def arm(self, *cuts: Cut) -> None:
        """The next commits are cut so."""
        self._armed.extend(cuts)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection(*self._target)
        pair = {writer, server_writer}
        self._writers |= pair
        losing = asyncio.Event()
        answers = asyncio.ensure_future(self._answers(server_reader, writer, losing))
        try:
            await self._requests(reader, server_writer, losing)
        except ConnectionError:
            pass
        finally:
            for each in pair:
                each.close()
            await asyncio.gather(answers, return_exceptions=True)
            self._writers -= pair

    async def _requests(
        self, reader: asyncio.StreamReader, server: asyncio.StreamWriter, losing: asyncio.Event
    ) -> None:
        while chunk := await reader.read(CHUNK_BYTES):
            if COMMIT in chunk and self._armed:
                self.cuts += 1
                if self._armed.pop(0) == "before":
                    return
                losing.set()
            server.write(chunk)
            await server.drain()

    async def _answers(self, server: asyncio.StreamReader, writer: asyncio.StreamWriter, losing: asyncio.Event) -> None:
        while chunk := await server.read(CHUNK_BYTES):
            if losing.is_set():
                break
            writer.write(chunk)
            await writer.drain()
        writer.close()


@pytest_asyncio.fixture(loop_scope="session")
async def proxy(database: TestDatabase) -> AsyncIterator[CuttingProxy]:
    parts = urlsplit(database.url)
    proxy = CuttingProxy(parts.hostname or "", parts.port or 0)
    await proxy.start()
    yield proxy
    await proxy.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def proxied(settings: Settings, proxy: CuttingProxy) -> AsyncIterator[HttpClient]:
    """A wallet that reaches its database through the proxy."""
    async with running(through(settings, proxy)) as client:
        await eventually(lambda: is_ready(client))
        yield client


def through(settings: Settings, proxy: CuttingProxy) -> Settings:
    parts = urlsplit(settings.database_url)
    place = f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{proxy.port}"
    return msgspec.structs.replace(settings, database_url=urlunsplit(parts._replace(netloc=place)))


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
    async with wallet.get("/v1/wallet/audit") as response:
        assert response.status == 200, await response.text()
        return msgspec.json.decode(await response.read(), type=WalletAudit)


def assert_good(found: WalletAudit) -> None:
    assert found.sum_coins == 0
    assert found.balances_match
    assert found.pots_match
    assert found.stakes_match
    assert (found.players_below_zero, found.transfers_unbalanced, found.transfers_missing) == (0, 0, 0)


@pytest.mark.parametrize("cuts", [["before"], ["after"], ["before", "after"], ["after", "before", "after"]])
async def test_a_cut_around_the_commit_is_answered_once(
    proxied: HttpClient, proxy: CuttingProxy, bus: Bus, ledger: asyncpg.Connection[asyncpg.Record], cuts: list[Cut]
) -> None:
    await welcome(bus, "ann", "bob")
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
    await welcome(bus, "ann", "bob")
    stake = stake_of("ann", "bob")

    await proxy.stop()
    asking = asyncio.ensure_future(ask_until_answered(bus, WALLET_STAKE, stake))
    await eventually(lambda: _metric(proxied, 'wallet_batches_failed_total{reason="outcome_unknown"}'))
    assert not asking.done()
    await proxy.start()

    assert (await asking).balances == {"ann": 4800, "bob": 4800}
    assert_good(await audit(proxied))


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_cuts_under_load_lose_and_double_nothing(
    proxied: HttpClient, proxy: CuttingProxy, bus: Bus, seed: int
) -> None:
    chance = random.Random(seed)
    players = [f"p{number}" for number in range(8)]
    await welcome(bus, *players)

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
    await welcome(bus, "ann")
    first = await ledger.fetchval("SELECT writer_id FROM wallet_writer")

    await ledger.execute("DELETE FROM wallet_writer")
    answer = await ask_until_answered(bus, WALLET_GRANT, GrantRequest(str(uuid4()), "bob", "new_account"))

    assert answer.balances == {"bob": 5000}
    assert await ledger.fetchval("SELECT writer_id FROM wallet_writer") != first
    assert_good(await audit(wallet))


async def test_a_standby_waits_and_takes_over_when_the_writer_stops(settings: Settings, bus: Bus) -> None:
    async with running(settings) as first:
        await eventually(lambda: is_ready(first))
        await welcome(bus, "ann")
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
        await ledger.execute("UPDATE wallet_writer SET expires_at = now() - interval '1 second'")
        await eventually(lambda: _metric(standby, "wallet_leader"))

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
    parts = urlsplit(settings.nats_url)
    proxy = CuttingProxy(parts.hostname or "", parts.port or 0)
    await proxy.start()
    place = f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{proxy.port}"
    away = msgspec.structs.replace(quick, nats_url=urlunsplit(parts._replace(netloc=place)))
    async with running(away) as first:
        await eventually(lambda: _metric(first, "wallet_leader"))
        async with running(quick) as standby:
            await proxy.stop()
            await eventually(lambda: _metric(standby, "wallet_leader"))

            grant = GrantRequest(str(uuid4()), "ann", "new_account")
            assert (await ask_until_answered(bus, WALLET_GRANT, grant)).balances == {"ann": 5000}
            assert not await _metric(first, "wallet_leader")
            assert not await is_ready(first)
            await proxy.start()
            await eventually(lambda: is_ready(first))
    await proxy.stop()


async def _metric(client: HttpClient, name: str) -> float:
    async with client.get("/metrics") as response:
        lines = (await response.text()).splitlines()
    return next((float(line.removeprefix(name)) for line in lines if line.startswith(f"{name} ")), 0.0)
