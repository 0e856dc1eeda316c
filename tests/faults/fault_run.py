"""Hurts a whole Darbar of real processes while games are played, and counts what was lost: `make faults`.

Everything is stored on a disk as in production. Each game has its seed, the faults come in an order of their own seed.
The last lines say how much was looked at and what was wrong: the former must not be 0, the latter must.
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
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import asyncpg
import psutil  # type: ignore[import-untyped,unused-ignore]
import uvloop
from audited import audited
from fault_stack import FaultStack, fault_stack_behind_a_proxy, fault_stack_on_small_disks, lasts
from faults import FAULTS, Faults
from full_disks import FULL_DISKS, FullDisks
from full_disks import SETTINGS as FULL_DISKS_SETTINGS
from seeded_games import EVERY_GAME, LOG, SHORT_GAMES, Compared, Plan, Row, SeededGame, opened
from small_disks import NoSmallDisk
from soak import soak
from takeover import HANDOVER_TABLES, planned_handover, takeover
from unruly_sockets import Book, UnrulySocket, noted_in
from whole_games import BACKOFF, OTHERS_MAY_ENTER

from darbar_client import Darbar, DarbarError
from darbar_kit.testing import eventually

LOG_FILE = Path("build/faults.log")
TURN_SECONDS = 15
# No event for a turn and ten seconds while a decision is due: the table is stuck.
STUCK_SECONDS = TURN_SECONDS + 10.0
GAME_SECONDS_MAX = 300.0
READY_SECONDS_MAX = 60.0
PAUSE_SECONDS = 0.5
BEGUN_SECONDS_MAX = 60.0
# A fault that can't be done is told as wrong, and the others are tried all the same.
NOT_DONE = (AssertionError, OSError, asyncpg.PostgresError, psutil.Error, DarbarError)
# A third of the games on small disks.
FULL_DISKS_SHARE = 3
SHORT_FAULTS = (
    "owner is killed",
    "connections are cut before and after commits",
    "owner stalls past its lease",
    "wallet is killed",
    "PostgreSQL crashes and recovers",
    "NATS restarts",
    "owner is asked to stop",
    "sockets drop",
)

_COINS = """
SELECT (SELECT count(*) FROM (SELECT 1 FROM entry GROUP BY transfer_number HAVING sum(coins) <> 0) AS uneven) AS uneven,
       (SELECT count(*) FROM account a
         WHERE balance_coins <> coalesce((SELECT sum(coins) FROM entry WHERE account_number = a.number), 0)) AS off,
       (SELECT count(*) FROM account WHERE number > 0 AND balance_coins < 0) AS below_zero,
       (SELECT count(*) FROM entry) AS entries
"""
_STORAGE = "SELECT name || ' ' || setting AS said FROM pg_settings WHERE name = ANY($1::text[]) ORDER BY name"
_SAFE = ["fsync", "full_page_writes", "synchronous_commit"]


class Count:
    """What was done and looked at, and what was wrong."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.games: Counter[str] = Counter()
        self.served_seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.tables_served = self.events = self.frames = self.entries = self.milestones = 0
        self.events_audited = self.transfers_audited = 0
        self.unruly: Counter[str] = Counter()
        self.compared = Compared()
        self.left_out: list[str] = []
        self.left_out_because = ""
        self.wrong: list[str] = []

    def say(self, line: str) -> None:
        print(f"{time.monotonic() - self.began:7.1f} s  {line}", flush=True)

    def say_wrong(self, line: str) -> None:
        self.wrong.append(line)
        self.say(f"WRONG: {line}")

    def leave_out(self, names: Iterable[str], because: str) -> None:
        self.left_out, self.left_out_because = list(names), because
        self.say(f"LEFT OUT: {len(self.left_out)} faults, for {because}")

    @property
    def checks(self) -> Mapping[str, int]:
        """Of each kind; none may be 0."""
        return {
            "tables that were served again after a fault": self.tables_served,
            "events replayed, their chain and deals made again": self.events,
            "frames of players compared with the log": self.frames,
            "acknowledgements that players wrote down": self.compared.acknowledged,
            "refusals that players wrote down": self.compared.refused,
            "turns that may be decided once": self.compared.cards,
            "entries of the ledger": self.entries,
            "milestones that arrived in the lobby": self.milestones,
            "events whose chain `darbar audit` followed": self.events_audited,
            "transfers that `darbar audit` compared with logs": self.transfers_audited,
        }

    def told(self) -> int:
        """Prints it all; the exit code."""
        print(f"\n{'fault':46} {'times':>5}   seconds until every table was served again: middle, longest")
        for name, seconds in sorted(self.served_seconds.items()):
            print(f"{name:46} {len(seconds):5d}   {sorted(seconds)[len(seconds) // 2]:6.2f} {max(seconds):6.2f}")
        for name in self.left_out:
            print(f"{name:46} {0:5d}   LEFT OUT")
        print(f"\n{sum(self.games.values())} games: {', '.join(f'{n} {game}' for game, n in self.games.most_common())}")
        print(f"{', '.join(f'{number} {how}' for how, number in self.unruly.items())}")
        for name, number in self.checks.items():
            print(f"{number:9d} {name}")
        print(f"{len(self.wrong):9d} things wrong: acknowledged and lost, done twice, coins off, tables stuck")
        for line in self.wrong[:20]:
            print(f"  {line}")
        print(f"{len(self.left_out):9d} faults LEFT OUT{f': {self.left_out_because}' if self.left_out else ''}")
        return 1 if self.wrong or not all(self.checks.values()) else 0


