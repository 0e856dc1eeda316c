"""Limits by key. Open this when somebody is refused too soon, or memory grows."""

import sys

import pytest

from darbar_kit.limits import KEY_CHARACTERS_MAX, Buckets, Rate, TooManyRequests
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
