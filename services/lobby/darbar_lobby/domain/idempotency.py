"""What makes two requests the same request. Open this about Idempotency-Key."""

from __future__ import annotations

import hashlib
import re

import msgspec

IDEMPOTENCY_KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")


def body_sha256(body: msgspec.Struct) -> bytes:
    """The same for bodies that mean the same, whatever the order of their fields."""
    return hashlib.sha256(msgspec.json.encode(body, order="deterministic")).digest()
