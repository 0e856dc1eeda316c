"""Waiting for a condition with a limit, in place of sleeping. Open this when a test is slow or flaky."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar, overload

POLL_SECONDS = 0.01

_Value = TypeVar("_Value")


@overload
async def eventually(predicate: Callable[[], Awaitable[_Value | None]], *, seconds: float = 10) -> _Value: ...
@overload
async def eventually(predicate: Callable[[], _Value | None], *, seconds: float = 10) -> _Value: ...
async def eventually(predicate: Callable[[], object], *, seconds: float = 10) -> object:
    """Waits until the predicate (plain or async) gives something true, and returns it."""
    end = time.monotonic() + seconds
    while True:
        value = predicate()
        if inspect.isawaitable(value):
            value = await value
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not so within {seconds} s, the last answer was {value!r}")
        await asyncio.sleep(POLL_SECONDS)
