"""Limits by key. Open this when somebody is refused too soon, or memory grows."""

import asyncio
import sys

import pytest

from darbar_kit.errors import Unavailable
from darbar_kit.limits import KEY_CHARACTERS_MAX, AtOnce, Buckets, Rate, TooManyRequests
from darbar_kit.testing import ManualClock


def test_so_many_at_once_and_then_one_after_another() -> None:
    clock = ManualClock()
    buckets = Buckets(3, 60, clock=clock)

    assert [buckets.take("ann") for _ in range(4)] == [0, 0, 0, pytest.approx(20)]
    assert buckets.take("bob") == 0
    clock.now += 20
    assert buckets.take("ann") == 0
    assert buckets.take("ann") > 0


def test_the_refusal_names_the_limit_and_the_wait() -> None:
    rate = Rate("orders", 1, 60, clock=ManualClock())
    rate.take("ann")

    with pytest.raises(TooManyRequests) as raised:
        rate.take("ann")

    assert (raised.value.code, raised.value.status) == ("too_many_requests", 429)
    assert raised.value.details == {"limit": "orders", "retry_seconds": 60}


def test_the_memory_is_bounded_by_count_and_by_length() -> None:
    buckets = Buckets(1, 60, clock=ManualClock(), keys_max=100)
    for number in range(1000):
        buckets.take(f"{number} " + "x" * 100_000)

    assert len(buckets) == 100
    assert sum(sys.getsizeof(key) for key in vars(buckets)["_full_at"]) < 100 * 4 * KEY_CHARACTERS_MAX


def test_long_keys_that_differ_at_their_ends_are_different() -> None:
    buckets = Buckets(1, 60, clock=ManualClock())
    long = "x" * 10_000

    assert (buckets.take(f"{long}a"), buckets.take(f"{long}b"), buckets.take("\ud800" * 200)) == (0, 0, 0)
    assert buckets.take(f"{long}a") > 0


async def test_so_many_run_at_once_some_wait_in_their_order_and_more_are_sent_away() -> None:
    limit = AtOnce(running_max=2, waiting_max=3)
    running, came = set[int](), list[int]()

    async def visit(number: int) -> None:
        async with limit.running():
            running.add(number)
            came.append(number)
            assert len(running) <= 2
            await asyncio.sleep(0)
            running.remove(number)

    for _ in range(2):
        outcomes = await asyncio.gather(*(visit(number) for number in range(7)), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [*[type(None)] * 5, *[Unavailable] * 2]
    assert came == [0, 1, 2, 3, 4] * 2


async def test_who_waits_no_longer_is_not_counted() -> None:
    limit = AtOnce(running_max=1, waiting_max=1)

    async def visit() -> None:
        async with limit.running():
            pass

    async with limit.running():
        waiting = asyncio.ensure_future(visit())
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match="busy"):
            await visit()
        waiting.cancel()
        await asyncio.wait({waiting})
        next_one = asyncio.ensure_future(visit())
        await asyncio.sleep(0)
    await next_one
