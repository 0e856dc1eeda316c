"""Pauses between retries. Open this when they come too fast or too late."""

import random

import pytest

from darbar_kit.backoff import Backoff


def test_pauses_fill_a_range_that_doubles_up_to_the_maximum() -> None:
    drawn: dict[int, list[float]] = {}
    for seed in range(200):
        backoff = Backoff(seconds_min=1, seconds_max=5, chance=random.Random(seed))
        for failure in range(6):
            drawn.setdefault(failure, []).append(backoff.next_seconds())

    ceilings = [1, 2, 4, 5, 5, 5]
    for failure, ceiling in enumerate(ceilings):
        assert min(drawn[failure]) < 0.1 * ceiling
        assert 0.9 * ceiling < max(drawn[failure]) <= ceiling


def test_the_same_seed_gives_the_same_pauses() -> None:
    one, other = (Backoff(seconds_min=0.1, seconds_max=9, chance=random.Random(7)) for _ in range(2))

    assert [one.next_seconds() for _ in range(20)] == [other.next_seconds() for _ in range(20)]


def test_after_a_reset_the_next_failure_is_the_first() -> None:
    backoff = Backoff(seconds_min=0.001, seconds_max=1000, chance=random.Random(1))
    for _ in range(15):
        backoff.next_seconds()

    backoff.reset()

    assert backoff.next_seconds() <= 0.001


def test_a_thousand_failures_do_not_overflow() -> None:
    backoff = Backoff(seconds_min=0.1, seconds_max=2, chance=random.Random(1))

    assert max(backoff.next_seconds() for _ in range(2000)) <= 2


@pytest.mark.parametrize(("seconds_min", "seconds_max"), [(0, 1), (-1, 1), (2, 1)])
def test_a_backoff_that_never_waits_or_never_grows_is_refused(seconds_min: float, seconds_max: float) -> None:
    with pytest.raises(ValueError, match="seconds_min <= seconds_max"):
        Backoff(seconds_min=seconds_min, seconds_max=seconds_max)
