"""Limits and addresses, without a server. Open this about `too_many_requests`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darbar_kit.client_address import client_address, networks
from darbar_kit.limits import Buckets
from darbar_lobby.limits import CODES_WRONG_FREE, Limits, WrongCodes


class Watch:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_a_bucket_gives_its_count_at_once_and_then_one_at_a_time() -> None:
    watch = Watch()
    buckets = Buckets(5, 3600.0, clock=watch)
    assert [buckets.take("ann") for _ in range(5)] == [0.0] * 5
    assert buckets.take("ann") == pytest.approx(720.0)
    assert buckets.take("bob") == 0.0
    watch.seconds += 719.0
    assert buckets.take("ann") == pytest.approx(1.0)
    watch.seconds += 1.0
    assert buckets.take("ann") == 0.0
    assert buckets.take("ann") == pytest.approx(720.0)


def test_a_count_of_zero_is_no_limit() -> None:
    buckets = Buckets(0, 3600.0, clock=Watch())
    assert all(buckets.take("ann") == 0.0 for _ in range(1000))


def test_only_so_many_keys_are_remembered() -> None:
    buckets = Buckets(1, 60.0, clock=Watch(), keys_max=2)
    assert [buckets.take(key) for key in ("ann", "bob", "eve")] == [0.0] * 3
    assert buckets.take("ann") == 0.0, "the oldest was forgotten"
    assert buckets.take("eve") > 0.0


@given(st.lists(st.floats(min_value=0.0, max_value=30.0), max_size=60))
def test_no_bucket_gives_more_than_its_rate(waits: list[float]) -> None:
    watch = Watch()
    buckets = Buckets(10, 60.0, clock=watch)
    given_at = []
    for wait_seconds in waits:
        watch.seconds += wait_seconds
        if buckets.take("ann") == 0.0:
            given_at.append(watch.seconds)
    for start, first in enumerate(given_at):
        for end, last in enumerate(given_at[start:], start):
            assert end - start + 1 <= 10 + (last - first) / 6.0 + 1e-3


def test_wrong_codes_make_an_address_wait_longer_and_longer() -> None:
    watch = Watch()
    wrong = WrongCodes(clock=watch)
    waits = []
    for _ in range(CODES_WRONG_FREE + 5):
        wrong.note_wrong("ann")
        waits.append(wrong.wait_seconds("ann"))
        watch.seconds += waits[-1]
    assert waits == [0.0, 0.0, 5.0, 10.0, 20.0, 40.0, 60.0, 60.0]
    assert wrong.wait_seconds("bob") == 0.0


def test_wrong_codes_are_forgotten_after_a_while() -> None:
    watch = Watch()
    wrong = WrongCodes(clock=watch)
    for _ in range(10):
        wrong.note_wrong("ann")
    watch.seconds += 900.0
    assert wrong.wait_seconds("ann") == 0.0
    wrong.note_wrong("ann")
    assert wrong.wait_seconds("ann") == 0.0


def test_only_so_many_guessers_are_remembered() -> None:
    wrong = WrongCodes(clock=Watch(), keys_max=1)
    for key in ("ann", "ann", "ann", "bob"):
        wrong.note_wrong(key)
    assert wrong.wait_seconds("ann") == 0.0


def test_limits_that_are_settings_can_be_lifted() -> None:
    limits = Limits(guests_an_hour_max=5, requests_a_minute_max=0, code_lookups_a_minute_max=2, clock=Watch())
    assert [limits.guests.take("1.2.3.4") > 0 for _ in range(6)] == [False] * 5 + [True]
    assert not any(limits.by_address.take("1.2.3.4") for _ in range(5000))
    assert [limits.code_lookups.take("1.2.3.4") > 0 for _ in range(3)] == [False, False, True]


TRUSTED = ("10.0.0.0/8", "::1")


@pytest.mark.parametrize(
    ("remote", "forwarded", "address"),
    [
        ("203.0.113.9", "", "203.0.113.9"),
        ("203.0.113.9", "1.1.1.1", "203.0.113.9"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.7, 10.2.3.4", "198.51.100.7"),
        ("10.0.0.1", "10.9.9.9,10.2.3.4", "10.9.9.9"),
        ("::1", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::7", "", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.9", "", "203.0.113.9"),
        ("10.0.0.1", "unknown", "unknown"),
        ("10.0.0.1", "x" * 500, "x" * 64),
        (None, "1.1.1.1", "unknown"),
    ],
)
def test_the_address_is_the_last_that_no_trusted_proxy_vouches_for(
    remote: str | None, forwarded: str, address: str
) -> None:
    assert client_address(remote, forwarded, networks(TRUSTED)) == address


def test_what_is_no_network_stops_the_start() -> None:
    with pytest.raises(ValueError, match=r"proxy\.example"):
        networks(("proxy.example",))
