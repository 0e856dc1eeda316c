"""Long tasks that must live for ever. Open this when one has stopped and nobody noticed."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import structlog
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import CollectorRegistry, Counter

from darbar_kit.cancelling import stop_if_cancelled
from darbar_kit.errors import Unavailable
from darbar_kit.http import errors_middleware, health_routes
from darbar_kit.supervisor import Supervisor, TaskState, is_outage
from darbar_kit.testing import ManualClock, eventually


class Work:
    """A task whose every run does the next thing of a list, and the last one again and again."""

    def __init__(self, *steps: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.steps = steps
        self.runs = 0

    async def __call__(self) -> None:
        step = self.steps[min(self.runs, len(self.steps) - 1)]
        self.runs += 1
        await step()


async def forever() -> None:
    await asyncio.Event().wait()


async def returning() -> None:
    return


async def raising() -> None:
    raise ZeroDivisionError("a bug")


async def missing_server() -> None:
    raise Unavailable("bus_unreachable", "no server")


async def cancelled_from_within() -> None:
    inner = asyncio.get_running_loop().create_future()
    inner.cancel()
    await inner


async def cancelling_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await forever()


async def group_of_bugs() -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(raising())
        tasks.create_task(forever())


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def supervisor(clock: ManualClock, registry: CollectorRegistry) -> Supervisor:
    return Supervisor("shop", registry, clock=clock, failing_seconds_max=60, steady_seconds=10)


@asynccontextmanager
async def running(supervisor: Supervisor) -> AsyncIterator[None]:
    context = supervisor.context(web.Application())
    await anext(context)
    try:
        yield
    finally:
        with pytest.raises(StopAsyncIteration):
            await asyncio.wait_for(anext(context), timeout=20)


def restarts(registry: CollectorRegistry, task: str) -> float | None:
    return registry.get_sample_value("shop_task_restarts_total", {"task": task})


ENDS = [returning, raising, missing_server, cancelled_from_within, cancelling_itself, group_of_bugs]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
async def test_whatever_ends_a_task_it_is_started_again(
    supervisor: Supervisor, registry: CollectorRegistry, end: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    work = Work(end, end, end, forever)
    supervisor.watch("sell", work, pause_seconds_max=0.001)

    async with running(supervisor):
        await eventually(lambda: work.runs == 4 and supervisor.states()["sell"] is TaskState.RUNNING)

        assert restarts(registry, "sell") == 3
        assert registry.get_sample_value("shop_tasks_running") == 1
    assert registry.get_sample_value("shop_tasks_running") == 0


async def test_a_failed_task_is_told_with_its_traceback_and_an_outage_without(supervisor: Supervisor) -> None:
    supervisor.watch("sell", Work(raising, missing_server, forever), pause_seconds_max=0.001)

    with structlog.testing.capture_logs() as logs:
        async with running(supervisor):
            await eventually(lambda: len(logs) == 2)

    failed, interrupted = logs
    assert (failed["event"], failed["log_level"], failed["task"]) == ("task_failed", "error", "sell")
    assert isinstance(failed["exc_info"], ZeroDivisionError)
    assert failed["exc_info"].__traceback__ is not None
    assert (interrupted["event"], interrupted["log_level"]) == ("task_interrupted", "warning")


async def test_a_finite_task_is_done_once(supervisor: Supervisor, registry: CollectorRegistry) -> None:
    work = Work(raising, returning)
    supervisor.watch("warm_up", work, is_finite=True, pause_seconds_max=0.001)

    async with running(supervisor):
        await eventually(lambda: supervisor.states()["warm_up"] is TaskState.FINISHED)

        assert (work.runs, restarts(registry, "warm_up")) == (2, 1)
        assert (supervisor.not_ready(), supervisor.not_healthy()) == ([], [])


async def test_a_task_may_be_added_while_others_run(supervisor: Supervisor) -> None:
    async with running(supervisor):
        work = Work(raising, forever)
        supervisor.watch("later", work, pause_seconds_max=0.001)

        await eventually(lambda: work.runs == 2)


def test_two_tasks_do_not_share_a_name(supervisor: Supervisor) -> None:
    supervisor.watch("sell", forever)

    with pytest.raises(ValueError, match="two tasks called sell"):
        supervisor.watch("sell", forever)


async def test_a_service_whose_tasks_have_not_started_is_not_ready(supervisor: Supervisor) -> None:
    supervisor.watch("sell", forever)

    assert (supervisor.not_ready(), supervisor.not_healthy()) == (["task:sell"], [])
    async with running(supervisor):
        await eventually(lambda: not supervisor.not_ready())


async def test_one_stumble_costs_no_readiness_but_failing_again_does(
    supervisor: Supervisor, clock: ManualClock
) -> None:
    again = asyncio.Event()

    async def stumbling() -> None:
        await again.wait()
        again.clear()
        raise ZeroDivisionError

    work = Work(raising, stumbling)
    supervisor.watch("sell", work, pause_seconds_max=0.001)
    async with running(supervisor):
        await eventually(lambda: work.runs == 2)
        assert supervisor.not_ready() == []

        again.set()
        await eventually(lambda: work.runs == 3)
        assert supervisor.not_ready() == ["task:sell"]

        clock.now += 10  # It has run long enough since.
        assert supervisor.not_ready() == []


async def test_a_task_in_its_pause_is_not_ready(supervisor: Supervisor) -> None:
    supervisor.watch("sell", raising, pause_seconds_max=3600)

    async with running(supervisor):
        await eventually(lambda: supervisor.states()["sell"] is TaskState.PAUSING)

        assert supervisor.not_ready() == ["task:sell"]


async def test_a_task_that_keeps_failing_by_its_own_fault_makes_the_service_unhealthy(
    supervisor: Supervisor, clock: ManualClock
) -> None:
    supervisor.watch("sell", raising, pause_seconds_max=0.001)

    async with running(supervisor):
        await eventually(lambda: supervisor.not_ready() == ["task:sell"])
        clock.now += 60
        assert supervisor.not_healthy() == []

        for _ in range(10):
            clock.now += 9  # Never steady in between.
            await asyncio.sleep(0)

        await eventually(lambda: supervisor.not_healthy() == ["task:sell"])


async def test_a_task_that_ran_well_in_between_starts_from_the_beginning(
    supervisor: Supervisor, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_kit.supervisor.PAUSE_SECONDS_MIN", 0.001)

    async def failing_after_a_while() -> None:
        clock.now += 11
        raise ZeroDivisionError

    work = Work(failing_after_a_while)
    supervisor.watch("sell", work, pause_seconds_max=3600)
    with structlog.testing.capture_logs():
        async with running(supervisor):
            # Pauses that went on doubling would be hours by then.
            await eventually(lambda: work.runs >= 30, seconds=5)

            assert supervisor.not_healthy() == [], "330 seconds of faults, but none of them lasted"


async def test_a_cancellation_from_within_does_not_follow_the_task_into_its_next_run(supervisor: Supervisor) -> None:
    async def cancellable() -> None:
        stop_if_cancelled()
        await forever()

    work = Work(cancelling_itself, cancelling_itself, cancellable)
    supervisor.watch("sell", work, pause_seconds_max=0.001)
    async with running(supervisor):
        await eventually(lambda: work.runs == 3)
        await asyncio.sleep(0)

        assert supervisor.states()["sell"] is TaskState.RUNNING
    assert work.runs == 3


async def test_an_outage_is_never_a_reason_to_restart_the_process(supervisor: Supervisor, clock: ManualClock) -> None:
    work = Work(missing_server)
    supervisor.watch("sell", work, pause_seconds_max=0.001)

    async with running(supervisor):
        for _ in range(100):
            clock.now += 9
            runs = work.runs
            await eventually(lambda runs=runs: work.runs > runs)  # type: ignore[misc]

        assert supervisor.not_ready() == ["task:sell"]
        assert supervisor.not_healthy() == []


async def test_a_task_that_need_not_run_is_only_restarted(
    supervisor: Supervisor, clock: ManualClock, registry: CollectorRegistry
) -> None:
    supervisor.watch("tidy", raising, must_run=False, pause_seconds_max=0.001)

    async with running(supervisor):
        clock.now += 1000
        await eventually(lambda: (restarts(registry, "tidy") or 0) > 3)

        assert (supervisor.not_ready(), supervisor.not_healthy()) == ([], [])


async def test_a_log_and_a_metric_that_fail_do_not_end_the_watching(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError("no space left for logs")

    monkeypatch.setattr(Counter, "inc", broken)
    monkeypatch.setattr(sys, "__stderr__", sys.stderr)
    work = Work(raising, raising, forever)
    supervisor.watch("sell", work, pause_seconds_max=0.001)

    async with running(supervisor):
        await eventually(lambda: work.runs == 3)
        assert supervisor.states()["sell"] is TaskState.RUNNING

    told = capfd.readouterr().err
    assert "no space left for logs" in told
    assert "ZeroDivisionError: a bug" in told


async def test_a_broken_stderr_does_not_end_the_watching_either(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError("no space left for logs")

    monkeypatch.setattr(Counter, "inc", broken)
    monkeypatch.setattr("traceback.print_exc", broken)
    work = Work(raising, forever)
    supervisor.watch("sell", work, pause_seconds_max=0.001)

    async with running(supervisor):
        await eventually(lambda: work.runs == 2)


async def test_a_task_that_swallows_its_cancellation_a_few_times_is_stopped_all_the_same(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_kit.supervisor.STOP_AGAIN_SECONDS", 0.01)
    swallowed = 0

    async def stubborn() -> None:
        nonlocal swallowed
        while True:
            try:
                await forever()
            except asyncio.CancelledError:
                swallowed += 1
                if swallowed > 3:
                    raise

    supervisor.watch("sell", stubborn)
    async with running(supervisor):
        await eventually(lambda: supervisor.states()["sell"] is TaskState.RUNNING)
        await asyncio.sleep(0)

    assert swallowed == 4


async def test_a_cancellation_that_became_another_error_is_still_a_stop(supervisor: Supervisor) -> None:
    async def converting() -> None:
        try:
            await forever()
        except asyncio.CancelledError:
            raise TimeoutError from None

    work = Work(converting)
    supervisor.watch("sell", work)
    async with running(supervisor):
        await eventually(lambda: work.runs == 1)
        await asyncio.sleep(0)

    assert work.runs == 1


async def test_a_stop_ends_in_time_and_names_who_did_not(
    registry: CollectorRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_kit.supervisor.STOP_AGAIN_SECONDS", 0.01)
    supervisor = Supervisor("shop", registry, stop_seconds_max=0.1)
    may_end = asyncio.Event()

    async def immortal() -> None:
        while not may_end.is_set():
            try:
                await may_end.wait()
            except asyncio.CancelledError:
                continue

    supervisor.watch("sell", immortal)
    supervisor.watch("buy", forever)
    with structlog.testing.capture_logs() as logs:
        async with running(supervisor):
            await eventually(lambda: supervisor.states()["sell"] is TaskState.RUNNING)

    assert [(log["event"], log["tasks"]) for log in logs] == [("tasks_not_stopped", ["sell"])]
    may_end.set()
    await eventually(lambda: supervisor.states()["sell"] is TaskState.ENDED)


async def test_health_says_when_the_watching_itself_has_ended(supervisor: Supervisor) -> None:
    supervisor.watch("sell", forever)
    app = web.Application(middlewares=[errors_middleware])
    app.cleanup_ctx.append(supervisor.context)

    async def nothing_missing() -> list[str]:
        return []

    app.add_routes(health_routes(nothing_missing, supervisor))
    async with TestClient(TestServer(app)) as client:
        await eventually(lambda: not supervisor.not_ready())
        assert (await client.get("/healthz")).status == 200
        assert (await client.get("/readyz")).status == 200

        for task in asyncio.all_tasks():
            if task.get_name() == "supervisor":
                task.cancel()
        await eventually(supervisor.not_healthy)

        health, ready = await client.get("/healthz"), await client.get("/readyz")
        assert (health.status, await health.json()) == (503, {"status": "failing", "missing": ["task:sell"]})
        assert (ready.status, await ready.json()) == (503, {"status": "waiting", "missing": ["task:sell"]})


async def test_an_end_of_the_watching_is_told_at_once(supervisor: Supervisor) -> None:
    class Odd(BaseException):
        """What nobody expects, and `except Exception` does not catch."""

    async def odd() -> None:
        raise Odd

    supervisor.watch("sell", odd)
    supervisor.watch("buy", forever)
    with structlog.testing.capture_logs() as logs:
        async with running(supervisor):
            await eventually(lambda: logs)

            assert [(log["event"], log["log_level"]) for log in logs] == [("supervisor_ended", "critical")]
            assert sorted(supervisor.not_healthy()) == ["task:buy", "task:sell"]


# Whoever starts tests in the background of a shell starts them deaf to SIGINT.
PROGRAM = """
import asyncio, signal
from prometheus_client import CollectorRegistry
from darbar_kit.supervisor import Supervisor

