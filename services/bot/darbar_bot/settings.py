"""What can be set from outside. Open this to add a setting."""

from __future__ import annotations

import msgspec

# More would hold more requests than the bus handles at a time: start another process of this service instead.
WORKERS_MAX = 7


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DARBAR_BOT_NATS_URL and so on.

    `workers` is the number of child processes that decide. A request that has no decision after `answer_seconds_max` is
    answered `decision_too_slow`; a table waits 2 s.
    """

    nats_url: str
    workers: int = 1
    answer_seconds_max: float = 1.8

    def __post_init__(self) -> None:
        if not 1 <= self.workers <= WORKERS_MAX:
            raise ValueError(f"workers must be from 1 to {WORKERS_MAX}")
        if self.answer_seconds_max <= 0:
            raise ValueError("answer_seconds_max must be above 0")
