"""What goes between the service and a child that decides. Open this when the two stop understanding each other.

One JSON object a line. The child says `Ready` once, then answers requests in the order in which they came.
"""

from __future__ import annotations

import msgspec

from darbar_contracts.bots import BotAnswer

LINE_BYTES_MAX = 256 * 1024


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


def line(message: msgspec.Struct) -> bytes:
    """A message as it is sent. Between the parts of JSON that somebody else wrote a new line is a space."""
    return msgspec.json.encode(message).replace(b"\n", b" ") + b"\n"
