"""Many tables at once, each with a whole game over its players' sockets. Open this to play differently under load.

For what a server does when it is saturated this generator is too slow: bench has a compiled one.
"""

from __future__ import annotations

import asyncio
import random
from time import monotonic

import msgspec

from darbar_client.backoff import Backoff
from darbar_client.darbar import Darbar, Player
from darbar_client.demo.latencies import Latencies
from darbar_client.demo.playing import EVENTS_UNREAD_MAX, Participant, PrintLine, all_leave, seated
from darbar_client.table import TableSocket

TABLES_MAX = 5000
# More at once would measure how accounts are made, and be refused by limits.
STARTING_AT_ONCE_MAX = 20
TELL_SECONDS = 10.0
# As people do: nobody decides at once, and nobody takes all of their turn.
THINK_SHARE_MIN, THINK_SHARE_MAX = 0.5, 1.5
LONG_BACKOFF = Backoff(http_seconds=120.0, socket_seconds=120.0, command_seconds=120.0)


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """What to play. Players think `think_seconds` on average; `people` sit at each table, bots beside them."""

    url: str
    tables: int
    think_seconds: float
    game: str
    people: int = 4
    seed: int = 1


class LoadResult:
    """What has come of it so far. A decision is counted when the server has acknowledged it."""

    def __init__(self) -> None:
        self.decisions = Latencies()
        self.games_ended = 0
        self.tables_started = 0
        self.began = monotonic()

    @property
    def decisions_a_second(self) -> float:
        return self.decisions.count / max(monotonic() - self.began, 0.001)

    def line(self) -> str:
        return (
            f"{self.tables_started} tables, {self.games_ended} games ended, {self.decisions.count:,} decisions, "
            f"{self.decisions_a_second:,.0f} a second"
        )


class LoadPlayer(Participant):
    """Thinks before each decision, and keeps nothing of what was shown."""

    def __init__(
        self, player: Player, table: TableSocket, dice: random.Random, *, think_seconds: float, result: LoadResult
    ) -> None:
        super().__init__(player, table, dice)
        self.think_seconds = think_seconds
        self._result = result

    async def look(self) -> None:
        """There is nobody who would check the view."""

    async def think(self) -> None:
        await asyncio.sleep(self.think_seconds * self._thinking.uniform(THINK_SHARE_MIN, THINK_SHARE_MAX))

    async def decide(self) -> None:
        self.seen.clear()
        await self.think()
        if not self.is_asked:
            return  # Somebody was faster, or the clock.
        began = monotonic()
        await super().decide()
        self._result.decisions.note_since(began)


async def run_load(load: Load, print_line: PrintLine) -> LoadResult:
    """One game at each table, to its end. Raises DarbarError when a server says that something may not be."""
    result = LoadResult()
    async with Darbar(load.url, backoff=LONG_BACKOFF) as darbar, asyncio.TaskGroup() as tasks:
        telling = tasks.create_task(_tell(result, print_line))
        await _play_tables(darbar, load, result)
        telling.cancel()
    return result


async def _play_tables(darbar: Darbar, load: Load, result: LoadResult) -> None:
    starting = asyncio.Semaphore(STARTING_AT_ONCE_MAX)
    async with asyncio.TaskGroup() as tasks:
        for number in range(load.tables):
            tasks.create_task(_play_table(darbar, load, number, starting=starting, result=result))


async def _play_table(
    darbar: Darbar, load: Load, number: int, *, starting: asyncio.Semaphore, result: LoadResult
) -> None:
    dice = random.Random(f"{load.seed}/{number}")
    async with starting:
        people = [await darbar.guest() for _ in range(load.people)]
        ref = await people[0].create_table(load.game)
        players = [
            LoadPlayer(
                player,
                await player.join(ref, events_unread_max=EVENTS_UNREAD_MAX),
                dice,
                think_seconds=load.think_seconds,
                result=result,
            )
            for player in people
        ]
        await seated(list(players))
        result.tables_started += 1
    async with asyncio.TaskGroup() as tasks:
        for player in players:
            tasks.create_task(player.play())
    result.games_ended += 1
    await all_leave(list(players))


async def _tell(result: LoadResult, print_line: PrintLine) -> None:
    while True:
        await asyncio.sleep(TELL_SECONDS)
        print_line(result.line())
