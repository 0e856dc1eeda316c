"""Keeps every long task of a service alive, and says truthfully when it cannot. Open this when a task has stopped."""

from __future__ import annotations

import asyncio
import random
import sys
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from enum import Enum

import structlog
from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge

from darbar_kit.backoff import Backoff
from darbar_kit.errors import Unavailable

PAUSE_SECONDS_MIN = 0.25
PAUSE_SECONDS_MAX = 10.0
# A task that ran this long without a fault has recovered: its pauses start small again.
STEADY_SECONDS = 10.0
# One stumble is mended by the restart itself; from the second on the task keeps failing, and the service is not ready.
FAILURES_BEFORE_UNREADY = 2
# A must-run task that fails for so long by a fault of its own is not mended by restarting it here: let the process
# be restarted. An outage of something else (`Unavailable`) never counts, as a new process would meet it too.
FAILING_SECONDS_MAX = 60.0
# A stop ends within this, whatever a task does with its cancellation.
STOP_SECONDS_MAX = 10.0
STOP_AGAIN_SECONDS = 1.0

Work = Callable[[], Awaitable[object]]
_log = structlog.get_logger()


class TaskState(Enum):
    """What a supervised task does at this moment."""

    WAITING = "waiting"  # the supervisor has not been started
    RUNNING = "running"
    PAUSING = "pausing"  # it failed, and is started again after the pause
    FINISHED = "finished"  # a finite task has done its work
    ENDED = "ended"  # nobody runs it any more


class TaskEnded(Exception):
    """A task that is to run for ever has returned, or was cancelled by somebody else: that is a fault too."""


class _Watched:
    """One task: how it is run, and how it goes."""

    def __init__(self, name: str, work: Work, *, is_finite: bool, must_run: bool, backoff: Backoff) -> None:
        self.name = name
        self.work = work
        self.is_finite = is_finite
        self.must_run = must_run
        self.backoff = backoff
        self.state = TaskState.WAITING
        self.started_at = 0.0
        self.fault_since: float | None = None
        self.task: asyncio.Task[None] | None = None
        self.is_dismissed = False


