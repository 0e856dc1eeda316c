"""Thousands of tables with people who think before they play, at a whole Darbar. Open this to play differently there.

What they are told is written down, so that it can be compared with the log.
"""

from __future__ import annotations

import asyncio
import random
import resource
import statistics
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID

from fault_stack import FaultStack, lasts
from seeded_games import LOG, Compared, Row
from unruly_sockets import Book, NotingSocket, noted_in
from whole_games import BACKOFF, SEATS

from darbar_client import Darbar, DarbarError, Player, TableSocket
from darbar_client.demo.latencies import Latencies
from darbar_client.demo.load import THINK_SHARE_MAX, LoadPlayer, LoadResult
from darbar_client.demo.playing import EVENTS_UNREAD_MAX
from darbar_kit.testing import eventually
from darbar_table.shards.placement import shard_of

WAIT_SECONDS_MAX = 180.0
GAME = "court_piece"
TURN_SECONDS = 30
# In the middle; the slowest decide in time.
THINK_SECONDS = 16.0
MIDDLE, NEARLY_ALL = 50, 99
SEATING_AT_ONCE = 24
TABLES_A_CLIENT = 100
LOOK_SECONDS = 0.1
SETTLE_SECONDS = 10.0
# A socket has two files at the gateway; everything else needs few.
FILES_BESIDE = 2000
# Bots and count-ins take their time as in production; what is stored is on a disk. Only limits by address are off.
SETTINGS = {
    "unsafe_storage": "0",
    "table_better_place_seconds": "86400",
    "table_sockets_max": "0",
    "ready_seconds_max": "120",
    "table_bot_pause_seconds_min": "0.6",
    "table_bot_pause_seconds_max": "1.6",
    "table_count_in_seconds": "7",
}


class Decisions(Latencies):
    """When each was sent, and how long its acknowledgement took."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[tuple[float, float]] = []

    def note_since(self, began: float) -> None:
        self.all.append((began, time.monotonic() - began))

    def since(self, moment: float) -> list[float]:
        """The seconds of those that were sent from then on."""
        return [seconds for began, seconds in self.all if began >= moment]


class Thinker(LoadPlayer):
    """Plays when it is their turn, slowly. What ends it is told afterwards: the others go on."""

    failure: DarbarError | None = None

    @property
    def is_asked(self) -> bool:
        return self.table.on_turn

    async def play_on(self) -> None:
        try:
            await self.play()
        except DarbarError as error:
            self.failure = error

    async def _act(self) -> None:
        self.seen.clear()
        if self.is_asked or self._should_say_ready():
            await super()._act()


class Crowd:
    """Everybody at all tables."""

    def __init__(self, book: Book) -> None:
        self.tables: list[list[Thinker]] = []
        self.book = book
        self.result = LoadResult()
        self.result.decisions = self.decisions = Decisions()

    @property
    def players(self) -> list[Thinker]:
        return [player for table in self.tables for player in table]

    @property
    def failures(self) -> list[str]:
        return [str(player.failure) for player in self.players if player.failure is not None]

    @property
    def refused(self) -> int:
        """How many commands were refused for good until now."""
        return sum(len(answers.refused) for answers in self.book.tables.values())

    async def back(self, since: float, is_over: Callable[[], bool] | None = None) -> list[float]:
        """Waits until no more sockets are lost and all of those have caught up again; the seconds of each. Without
        `is_over` everybody has to be lost first: that takes a while to be noticed by thousands."""
        players, lost = self.players, set[Thinker]()
        seconds: list[float] = []
        look_at = since
        before = [player.table.connections for player in players]

        def are_back() -> bool:
            nonlocal lost, look_at
            now = time.monotonic()
            if now < look_at:
                return False
            away = {player for player in players if not player.table.caught_up}
            seconds.extend([now - since] * len(lost - away))
            lost, look_at = away, now + LOOK_SECONDS
            return not away and (are_all_on_others() if is_over is None else is_over())

        def are_all_on_others() -> bool:
            # One that was lost and came back between two looks was not seen without a connection.
            return all(player.table.connections > count for player, count in zip(players, before, strict=True))

        await eventually(are_back, seconds=WAIT_SECONDS_MAX)
        return seconds

    async def compared(self, stack: FaultStack) -> Compared:
        """What they were told, with the log."""
        compared = Compared()
        connection = await stack.stored.connect("tables")
        try:
            for table_id, answers in self.book.tables.items():
                compared.compare(answers, [Row(*row) for row in await connection.fetch(LOG, table_id)])
        finally:
            await connection.close()
        codes = sorted({code for answers in self.book.tables.values() for code in answers.refused.values()})
        compared.wrong += self.failures
        print(f"{compared.acknowledged} acknowledgements and {compared.cards} turns compared: ", end="")
        print(
            f"{len(compared.wrong)} wrong; {compared.refused} refused{f', with {codes}' if codes else ''}", flush=True
        )
        for line in compared.wrong[:20]:
            print(f"  {line}")
        return compared


def people_allowed(tables: int) -> int:
    """How many at each table may have a socket, as files go."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    people = min(SEATS, (most - FILES_BESIDE) // (2 * tables))
    if people < SEATS:
        print(f"a process may have {most} files: {people} people at each table in place of {SEATS}")
    return people


