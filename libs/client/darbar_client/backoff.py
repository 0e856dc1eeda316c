"""How long is tried again, and how long is waited between two tries. Open this to make a client give up sooner."""

from __future__ import annotations

import asyncio
import random
import time

import msgspec

HTTP_SECONDS_MAX = 30.0
SOCKET_SECONDS_MAX = 120.0
COMMAND_SECONDS_MAX = 60.0
PAUSE_SECONDS_MIN = 0.05
PAUSE_SECONDS_MAX = 2.0
DOUBLINGS_MAX = 16


class Backoff(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of a client. `http_seconds`: a request is tried again; `socket_seconds`: a lost socket is opened again;
    `command_seconds`: a command waits for its acknowledgement, through lost sockets too."""

    http_seconds: float = HTTP_SECONDS_MAX
    socket_seconds: float = SOCKET_SECONDS_MAX
    command_seconds: float = COMMAND_SECONDS_MAX
    pause_seconds_min: float = PAUSE_SECONDS_MIN
    pause_seconds_max: float = PAUSE_SECONDS_MAX

    def pause_seconds(self, tries: int) -> float:
        """Twice as long after each try; anything from half of it to all, so that clients do not come at once."""
        longest = min(self.pause_seconds_min * 2.0 ** min(tries, DOUBLINGS_MAX), self.pause_seconds_max)
        return longest * random.uniform(0.5, 1.0)


class Attempts:
    """Tries of the same thing, with pauses between them, until `seconds` are over."""

    def __init__(self, backoff: Backoff, *, seconds: float) -> None:
        self._backoff = backoff
        self._end = time.monotonic() + seconds
        self.tries = 0

    async def pause(self, *, seconds_min: float = 0.0) -> bool:
        """Waits before the next try; False: there is no time left for one."""
        seconds = max(self._backoff.pause_seconds(self.tries), min(seconds_min, self._backoff.pause_seconds_max))
        if time.monotonic() + seconds > self._end:
            return False
        self.tries += 1
        await asyncio.sleep(seconds)
        return True
