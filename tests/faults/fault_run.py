"""Hurts a whole Darbar of real processes while games are played, and counts what was lost: `make faults`.

Everything is stored on a disk as in production. Each game has its seed, the faults come in an order of their own seed,
and the last lines say how many checks were made and what was wrong: all of it must be 0.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from fault_stack import FaultStack, fault_stack
from long_games import LongTable, long_table
from takeover import takeover
from whole_games import BACKOFF, OTHERS_MAY_ENTER

from darbar_client import Darbar
from darbar_kit.testing import eventually

TABLES = 4
TURN_SECONDS = 15
# No event for a turn and ten seconds while a decision is due: the table is stuck.
STUCK_SECONDS = TURN_SECONDS + 10
BACK_SECONDS_MAX = 60.0
# The lease of a table process runs out after four.
STALL_SECONDS_SHORT, STALL_SECONDS_LONG = 2.0, 8.0
OUTAGE_SECONDS = 6.0
PAUSE_SECONDS = 1.0
SHORT_FAULTS = ("owner_is_killed", "owner_stalls_past_its_lease", "owner_is_stopped", "sockets_drop")

# A turn of a deal that was decided twice, or a command that was done twice.
_TWICE = """
WITH numbered AS (
    SELECT kind, body, count(*) FILTER (WHERE kind = 'round_started') OVER (ORDER BY version) AS deal
      FROM event WHERE table_id = $1::text::uuid
)
SELECT 'turn ' || deal || '/' || (body->'event'->>'turn') AS what FROM numbered WHERE kind = 'card_played'
 GROUP BY deal, body->'event'->>'turn' HAVING count(*) > 1
UNION ALL
SELECT body->>'id' FROM numbered WHERE body->>'id' IS NOT NULL GROUP BY body->>'id' HAVING count(*) > 1
"""
_COINS = """
SELECT (SELECT count(*) FROM (SELECT 1 FROM entry GROUP BY transfer_number HAVING sum(coins) <> 0) AS uneven) AS uneven,
       (SELECT count(*) FROM account a
         WHERE balance_coins <> coalesce((SELECT sum(coins) FROM entry WHERE account_number = a.number), 0)) AS off,
       (SELECT count(*) FROM account WHERE number > 0 AND balance_coins < 0) AS below_zero
"""


class Faults:
    """What may happen; each ends when it is over, and leaves the rest to Darbar."""

    def __init__(self, stack: FaultStack, tables: list[LongTable], dice: random.Random) -> None:
        self._stack = stack
        self._tables = tables
        self._dice = dice
        self.all: dict[str, Callable[[], Awaitable[None]]] = {
            "owner_is_killed": self.owner_is_killed,
            "owner_is_stopped": self.owner_is_stopped,
            "owner_stalls_for_a_moment": lambda: self._stalls(STALL_SECONDS_SHORT),
            "owner_stalls_past_its_lease": lambda: self._stalls(STALL_SECONDS_LONG),
            "wallet_is_killed": lambda: self._one_is_killed("wallet"),
            "lobby_is_killed": lambda: self._one_is_killed("lobby"),
            "bot_is_killed": lambda: self._one_is_killed("bot"),
            "sessions_are_cut": self.sessions_are_cut,
            "postgres_is_silent": lambda: self._stack.silence_postgres(OUTAGE_SECONDS),
            "postgres_restarts": self.postgres_restarts,
            "nats_restarts": self.nats_restarts,
            "sockets_drop": self.sockets_drop,
        }

    async def owner_is_killed(self) -> None:
        (await self._stack.owner()).process.kill()

    async def owner_is_stopped(self) -> None:
        (await self._stack.owner()).process.send_signal(signal.SIGTERM)

    async def sessions_are_cut(self) -> None:
        """Before and after commits, as it happens."""
        await self._stack.kill_sessions(PAUSE_SECONDS)

    async def postgres_restarts(self) -> None:
        await self._stack.postgres.stop()
        await asyncio.sleep(PAUSE_SECONDS)
        await self._stack.postgres.start()

    async def nats_restarts(self) -> None:
        await self._stack.nats.stop()
        await asyncio.sleep(OUTAGE_SECONDS)
        await self._stack.nats.start()

    async def sockets_drop(self) -> None:
        """Everybody's, at once: all commands without an answer are sent again."""
        for table in self._tables:
            for guest in table.guests:
                guest.table.cut()

    async def _stalls(self, seconds: float) -> None:
        process = (await self._stack.owner()).process
        process.suspend()
        await asyncio.sleep(seconds)
        process.resume()

    async def _one_is_killed(self, service: str) -> None:
        assert self._stack.run is not None
        copies = [child for name, child in self._stack.run.children().items() if name.startswith(service)]
        self._dice.choice(copies).kill()