def share(seconds: Sequence[float], percent: int) -> float:
    """So long took this share of them at most."""
    return statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1] if len(seconds) > 1 else max(seconds)


def spread(seconds: Sequence[float]) -> str:
    """In words."""
    if not seconds:
        return "(none)"
    middle, nearly = (share(seconds, percent) for percent in (MIDDLE, NEARLY_ALL))
    return f"after {middle:.2f} s in the middle, {nearly:.2f} s for 99 %, {max(seconds):.2f} s at the most"


@asynccontextmanager
async def crowd_at(
    stack: FaultStack, *, tables: int, people: int, shards: Collection[int], think_seconds: float = THINK_SECONDS
) -> AsyncIterator[Crowd]:
    """So many tables in these shards, with people who play at each."""
    crowd = Crowd(Book(random.Random(1)))
    began = time.monotonic()
    async with AsyncExitStack() as ends, _Playing() as playing:
        kind = noted_in(crowd.book, NotingSocket)
        clients = [
            await ends.enter_async_context(Darbar(stack.url, backoff=BACKOFF, web_socket_type=kind))
            for _ in range(0, tables, TABLES_A_CLIENT)
        ]
        seating = asyncio.Semaphore(SEATING_AT_ONCE)

        async def sit(number: int) -> list[Thinker]:
            async with seating:
                seats = await _seated(clients[number // TABLES_A_CLIENT], shards, people)
            return [
                Thinker(*seat, random.Random(f"{number}/{at}"), think_seconds=think_seconds, result=crowd.result)
                for at, seat in enumerate(seats)
            ]

        crowd.tables = await asyncio.gather(*map(sit, range(tables)))
        seconds = time.monotonic() - began
        print(f"{tables} tables, {tables * people} sockets, after {seconds:.0f} s", flush=True)
        await asyncio.gather(*(playing.begin(table, seating) for table in crowd.tables))
        await lasts(THINK_SHARE_MAX * think_seconds)
        now = time.monotonic()
        print(f"everybody plays after {now - began:.0f} s", flush=True)
        await lasts(SETTLE_SECONDS)
        decided = crowd.decisions.since(now)
        print(f"{len(decided) / SETTLE_SECONDS:.0f} decisions a second, acknowledged {spread(decided)}", flush=True)
        yield crowd


class _Playing:
    """Everybody who plays, until the block ends."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self, table: list[Thinker], seating: asyncio.Semaphore) -> None:
        """With the last one who sits down; where seats stay free bots take them."""
        async with seating:
            await (table[-1].table.sit() if len(table) == SEATS else table[0].table.start_now())
        self._tasks += [asyncio.create_task(player.play_on()) for player in table]

    async def __aenter__(self) -> _Playing:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)


async def _seated(darbar: Darbar, shards: Collection[int], people: int) -> list[tuple[Player, TableSocket]]:
    """People at a table that lies in one of these shards; what lies elsewhere is left to itself. With the last one the
    game begins, so they do not sit down yet: nobody plays until all tables are there."""
    while True:
        host = await darbar.guest()
        ref = await host.create_table(GAME, turn_seconds=TURN_SECONDS)
        if shard_of(UUID(ref.table_id)) in shards:
            break
    players = [host, *[await darbar.guest() for _ in range(people - 1)]]
    sockets = [await player.join(ref, fair=False, events_unread_max=EVENTS_UNREAD_MAX) for player in players]
    for socket in sockets[1 : min(people, SEATS - 1)]:
        await socket.sit()
    return list(zip(players, sockets, strict=True))
