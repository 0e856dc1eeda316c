"""How many transfers a second the wallet stores, against the form without batches. Open this when the wallet is slow.

    python bench/wallet_bench.py [--seconds 8] [--rounds 3]

Both forms run in turns against one embedded PostgreSQL with fsync on, over the same kind of tables, and carry out the
same thing: four seats stake, one of them a bot (so that every transfer moves the house's account), and the pot is
shared out. The naive form is one transaction a request with SELECT ... FOR UPDATE, on as many connections as it likes.
The last line of the output is the row as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import asyncpg
import msgspec
import uvloop

import darbar_wallet
from darbar_contracts.wallet import GrantRequest, SettleRequest, Share, StakeRequest, StakeSeat, WalletAnswer
from darbar_kit.database import open_pool, queries
from darbar_kit.embedded.postgres import PostgresServer
from darbar_kit.migrate import migrate
from darbar_kit.provision import provision
from darbar_wallet.books import Books, Posting, as_asked, kind_of, player
from darbar_wallet.domain import GrantTerms, decide
from darbar_wallet.metrics import Metrics
from darbar_wallet.reading import Reader
from darbar_wallet.store import LedgerStore
from darbar_wallet.writer import Writer

ROW = "wallet_transfers"
TARGET_RATIO = 15.0
TABLES = 400
NAIVE_CONNECTIONS = 8
BET_COINS = 25
MIGRATIONS = Path(darbar_wallet.__file__).parent / "migrations"

Transfer = StakeRequest | SettleRequest
Ask = Callable[[Transfer], Awaitable[bool]]

NAIVE_TABLES = """
CREATE TABLE naive_account (account text PRIMARY KEY, balance_coins bigint NOT NULL);
CREATE TABLE naive_transfer (key text PRIMARY KEY, kind text NOT NULL, request json NOT NULL, at timestamptz DEFAULT now());
CREATE TABLE naive_entry (
    transfer_key text NOT NULL REFERENCES naive_transfer, account text NOT NULL REFERENCES naive_account,
    coins bigint NOT NULL, reason text NOT NULL
);
CREATE INDEX ON naive_entry (account);
"""


class Row(msgspec.Struct, frozen=True):
    """One row of the results."""

    row: str
    unit: str
    value: float
    reference: str
    reference_value: float
    ratio: float
    target: float
    met: bool


def stake_of(table: int, unit: int) -> StakeRequest:
    """Three people and a bot put their bets in."""
    seats = tuple(StakeSeat(seat, None if seat == 3 else f"p{table}-{seat}") for seat in range(4))
    return StakeRequest(str(uuid4()), f"t{table}", f"g1.r{unit}", 1, BET_COINS, seats)


def settle_of(stake: StakeRequest, unit: int) -> SettleRequest:
    """One team shares the pot, in turns, so that nobody runs out of coins."""
    winners = (stake.seats[0], stake.seats[2]) if unit % 2 else (stake.seats[1], stake.seats[3])
    shares = tuple(Share(seat.seat, seat.account_id, 2 * BET_COINS) for seat in winners)
    return SettleRequest(str(uuid4()), stake.key, stake.table_id, stake.unit, (), shares)


async def play(ask: Ask, *, tables: int, first_unit: int, seconds: float) -> float:
    """Every table stakes and settles, one after the other, for so long; transfers a second."""
    end = time.perf_counter() + seconds
    done = 0

    async def one_table(table: int) -> None:
        nonlocal done
        unit = first_unit
        while time.perf_counter() < end:
            stake = stake_of(table, unit)
            for request in (stake, settle_of(stake, unit)):
                assert await ask(request), request
                done += 1
            unit += 1

    started = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for table in range(tables):
            tasks.create_task(one_table(table))
    return done / (time.perf_counter() - started)


class Naive:
    """One transaction a request: lock each account, check, write line by line."""

    def __init__(self, pool: asyncpg.Pool[asyncpg.Record]) -> None:
        self._pool = pool
        self._stakes = Books()

    async def ask(self, request: Transfer) -> bool:
        wanted = as_asked(request)
        decision = decide(wanted, self._stakes, GrantTerms())
        postings = decision.postings
        async with self._pool.acquire() as connection, connection.transaction():
            balances = {}
            for account in sorted({posting.account for posting in postings}):
                balances[account] = await connection.fetchval(
                    "SELECT balance_coins FROM naive_account WHERE account = $1 FOR UPDATE", account
                )
            await connection.execute(
                "INSERT INTO naive_transfer (key, kind, request) VALUES ($1, $2, $3)",
                request.key,
                kind_of(request),
                wanted.body,
            )
            for posting in postings:
                await self._post(connection, request.key, posting)
        self._stakes.record(wanted, decision)
        return decision.answer.done and all(balance is not None for balance in balances.values())

    async def open(self, tables: int) -> None:
        """Gives everybody the coins that the wallet's players have."""
        terms = GrantTerms(new_account_coins=5000)
        accounts = ["house:bots", *(f"{kind}:t{table}" for table in range(tables) for kind in ("pot", "reserve"))]
        for table in range(tables):
            for seat in range(3):
                accounts.append(player(f"p{table}-{seat}"))
                grant = as_asked(GrantRequest(str(uuid4()), f"p{table}-{seat}", "new_account"))
                self._stakes.record(grant, decide(grant, self._stakes, terms))
        await self._pool.execute("INSERT INTO naive_account SELECT unnest($1::text[]), 5000", accounts)

    @staticmethod
    async def _post(connection: asyncpg.pool.PoolConnectionProxy[asyncpg.Record], key: str, posting: Posting) -> None:
        await connection.execute(
            "INSERT INTO naive_entry (transfer_key, account, coins, reason) VALUES ($1, $2, $3, $4)",
            key,
            posting.account,
            posting.coins,
            posting.reason,
        )
        await connection.execute(
            "UPDATE naive_account SET balance_coins = balance_coins + $2 WHERE account = $1",
            posting.account,
            posting.coins,
        )


