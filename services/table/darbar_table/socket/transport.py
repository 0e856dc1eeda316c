"""The connection below a player's socket, and the pace at which it is read. Open this when a socket is slow."""

from __future__ import annotations

from time import monotonic
from typing import Protocol


class Transport(Protocol):
    """What is used of the connection below the socket."""

    def write(self, data: bytes) -> None: ...
    def is_closing(self) -> bool: ...
    def set_write_buffer_limits(self, high: int) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def can_write_eof(self) -> bool: ...
    def write_eof(self) -> None: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...


class Pace:
    """At most so many frames a second: a client that sends more is read more slowly, nothing is lost."""

    __slots__ = ("_at", "_left", "_rate")

    def __init__(self, frames_a_second_max: int) -> None:
        self._rate = float(frames_a_second_max)
        self._left = self._rate
        self._at = monotonic()

    def wait_seconds(self) -> float:
        """How long to wait before the next frame is looked at."""
        now = monotonic()
        self._left = min(self._rate, self._left + (now - self._at) * self._rate) - 1.0
        self._at = now
        return 0.0 if self._left >= 0 else -self._left / self._rate
