"""The simulator finds what it is there to find."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import simulated_history as history
from planted_bugs import PLANTED, Planted

HISTORIES_MAX = 1000


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.__name__)
def test_a_planted_bug_is_found_within_a_thousand_histories(
    planted: Planted, record_property: Callable[[str, object], None]
) -> None:
    with planted():
        found = next((seed for seed in range(HISTORIES_MAX) if _breaks(seed, PLANTED[planted])), None)
    assert found is not None, f"{planted.__name__} went unnoticed in {HISTORIES_MAX} histories"
    record_property("count", f"found in history {found + 1}")


def _breaks(seed: int, promise: str) -> bool:
    return any(violation.startswith(promise) for violation in history.run(seed).violations)
