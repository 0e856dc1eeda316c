"""A task that is cancelled ends, even through a library that calls it a time-out."""

from __future__ import annotations

import asyncio

import pytest

from darbar_kit.cancelling import stop_if_cancelled


async def mistaking(started: asyncio.Event) -> None:
    """What some libraries do with a cancellation."""
    started.set()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        raise TimeoutError from None


async def trying_again(started: asyncio.Event) -> None:
    while True:
        try:
            await mistaking(started)
        except TimeoutError:
            stop_if_cancelled()


async def test_a_cancelled_loop_ends_though_it_hears_of_a_time_out() -> None:
    started = asyncio.Event()
    task = asyncio.create_task(trying_again(started))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asyncio.shield(task), 5)


async def test_nobody_who_was_not_cancelled_is_stopped() -> None:
    stop_if_cancelled()
