"""Transfers a second through the wallet's writer, beside the form without batches. Open this about wallet_transfers.

    python -m bench.wallet_bench [--seconds 5] [--turns 3]

Both forms run in turns against one PostgreSQL with fsync on and carry out the same thing: four seats stake, one of
them a bot (so that every transfer moves the house's account), and the pot is shared out. The naive form is one
transaction a request with SELECT ... FOR UPDATE, on NAIVE_CONNECTIONS connections.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from statistics import fmean
from uuid import uuid4

import asyncpg
import msgspec
import uvloop
from bench import stack
from bench.machine import Meter
from bench.rows import Row

from darbar_contracts.wallet import (
    GrantRequest,
    SettlePurpose,
    SettleRequest,
    Share,
    StakeRequest,
    StakeSeat,
    WalletAnswer,
)
from darbar_kit.database import Connection, open_pool, queries
from darbar_kit.database.provision import DatabaseUrls
from darbar_wallet.domain.decide import GrantTerms, decide
from darbar_wallet.domain.ledger_view import EarlierAnswer, LedgerView
from darbar_wallet.domain.transfers import (
    BOTS,
    FORFEIT,
    ROUNDING,
    Posting,
    TransferKind,
    keyed,
    kind_of,
    player,
    pot,
    reserve,
)
from darbar_wallet.engine.writer import Writer
from darbar_wallet.metrics import Metrics
from darbar_wallet.store.ledger_audit import audited
from darbar_wallet.store.ledger_store import LedgerStore, accounts_of

ROW = "wallet_transfers"
TARGET_RATIO = 15.0
TABLES = 400
NAIVE_CONNECTIONS = 8
BET_COINS = 25
UNITS_A_TURN = 1_000_000
DRAIN_SECONDS_MAX = 60.0

Transfer = StakeRequest | SettleRequest
Ask = Callable[[Transfer], Awaitable[bool]]

NAIVE_TABLES = """
CREATE TABLE naive_account (
    account text PRIMARY KEY, balance_coins bigint NOT NULL, CHECK (balance_coins >= 0 OR account = 'house:bots')
);
CREATE TABLE naive_transfer (
    key text PRIMARY KEY, kind text NOT NULL, request_hash bytea NOT NULL, request json NOT NULL, answer json NOT NULL,
    closes text UNIQUE, at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE naive_entry (
    transfer_key text NOT NULL REFERENCES naive_transfer, account text NOT NULL REFERENCES naive_account,
    coins bigint NOT NULL CHECK (coins <> 0), reason text NOT NULL
);
CREATE INDEX ON naive_entry (account);
"""


class Figures(msgspec.Struct, frozen=True):
    """Of one window."""

    transfers_a_second: float
    own_core: float
    postgres_core: float


def stake_of(table: int, unit: int) -> StakeRequest:
    """Three people and a bot put their bets in."""
    seats = tuple(StakeSeat(seat, None if seat == 3 else f"p{table}-{seat}") for seat in range(4))
    return StakeRequest(str(uuid4()), f"t{table}", f"g1.r{unit}", 1, BET_COINS, seats)


def settle_of(stake: StakeRequest, unit: int) -> SettleRequest:
    """One team shares the pot, in turns, so that nobody runs out of coins."""
    winners = (stake.seats[0], stake.seats[2]) if unit % 2 else (stake.seats[1], stake.seats[3])
    shares = tuple(Share(seat.seat, seat.account_id, 2 * BET_COINS) for seat in winners)
    return SettleRequest(str(uuid4()), stake.key, stake.table_id, stake.unit, SettlePurpose.ROUND_ENDED, (), shares)


async def play(ask: Ask, *, tables: int, turn: int, seconds: float, postgres: int) -> Figures:
    """Every table stakes and settles, one after the other, for so long."""
    end = time.perf_counter() + seconds
    done = 0

    async def one_table(table: int) -> None:
        nonlocal done
        unit = turn * UNITS_A_TURN
        while time.perf_counter() < end:
            stake = stake_of(table, unit)
            for request in (stake, settle_of(stake, unit)):
                assert await ask(request), request
                done += 1
            unit += 1

    meter = Meter({"postgres": postgres})
    meter.start()
    started, cpu = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as tasks:
        for table in range(tables):
            tasks.create_task(one_table(table))
    taken = time.perf_counter() - started
    return Figures(done / taken, (time.process_time() - cpu) / taken, meter.stop()["postgres"])


class Naive:
    """What one writes first: a transaction a request, which looks its key up, locks each account, writes line by line.

    It decides with the wallet's own rules and keeps the same promises about keys, so that only the batches differ.
    """

    def __init__(self, pool: asyncpg.Pool[asyncpg.Record]) -> None:
        self._pool = pool

    async def ask(self, request: Transfer) -> bool:
        wanted = keyed(request)
        async with self._pool.acquire() as connection, connection.transaction():
            decision = decide(wanted, await _naive_view(connection, request), GrantTerms())
            await connection.execute(
                "INSERT INTO naive_transfer (key, kind, request_hash, request, answer, closes)"
                " VALUES ($1, $2, $3, $4, $5, $6)",
                request.key,
                kind_of(request),
                wanted.request_hash,
                wanted.body,
                msgspec.json.encode(decision.answer).decode(),
                decision.closes,
            )
            for posting in decision.postings:
                await _naive_post(connection, request.key, posting)
        return decision.answer.done

    async def open(self, tables: int) -> None:
        """Everybody has coins, the pots are empty."""
        people = [player(f"p{table}-{seat}") for table in range(tables) for seat in range(3)]
        await self._pool.execute("INSERT INTO naive_account SELECT unnest($1::text[]), 1000000", [BOTS, *people])
        lying = [account for table in range(tables) for account in (pot(f"t{table}"), reserve(f"t{table}"))]
        await self._pool.execute("INSERT INTO naive_account SELECT unnest($1::text[]), 0", lying)


async def _naive_view(connection: Connection, request: Transfer) -> LedgerView:
    answered: dict[str, EarlierAnswer] = {}
    closed: dict[str, TransferKind] = {}
    for key in (request.key, request.stake_key) if isinstance(request, SettleRequest) else (request.key,):
        row = await connection.fetchrow("SELECT request_hash, request, answer FROM naive_transfer WHERE key = $1", key)
        if row is not None:
            answer = msgspec.json.decode(row["answer"], type=WalletAnswer)
            stake = msgspec.json.decode(row["request"], type=StakeRequest)
            answered[key] = EarlierAnswer(row["request_hash"], answer, stake)
    if isinstance(request, SettleRequest):
        kind = await connection.fetchval("SELECT kind FROM naive_transfer WHERE closes = $1", request.stake_key)
        closed = {} if kind is None else {request.stake_key: TransferKind(kind)}
    balances: dict[str, int] = {}
    for account in sorted(accounts_of([request], answered) - {FORFEIT, ROUNDING}):
        balances[account] = await connection.fetchval(
            "SELECT balance_coins FROM naive_account WHERE account = $1 FOR UPDATE", account
        )
    return LedgerView(balances=balances, answered=answered, closed=closed)


async def _naive_post(connection: Connection, key: str, posting: Posting) -> None:
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


async def open_writer(url: str, pool: asyncpg.Pool[asyncpg.Record], metrics: Metrics) -> Writer:
    """A writer with its row, as in the service, but without NATS."""
    writer_id = uuid4()
    sql = queries("darbar_wallet.store")
    await pool.execute(
        "INSERT INTO wallet_writer (writer_id, expires_at) VALUES ($1, now() + interval '1 day')", writer_id
    )
    store = LedgerStore(url, sql, writer_id=writer_id, generation=1)
    return Writer(store, terms=GrantTerms(), metrics=metrics)


async def grant_all(writer: Writer, tables: int) -> None:
    """Every player's first coins."""
    async with asyncio.TaskGroup() as tasks:
        for table in range(tables):
            for seat in range(3):
                tasks.create_task(writer.ask(GrantRequest(str(uuid4()), f"p{table}-{seat}", "new_account")))


async def compare(urls: DatabaseUrls, *, seconds: float, turns: int, postgres: int) -> Row:
    """Both forms in turns on one server; then the coins must add up."""
    metrics = Metrics()
    async with opened(urls.service_url) as pool, opened(urls.owner_url) as naive_pool:
        writer = await open_writer(urls.service_url, pool, metrics)
        running = asyncio.create_task(writer.run())
        await grant_all(writer, TABLES)
        naive = Naive(naive_pool)
        await naive.open(NAIVE_CONNECTIONS)
        batched, one_by_one = [], []

        async def ask(request: Transfer) -> bool:
            return (await writer.ask(request)).done

        for turn in range(turns):
            measured = partial(play, turn=turn, seconds=seconds, postgres=postgres)
            batched.append(await measured(ask, tables=TABLES))
            _say("batched", batched[-1])
            one_by_one.append(await measured(naive.ask, tables=NAIVE_CONNECTIONS))
            _say("one by one", one_by_one[-1])
        await writer.drained(DRAIN_SECONDS_MAX)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await refuse_coins_off(urls.service_url)
    return row(batched, one_by_one, batch=_batch(metrics))


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[asyncpg.Pool[asyncpg.Record]]:
    pool = await open_pool(url, size_max=NAIVE_CONNECTIONS)
    try:
        yield pool
    finally:
        await pool.close()


async def refuse_coins_off(url: str) -> None:
    """A figure for a ledger that lost a coin would be worth nothing."""
    audit = await audited(url, queries("darbar_wallet.store"))
    print(f"audit after it: {msgspec.json.encode(audit).decode()}", flush=True)
    assert audit.is_good


def _batch(metrics: Metrics) -> float:
    sample = metrics.registry.get_sample_value
    return (sample("wallet_batch_requests_sum") or 0) / (sample("wallet_batch_requests_count") or 1)


def _say(name: str, figures: Figures) -> None:
    print(
        f"{name}: {figures.transfers_a_second:,.0f} transfers/s"
        f" | cores: own {figures.own_core:.2f}, postgres {figures.postgres_core:.2f}",
        flush=True,
    )


def row(batched: list[Figures], one_by_one: list[Figures], *, batch: float) -> Row:
    """The means of all turns."""
    value, reference = (fmean(each.transfers_a_second for each in windows) for windows in (batched, one_by_one))
    return Row(
        row=ROW,
        unit="transfers/s: stake and settle of four seats",
        value=value,
        reference="one transaction a request, SELECT FOR UPDATE",
        reference_value=reference,
        ratio=value / reference,
        target=TARGET_RATIO,
        met=value / reference >= TARGET_RATIO,
        beside={
            "batch": batch,
            "wallet_core": fmean(each.own_core for each in batched),
            "postgres_core": fmean(each.postgres_core for each in batched),
            "naive_core": fmean(each.own_core for each in one_by_one),
            "naive_postgres_core": fmean(each.postgres_core for each in one_by_one),
        },
    )


async def bench(*, seconds: float, turns: int) -> Row:
    """With servers of its own."""
    async with stack.servers() as servers:
        urls = await servers.database("wallet", "wallet")
        owner = await asyncpg.connect(urls.owner_url)
        await owner.execute(NAIVE_TABLES)
        await owner.close()
        return await compare(urls, seconds=seconds, turns=turns, postgres=servers.pids["postgres"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each window")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    found = uvloop.run(bench(seconds=options.seconds, turns=options.turns))
    print(msgspec.json.encode(found).decode())
    return 0 if found.met else 1


if __name__ == "__main__":
    sys.exit(main())
