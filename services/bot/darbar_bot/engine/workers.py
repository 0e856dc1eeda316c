"""The children that decide: kept alive and fed. Open this when bots are slow, busy or a child dies."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Sequence

import msgspec
import structlog

from darbar_bot.engine.child_process import REQUESTS_IN_CHILD_MAX, ChildNotStarted, ChildProcess, Job
from darbar_bot.engine.framing import FRAME_BYTES_MAX
from darbar_contracts.bots import BotAnswer, BotRequest
from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused, Unavailable

# Beyond this a request is refused `busy`, and the table falls back at once. With what is in the children it must stay
# below the number of messages that the bus handles at a time, else nobody would be there to refuse.
REQUESTS_WAITING_MAX = 192
RESTART_SECONDS_MIN = 0.05
RESTART_SECONDS_MAX = 5.0
CHILD_COMMAND = (sys.executable, "-P", "-m", "darbar_bot.engine.child")

log = structlog.get_logger()


class Workers:
    """A fixed number of children. `run` must be running for `decide` to be answered."""

    def __init__(
        self,
        count: int,
        *,
        answer_seconds_max: float,
        on_end: Callable[[], object],
        command: Sequence[str] = CHILD_COMMAND,
    ) -> None:
        self._count = count
        self._answer_seconds_max = answer_seconds_max
        self._on_end = on_end
        self._command = command
        self._children: set[ChildProcess] = set()
        self._waiting: deque[Job] = deque()

    @property
    def ready(self) -> int:
        """How many children take requests now."""
        return sum(child.ready for child in self._children)

    @property
    def waiting(self) -> int:
        """How many requests wait for a child."""
        return len(self._waiting)

    async def run(self) -> None:
        """Keep the children alive until cancelled; none is left when this returns."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(self._count):
                tasks.create_task(self._keep_alive())

    async def decide(self, request: BotRequest) -> BotAnswer:
        """Raises Refused for a bad request or too many waiting ones, Unavailable when no child answers in time."""
        message = msgspec.json.encode(request)
        if len(message) > FRAME_BYTES_MAX:
            raise Refused(Reason.VIEW_INVALID, "the view is too large")
        if len(self._waiting) >= REQUESTS_WAITING_MAX:
            raise Refused(Reason.BUSY, "too many requests wait for a decision")
        job = Job(message, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self._dispatch()
        try:
            async with asyncio.timeout(self._answer_seconds_max):
                return await job.answer
        except TimeoutError:
            raise _too_slow() from None

    async def _keep_alive(self) -> None:
        pause_seconds = RESTART_SECONDS_MIN
        while True:
            child = ChildProcess(on_room=self._dispatch)
            self._children.add(child)
            try:
                await child.live(self._command)
                pause_seconds = RESTART_SECONDS_MIN
            except (OSError, ChildNotStarted) as error:
                log.error("child_not_started", error=repr(error), pause_seconds=pause_seconds)
                pause_seconds = min(pause_seconds * 2, RESTART_SECONDS_MAX)
            finally:
                self._children.discard(child)
            self._on_end()
            self._take_back(child)
            await asyncio.sleep(pause_seconds)

    def _dispatch(self) -> None:
        """Hand waiting requests to the children that have room, to the least busy first."""
        while self._waiting and self._children:
            child = min(self._children, key=lambda child: child.load)
            if child.load >= REQUESTS_IN_CHILD_MAX:
                return
            job = self._waiting.popleft()
            if not job.answer.done():  # Its time may have run out while it waited.
                child.send(job)

    def _take_back(self, child: ChildProcess) -> None:
        """The request a child ended on fails; those behind it are innocent and go to another child."""
        unanswered = child.unanswered()
        if unanswered:
            unanswered.popleft().fail(_too_slow())
        log.warning("child_ended", exit_code=child.exit_code, requests_taken_back=len(unanswered))
        self._waiting.extendleft(reversed(unanswered))
        self._dispatch()


def _too_slow() -> Unavailable:
    return Unavailable(Reason.DECISION_TOO_SLOW, "no decision in time")
