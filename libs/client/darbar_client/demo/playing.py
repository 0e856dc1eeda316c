"""How the players of the demo play: legal moves, some of them bold. Open this when a game does not get on."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable

from darbar_client.darbar import Player
from darbar_client.errors import CommandRefused, SocketEnded
from darbar_client.table import TableSocket
from darbar_contracts.api import TableRef
from darbar_contracts.frames import EventFrame, Snapshot
from darbar_contracts.refusals import Reason
from darbar_contracts.tables import JsonObject
from darbar_rules.game import Refusal

# Asking for the trump, passing off turn and the like: taken this often when they are allowed.
POWER_SHARE = 0.3
# How often a player looks at the whole table again, so that there are views to check.
LOOK_SHARE = 0.03
LEAVE_SECONDS_MAX = 60.0
# The table had moved on before the command came: the next event says what is due.
_TOO_LATE = frozenset({Reason.STALE_TURN, Refusal.NOT_NOW})
# Enough for a whole game, should nobody read for a while.
EVENTS_UNREAD_MAX = 20_000

Seen = tuple[int | None, EventFrame | Snapshot]
PrintLine = Callable[[str], None]


class Participant:
    """A player, their socket, and everything that they were shown."""

    def __init__(self, player: Player, table: TableSocket, dice: random.Random) -> None:
        self.player = player
        self.table = table
        self.seen: list[Seen] = []
        self.think_seconds = 0.0
        self._dice = dice
        self._thinking = random.Random(dice.random())

    async def play(self, note: Callable[[EventFrame], None] | None = None) -> None:
        """Until the game is over; `note` is given every event."""
        async for frame in self.table.events():
            self.seen.append((self.table.seat, frame))
            if isinstance(frame, EventFrame):
                if note is not None:
                    note(frame)
                if frame.kind == "game_ended":
                    return
            elif frame.game is None and frame.table.game_number > 1:
                return  # The end itself was missed: a reconnect brought what came after it.
            if frame.version == self.table.version:
                await self._act()

    @property
    def is_asked(self) -> bool:
        """Whether the table takes a decision of this seat at this moment."""
        return self.table.legal is not None

    async def think(self) -> None:
        """`think_seconds` on average; the table may have moved on meanwhile."""
        if self.think_seconds > 0:
            await asyncio.sleep(self._thinking.expovariate(1 / self.think_seconds))

    async def decide(self) -> None:
        """Something that the rules allow now; returns when the server has acknowledged it."""
        await self.table.decide(self._choose())

    async def look(self) -> None:
        """Keeps a view of now."""
        snapshot = await self.table.refresh()
        self.seen.append((snapshot.seat, snapshot))

    async def leave(self) -> None:
        """Gives the seat up as soon as that is possible. Who was cut off while the table closed hears that there is
        none."""
        try:
            await self.table.leave()
        except SocketEnded as ended:
            if ended.code not in (Reason.TABLE_CLOSED, Reason.TABLE_UNKNOWN):
                raise

    async def _act(self) -> None:
        """What the table waits for from this seat, if anything."""
        table = self.table
        try:
            if table.legal is not None and (table.on_turn or self._dice.random() < POWER_SHARE):
                await self.decide()
                if self._dice.random() < LOOK_SHARE:
                    await self.look()
            elif self._should_say_ready():
                await table.ready()
        except CommandRefused as refused:
            if refused.code not in _TOO_LATE:
                raise

    def _should_say_ready(self) -> bool:
        seat, now = self.table.seat, self.table.now
        return seat is not None and now.phase == "counting_in" and not now.seats[seat].ready

    def _choose(self) -> object:
        """Any card or bid with the same chance; what needs no card is rarer than it is allowed."""
        table = self.table
        choices = table.choices()
        assert table.legal is not None
        powers = len(table.legal.also)
        plain, bold = choices[: len(choices) - powers], choices[len(choices) - powers :]
        return self._dice.choice(bold if bold and (not plain or self._dice.random() < POWER_SHARE) else plain)


class Commentator:
    """Counts what happens, and says a line about each round."""

    def __init__(self, table: TableSocket, print_line: PrintLine) -> None:
        self._table = table
        self._print_line = print_line
        self._began = 0.0
        self._last: JsonObject = {}
        self._moves_of_round = 0
        self.moves = 0
        self.playing_seconds = 0.0

    @property
    def moves_a_second(self) -> float:
        return self.moves / self.playing_seconds if self.playing_seconds else 0.0

    def note(self, frame: EventFrame) -> None:
        if frame.kind in self._table.game.events:
            self._last = frame.public
            if frame.public.get("by") != "table":
                self._moves_of_round += 1
        elif frame.kind == "round_started":
            self._began = time.monotonic()
            self._moves_of_round = 0
        elif frame.kind == "seeds_shown":
            self._round_is_over(frame.public)

    def _round_is_over(self, public: JsonObject) -> None:
        seconds = time.monotonic() - self._began
        self.moves += self._moves_of_round
        self.playing_seconds += seconds
        names = [seat.name or "" for seat in self._table.now.seats]
        winners = " and ".join(names[seat] for seat in self._last.get("winners", ()))
        totals = " : ".join(str(total) for total in self._last.get("totals", ()))
        outcome = str(self._last.get("outcome", "over")).replace("_", " ")
        pace = f"{self._moves_of_round} moves in {seconds:.2f} s"
        self._print_line(f"  round {public['round']:>2}  {outcome:<11} {winners:<20} {totals:<9} {pace}")


async def seated(participants: list[Participant]) -> None:
    """Everybody takes a seat; with seats left over the host calls bots in."""
    host, *others = participants
    for participant in others:
        await participant.table.sit()
    if len(participants) < len(host.table.now.seats):
        await host.table.start_now()


async def play_game(participants: list[Participant], commentator: Commentator) -> None:
    """From the first count-in to the game's end."""
    first, *others = participants
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(first.play(commentator.note))
        for participant in others:
            tasks.create_task(participant.play())


async def all_leave(participants: list[Participant]) -> None:
    """Before the next game begins: a count-in stops as soon as a seat is empty."""
    async with asyncio.timeout(LEAVE_SECONDS_MAX), asyncio.TaskGroup() as tasks:
        for participant in participants:
            tasks.create_task(participant.leave())


async def joined(players: list[Player], ref: TableRef | str, dice: random.Random) -> list[Participant]:
    """A socket for each player."""
    return [
        Participant(player, await player.join(ref, events_unread_max=EVENTS_UNREAD_MAX), random.Random(dice.random()))
        for player in players
    ]
