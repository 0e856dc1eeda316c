"""A game as one client sees it, from hello to the last card, line by line. Open this to change what the guide shows.

The same seeds and the same decisions give the same frames: docs/transcript.txt is what was received once.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from uuid import UUID

import msgspec
from table_doubles import Player
from table_stack import Stack

from darbar_contracts.frames import PROTOCOL
from darbar_contracts.reading import DecisionFrames
from darbar_rules.game import Legal
from darbar_rules.games.kings_and_rebels.events import PassBid
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS

TABLE_ID = str(UUID(int=7))
OPTIONS = {"seats": 4, "rounds": 1}
TERMS: Mapping[str, Any] = {"host": "amina", "game": "kings_and_rebels", "options": OPTIONS, "turn_seconds": 15}
GAME_SECONDS_MAX = 60.0
STRING = "amina's own luck"
LAST_KIND = "game_ended"
# Who sits where: the order in which seats are filled is the table's.
SEATS: Mapping[str, int] = {"amina": 0, "bilal": 1, "chandni": 2, "danish": 3}
# What is another one each time.
OTHER_EACH_TIME = {"token": "eyJhbGciOi...", "remaining_ms": 14980}

Frame = dict[str, Any]


def seeds() -> Callable[[], str]:
    """Chance for a test: the same every time."""
    numbers = itertools.count(1)
    return lambda: f"{next(numbers):064x}"


def line(mark: str, frame: Frame) -> str:
    """`>` is sent by the client, `<` by the table."""
    shown = {name: OTHER_EACH_TIME.get(name, value) for name, value in frame.items()}
    return f"{mark} {json.dumps(shown, ensure_ascii=False)}"


class Seat:
    """A player who decides when it is on turn; `lines` is what was said by it and to it."""

    def __init__(self, new_player: Callable[[], Player], seat: int) -> None:
        self._new_player = new_player
        self.player = new_player()
        self.seat = seat
        self.lines: list[str] = []
        self.round = self.turn = 0
        self._read = 0
        self._numbers = itertools.count(1)
        self._frames = DecisionFrames()

    async def next(self) -> Frame:
        """The next frame that is no heartbeat."""
        while True:
            frame = await self.player.until(lambda _: True, start=self._read)
            self._read += 1
            if frame["type"] != "heartbeat":
                break
        self.lines.append(line("<", frame))
        public = frame.get("public", {})
        self.round, self.turn = public.get("round", self.round), public.get("turn", self.turn)
        return frame

    async def until(self, kind: str) -> Frame:
        while (frame := await self.next()).get("kind", frame["type"]) != kind:
            continue
        return frame

    async def say(self, kind: str, **fields: Any) -> Frame:
        """Sends a message; a command gets an id."""
        frame = {"type": kind, **fields} if kind == "hello" else {"type": kind, "id": self._new_id(), **fields}
        await self.send(frame)
        return frame

    async def send(self, frame: Frame) -> None:
        self.lines.append(line(">", frame))
        await self.player.send(**frame)

    async def hello(self, version: int = 0) -> None:
        """On a new connection."""
        await self.player.close()
        self.player, self._read = self._new_player(), 0
        await self.player.connect(hello=False)
        await self.say("hello", protocol=PROTOCOL, token=self.player.token, version=version)

    def is_asked(self, frame: Frame) -> bool:
        return "legal" in frame and frame["public"]["to_act"] == self.seat

    def decision(self, legal: Frame, *, passes: bool) -> Frame:
        """The first choice, or no bid."""
        offered = msgspec.convert(legal, Legal)
        choices = KINGS_AND_REBELS.choices(offered)
        chosen = PassBid() if passes and "pass_bid" in offered.also else choices[0]
        frame = self._frames.frame_of(chosen, id=self._new_id(), game=1, round=self.round, turn=self.turn)
        decoded: Frame = msgspec.json.decode(msgspec.json.encode(frame))
        return decoded

    def note(self, text: str) -> None:
        self.lines.append(f"# {text}")

    def _new_id(self) -> str:
        return f"command-of-amina-{next(self._numbers):03d}"


async def play(stack: Stack) -> list[str]:
    """Amina's side of a whole game with three others, who do nothing remarkable."""
    await stack.lobby.create(TABLE_ID, **TERMS)
    amina, *others = [Seat(partial(_player, stack, name), seat) for name, seat in SEATS.items()]
    async with asyncio.timeout(GAME_SECONDS_MAX), asyncio.TaskGroup() as tasks:
        amina.note("Amina has opened the table, and so has a seat. The others come.")
        await amina.hello()
        await amina.until("snapshot")
        for other in others:
            await other.hello()
            await other.say("sit")
            await amina.until("seat_taken")
        await amina.until("count_in_started")
        await amina_begins(amina)
        playing = [tasks.create_task(play_on(other)) for other in others]
        await amina_plays(amina)
        for task in playing:
            await task
    return amina.lines


