"""Kill -9 of wallets, NATS and PostgreSQL under load: no coin off, and no answer that was given is lost or changed.

A short run by default; the figure of the targets comes from DARBAR_TEST_WALLET_OPERATIONS=100000.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import uuid4

import asyncpg
import msgspec
import pytest_asyncio

import darbar_wallet
from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import WALLET_GRANT, WALLET_REFUND, WALLET_SETTLE, WALLET_STAKE
from darbar_contracts.wallet import (
    GrantRequest,
    RefundPurpose,
    RefundRequest,
    SettlePurpose,
    SettleRequest,
    Share,
    StakeRequest,
    WalletAnswer,
)
from darbar_kit.bus import Bus
from darbar_kit.database import queries
from darbar_kit.database.migrate import migrate
from darbar_kit.database.provision import provision
from darbar_kit.embedded.nats import NatsServer
from darbar_kit.embedded.postgres import PostgresServer
from darbar_kit.errors import Unavailable
from darbar_kit.settings import environment, load
from darbar_kit.testing import eventually
from darbar_kit.tokens import new_private_key_pem, public_key_pem
from darbar_wallet.domain.transfers import TransferRequest
from darbar_wallet.store.ledger_audit import audited
from darbar_wallet.testing import stake_of

MIGRATIONS = Path(darbar_wallet.__file__).parent / "migrations"
WALLET = """
from darbar_kit.service import run
from darbar_kit.settings import load
from darbar_wallet.app import build_app
from darbar_wallet.settings import Settings
run(build_app, load(Settings, prefix="WALLET_"), host="127.0.0.1", port=0)
"""
TABLES = 16
PLAYERS = 40
ASK_SECONDS = 2.0
ANSWER_SECONDS_MAX = 60.0
KILLS = ("wallet", "postgres", "wallet", "nats")
# In a long run one kill follows the other after so many operations.
OPERATIONS_BETWEEN_KILLS_MAX = 2_000


class Lengths(msgspec.Struct, frozen=True, kw_only=True):
    """How long a run is."""

    operations: int = 600


class Cluster:
    """Real servers that keep what they acknowledged, and two wallets, one of them waiting."""

    def __init__(self, folder: Path) -> None:
        self._postgres_folder = folder / "postgres-wallet"
        self._nats_folder = folder / "nats-wallet"
        self._postgres = PostgresServer(self._postgres_folder)
        self._nats = NatsServer(self._nats_folder)
        self._variables: dict[str, str] = {}
        self._wallets: list[subprocess.Popen[bytes]] = []
        self.nats_url = ""
        self.database_url = ""

    async def start(self) -> None:
        admin_url = await self._postgres.start()
        self.nats_url = await self._nats.start()
        urls = await provision(admin_url, "wallet", owner_password="owner", service_password="service")
        await migrate(urls.owner_url, MIGRATIONS, service_role=urls.service_role)
        self.database_url = urls.service_url
        self._variables = {
            "WALLET_DATABASE_URL": urls.service_url,
            "WALLET_NATS_URL": self.nats_url,
            "WALLET_TOKEN_PUBLIC_KEY": public_key_pem(new_private_key_pem()),
        }
        self._wallets = [self._wallet(), self._wallet()]

    async def stop(self) -> None:
        for wallet in self._wallets:
            wallet.kill()
            wallet.wait()
        await self._nats.stop()
        await self._postgres.stop()

    async def kill(self, name: str) -> None:
        """Without a word, and up again on the same data and port."""
        match name:
            case "wallet":
                self._wallets[0].kill()
                self._wallets[0].wait()
                # The other one takes over; the new one waits.
                self._wallets = [self._wallets[1], self._wallet()]
            case "postgres":
                os.kill(_pid(self._postgres_folder / "place" / "pg" / "postmaster.pid"), signal.SIGKILL)
                await eventually(lambda: self._postgres.exit_code is not None)
                await self._postgres.start()
            case "nats":
                os.kill(_pid(self._nats_folder / "pid"), signal.SIGKILL)
                await eventually(lambda: self._nats.exit_code is not None)
                assert await self._nats.start() == self.nats_url

    def _wallet(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", WALLET], env=environment() | self._variables, stdout=subprocess.DEVNULL
        )


def _pid(path: Path) -> int:
    return int(path.read_text().split()[0])


@pytest_asyncio.fixture(loop_scope="session")
async def cluster(servers_folder: Path) -> AsyncIterator[Cluster]:
    cluster = Cluster(servers_folder)
    try:
        await cluster.start()
        yield cluster
    finally:
        await cluster.stop()


class Load:
    """What tables and the lobby ask; every answer is written down."""

    def __init__(self, bus: Bus, chance: random.Random) -> None:
        self._bus = bus
        self._chance = chance
        self.told: dict[str, tuple[TransferRequest, WalletAnswer]] = {}
        self.operations = 0

    async def ask(self, subject: str, request: TransferRequest) -> WalletAnswer:
        """Again until there is an answer, with the same key."""

        async def answered() -> WalletAnswer | None:
            try:
                return await self._bus.request(subject, request, WalletAnswer, timeout_seconds=ASK_SECONDS)
            except Unavailable:
                return None

        answer: WalletAnswer = await eventually(answered, seconds=ANSWER_SECONDS_MAX)
        self.told[request.key] = (request, answer)
        self.operations += 1
        return answer

    async def play(self, table: int, *, operations: int) -> None:
        """Rounds at one table, with repeats and what should be refused."""
        unit = 0
        while self.operations < operations:
            unit += 1
            people = self._chance.sample(range(PLAYERS), 3)
            stake = stake_of(*(f"p{number}" for number in people), None, table_id=f"t{table}", bet_coins=self._bet())
            granted = (await self.ask(WALLET_STAKE, stake)).done
            match self._chance.randrange(6):
                case 0:
                    await self._ask_twice(WALLET_STAKE, stake)
                case 1:
                    reused = msgspec.structs.replace(stake, bet_coins=stake.bet_coins + 1)
                    answer = await self._bus_answer(WALLET_STAKE, reused)
                    assert answer is None or answer.reason == Reason.KEY_REUSED
                case 2:
                    grant = GrantRequest(str(uuid4()), f"p{people[0]}", "top_up")
                    await self.ask(WALLET_GRANT, grant)
                case _:
                    pass
            subject, end = self._end(stake)
            assert (await self.ask(subject, end)).done or not granted
            await self._ask_twice(subject, end)

    def _bet(self) -> int:
        return self._chance.randint(25, 700)

    def _end(self, stake: StakeRequest) -> tuple[str, SettleRequest | RefundRequest]:
        key = str(uuid4())
        if self._chance.random() < 0.3:
            return WALLET_REFUND, RefundRequest(key, stake.key, stake.table_id, stake.unit, RefundPurpose.VOIDED)
        again = self._chance.choice(((), (1, 3)))
        whole = stake.bet_coins * (4 + len(again))
        shares = (Share(0, stake.seats[0].account_id, whole // 2), Share(2, stake.seats[2].account_id, whole // 2))
        rounding = whole - 2 * (whole // 2)
        return WALLET_SETTLE, SettleRequest(
            key,
            stake.key,
            stake.table_id,
            stake.unit,
            SettlePurpose.ROUND_ENDED,
            again,
            shares,
            rounding_coins=rounding,
        )

    async def _ask_twice(self, subject: str, request: TransferRequest) -> None:
        first = self.told[request.key][1]
        assert await self.ask(subject, request) == first

    async def _bus_answer(self, subject: str, request: TransferRequest) -> WalletAnswer | None:
        try:
            return await self._bus.request(subject, request, WalletAnswer, timeout_seconds=ASK_SECONDS)
        except Unavailable:
            return None


async def test_kills_under_load_lose_no_answer_and_no_coin(
    cluster: Cluster, record_property: Callable[[str, object], None]
) -> None:
    operations = load(Lengths, prefix="DARBAR_TEST_WALLET_").operations
    chance = random.Random(operations)
    bus = await Bus.connect(cluster.nats_url, name="test")
    asked = Load(bus, chance)
    for number in range(PLAYERS):
        await asked.ask(WALLET_GRANT, GrantRequest(f"new-{number}", f"p{number}", "new_account"))

    async with asyncio.TaskGroup() as tasks:
        for table in range(TABLES):
            tasks.create_task(asked.play(table, operations=operations))
        kills = await _kill_in_turns(cluster, asked, operations=operations)

    await bus.close()
    await _compare(cluster, asked)
    audit = await audited(cluster.database_url, queries("darbar_wallet.store"))
    counted = f"{asked.operations} operations, {kills} kills, {len(asked.told)} answers compared"
    record_property("count", counted)
    assert kills >= len(KILLS)
    assert asked.operations >= operations
    assert audit.is_good, audit
    assert (audit.stakes_open, audit.pots_coins, audit.reserves_coins) == (0, 0, 0)


async def _kill_in_turns(cluster: Cluster, asked: Load, *, operations: int) -> int:
    between = min(operations // (len(KILLS) + 1), OPERATIONS_BETWEEN_KILLS_MAX)
    kills = operations // between - 1
    for turn in range(kills):
        await _reached(asked, min(asked.operations + between, operations))
        await cluster.kill(KILLS[turn % len(KILLS)])
    return kills


async def _reached(asked: Load, operations: int) -> None:
    await eventually(lambda: asked.operations >= operations, seconds=2 * ANSWER_SECONDS_MAX)


async def _compare(cluster: Cluster, asked: Load) -> None:
    """Each answer that was given is stored, word for word."""
    ledger = await asyncpg.connect(cluster.database_url)
    rows = await ledger.fetch("SELECT key, answer FROM transfer")
    await ledger.close()
    stored: dict[str, str] = {row["key"]: row["answer"] for row in rows}
    for key, (_, answer) in asked.told.items():
        assert msgspec.json.decode(stored[key], type=WalletAnswer) == answer