class Count:
    """What was done and checked, and what was wrong."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.faults: Counter[str] = Counter()
        self.games = self.events = self.frames = self.cards = 0
        self.wrong: list[str] = []

    def told(self) -> int:
        """Prints it all; the exit code."""
        for name, number in sorted(self.faults.items()):
            print(f"  {number:5d} x {name.replace('_', ' ')}")
        print(f"{self.games} games, {self.events} events stored, {self.frames} frames of clients compared with the log")
        print(f"{len(self.wrong)} things wrong: acknowledged and lost, done twice, coins off, tables stuck")
        for line in self.wrong[:20]:
            print(f"  {line}")
        return 1 if self.wrong or not (self.games and self.frames and self.faults) else 0


async def play(stack: FaultStack, count: Count, *, seed: int, names: list[str]) -> None:
    """A few tables play while these faults come, one after the other; then everything is proven."""
    dice = random.Random(seed)
    async with Darbar(stack.url, backoff=BACKOFF) as darbar:
        tables = [
            await long_table(
                darbar, people=dice.choice((2, 3, 4)), seed=seed * 1000 + number, turn_seconds=TURN_SECONDS
            )
            for number in range(TABLES)
        ]
        faults = Faults(stack, tables, dice)
        async with asyncio.TaskGroup() as tasks:
            for table in tables:
                tasks.create_task(table.play())
            for name in names:
                await _moved_on(tables, count, f"before {name}, seed {seed}")
                await faults.all[name]()
                count.faults[name] += 1
                print(f"  {time.monotonic() - count.began:6.1f} s: {name.replace('_', ' ')}", flush=True)
                await _moved_on(tables, count, f"after {name}, seed {seed}")
                await eventually(lambda: _is_ready(stack), seconds=BACK_SECONDS_MAX)
            for table in tables:
                table.stop_after_this_game()
        await _prove(stack, tables, count, seed=seed)


async def _prove(stack: FaultStack, tables: list[LongTable], count: Count, *, seed: int) -> None:
    """Replay, chain, deals and coins of each table, and every frame that anybody was shown against what is stored."""
    for table in tables:
        count.games += table.guests[0].last_game or 0
        count.frames += sum(len(guest.seen) for guest in table.guests)
        try:
            count.events += await table.proven()
        except AssertionError as error:
            count.wrong.append(f"seed {seed}, table {table.table_id}: {error}")
        rows = await stack.stored.ask("tables", _TWICE, table.table_id)
        count.wrong += [f"seed {seed}, table {table.table_id}: decided twice in turn {dict(row)}" for row in rows]
    for row in await stack.stored.ask("wallet", _COINS):
        if any(row.values()):
            count.wrong.append(f"seed {seed}: coins are off: {dict(row)}")


async def _moved_on(tables: list[LongTable], count: Count, when: str) -> None:
    async def one(table: LongTable) -> None:
        seen = table.guests[0].table
        version = seen.version
        await seen.until(lambda now: now.version > version, seconds=STUCK_SECONDS)

    for table, outcome in zip(tables, await asyncio.gather(*map(one, tables), return_exceptions=True), strict=True):
        if isinstance(outcome, TimeoutError):
            count.wrong.append(f"table {table.table_id} is stuck {when}")
        elif isinstance(outcome, BaseException):
            raise outcome


async def _is_ready(stack: FaultStack) -> bool:
    return not await stack.missing("")


async def main(asked: argparse.Namespace) -> int:
    folder = Path(tempfile.mkdtemp(prefix="darbar-faults-"))
    folder.chmod(OTHERS_MAY_ENTER)
    began, count, dice = time.monotonic(), Count(), random.Random(asked.seed)
    try:
        arguments = ("--processes", "--tables", "2", "--copies", "1" if asked.short else "2")
        async with fault_stack(folder, *arguments, unsafe_storage="0", table_better_place_seconds="3") as stack:
            seed = asked.seed
            while not count.games or (count.games < asked.games and not asked.short):
                names = list(SHORT_FAULTS) if asked.short else dice.sample(sorted(Faults(stack, [], dice).all), 4)
                await play(stack, count, seed=seed, names=names)
                print(
                    f"seed {seed}: {', '.join(names)}; {count.games} games so far, {len(count.wrong)} wrong", flush=True
                )
                seed += 1
        code = count.told()
        if asked.tables:
            code = max(code, await takeover(folder, tables=asked.tables))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"in {time.monotonic() - began:.0f} s")
    return code


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", type=int, default=500, help="how many games at least")
    parser.add_argument(
        "--tables", type=int, default=2000, help="open tables of the process that is then lost; 0: none"
    )
    parser.add_argument("--short", action="store_true", help="each kind of loss of a table process once, in a minute")
    sys.exit(asyncio.run(main(parser.parse_args())))
