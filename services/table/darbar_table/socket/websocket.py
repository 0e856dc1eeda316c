"""Messages as they go over the wire. Open this about the bytes of a frame."""

from __future__ import annotations

STATUS_OK = 1000
PING_FRAME = b"\x89\x00"


def text_frame(payload: bytes) -> bytes:
    """One unmasked, uncompressed text message (RFC 6455)."""
    length = len(payload)
    if length < 126:
        return b"\x81%c%b" % (length, payload)
    if length < 65536:
        return b"\x81\x7e%b%b" % (length.to_bytes(2, "big"), payload)
    return b"\x81\x7f%b%b" % (length.to_bytes(8, "big"), payload)


def pong_frame(payload: bytes) -> bytes:
    """The answer to a ping: what it carried, at most 125 bytes."""
    return b"\x8a%c%b" % (len(payload), payload)


def close_frame(status: int) -> bytes:
    return b"\x88\x02" + status.to_bytes(2, "big")
