"""What makes two requests the same request. Open this about Idempotency-Key."""

from __future__ import annotations

import hashlib
import re

import msgspec

from darbar_contracts.route import IDEMPOTENCY_KEY_PATTERN

IDEMPOTENCY_KEY = re.compile(IDEMPOTENCY_KEY_PATTERN)


def body_sha256(body: msgspec.Struct) -> bytes:
    """The same for bodies that mean the same, whatever the order of their fields."""
    return hashlib.sha256(msgspec.json.encode(body, order="deterministic")).digest()
