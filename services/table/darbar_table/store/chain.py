"""The chain over a table's events: a changed, moved, removed or inserted row is found. Open this to verify a log."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from uuid import UUID

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def first_link(table_id: UUID) -> bytes:
    """What stands before the first event: sha256("darbar" || table_id)."""
    return hashlib.sha256(b"darbar" + table_id.bytes).digest()


def microseconds(at: datetime) -> int:
    """Whole microseconds since 1970, as Postgres keeps them."""
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def link(previous: bytes, table_id: UUID, version: int, *, kind: str, at: datetime, body: bytes) -> bytes:
    """sha256(previous || table_id || version || kind || at || body): version 4 bytes and at 8 bytes, big-endian."""
    return hashlib.sha256(
        b"%b%b%b%b%b%b"
        % (
            previous,
            table_id.bytes,
            version.to_bytes(4, "big"),
            kind.encode(),
            microseconds(at).to_bytes(8, "big"),
            body,
        )
    ).digest()
