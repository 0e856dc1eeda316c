"""One event loop that runs many processes on one virtual clock. Open this when a seed does not replay exactly.

Each process has a queue of its own, in the order in which asyncio promises to call; which process goes next is drawn.
Time passes only when nobody has anything to do. A process can be stopped for a while, as by SIGSTOP, and killed between
any two steps, that is at any `await`.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import math
import random
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import copy_context as _copy_context
from heapq import heappop, heappush
from typing import Any, TypeVar

TURNS_AT_THE_END_MAX = 1_000
# Who runs for so long without time passing runs in a circle.
TURNS_WITHOUT_TIME_MAX = 100_000
LOOK_SECONDS = 0.05

_T = TypeVar("_T")


class Process:
    """Who runs. `skew_seconds` is how far its clock on the wall is off, `awake_at` until when it is stopped."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ready: deque[Step] = deque()
        self.is_dead = False
        self.awake_at = 0.0
        self.skew_seconds = 0.0
        self.steps_to_live: int | None = None
        self.dies: Callable[[], None] | None = None

    def __repr__(self) -> str:
        return f"<process {self.name}>"


class Step(functools.partial[object]):
    """A callback in its context, which waits for its turn or for its time."""

    is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True

    def cancelled(self) -> bool:
        return self.is_cancelled


class SimulatedTask(asyncio.Task[Any]):
    """Its hash is its number: what asyncio keeps in sets comes out in the same order each time."""

    __slots__ = ("number",)
    number: int

    def __new__(cls, _work: object, *, loop: VirtualLoop, **_named: Any) -> SimulatedTask:
        task = super().__new__(cls)
        task.number = loop.next_task_number()
        return task

    def __hash__(self) -> int:
        return self.number


