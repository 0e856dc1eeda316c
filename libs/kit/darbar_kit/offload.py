"""Long work in processes of its own, so that it never holds the loop that serves others. Open this about `busy`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Generic, TypeVar, TypeVarTuple

import anyio
import anyio.to_process
import msgspec

from darbar_kit.errors import KitReason, Unavailable

# Of the processes, as `nice` counts: whoever serves others goes first. Not the last one there is: on a machine that has
# no time to spare that leaves one core in seventy, and a voice note or an audit would run out of its own time.
PRIORITY = 10

_Argument = TypeVarTuple("_Argument")
_Result = TypeVar("_Result")


class _Done(msgspec.Struct, Generic[_Result], frozen=True):
    """`pieces`: how many the process has done by now."""

    process: int
    pieces: int
    result: _Result


class Offload:
    """At most `running_max` pieces of work at once; `waiting_max` more wait, and beyond that callers are sent away.

    A piece that is not done after `seconds_max`, its waiting included, is ended with its process. The work is a
    function of a module that may be done twice; its arguments and result can be pickled. Inside one event loop only.
    After `pieces_max` of them a process is replaced, whatever it has kept in its memory.
    """

    def __init__(
        self, *, running_max: int, waiting_max: int, seconds_max: float, pieces_max: int | None = None
    ) -> None:
        self._limiter = anyio.CapacityLimiter(running_max)
        self._inside_max = running_max + waiting_max
        self._inside = 0
        self._seconds_max = seconds_max
        self._pieces_max = pieces_max

    async def run(self, work: Callable[[*_Argument], _Result], *arguments: *_Argument) -> _Result:
        """What the work returns, or raises. Raises Unavailable `busy` or `timed_out`, and when its process died."""
        if self._inside >= self._inside_max:
            raise Unavailable(KitReason.BUSY)
        self._inside += 1
        try:
            with anyio.fail_after(self._seconds_max):
                done = await self._run(work, *arguments)
        except TimeoutError as error:
            raise Unavailable(KitReason.TIMED_OUT) from error
        except anyio.BrokenWorkerProcess as error:
            raise Unavailable(KitReason.SERVICE_FAILED) from error
        finally:
            self._inside -= 1
        if self._pieces_max is not None and done.pieces >= self._pieces_max:
            with suppress(ProcessLookupError):
                os.kill(done.process, signal.SIGKILL)
        return done.result

    async def _run(self, work: Callable[[*_Argument], _Result], *arguments: *_Argument) -> _Done[_Result]:
        try:
            return await anyio.to_process.run_sync(_aside, work, *arguments, cancellable=True, limiter=self._limiter)
        except anyio.BrokenWorkerProcess:
            # An idle process may have been killed long ago: a fresh one tells whether it is the work that kills.
            return await anyio.to_process.run_sync(_aside, work, *arguments, cancellable=True, limiter=self._limiter)


# What this process has done.
_pieces = count(1)


def _aside(work: Callable[[*_Argument], _Result], *arguments: *_Argument) -> _Done[_Result]:
    """In the other process."""
    _go_last()
    return _Done(os.getpid(), next(_pieces), work(*arguments))


def _go_last() -> None:
    """Where the system knows such a class, the work also takes the core from nobody who wakes to serve."""
    if os.getpriority(os.PRIO_PROCESS, 0) < PRIORITY:
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
        if hasattr(os, "SCHED_BATCH"):
            with suppress(PermissionError):  # Containers may forbid it; the priority is there all the same.
                os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
