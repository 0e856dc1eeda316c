"""A moment is the same after the way through its microseconds."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from darbar_lobby.domain.instants import EPOCH, instant, microseconds


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_moment_is_the_same_after_the_way_through_its_microseconds(at: datetime) -> None:
    assert instant(microseconds(at)) == at


def test_microseconds_are_counted_from_1970() -> None:
    assert microseconds(EPOCH) == 0
    assert microseconds(datetime(1970, 1, 2, 0, 0, 1, 5, tzinfo=UTC)) == 86_401_000_005
