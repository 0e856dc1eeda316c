"""Long work in processes of its own, so that it never holds the loop that serves others. Open this about `busy`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

import anyio
import anyio.to_process

from darbar_kit.errors import KitReason, Unavailable

# Of the processes, as `nice` counts: whoever serves others goes first.
PRIORITY = 5

_Argument = TypeVarTuple("_Argument")
_Result = TypeVar("_Result")


class Offload:
    """At most `running_max` pieces of work at once; `waiting_max` more wait, and beyond that callers are sent away.

    A piece that is not done after `seconds_max`, its waiting included, is ended with its process. The work is a
    function of a module that may be done twice; its arguments and result can be pickled. Inside one event loop only.
    """

    def __init__(self, *, running_max: int, waiting_max: int, seconds_max: float) -> None:
        self._limiter = anyio.CapacityLimiter(running_max)
        self._inside_max = running_max + waiting_max
        self._inside = 0
        self._seconds_max = seconds_max

    async def run(self, work: Callable[[*_Argument], _Result], *arguments: *_Argument) -> _Result:
        """What the work returns, or raises. Raises Unavailable `busy` or `timed_out`, and when its process died."""
        if self._inside >= self._inside_max:
            raise Unavailable(KitReason.BUSY)
        self._inside += 1
        try:
            with anyio.fail_after(self._seconds_max):
                return await self._run(work, *arguments)
        except TimeoutError as error:
            raise Unavailable(KitReason.TIMED_OUT) from error
        except anyio.BrokenWorkerProcess as error:
            raise Unavailable(KitReason.SERVICE_FAILED) from error
        finally:
            self._inside -= 1

    async def _run(self, work: Callable[[*_Argument], _Result], *arguments: *_Argument) -> _Result:
        try:
            return await anyio.to_process.run_sync(_aside, work, *arguments, cancellable=True, limiter=self._limiter)
        except anyio.BrokenWorkerProcess:
            # An idle process may have been killed long ago: a fresh one tells whether it is the work that kills.
            return await anyio.to_process.run_sync(_aside, work, *arguments, cancellable=True, limiter=self._limiter)


def _aside(work: Callable[[*_Argument], _Result], *arguments: *_Argument) -> _Result:
    """In the other process."""
    if os.getpriority(os.PRIO_PROCESS, 0) < PRIORITY:
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
    return work(*arguments)