async def open_writer(pool: asyncpg.Pool[asyncpg.Record], metrics: Metrics) -> Writer:
    """A writer with its row, as in the service, but without NATS."""
    writer_id = uuid4()
    sql = queries("darbar_wallet")
    await pool.execute(
        "INSERT INTO wallet_writer (writer_id, expires_at) VALUES ($1, now() + interval '1 day')", writer_id
    )
    store = LedgerStore(pool, sql, writer_id=writer_id, generation=1)
    return Writer(store, terms=GrantTerms(), metrics=metrics)


async def grant_all(writer: Writer, tables: int) -> None:
    """Every player's first coins."""
    async with asyncio.TaskGroup() as tasks:
        for table in range(tables):
            for seat in range(3):
                tasks.create_task(writer.ask(GrantRequest(str(uuid4()), f"p{table}-{seat}", "new_account")))


async def compare(
    pool: asyncpg.Pool[asyncpg.Record], naive_pool: asyncpg.Pool[asyncpg.Record], *, seconds: float, rounds: int
) -> Row:
    """Both forms in turns; the best round of each counts."""
    metrics = Metrics()
    writer = await open_writer(pool, metrics)
    running = asyncio.create_task(writer.run())
    await grant_all(writer, TABLES)
    naive = Naive(naive_pool)
    await naive.open(TABLES)
    batched_best = naive_best = 0.0
    for turn in range(rounds):
        cpu = time.process_time()
        batched = await play(
            lambda request: _done(writer, request), tables=TABLES, first_unit=turn * 10**6, seconds=seconds
        )
        cpu = (time.process_time() - cpu) / seconds
        one_by_one = await play(naive.ask, tables=NAIVE_CONNECTIONS, first_unit=turn * 10**6, seconds=seconds)
        print(
            f"round {turn + 1}: batched {batched:,.0f}/s (wallet used {cpu:.2f} of a core), naive {one_by_one:,.0f}/s"
        )
        batched_best, naive_best = max(batched_best, batched), max(naive_best, one_by_one)
    await writer.drain()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    audit = await Reader(pool, queries("darbar_wallet")).audit()
    print(f"audit after it: {msgspec.json.encode(audit).decode()}")
    assert audit.sum_coins == 0 and audit.balances_match and audit.pots_match and audit.stakes_match
    ratio = batched_best / naive_best
    reference = "one transaction a request, SELECT FOR UPDATE"
    return Row(ROW, "transfers/s", batched_best, reference, naive_best, ratio, TARGET_RATIO, ratio >= TARGET_RATIO)


async def _done(writer: Writer, request: Transfer) -> bool:
    answer: WalletAnswer = await writer.ask(request)
    return answer.done


async def bench(*, seconds: float, rounds: int) -> Row:
    """Brings a server up, and takes it down."""
    folder = Path(tempfile.mkdtemp(prefix="darbar-bench-"))
    folder.chmod(0o711)
    server = PostgresServer(folder / "postgres")
    try:
        admin_url = await server.start()
        urls = await provision(
            admin_url, "wallet", owner_password="only-for-the-bench", service_password="only-for-the-bench"
        )
        await migrate(urls.owner_url, MIGRATIONS, service_role=urls.service_role)
        pool = await open_pool(urls.service_url)
        naive_pool = await open_pool(urls.owner_url, size_max=NAIVE_CONNECTIONS)
        await naive_pool.execute(NAIVE_TABLES)
        try:
            return await compare(pool, naive_pool, seconds=seconds, rounds=rounds)
        finally:
            await pool.close()
            await naive_pool.close()
    finally:
        await server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each form in each round")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    row = uvloop.run(bench(seconds=options.seconds, rounds=options.rounds))
    print(f"{row.ratio:.1f} times the naive form (target {row.target:.0f}): {'met' if row.met else 'NOT MET'}")
    print(msgspec.json.encode(row).decode())
    return 0 if row.met else 1


if __name__ == "__main__":
    sys.exit(main())
