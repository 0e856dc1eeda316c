"""What goes between the service and a child that decides. Open this when the two stop understanding each other.

Each frame is its length (4 bytes, big-endian) and a JSON object. The child says `Ready` once, then answers requests in
the order in which they came.
"""

from __future__ import annotations

import msgspec

from darbar_contracts.bots import BotAnswer

LENGTH_BYTES = 4
FRAME_BYTES_MAX = 256 * 1024


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The child has loaded the games and takes requests."""


class Decided(msgspec.Struct, frozen=True, tag="decided"):
    """A decision."""

    answer: BotAnswer


class NotDecided(msgspec.Struct, frozen=True, tag="not_decided"):
    """No decision: `refused` when the request is at fault, else the child is."""

    code: str
    message: str
    refused: bool


class FrameTooLarge(Exception):
    """A frame longer than FRAME_BYTES_MAX: the other side is out of step, and the conversation of no more use."""


class FrameReader:
    """Bytes as they arrive, cut into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def take(self, received: bytes) -> list[bytes]:
        """The frames that are complete now that these bytes have come."""
        self._buffer += received
        complete: list[bytes] = []
        start = 0
        while (end := self._frame_end(start)) <= len(self._buffer):
            complete.append(bytes(self._buffer[start + LENGTH_BYTES : end]))
            start = end
        del self._buffer[:start]
        return complete

    def _frame_end(self, start: int) -> int:
        """Where the frame that begins here ends; beyond the buffer as long as its length is not known."""
        if start + LENGTH_BYTES > len(self._buffer):
            return len(self._buffer) + 1
        length = int.from_bytes(self._buffer[start : start + LENGTH_BYTES], "big")
        if length > FRAME_BYTES_MAX:
            raise FrameTooLarge(f"{length} bytes")
        return start + LENGTH_BYTES + length


def frame(message: bytes) -> bytes:
    """A message as it is sent."""
    return len(message).to_bytes(LENGTH_BYTES, "big") + message
