"""Players' sockets that say things twice, late and out of order, and write down what they were answered.

They are what the client's sockets are made of in a fault run. What is written down here is compared with the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import defaultdict
from typing import Any, ClassVar

import aiohttp
import msgspec

TWICE_SHARE = 0.05
LATE_SHARE = 0.05
OVERTAKEN_SHARE = 0.05
LATE_COMMANDS_MAX = 12
OVERTAKEN_SECONDS_MAX = 0.1


class _Words(msgspec.Struct, frozen=True):
    """What is read of a frame, whoever sent it."""

    type: str
    id: str | None = None
    turn: int | None = None
    version: int = 0
    code: str = ""
    retry: bool = False


_words = msgspec.json.Decoder(_Words).decode


class Answers:
    """What the players of one table were told of their commands, by id.

    `stored`: those that must be in the log, moves and whatever an event was shown for. `acknowledged`: at which
    versions they stand. `refused`: why a command never will.
    """

    def __init__(self) -> None:
        self.moves: set[str] = set()
        self.stored: set[str] = set()
        self.acknowledged: dict[str, set[int]] = {}
        self.refused: dict[str, str] = {}

    def note_sent(self, words: _Words) -> None:
        if words.id is not None and words.turn is not None:
            self.moves.add(words.id)

    def note(self, frame: str) -> None:
        """One frame of the table."""
        if '"id"' not in frame:
            return
        words = _words(frame)
        if words.id is None:
            return
        if words.type in ("event", "done"):
            self.acknowledged.setdefault(words.id, set()).add(words.version)
            if words.type == "event" or words.id in self.moves:
                self.stored.add(words.id)
        elif words.type == "refused" and not words.retry:
            self.refused.setdefault(words.id, words.code)


class Book:
    """All answers, table by table, and how often a command was sent in another way than it should be."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.twice = self.late = self.overtaken = 0
        self.tables: defaultdict[str, Answers] = defaultdict(Answers)


class NotingSocket(aiohttp.ClientWebSocketResponse):
    """Says what it is told to say, and writes down what comes of it."""

    book: ClassVar[Book]

    async def send_frame(self, message: bytes, opcode: aiohttp.WSMsgType, compress: int | None = None) -> None:
        words = _words(message) if opcode is aiohttp.WSMsgType.TEXT else None
        if words is None or words.id is None:
            await super().send_frame(message, opcode, compress)
        else:
            self._answers.note_sent(words)
            await self._send_command(message)

    async def receive(self, timeout: float | None = None) -> Any:
        message = await super().receive(timeout)
        if message.type is aiohttp.WSMsgType.TEXT:
            self._answers.note(message.data)
        return message

    async def _send_command(self, message: bytes) -> None:
        await super().send_frame(message, aiohttp.WSMsgType.TEXT)

    @property
    def _answers(self) -> Answers:
        """The path ends with tables/{id}/socket."""
        return self.book.tables[self._response.url.parts[-2]]


class UnrulySocket(NotingSocket):
    """Only commands are sent wrongly: they have an id so that this does no harm. The table remembers the last sixteen
    of a seat, so what is repeated comes before so many others."""

    _sending: ClassVar[set[asyncio.Task[None]]] = set()

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._repeats: list[tuple[int, bytes]] = []
        self._sent = 0

    async def _send_command(self, message: bytes) -> None:
        """What comes meanwhile goes out before a message that is overtaken."""
        book, chance = self.book, self.book.dice.random()
        self._sent += 1
        if chance < OVERTAKEN_SHARE:
            book.overtaken += 1
            asyncio.get_running_loop().call_later(book.dice.uniform(0, OVERTAKEN_SECONDS_MAX), self._begin, message)
            return
        await super()._send_command(message)
        if chance < OVERTAKEN_SHARE + TWICE_SHARE:
            book.twice += 1
            await super()._send_command(message)
        elif chance < OVERTAKEN_SHARE + TWICE_SHARE + LATE_SHARE:
            self._repeats.append((self._sent + book.dice.randint(1, LATE_COMMANDS_MAX), message))
        await self._repeat()

    async def _repeat(self) -> None:
        due = [message for number, message in self._repeats if number <= self._sent]
        self._repeats = [(number, message) for number, message in self._repeats if number > self._sent]
        for message in due:
            self.book.late += 1
            await super()._send_command(message)

    def _begin(self, message: bytes) -> None:
        task = asyncio.create_task(self._send(message))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send(self, message: bytes) -> None:
        # A connection that is lost meanwhile has lost it.
        with contextlib.suppress(ConnectionError):
            if not self.closed:
                await super()._send_command(message)


def noted_in(book: Book, kind: type[NotingSocket]) -> type[NotingSocket]:
    """Sockets of this kind that write into this book."""
    return type(kind.__name__, (kind,), {"book": book})
