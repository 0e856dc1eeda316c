"""How long somebody who guesses at a secret has to wait: pure rules. Open this when honest people wait too long."""

from __future__ import annotations

import msgspec

_DOUBLINGS_MAX = 16


class GuessPolicy(msgspec.Struct, frozen=True):
    """`free` wrong guesses cost nothing; after those each waits twice as long as the one before. A right guess forgives
    nothing, since whoever guesses may own a right one; time does."""

    free: int
    wait_seconds: float
    wait_seconds_max: float
    forgotten_seconds: float


class Guesser(msgspec.Struct, frozen=True):
    """What is known of one who guesses. `undecided`: guesses that were begun and not answered yet."""

    wrong: int = 0
    undecided: int = 0
    last_at: float = 0.0


def wait_before_guess(guesser: Guesser, policy: GuessPolicy, *, now: float) -> float:
    """The seconds until the next guess may begin. One that is not answered yet counts as wrong: else many at once would
    all be free."""
    if guesser.undecided == 0 and now - guesser.last_at >= policy.forgotten_seconds:
        return 0.0
    count = guesser.wrong + guesser.undecided
    if count < policy.free:
        return 0.0
    doubled = policy.wait_seconds * 2.0 ** min(count - policy.free, _DOUBLINGS_MAX)
    wait_seconds = min(doubled, policy.wait_seconds_max)
    since_seconds = 0.0 if guesser.undecided else now - guesser.last_at
    return max(0.0, wait_seconds - since_seconds)


def guess_begun(guesser: Guesser) -> Guesser:
    return msgspec.structs.replace(guesser, undecided=guesser.undecided + 1)


def guess_answered(guesser: Guesser, policy: GuessPolicy, *, now: float, is_wrong: bool) -> Guesser:
    undecided = max(0, guesser.undecided - 1)
    if not is_wrong:
        return msgspec.structs.replace(guesser, undecided=undecided)
    before = 0 if now - guesser.last_at >= policy.forgotten_seconds else guesser.wrong
    return Guesser(before + 1, undecided, now)