class Supervisor:
    """Starts a task again whenever it ended or raised, after a growing pause, until the service stops.

    Made in `build_app`; every long task is given to `watch`; `context` goes into the app's `cleanup_ctx` after
    what the tasks use; `health_routes` takes it, so that /readyz and /healthz tell how the tasks are.
    """

    def __init__(
        self,
        service: str,
        registry: CollectorRegistry,
        *,
        failing_seconds_max: float = FAILING_SECONDS_MAX,
        stop_seconds_max: float = STOP_SECONDS_MAX,
        steady_seconds: float = STEADY_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        chance: random.Random | None = None,
    ) -> None:
        self._failing_seconds_max = failing_seconds_max
        self._stop_seconds_max = stop_seconds_max
        self._steady_seconds = steady_seconds
        self._clock = clock
        self._chance = chance
        self._watched: dict[str, _Watched] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._root: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._restarts = Counter(
            f"{service}_task_restarts", "Long tasks that ended and were started again.", ["task"], registry=registry
        )
        self._running = Gauge(f"{service}_tasks_running", "Long tasks that run at this moment.", registry=registry)
        self._running.set_function(lambda: self._count(TaskState.RUNNING))

    def watch(
        self,
        name: str,
        work: Work,
        *,
        is_finite: bool = False,
        must_run: bool = True,
        pause_seconds_max: float = PAUSE_SECONDS_MAX,
    ) -> None:
        """Runs `work()` again and again, at once when the supervisor runs already. `is_finite`: a return is its end.

        Tasks that must run count for readiness and health; the others are only restarted, logged and counted.
        """
        if name in self._watched:
            raise ValueError(f"there are two tasks called {name}")
        backoff = Backoff(
            seconds_min=min(PAUSE_SECONDS_MIN, pause_seconds_max), seconds_max=pause_seconds_max, chance=self._chance
        )
        watched = _Watched(name, work, is_finite=is_finite, must_run=must_run, backoff=backoff)
        self._watched[name] = watched
        self._restarts.labels(name)
        if self._tasks is not None:
            self._begin(watched)

    @asynccontextmanager
    async def watching(self, works: Mapping[str, Work]) -> AsyncIterator[None]:
        """The same for tasks that live shorter than the service: they end with the block."""
        for name, work in works.items():
            self.watch(name, work)
        try:
            yield
        finally:
            ended = [self._watched.pop(name) for name in works]
            for watched in ended:
                watched.is_dismissed = True
            while running := [watched.task for watched in ended if watched.task and not watched.task.done()]:
                for task in running:
                    task.cancel()
                await asyncio.wait(running, timeout=STOP_AGAIN_SECONDS)

    async def context(self, _app: web.Application) -> AsyncIterator[None]:
        """For an app's `cleanup_ctx`: the tasks run until the app is cleaned up, and end before what they use."""
        self._root = asyncio.create_task(self._run(), name="supervisor")
        self._root.add_done_callback(self._tell_of_the_end)
        try:
            yield
        finally:
            await self._stop(self._root)

    def not_ready(self) -> list[str]:
        """The must-run tasks that do not run, or keep failing, as `task:name`."""
        return [f"task:{watched.name}" for watched in self._watched.values() if self._is_failing(watched)]

    def not_healthy(self) -> list[str]:
        """The must-run tasks that only a new process can help: ended for good, or failing for too long."""
        return [f"task:{watched.name}" for watched in self._watched.values() if self._is_lost(watched)]

    def states(self) -> dict[str, TaskState]:
        """What every task does at this moment."""
        return {watched.name: watched.state for watched in self._watched.values()}

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            for watched in self._watched.values():
                self._begin(watched)
            # Also without a task: more of them may be watched later.
            await asyncio.get_running_loop().create_future()

    def _begin(self, watched: _Watched) -> None:
        assert self._tasks is not None
        watched.task = self._tasks.create_task(self._keep(watched), name=watched.name)

    async def _keep(self, watched: _Watched) -> None:
        """Ends when the supervisor stops or a finite task has done its work, and for no other reason."""
        try:
            while True:
                failure = await self._once(watched)
                if failure is None:
                    watched.state = TaskState.FINISHED
                    return
                self._note(watched, failure)
                watched.state = TaskState.PAUSING
                self._tell(watched, failure)
                try:
                    await watched.backoff.pause()
                except asyncio.CancelledError:
                    self._end_if_stopped(watched)
        finally:
            if watched.state is not TaskState.FINISHED:
                watched.state = TaskState.ENDED

    async def _once(self, watched: _Watched) -> Exception | None:
        """Why the task ended; None for a finite one that has done its work. Raises CancelledError at a stop only."""
        watched.state = TaskState.RUNNING
        watched.started_at = self._clock()
        failure: Exception | None = None
        try:
            await watched.work()
        except asyncio.CancelledError as error:
            failure = TaskEnded(f"{watched.name} was cancelled, but not by us")
            failure.__cause__ = error
        except Exception as error:  # noqa: BLE001  # The outermost loop of every task: it is started again.
            failure = error
        else:
            if not watched.is_finite:
                failure = TaskEnded(f"{watched.name} returned")
        self._end_if_stopped(watched)
        return failure

    def _end_if_stopped(self, watched: _Watched) -> None:
        """Raises CancelledError at a stop, whatever the work made of its own; any other cancellation is undone."""
        if watched.is_dismissed or self._root is None or self._root.done() or self._root.cancelling():
            raise asyncio.CancelledError
        task = asyncio.current_task()
        while task is not None and task.cancelling():
            task.uncancel()

    def _note(self, watched: _Watched, failure: Exception) -> None:
        if self._clock() - watched.started_at >= self._steady_seconds:
            watched.backoff.reset()
            watched.fault_since = None
        if is_outage(failure):
            watched.fault_since = None
        elif watched.fault_since is None:
            watched.fault_since = self._clock()

    def _tell(self, watched: _Watched, failure: Exception) -> None:
        with _telling(failure):
            self._restarts.labels(watched.name).inc()
            if is_outage(failure):
                _log.warning("task_interrupted", task=watched.name, error=type(failure).__name__, reason=str(failure))
            else:
                _log.error("task_failed", task=watched.name, exc_info=failure)

    def _is_failing(self, watched: _Watched) -> bool:
        if not watched.must_run or watched.state is TaskState.FINISHED:
            return False
        is_steady = self._clock() - watched.started_at >= self._steady_seconds
        keeps_failing = watched.backoff.failures >= FAILURES_BEFORE_UNREADY and not is_steady
        return watched.state is not TaskState.RUNNING or keeps_failing

    def _is_lost(self, watched: _Watched) -> bool:
        if not watched.must_run or watched.state in (TaskState.FINISHED, TaskState.WAITING):
            return False
        if self._root is None or self._root.done():
            return True
        if watched.fault_since is None:
            return False
        if watched.state is TaskState.RUNNING and self._clock() - watched.started_at >= self._steady_seconds:
            return False
        return self._clock() - watched.fault_since > self._failing_seconds_max

    def _tell_of_the_end(self, root: asyncio.Task[None]) -> None:
        """Nothing but a stop should end the watching."""
        failure = None if root.cancelled() else root.exception()
        if failure is not None or not self._is_stopping:
            with _telling(failure):
                _log.critical("supervisor_ended", exc_info=failure)

    def _count(self, state: TaskState) -> int:
        return sum(watched.state is state for watched in self._watched.values())

    async def _stop(self, root: asyncio.Task[None]) -> None:
        """Cancels every task, again and again for those that swallow it; who does not end in time is left behind."""
        end = self._clock() + self._stop_seconds_max
        self._is_stopping = True
        root.cancel()
        while not root.done() and self._clock() < end:
            await asyncio.wait({root}, timeout=min(STOP_AGAIN_SECONDS, self._stop_seconds_max))
            for watched in self._watched.values():
                if watched.task is not None:
                    watched.task.cancel()
        left = [watched.name for watched in self._watched.values() if watched.task and not watched.task.done()]
        if left:
            with _telling(None):
                _log.error("tasks_not_stopped", tasks=left, seconds=self._stop_seconds_max)


@contextmanager
def _telling(failure: BaseException | None) -> Iterator[None]:
    """A fault in telling must not end the watching: it goes to the bare stderr, with what should have been told."""
    try:
        yield
    except Exception:  # noqa: BLE001  # The last resort.
        with suppress(Exception):
            traceback.print_exc(file=sys.__stderr__)
            traceback.print_exception(failure, file=sys.__stderr__)


def is_outage(error: BaseException) -> bool:
    """Whether something else was away and nothing of ours is wrong. A group is one when all of it is."""
    if isinstance(error, BaseExceptionGroup):
        return all(is_outage(inner) for inner in error.exceptions)
    return isinstance(error, Unavailable)
