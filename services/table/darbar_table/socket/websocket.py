"""Text messages as they go over the wire. Open this about the bytes of a frame."""

from __future__ import annotations

CLOSE_FRAME = b"\x88\x02\x03\xe8"  # RFC 6455: a close with status 1000


def text_frame(payload: bytes) -> bytes:
    """One unmasked, uncompressed text message (RFC 6455)."""
    length = len(payload)
    if length < 126:
        return b"\x81%c%b" % (length, payload)
    if length < 65536:
        return b"\x81\x7e%b%b" % (length.to_bytes(2, "big"), payload)
    return b"\x81\x7f%b%b" % (length.to_bytes(8, "big"), payload)