class VirtualLoop(asyncio.BaseEventLoop):
    """What of an event loop the services use; the rest of its base is never called. What is drawn comes from `dice`."""

    def __init__(self, dice: random.Random) -> None:  # Without that of its base, which would begin to watch files.
        self.now = 0.0
        self.dice = dice
        self.world = Process("world")
        self.current = self.world
        self.processes = [self.world]
        self._busy: list[Process] = []  # those that have something to do
        self.is_over = False
        self.faults: list[str] = []
        self._timers: list[tuple[float, int, Step, Process]] = []
        self._numbers = 0
        self._tasks = 0
        self._made: list[SimulatedTask] = []
        self._left: list[Step] = []  # what the dead would have done next

    def next_task_number(self) -> int:
        self._tasks += 1
        return self._tasks

    # What asyncio asks of a loop.

    # What it calls is no function of Python: it is asked with each future.
    get_debug = staticmethod(bool)

    def time(self) -> float:
        return self.now

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return self.is_over

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]  # The stubs know more forms than are used.
        self, coro: Coroutine[Any, Any, _T], *, name: str | None = None, context: contextvars.Context | None = None
    ) -> asyncio.Task[_T]:
        task = SimulatedTask(coro, loop=self, name=name, context=context)
        self._made.append(task)
        return task

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> Step:
        step = Step((_copy_context() if context is None else context).run, callback, *args)
        self.current.ready.append(step)
        return step

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> Step:
        return self.call_in(self.current, self.now + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> Step:
        return self.call_in(self.current, when, callback, *args, context=context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """A task that nobody waits for has failed."""
        error = context.get("exception")
        if error is not None and not self.is_over:
            self.faults.append(f"{context['message']}: {error!r}")

    # What the simulation asks.

    def call_in(
        self,
        process: Process,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> Step:
        """At a time, in a process; not at all if it is dead by then."""
        step = Step((_copy_context() if context is None else context).run, callback, *args)
        self._numbers += 1
        heappush(self._timers, (when, self._numbers, step, process))
        return step

    def add(self, process: Process) -> Process:
        self.processes.append(process)
        return process

    async def pass_time(self, seconds: float) -> None:
        """Of the virtual clock: nobody waits for it."""
        passed = self.create_future()
        self.call_later(seconds, _end, passed)
        await passed

    def spawn(self, process: Process, work: Coroutine[Any, Any, None]) -> None:
        """A task of this process; it begins when the process has its turn."""
        before, self.current = self.current, process
        self.create_task(work).add_done_callback(self._note_failure)
        self.current = before
        self._note_busy(process)

    def _note_busy(self, process: Process) -> None:
        if process.ready and process not in self._busy:
            self._busy.append(process)

    def _note_failure(self, task: asyncio.Task[None]) -> None:
        if not self.is_over and not task.cancelled() and task.exception() is not None:
            self.faults.append(f"{self.current.name} has ended: {task.exception()!r}")

    def kill(self, process: Process) -> None:
        """Nothing of it runs any more; whatever it held is let go at the end of the simulation."""
        process.is_dead = True
        self._left.extend(process.ready)
        process.ready.clear()
        for those in (self.processes, self._busy):
            if process in those:
                those.remove(process)

    def run_until(self, condition: Callable[[], bool], *, time_max: float) -> bool:
        """Whether the condition came true in time; it is looked at every LOOK_SECONDS."""
        asyncio._set_running_loop(self)
        try:
            look_at = self.now
            while True:
                if self.now >= look_at:
                    if condition():
                        return True
                    look_at = self.now + LOOK_SECONDS
                if self.now > time_max or not self._turn():
                    return condition()
        finally:
            asyncio._set_running_loop(None)

    def end(self) -> None:
        """Everything that still runs is cancelled and comes to its end, the dead as well: nothing is left in memory."""
        self.is_over = True
        asyncio._set_running_loop(self)
        try:
            self.current = grave = Process("grave")
            grave.ready.extend(self._left)
            for process in self.processes:
                grave.ready.extend(process.ready)
            self.processes = [grave]
            self._busy = [grave]
            self._timers.clear()
            for task in self._made:
                if not task.done():
                    task.cancel()
            for _ in range(TURNS_AT_THE_END_MAX):
                if not self._turn():
                    break
                self.current = grave
            self._made.clear()
        finally:
            asyncio._set_running_loop(None)

    def _turn(self) -> bool:
        """Everybody does what there is to do now, then the clock jumps. False: nobody will ever have anything to do."""
        busy = self._busy
        for _ in range(TURNS_WITHOUT_TIME_MAX):
            if not busy:
                return self._wait()
            able = busy[0] if len(busy) == 1 else self._drawn()
            if able is None or able.awake_at > self.now:
                return self._wait()
            self._run(able)
            if not able.ready and able in busy:
                busy.remove(able)
        raise AssertionError("time does not pass any more")

    def _drawn(self) -> Process | None:
        """One of those that could go on."""
        able = [process for process in self.processes if process.ready and process.awake_at <= self.now]
        if len(able) > 1:
            return able[int(self.dice.random() * len(able))]
        return able[0] if able else None

    def _run(self, process: Process) -> None:
        """What is ready; what that makes ready waits for the next turn of this process."""
        self.current, ready = process, process.ready
        if process.steps_to_live is not None:
            self._run_with_care(process)
        else:
            # What dies here is another one, or has died of what it did and has nothing more to do.
            for _ in range(len(ready)):
                if not ready:
                    break
                step = ready.popleft()
                if not step.is_cancelled:
                    step()
        self.current = self.world

    def _run_with_care(self, process: Process) -> None:
        """One step at a time: after which of them it dies is drawn."""
        for _ in range(len(process.ready)):
            if not process.ready:
                break
            step = process.ready.popleft()
            if not step.is_cancelled:
                step()
            self._age(process)

    def _age(self, process: Process) -> None:
        process.steps_to_live = (process.steps_to_live or 0) - 1
        if process.steps_to_live <= 0 and process.dies is not None:
            process.steps_to_live = None
            self.current = self.world
            process.dies()
            self._note_busy(self.world)

    def _wait(self) -> bool:
        """The clock jumps to what comes next, and that becomes ready."""
        timers, busy = self._timers, self._busy
        while timers and (timers[0][2].is_cancelled or timers[0][3].is_dead):
            heappop(timers)
        following = timers[0][0] if timers else math.inf
        for process in busy:
            if process.awake_at < following:
                following = process.awake_at  # It has been stopped, with something to do.
        if following == math.inf:
            return False
        self.now = now = max(self.now, following)
        while timers and timers[0][0] <= now:
            _, _, step, process = heappop(timers)
            if not process.is_dead and not step.is_cancelled:
                process.ready.append(step)
                if process not in busy:
                    busy.append(process)
        return True


def _end(passed: asyncio.Future[None]) -> None:
    if not passed.done():
        passed.set_result(None)
