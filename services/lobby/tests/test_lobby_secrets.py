"""What a refresh token is worth and how long a guesser waits, without a server. Open this about signing in."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darbar_contracts.api import REFRESH_REPEAT_SECONDS_MAX
from darbar_lobby.domain.guesses import Guesser, GuessPolicy, guess_answered, guess_begun, wait_before_guess
from darbar_lobby.domain.sessions import (
    RefreshState,
    refresh_judgement,
    successor_of,
    token_sha256,
)

POLICY = GuessPolicy(free=2, wait_seconds=5.0, wait_seconds_max=60.0, forgotten_seconds=900.0)


@pytest.mark.parametrize(
    ("used_seconds", "successor_used", "expired", "judgement"),
    [
        (None, None, False, "good"),
        (None, None, True, "expired"),
        (0.0, False, False, "repeated"),
        (0.0, False, True, "repeated"),
        (REFRESH_REPEAT_SECONDS_MAX - 0.1, False, False, "repeated"),
        (REFRESH_REPEAT_SECONDS_MAX, False, False, "reused"),
        (REFRESH_REPEAT_SECONDS_MAX, False, True, "reused"),
        (0.0, True, False, "reused"),
        (0.0, None, False, "reused"),
    ],
)
def test_what_a_refresh_token_is_worth(
    used_seconds: float | None, successor_used: bool | None, expired: bool, judgement: str
) -> None:
    state = RefreshState(False, expired, used_seconds, successor_used)
    assert refresh_judgement(state) == judgement
    assert refresh_judgement(RefreshState(True, expired, used_seconds, successor_used)) == "revoked"


def test_a_successor_needs_both_the_token_and_the_salt() -> None:
    made = {successor_of(token, salt) for token in ("one", "two") for salt in (b"1" * 32, b"2" * 32)}
    assert len(made) == 4
    assert successor_of("one", b"1" * 32) in made
    assert all(len(successor) == 43 for successor in made)


def test_any_text_can_be_asked_for_as_a_token() -> None:
    texts = ("", "a", "\ud800", "ä")
    assert len({token_sha256(token) for token in texts}) == 4
    assert len({successor_of(token, b"1" * 32) for token in texts}) == 4


def test_the_successor_of_a_token_is_the_same_for_ever() -> None:
    assert successor_of("a token", b"salt" * 8) == "kX1jRalGvF3xDMktO901rnzY2Vvh1heFc9y7mW-20zw"
    assert token_sha256("a token").hex() == "e3316e2bafebb6103a3418e8778c0adc960d40213a03a7e7f4fcd3426ed807bf"


def test_after_a_while_a_guesser_is_forgotten_whatever_the_wait_was() -> None:
    endless = GuessPolicy(free=0, wait_seconds=1.0, wait_seconds_max=1e9, forgotten_seconds=900.0)
    guesser = Guesser(16, 0, 1000.0)
    assert wait_before_guess(guesser, endless, now=1899.0) == 2.0**16 - 899.0
    assert wait_before_guess(guesser, endless, now=1900.0) == 0.0
    assert wait_before_guess(Guesser(16, 1, 1000.0), endless, now=1900.0) == 2.0**16, "one is being answered"
    assert wait_before_guess(Guesser(99, 0, 1000.0), endless, now=1000.0) == 2.0**16, "as far as it doubles"


@pytest.mark.parametrize(
    ("wrong", "undecided", "ago_seconds", "wait_seconds"),
    [
        (0, 0, 0.0, 0.0),
        (1, 0, 0.0, 0.0),
        (2, 0, 0.0, 5.0),
        (2, 0, 4.0, 1.0),
        (2, 0, 5.0, 0.0),
        (2, 0, 6.0, 0.0),
        (3, 0, 0.0, 10.0),
        (5, 0, 0.0, 40.0),
        (6, 0, 0.0, 60.0),
        (200, 0, 0.0, 60.0),
        (200, 0, 899.9, 0.0),
        (0, 2, 0.0, 5.0),
        (1, 1, 500.0, 5.0),
        (1, 1, 2000.0, 5.0),
        (0, 1, 0.0, 0.0),
        (2, 1, 500.0, 10.0),
    ],
)
def test_how_long_a_guesser_waits(wrong: int, undecided: int, ago_seconds: float, wait_seconds: float) -> None:
    guesser = Guesser(wrong, undecided, 1000.0)
    assert wait_before_guess(guesser, POLICY, now=1000.0 + ago_seconds) == pytest.approx(wait_seconds)


def test_a_guess_counts_from_its_beginning_and_is_taken_back_when_it_was_right() -> None:
    begun = guess_begun(Guesser(1, 0, 7.0))
    assert begun == Guesser(1, 1, 7.0)
    assert guess_answered(begun, POLICY, now=9.0, is_wrong=False) == Guesser(1, 0, 7.0)
    assert guess_answered(begun, POLICY, now=9.0, is_wrong=True) == Guesser(2, 0, 9.0)
    assert guess_answered(begun, POLICY, now=906.9, is_wrong=True) == Guesser(2, 0, 906.9)
    assert guess_answered(begun, POLICY, now=907.0, is_wrong=True) == Guesser(1, 0, 907.0)
    assert guess_answered(Guesser(0, 3, 7.0), POLICY, now=9.0, is_wrong=False) == Guesser(0, 2, 7.0)
    assert guess_answered(Guesser(), POLICY, now=1.0, is_wrong=False).undecided == 0


@given(st.lists(st.tuples(st.booleans(), st.floats(min_value=0.0, max_value=100.0)), max_size=40))
def test_a_guesser_who_waits_gets_no_more_than_the_policy_gives(tries: list[tuple[bool, float]]) -> None:
    guesser, now, wrong_at = Guesser(last_at=-1e9), 0.0, []
    for is_wrong, pause_seconds in tries:
        now += pause_seconds
        if wait_before_guess(guesser, POLICY, now=now) > 0:
            continue
        guesser = guess_answered(guess_begun(guesser), POLICY, now=now, is_wrong=is_wrong)
        if is_wrong:
            wrong_at.append(now)
    slowed = [
        (number, after - before)
        for number, (before, after) in enumerate(pairwise(wrong_at), 1)
        if number >= POLICY.free and after - wrong_at[0] < POLICY.forgotten_seconds
    ]
    for number, pause_seconds in slowed:
        assert pause_seconds >= min(60.0, 5.0 * 2 ** (number - POLICY.free)) - 1e-6
