"""The children that decide: fed, and replaced when they end. Open this when bots are slow, busy or a child dies."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Sequence

from darbar_bot.engine.child_process import REQUESTS_IN_CHILD_MAX, ChildProcess, Job
from darbar_bot.engine.framing import LINE_BYTES_MAX, line
from darbar_contracts.bots import BotAnswer, BotRequest
from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused, Unavailable

# Beyond this a request is refused `busy`, and the table falls back at once. With what is in the children it must stay
# below the number of messages that the bus handles at a time, else nobody would be there to refuse.
REQUESTS_WAITING_MAX = 192
CHILD_COMMAND = (sys.executable, "-P", "-m", "darbar_bot.engine.child")


class ChildEnded(Unavailable):
    """A child that was at work has ended: on a request that took too long, or because somebody killed it."""


class Workers:
    """Who asks waits for a child: as many as there are tasks that run `live`."""

    def __init__(self, *, answer_seconds_max: float, command: Sequence[str] = CHILD_COMMAND) -> None:
        self._answer_seconds_max = answer_seconds_max
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

    async def live(self) -> None:
        """One child from its start to its end. Raises ChildEnded, and ChildNotStarted or OSError without a child."""
        child = ChildProcess(on_room=self._dispatch)
        self._children.add(child)
        try:
            await child.live(self._command)
        finally:
            self._children.discard(child)
            taken_back = self._take_back(child)
        raise ChildEnded(Reason.UNAVAILABLE, f"exit code {child.exit_code}, {taken_back} requests taken back")

    async def decide(self, request: BotRequest) -> BotAnswer:
        """Raises Refused for a bad request, Unavailable when too many wait or no child answers in time."""
        message = line(request)
        if len(message) > LINE_BYTES_MAX:
            raise Refused(Reason.VIEW_INVALID, "the view is too large")
        if len(self._waiting) >= REQUESTS_WAITING_MAX:
            raise Unavailable(Reason.BUSY)
        job = Job(message, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self._dispatch()
        try:
            async with asyncio.timeout(self._answer_seconds_max):
                return await job.answer
        except TimeoutError:
            raise Unavailable(Reason.DECISION_TOO_SLOW) from None

    def _dispatch(self) -> None:
        """Hand waiting requests to the children that have room, to the least busy first."""
        while self._waiting and self._children:
            child = min(self._children, key=lambda child: child.load)
            if child.load >= REQUESTS_IN_CHILD_MAX:
                return
            job = self._waiting.popleft()
            if not job.answer.done():  # Its time may have run out while it waited.
                child.send(job)

    def _take_back(self, child: ChildProcess) -> int:
        """The request a child ended on fails; those behind it are innocent and go to another child."""
        unanswered = child.unanswered()
        if unanswered:
            unanswered.popleft().fail(Unavailable(Reason.DECISION_TOO_SLOW))
        self._waiting.extendleft(reversed(unanswered))
        self._dispatch()
        return len(unanswered)
