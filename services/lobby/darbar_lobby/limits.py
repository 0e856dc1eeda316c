"""Who may ask how often. Open this about `too_many_requests`."""

from __future__ import annotations

from collections import OrderedDict

from darbar_kit.limits import KEYS_MAX, Buckets, Clock

REQUESTS_A_MINUTE_BY_ACCOUNT = 300
TABLES_MADE_A_MINUTE_BY_ACCOUNT = 10
SIGN_INS_A_MINUTE_BY_ADDRESS = 20
SIGN_INS_A_MINUTE_BY_NAME = 10
CODES_WRONG_FREE = 3
CODE_WRONG_WAIT_SECONDS = 5.0
CODE_WRONG_WAIT_SECONDS_MAX = 60.0
CODE_WRONG_FORGOTTEN_SECONDS = 900.0
MINUTE_SECONDS = 60.0
HOUR_SECONDS = 3600.0


class WrongCodes:
    """After a few wrong codes an address waits before the next lookup, twice as long each time."""

    def __init__(self, *, clock: Clock, keys_max: int = KEYS_MAX) -> None:
        self._clock = clock
        self._keys_max = keys_max
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait_seconds(self, key: str) -> float:
        """0 when this address may look a code up now."""
        count, last_at = self._wrong.get(key, (0, 0.0))
        since_seconds = self._clock() - last_at
        if count < CODES_WRONG_FREE or since_seconds >= CODE_WRONG_FORGOTTEN_SECONDS:
            return 0.0
        doubled = CODE_WRONG_WAIT_SECONDS * 2.0 ** min(count - CODES_WRONG_FREE, 16)
        return max(0.0, min(doubled, CODE_WRONG_WAIT_SECONDS_MAX) - since_seconds)

    def note_wrong(self, key: str) -> None:
        """A right code in between forgives nothing: whoever guesses may own a right one."""
        now = self._clock()
        count, last_at = self._wrong.get(key, (0, now))
        if now - last_at >= CODE_WRONG_FORGOTTEN_SECONDS:
            count = 0
        self._wrong[key] = (count + 1, now)
        self._wrong.move_to_end(key)
        if len(self._wrong) > self._keys_max:
            self._wrong.popitem(last=False)


class Limits:
    """Every limit of the lobby, each with its own buckets; a maximum of 0 is no limit."""

    def __init__(
        self, *, guests_an_hour_max: int, requests_a_minute_max: int, code_lookups_a_minute_max: int, clock: Clock
    ) -> None:
        self.guests = Buckets(guests_an_hour_max, HOUR_SECONDS, clock=clock)
        self.by_address = Buckets(requests_a_minute_max, MINUTE_SECONDS, clock=clock)
        self.by_account = Buckets(REQUESTS_A_MINUTE_BY_ACCOUNT, MINUTE_SECONDS, clock=clock)
        self.tables_made = Buckets(TABLES_MADE_A_MINUTE_BY_ACCOUNT, MINUTE_SECONDS, clock=clock)
        self.sign_ins_by_address = Buckets(SIGN_INS_A_MINUTE_BY_ADDRESS, MINUTE_SECONDS, clock=clock)
        self.sign_ins_by_name = Buckets(SIGN_INS_A_MINUTE_BY_NAME, MINUTE_SECONDS, clock=clock)
        self.code_lookups = Buckets(code_lookups_a_minute_max, MINUTE_SECONDS, clock=clock)
        self.wrong_codes = WrongCodes(clock=clock)