class FaultRun:
    """Games are played one after the other at so many tables, while faults come one after the other."""

    def __init__(self, stack: FaultStack, asked: argparse.Namespace, names: Sequence[str], count: Count) -> None:
        self._stack = stack
        self._asked = asked
        self._names = names
        self._weights = SHORT_GAMES if asked.short else EVERY_GAME
        # Other games on small disks than before.
        self._seed = (2 * asked.seed + (stack.disks is not None)) * 50_000
        self._dice = random.Random(asked.seed)
        self._games: set[SeededGame] = set()
        self._tables: list[str] = []
        self._is_over = False
        self.count = count
        self.book = Book(random.Random(asked.seed))

    async def run(self) -> None:
        """Until there were enough games, and each fault at least once; then everything is compared."""
        self.count.say(", ".join(row["said"] for row in await self._stack.stored.ask("postgres", _STORAGE, _SAFE)))
        kind = noted_in(self.book, UnrulySocket)
        async with (
            Darbar(self._stack.url, backoff=BACKOFF, web_socket_type=kind) as darbar,
            asyncio.TaskGroup() as tasks,
        ):
            for _ in range(self._asked.at_once):
                tasks.create_task(self._keep_playing(darbar))
            try:
                await self._hurt()
            finally:
                self._is_over = True
        await self._compare()

    async def _keep_playing(self, darbar: Darbar) -> None:
        while not self._is_over:
            self._seed += 1
            plan = Plan.of(self._seed, self._weights)
            try:
                async with asyncio.timeout(GAME_SECONDS_MAX):
                    await self._play(darbar, plan)
            except Exception:  # noqa: BLE001  # Whatever it is: it is wrong, and told with its seed.
                self.count.say_wrong(f"{plan}\n{traceback.format_exc()}")

    async def _play(self, darbar: Darbar, plan: Plan) -> None:
        game = await opened(darbar, plan, turn_seconds=TURN_SECONDS)
        self._tables.append(game.table_id)
        self._games.add(game)
        try:
            await game.play()
        finally:
            self._games.discard(game)
        events, frames = await game.proven()
        self.count.events += events
        self.count.frames += frames
        self.count.games[plan.game] += 1

    async def _hurt(self) -> None:
        faults = Faults(self._stack, self._games, self._dice)
        disks = FullDisks(self._stack, faults)
        names, rounds = list(self._names), 0
        games_before = sum(self.count.games.values())
        games = 0 if self._asked.short else self._asked.games // (FULL_DISKS_SHARE if self._stack.disks else 1)
        while rounds < self._asked.rounds or sum(self.count.games.values()) - games_before < games:
            for name in names:
                await self._until_begun()
                try:
                    await (FAULTS[name](faults) if name in FAULTS else FULL_DISKS[name](disks))
                except NOT_DONE:
                    self.count.say_wrong(f"{name} could not be done\n{traceback.format_exc()}")
                await self._served_again(name)
                await self._ready_again(name)
                await lasts(PAUSE_SECONDS)
            self._dice.shuffle(names)
            rounds += 1

    async def _until_begun(self) -> None:
        """A fault where nobody plays shows nothing."""
        await eventually(lambda: len(self._games) >= self._asked.at_once / 2, seconds=BEGUN_SECONDS_MAX)

    async def _served_again(self, name: str) -> None:
        """Something happens at every table that plays, or its game is over."""
        began = time.monotonic()
        before = {game: game.version for game in self._games}

        def waiting() -> list[SeededGame]:
            return [game for game in before if not game.is_over and game.version <= before[game]]

        try:
            await eventually(lambda: not waiting(), seconds=STUCK_SECONDS)
        except AssertionError:
            for game in waiting():
                self.count.say_wrong(f"stuck after {name}: {game.where}")
        seconds = time.monotonic() - began
        self.count.served_seconds[name].append(seconds)
        self.count.tables_served += len(before) - len(waiting())
        played = sum(self.count.games.values())
        self.count.say(f"{name}: {len(before)} tables served again after {seconds:.2f} s; {played} games so far")

    async def _ready_again(self, name: str) -> None:
        """Every process is back, too."""
        try:
            await eventually(self._is_ready, seconds=READY_SECONDS_MAX)
        except AssertionError:
            self.count.say_wrong(f"not whole again after {name}")

    async def _is_ready(self) -> bool:
        return not await self._stack.missing("")

    async def _compare(self) -> None:
        """Everything is at rest: what players wrote down, what lies in the databases."""
        self.count.unruly += Counter(
            {
                "commands sent twice": self.book.twice,
                "once more later": self.book.late,
                "out of order": self.book.overtaken,
            }
        )
        self.count.say(f"{len(self._tables)} logs are compared with what players wrote down")
        compared = self.count.compared
        before = len(compared.wrong)
        connection = await self._stack.stored.connect("tables")
        try:
            for table_id in self._tables:
                log = [Row(*row) for row in await connection.fetch(LOG, table_id)]
                compared.compare(self.book.tables[table_id], log)
            frozen = await connection.fetch("SELECT table_id, reason, command FROM frozen_table")
            left_open = await connection.fetch("SELECT table_id FROM open_table")
        finally:
            await connection.close()
        self.count.wrong += compared.wrong[before:]
        self.count.wrong += [f"frozen: {dict(row)}" for row in frozen] + [f"open: {dict(row)}" for row in left_open]
        try:
            self.count.milestones += await self._stack.stored.milestones_arrived(self._tables)
        except AssertionError:
            self.count.say_wrong(f"milestones did not arrive\n{traceback.format_exc()}")
        [coins] = await self._stack.stored.ask("wallet", _COINS)
        self.count.entries += coins["entries"]
        found = await audited(self._stack)
        self.count.events_audited += found.events_verified
        self.count.transfers_audited += found.transfers_compared
        self.count.wrong += found.wrong
        self.count.wrong += [f"coins: {name} {coins[name]}" for name in ("uneven", "off", "below_zero") if coins[name]]


