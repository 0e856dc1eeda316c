"""Histograms of a load run. Open this when a share is not what it should be."""

import random

import pytest

from darbar_client.demo.latencies import BAR, Latencies


def test_shares_are_right_within_a_tenth() -> None:
    latencies, dice = Latencies(), random.Random(7)
    seconds = [dice.expovariate(100) for _ in range(20_000)]
    for one in seconds:
        latencies.note(one)

    seconds.sort()
    for share in (0.5, 0.9, 0.99):
        exact = seconds[int(share * len(seconds))]
        assert latencies.within_seconds(share) == pytest.approx(exact, rel=0.12)
    assert latencies.count == len(seconds)
    assert latencies.longest_seconds == seconds[-1]


def test_what_is_very_short_or_very_long_is_counted_too() -> None:
    latencies = Latencies()
    for seconds in (0.0, 0.00001, 1e9):
        latencies.note(seconds)

    assert latencies.count == 3
    assert latencies.within_seconds(0.5) <= 0.0001
    assert latencies.longest_seconds == 1e9


def test_each_doubling_has_a_bar_as_long_as_its_share() -> None:
    latencies = Latencies()
    for seconds, count in ((0.001, 30), (0.01, 60)):
        for _ in range(count):
            latencies.note(seconds)

    shares, short, long = latencies.lines()
    assert "50 % 10.0 ms" in shares
    assert short.count(BAR) * 2 == long.count(BAR)
    assert Latencies().lines()[0].endswith("longest 0.0 ms")
