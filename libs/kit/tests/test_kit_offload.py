"""Long work in processes of its own: bounded, ended in time, and its faults are told."""

from __future__ import annotations

import asyncio
import operator
import os
import pickle
import signal
import time

import pytest

from darbar_kit.database import DatabaseAway
from darbar_kit.errors import KitReason, Refused, Unavailable
from darbar_kit.limits import TooManyRequests
from darbar_kit.offload import PRIORITY, Offload

RUNNING_MAX = 2
# Some tenths of a second in which the interpreter is never let go.
STUBBORN = range(20_000_000)


async def test_the_loop_turns_while_the_work_is_done_elsewhere() -> None:
    offload = Offload(running_max=1, waiting_max=0, seconds_max=20)
    work = asyncio.ensure_future(offload.run(sum, STUBBORN))
    turns = 0
    while not work.done():
        await asyncio.sleep(0)
        turns += 1
    assert work.result() == sum(STUBBORN)
    assert turns > 100
    assert await offload.run(os.getpid) != os.getpid()


async def test_who_serves_others_goes_first() -> None:
    offload = Offload(running_max=1, waiting_max=0, seconds_max=20)
    for _ in range(2):
        priority = await offload.run(os.getpriority, os.PRIO_PROCESS, 0)
        assert priority == max(PRIORITY, os.getpriority(os.PRIO_PROCESS, 0))


async def test_more_than_may_wait_are_sent_away_and_a_free_place_is_taken_again() -> None:
    offload = Offload(running_max=RUNNING_MAX, waiting_max=1, seconds_max=20)
    outcomes = await asyncio.gather(*(offload.run(sum, STUBBORN) for _ in range(6)), return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, Unavailable)]
    assert [outcome.code for outcome in refused] == ["busy"] * 3
    assert await offload.run(os.getpid) != os.getpid()


async def test_work_that_does_not_end_is_ended() -> None:
    offload = Offload(running_max=1, waiting_max=0, seconds_max=2.0)
    with pytest.raises(Unavailable, match="timed_out"):
        await offload.run(time.sleep, 3600.0)
    assert await offload.run(os.getpid) != os.getpid()


@pytest.mark.parametrize(
    "error",
    [
        Unavailable(KitReason.TIMED_OUT, "too late", retry=3.0),
        DatabaseAway("gone", maybe_done=False),
        Refused(KitReason.QUERY_INVALID, details={"limit": 5}, status=418),
        TooManyRequests("replays", 3.0),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_the_other_process_raises_is_raised_here_as_it_was(error: Exception) -> None:
    raised = pickle.loads(pickle.dumps(error))
    assert (type(raised), raised.args, str(raised), vars(raised)) == (type(error), error.args, str(error), vars(error))


async def test_a_fault_of_the_work_is_raised_and_a_dead_process_is_an_outage() -> None:
    offload = Offload(running_max=1, waiting_max=0, seconds_max=20)
    with pytest.raises(ZeroDivisionError):
        await offload.run(operator.truediv, 1, 0)
    with pytest.raises(Unavailable, match="service_failed"):
        await offload.run(os._exit, 1)
    assert await offload.run(os.getpid) != os.getpid()


async def test_a_process_that_was_killed_while_it_was_idle_costs_nobody_an_answer() -> None:
    offload = Offload(running_max=1, waiting_max=0, seconds_max=20)
    killed = await offload.run(os.getpid)
    os.kill(killed, signal.SIGKILL)
    assert await offload.run(os.getpid) not in (killed, os.getpid())


async def test_a_process_is_replaced_after_so_many_pieces() -> None:
    offload = Offload(running_max=1, waiting_max=0, seconds_max=20, pieces_max=2)
    # The first may have worked for others before.
    _, *done = [await offload.run(os.getpid) for _ in range(6)]
    assert [done.count(process) for process in dict.fromkeys(done)] == [2, 2, 1]
