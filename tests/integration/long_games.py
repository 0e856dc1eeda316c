"""Tables where one game follows another until a fault is over. Open this when a test of faults plays wrongly."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from whole_games import SEATS, SOME_TURNS, false_checks

from darbar_client import Darbar, Player
from darbar_client.demo.checks import gather
from darbar_client.demo.playing import Participant, all_leave, joined, seated
from darbar_contracts.api import TableRef
from darbar_contracts.frames import EventFrame, Snapshot

# A fault may take some seconds, what comes after it some more; a table that stands still longer than this is stuck.
GAME_SECONDS_MAX = 120.0
EVENTS_A_ROUND = 60
MOVES_ON_SECONDS_MAX = 20.0
THINK_SECONDS = 0.01


class LongGuest(Participant):
    """Plays games until `last_game` is over. `pausing` makes it stop and think."""

    def __init__(self, guest: Participant) -> None:
        super().__init__(guest.player, guest.table, guest._dice)
        # So that the servers are busy with the fault, and not with us.
        self.think_seconds = THINK_SECONDS
        self.last_game: int | None = None
        self.playing = asyncio.Event()
        self.playing.set()

    async def play(self, hear: Callable[[EventFrame], None] | None = None) -> None:
        async for frame in self.table.events():
            self.seen.append((self.table.seat, frame))
            if self.last_game is not None and _game_over(frame) >= self.last_game:
                return
            if frame.version == self.table.version:
                await self.playing.wait()
                await self._act()

    async def decide(self) -> None:
        if self.last_game is None:
            await self.think()
        if self.is_asked:
            await super().decide()


class LongTable:
    """Guests at one table."""

    def __init__(self, guests: list[LongGuest]) -> None:
        self.guests = guests

    @property
    def table_id(self) -> str:
        return self.guests[0].table.table_id

    @property
    def version(self) -> int:
        return self.guests[0].table.version

    async def play(self) -> None:
        """Until somebody calls `stop`."""
        async with asyncio.TaskGroup() as tasks:
            for guest in self.guests:
                tasks.create_task(guest.play())

    @asynccontextmanager
    async def played(self) -> AsyncIterator[None]:
        """Games go on meanwhile; what ends them by itself is raised."""
        async with asyncio.timeout(GAME_SECONDS_MAX), asyncio.TaskGroup() as tasks:
            playing = tasks.create_task(self.play())
            yield
            playing.cancel()

    async def some_moves_later(self, events: int = 2 * EVENTS_A_ROUND) -> None:
        """Waits for what more than a round brings."""
        wanted = self.version + events
        await self.guests[0].table.until(lambda now: now.version >= wanted)

    async def in_the_middle_of_a_round(self) -> None:
        await self.guests[0].table.until(lambda now: now.now.phase == "playing" and now.turn >= SOME_TURNS)

    async def close(self) -> None:
        """The sockets end, the seats stay."""
        for guest in self.guests:
            await guest.table.close()

    def pause(self) -> None:
        """Everybody thinks."""
        for guest in self.guests:
            guest.playing.clear()

    def go_on(self) -> None:
        for guest in self.guests:
            guest.playing.set()

    def stop_after_this_game(self) -> None:
        """The game that runs now is played to its end, and is the last."""
        last_game = max(guest.table.now.game_number for guest in self.guests)
        for guest in self.guests:
            guest.last_game = last_game

    async def proven(self) -> int:
        """Everybody leaves, and everything that can be proven is; how many events there were."""
        await all_leave(list(self.guests))
        evidence = await gather(list(self.guests), has_bots=len(self.guests) < SEATS)
        assert false_checks(evidence) == []
        return len(evidence.replay.events)


async def long_table(darbar: Darbar, *, people: int = SEATS, seed: int = 1, turn_seconds: int = 15) -> LongTable:
    """A private table of Court Piece; the seats that are left over are for bots."""
    players = [await darbar.guest() for _ in range(people)]
    ref = await players[0].create_table("court_piece", turn_seconds=turn_seconds)
    table = await joined_by(players, ref, seed=seed)
    await seated(list(table.guests))
    return table


async def joined_by(players: list[Player], ref: TableRef | str, *, seed: int = 1) -> LongTable:
    """This table, with a new socket for each of them."""
    return LongTable([LongGuest(guest) for guest in await joined(players, ref, random.Random(seed))])


@asynccontextmanager
async def played(tables: list[LongTable]) -> AsyncIterator[None]:
    """Games go on at all of them meanwhile; the last ones are played to their end."""
    async with asyncio.timeout(2 * GAME_SECONDS_MAX), asyncio.TaskGroup() as tasks:
        for table in tables:
            tasks.create_task(table.play())
        yield
        for table in tables:
            table.stop_after_this_game()


async def moved_on(tables: list[LongTable]) -> None:
    """Every table stores an event."""
    async with asyncio.timeout(MOVES_ON_SECONDS_MAX):
        for table in tables:
            await table.some_moves_later(1)


def _game_over(frame: EventFrame | Snapshot) -> int:
    """The last game that is over at this frame; the end itself may have been missed."""
    if isinstance(frame, Snapshot):
        return frame.table.game_number - 1
    return int(frame.public["game"]) if frame.kind == "game_ended" else 0
