"""What a soak calls flat, and what it does not."""

from __future__ import annotations

import pytest
from soak import GROWTH_MEBIBYTES_MIN, GROWTH_SHARE_MAX, SAMPLES_MIN, grown_mebibytes, is_flat_in


def samples(*, begin: float, growth: float, noise: float = 0.0, count: int = 60) -> list[tuple[float, float]]:
    return [(5.0 * n, begin + growth * n / (count - 1) + (noise if n % 2 else -noise)) for n in range(count)]


def test_growth_is_that_of_the_line_through_all_samples() -> None:
    assert grown_mebibytes(samples(begin=100, growth=20)) == pytest.approx(20)
    assert grown_mebibytes(samples(begin=100, growth=-5)) == pytest.approx(-5)


@pytest.mark.parametrize(
    ("begin", "growth", "is_flat"),
    [
        (400.0, 0.9 * GROWTH_SHARE_MAX * 400, True),
        (400.0, 1.2 * GROWTH_SHARE_MAX * 400, False),
        (40.0, 0.9 * GROWTH_MEBIBYTES_MIN, True),
        (40.0, 1.1 * GROWTH_MEBIBYTES_MIN, False),
        (400.0, -100.0, True),
    ],
)
def test_what_grows_steadily_is_not_flat_however_much_it_goes_up_and_down(
    begin: float, growth: float, is_flat: bool
) -> None:
    assert is_flat_in(samples(begin=begin, growth=growth)) is is_flat
    assert is_flat_in(samples(begin=begin, growth=growth, noise=0.1)) is is_flat


def test_a_few_samples_show_nothing() -> None:
    assert not is_flat_in(samples(begin=100, growth=0, count=SAMPLES_MIN - 1))