async def hurt(folder: Path, asked: argparse.Namespace) -> int:
    """First over servers on the disk, as in production, then over servers on small disks, which can be full."""
    count = Count()
    arguments = ("--processes", "--tables", "2", "--copies", "1" if asked.short else "2")
    settings = {"unsafe_storage": "0", "table_better_place_seconds": "3", "log_level": "warning"}
    LOG_FILE.parent.mkdir(exist_ok=True)
    LOG_FILE.write_bytes(b"")
    on_the_disk, on_small_disks = (
        [name for name in names if _is_asked_for(name, asked)] for names in (FAULTS, FULL_DISKS)
    )
    if on_the_disk:
        await _run(fault_stack_behind_a_proxy(folder, *arguments, **settings), asked, on_the_disk, count)
    if on_small_disks:
        small = fault_stack_on_small_disks(folder, *arguments, **settings, **FULL_DISKS_SETTINGS)
        try:
            await _run(small, asked, on_small_disks, count)
        except NoSmallDisk as refusal:
            count.leave_out(on_small_disks, str(refusal))
    return count.told()


def _is_asked_for(name: str, asked: argparse.Namespace) -> bool:
    return name in SHORT_FAULTS if asked.short else any(words in name for words in asked.only)


async def _run(
    starting: AbstractAsyncContextManager[FaultStack], asked: argparse.Namespace, names: Sequence[str], count: Count
) -> None:
    async with starting as stack:
        try:
            await FaultRun(stack, asked, names, count).run()
        finally:
            _keep_log(stack)


def _keep_log(stack: FaultStack) -> None:
    """What the services said."""
    assert stack.run is not None
    with LOG_FILE.open("ab") as log:
        log.write(stack.run.logged_since())
    print(f"What the services have logged is in {LOG_FILE}")


async def main(asked: argparse.Namespace) -> int:
    folder = Path(tempfile.mkdtemp(prefix="darbar-faults-"))
    folder.chmod(OTHERS_MAY_ENTER)
    code, began = 0, time.monotonic()
    task = asyncio.current_task()
    assert task is not None
    # Servers and services end with us, however we are told to.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        if asked.games:
            code = await hurt(folder, asked)
        if asked.tables:
            if asked.minutes:
                code = max(code, await soak(folder, asked.tables, seconds=asked.minutes * 60))
            else:
                code = max(code, await takeover(folder, tables=asked.tables))
                code = max(code, await planned_handover(folder, tables=min(asked.tables, HANDOVER_TABLES)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"in {time.monotonic() - began:.0f} s")
    return code


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", type=int, default=500, help="how many at least (500); 0: none")
    parser.add_argument("--at-once", type=int, default=16, help="tables where games are played (16)")
    parser.add_argument("--tables", type=int, default=2000, help="open tables that are taken over (2000); 0: none")
    parser.add_argument("--minutes", type=float, default=0, help="those are only played for so long, not taken over")
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORDS", help="only faults in whose name these are")
    parser.add_argument("--rounds", type=int, default=1, help="each fault at least so many times (1)")
    parser.add_argument("--short", action="store_true", help="eight faults once, and short games only")
    sys.exit(uvloop.run(main(parser.parse_args())))