def _player(stack: Stack, name: str) -> Player:
    player = stack.lobby.player(f"{stack.address}/play/tables/{TABLE_ID}/socket", name)
    stack.players.append(player)
    return player


async def amina_begins(amina: Seat) -> None:
    """Her string for the deal; and the host of this game need not wait for the count-in to run out."""
    amina.note("All seats are taken: the count-in runs. Amina promises a string for the deal, and deals.")
    await amina.say("seed_commit", sha256=hashlib.sha256(STRING.encode()).hexdigest())
    await amina.until("seed_committed")
    await amina.say("deal")
    await amina.until("seeds_asked")
    await amina.say("seed_open", string=STRING)
    await amina.until("stakes_asked")
    amina.note("The strings are known: the stakes are taken, the cards are dealt.")


async def play_on(seat: Seat) -> None:
    while (frame := await seat.next()).get("kind") != LAST_KIND:
        if seat.is_asked(frame):
            await seat.send(seat.decision(frame["legal"], passes=True))


async def amina_plays(amina: Seat) -> None:
    """To the end; what else may happen to a client happens while the table waits for her."""
    asked = 0
    bids = False
    while (frame := await amina.next()).get("kind") != LAST_KIND:
        if not amina.is_asked(frame):
            continue
        decision = amina.decision(frame["legal"], passes=bids)
        bids = True
        if decision["type"] == "play_card":
            asked += 1
            if asked in ASIDES:
                await ASIDES[asked](amina, frame, decision)
        await amina.send(decision)


async def a_refusal(amina: Seat, frame: Frame, decision: Frame) -> None:
    amina.note("A card that she does not hold, and a decision for a turn that is over: nothing has changed.")
    other = "3C" if decision["card"] != "3C" else "4C"
    await amina.say("play_card", round=amina.round, turn=amina.turn, card=other)
    await amina.until("refused")
    await amina.say("play_card", round=amina.round, turn=amina.turn - 1, card=decision["card"])
    await amina.until("refused")


async def a_command_again(amina: Seat, frame: Frame, decision: Frame) -> None:
    amina.note("She is not sure whether her last card has arrived: the same command once more, with the same id.")
    last = next(json.loads(said[2:]) for said in reversed(amina.lines) if said.startswith("> "))
    await amina.send(last)
    await amina.until("done")


async def a_lost_connection(amina: Seat, frame: Frame, decision: Frame) -> None:
    amina.note("Her connection is lost, and with it the last two events. She comes back.")
    await amina.hello(version=frame["version"] - 2)
    await amina.until("welcome")
    while (missed := await amina.next())["version"] != frame["version"]:
        assert missed["type"] == "event"


ASIDES: Mapping[int, Callable[[Seat, Frame, Frame], Awaitable[None]]] = {
    2: a_refusal,
    3: a_command_again,
    5: a_lost_connection,
}