async def forever():
    print("running", flush=True)
    await asyncio.Event().wait()

async def main():
    supervisor = Supervisor("shop", CollectorRegistry())
    supervisor.watch("sell", forever)
    context = supervisor.context(None)
    await anext(context)
    await asyncio.Event().wait()

signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main())
"""


async def test_a_loop_that_is_shut_down_from_outside_does_not_wait_for_the_supervisor() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"running\n"

    process.send_signal(signal.SIGINT)

    await asyncio.wait_for(process.wait(), timeout=10)


def test_a_group_is_an_outage_when_all_of_it_is() -> None:
    away = Unavailable("bus_unreachable")

    assert is_outage(ExceptionGroup("", [away, ExceptionGroup("", [away])]))
    assert not is_outage(ExceptionGroup("", [away, ZeroDivisionError()]))


async def test_tasks_that_live_shorter_than_the_service_are_watched_as_long_as_the_block() -> None:
    registry = CollectorRegistry()
    supervisor = Supervisor("shop", registry)
    work = Work(raising, forever)
    async with running(supervisor):
        async with supervisor.watching({"visitor": work}):
            await eventually(lambda: work.runs == 2)
            assert supervisor.states() == {"visitor": TaskState.RUNNING}
        assert supervisor.states() == {}
        assert supervisor.not_healthy() == []
        async with supervisor.watching({"visitor": work}):
            await eventually(lambda: work.runs == 3)
    assert restarts(registry, "visitor") == 1


async def test_a_task_that_swallows_its_cancellation_ends_with_the_block() -> None:
    async def stubborn() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    supervisor = Supervisor("shop", CollectorRegistry())
    async with running(supervisor):
        async with supervisor.watching({"visitor": stubborn}):
            await eventually(lambda: supervisor.states() == {"visitor": TaskState.RUNNING})
        assert supervisor.states() == {}
