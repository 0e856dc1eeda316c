"""Limits and addresses, without a server. Open this about `too_many_requests`."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.http.client_address import client_address, networks
from darbar_kit.limits import Buckets, Rate, TooManyRequests
from darbar_lobby.domain.guesses import GuessPolicy
from darbar_lobby.limits import (
    PASSWORDS_WRONG,
    PASSWORDS_WRONG_BY_ADDRESS,
    Guesses,
    Limits,
)


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


POLICY = GuessPolicy(free=2, wait_seconds=5.0, wait_seconds_max=60.0, forgotten_seconds=900.0)
WRONG = Reason.CODE_UNKNOWN


def guess(guesses: Guesses, key: str, *, is_wrong: bool = True) -> float:
    """0 when it was let through, else the seconds to wait."""
    try:
        with guesses.guess(key, wrong=WRONG):
            if is_wrong:
                raise Refused(WRONG)
    except TooManyRequests as refused:
        return refused.seconds
    except Refused:
        return 0.0
    return 0.0


def test_wrong_guesses_make_whoever_guesses_wait_longer_and_longer() -> None:
    watch = Watch()
    guesses = Guesses("codes", POLICY, clock=watch)
    waits = []
    for _ in range(8):
        assert guess(guesses, "ann") == 0.0
        waits.append(guess(guesses, "ann", is_wrong=False))
        watch.seconds += waits[-1]
    assert waits == [0.0, 5.0, 10.0, 20.0, 40.0, 60.0, 60.0, 60.0]
    assert guess(guesses, "bob") == 0.0


def test_many_guesses_at_once_are_no_more_free_than_one_after_the_other() -> None:
    guesses = Guesses("codes", POLICY, clock=Watch())
    with ExitStack() as stack:
        for _ in range(POLICY.free):
            stack.enter_context(guesses.guess("ann", wrong=WRONG))
        assert guess(guesses, "ann") == 5.0
    assert guess(guesses, "ann", is_wrong=False) == 0.0, "all of them were right"


def test_a_right_guess_forgives_nothing_and_costs_nothing() -> None:
    watch = Watch()
    guesses = Guesses("codes", POLICY, clock=watch)
    for is_wrong in (True, False, True):
        assert guess(guesses, "ann", is_wrong=is_wrong) == 0.0
    watch.seconds += 5.0
    assert guess(guesses, "ann", is_wrong=False) == 0.0
    assert guess(guesses, "ann", is_wrong=False) == 0.0
    assert guess(guesses, "ann") == 0.0
    assert guess(guesses, "ann") == 10.0


def test_wrong_guesses_are_forgotten_after_a_while() -> None:
    watch = Watch()
    guesses = Guesses("codes", POLICY, clock=watch)
    for _ in range(POLICY.free):
        guess(guesses, "ann")
    watch.seconds += 900.0
    assert [guess(guesses, "ann") for _ in range(POLICY.free + 1)] == [0.0, 0.0, 5.0]


def test_what_is_no_verdict_counts_as_no_guess() -> None:
    guesses = Guesses("codes", POLICY, clock=Watch())
    for _ in range(5):
        with pytest.raises(Unavailable), guesses.guess("ann", wrong=WRONG):
            raise Unavailable
        with pytest.raises(Refused, match="table_closed"), guesses.guess("ann", wrong=WRONG):
            raise Refused(Reason.TABLE_CLOSED)
    assert len(guesses) == 0


def test_only_so_many_guessers_are_remembered() -> None:
    guesses = Guesses("codes", POLICY, clock=Watch(), keys_max=1)
    for key in ("ann", "ann", "bob"):
        guess(guesses, key)
    assert len(guesses) == 1
    assert guess(guesses, "ann") == 0.0


def test_limits_that_are_settings_can_be_lifted() -> None:
    limits = Limits(guests_an_hour_max=5, requests_a_minute_max=0, code_lookups_a_minute_max=2, clock=Watch())
    assert [is_refused(limits.guests) for _ in range(6)] == [False] * 5 + [True]
    assert not any(is_refused(limits.by_address) for _ in range(5000))
    assert [is_refused(limits.code_lookups) for _ in range(3)] == [False, False, True]


def is_refused(rate: Rate) -> bool:
    try:
        rate.take("1.2.3.4")
    except TooManyRequests as refused:
        return refused.details == {"limit": rate.name, "retry_seconds": refused.seconds}
    return False


def test_every_limit_has_a_name_of_its_own() -> None:
    limits = Limits(guests_an_hour_max=1, requests_a_minute_max=1, code_lookups_a_minute_max=1, clock=Watch())
    names = [limit.name for limit in limits.all]
    assert len(names) == len(set(names)) == 11


def test_a_wrong_password_slows_down_its_address_and_nobody_else() -> None:
    limits = Limits(guests_an_hour_max=1, requests_a_minute_max=1, code_lookups_a_minute_max=1, clock=Watch())

    def tried(address: str, whose: str) -> bool:
        try:
            with limits.password(address, whose):
                raise Refused(Reason.CREDENTIALS_WRONG)
        except TooManyRequests:
            return False
        except Refused:
            return True

    assert [tried("1.1.1.1", "ann") for _ in range(PASSWORDS_WRONG.free + 1)] == [True] * PASSWORDS_WRONG.free + [False]
    assert tried("2.2.2.2", "ann"), "the owner, who is elsewhere"
    others = [tried("1.1.1.1", f"name-{number}") for number in range(PASSWORDS_WRONG_BY_ADDRESS.free)]
    assert others.count(True) == PASSWORDS_WRONG_BY_ADDRESS.free - PASSWORDS_WRONG.free


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
