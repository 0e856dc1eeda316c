"""Who may ask over HTTP how often. Open this about `too_many_requests`."""

from __future__ import annotations

from darbar_kit.limits import Clock, Rate

MINUTE_SECONDS = 60.0
REQUESTS_A_MINUTE_BY_ACCOUNT = 120


class Limits:
    """A maximum of 0 is no limit."""

    def __init__(self, *, requests_a_minute_max: int, uploads_a_minute_max: int, clock: Clock) -> None:
        self.by_address = Rate("requests_by_address", requests_a_minute_max, MINUTE_SECONDS, clock=clock)
        self.by_account = Rate("requests_by_account", REQUESTS_A_MINUTE_BY_ACCOUNT, MINUTE_SECONDS, clock=clock)
        self.uploads = Rate("uploads_by_account", uploads_a_minute_max, MINUTE_SECONDS, clock=clock)
