"""The service's end of one child: started, written to, read from, ended. Open this when a child won't start or stop."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from darbar_bot.engine.framing import LINE_BYTES_MAX, Decided, NotDecided, Ready
from darbar_contracts.bots import BotAnswer
from darbar_kit.errors import Refused, Unavailable

# Enough that a child never waits for its next request, few enough that its death delays few.
REQUESTS_IN_CHILD_MAX = 8
START_SECONDS_MAX = 20.0

_decode_message = msgspec.json.Decoder(Ready | Decided | NotDecided).decode


class ChildNotStarted(Exception):
    """The child has ended, or was ended, before it took its first request."""


@dataclass(slots=True, eq=False)
class Job:
    """A request on its way to a child, as a line, and the one who waits for its answer."""

    request: bytes
    answer: asyncio.Future[BotAnswer]

    def fail(self, error: Exception) -> None:
        """Nothing when its time ran out before."""
        if not self.answer.done():
            self.answer.set_exception(error)

    def answer_with(self, outcome: Decided | NotDecided) -> None:
        """Pass on what the child says."""
        match outcome:
            case Decided(answer=answer):
                if not self.answer.done():
                    self.answer.set_result(answer)
            case NotDecided(refused=True):
                self.fail(Refused(outcome.code, outcome.message))
            case NotDecided():
                self.fail(Unavailable(outcome.code, outcome.message))


class ChildProcess(asyncio.Protocol):
    """One child from its start to its end."""

    def __init__(self, *, on_room: Callable[[], None]) -> None:
        self._on_room = on_room
        self._in_child: deque[Job] = deque()
        self._received = b""
        self._transport: asyncio.WriteTransport | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._started = asyncio.Event()
        self._ended = asyncio.Event()

    @property
    def ready(self) -> bool:
        return self._started.is_set() and not self._ended.is_set()

    @property
    def load(self) -> int:
        """How many requests are in the child; as many as can be when it takes none."""
        return len(self._in_child) if self.ready else REQUESTS_IN_CHILD_MAX

    @property
    def exit_code(self) -> int | None:
        """Of a child that has ended; minus the number of the signal that ended it."""
        return None if self._process is None else self._process.returncode

    async def live(self, command: Sequence[str]) -> None:
        """Start the child and return when it has ended; a cancelled caller ends it. Raises ChildNotStarted."""
        parent_end, child_end = socket.socketpair()
        try:
            with child_end:
                loop = asyncio.get_running_loop()
                self._transport, _ = await loop.create_unix_connection(lambda: self, sock=parent_end)
                self._process = subprocess.Popen(  # noqa: ASYNC220 - returns as soon as the program is loaded.
                    [*command, str(child_end.fileno())],
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C in a terminal is for the service, which then ends its children.
                    pass_fds=[child_end.fileno()],
                )
            await self._start()
            await self._ended.wait()
        finally:
            self._end()

    def send(self, job: Job) -> None:
        """Only when there is room: see `load`."""
        assert self._transport is not None
        self._in_child.append(job)
        self._transport.write(job.request)

    def unanswered(self) -> deque[Job]:
        """The requests that the child took and left, the one it died on first."""
        left, self._in_child = self._in_child, deque()
        return left

    def data_received(self, data: bytes) -> None:
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            self._take(_decode_message(line))
        if len(self._received) > LINE_BYTES_MAX:
            self._ended.set()  # It is out of step, and of no more use.
            return
        self._on_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended.set()
        self._started.set()

    async def _start(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS_MAX):
                await self._started.wait()
        except TimeoutError:
            raise ChildNotStarted(f"not ready in {START_SECONDS_MAX} s") from None
        if not self.ready:
            raise ChildNotStarted("ended before it was ready")

    def _end(self) -> None:
        """Kill the child if it still lives: it holds nothing that could be lost."""
        self._ended.set()
        if self._transport is not None:
            self._transport.close()
        if self._process is not None:
            self._process.kill()  # Does nothing to one that has ended by itself.
            self._process.wait()

    def _take(self, message: Ready | Decided | NotDecided) -> None:
        if isinstance(message, Ready):
            self._started.set()
        else:
            self._in_child.popleft().answer_with(message)
