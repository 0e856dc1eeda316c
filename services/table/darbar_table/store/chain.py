"""The chain over a table's events: a changed, moved, removed or inserted row is found. Open this to verify a log.

A link covers the event's body as it is shared, with aliases in place of account ids: whoever may not see the ids can
make every link again all the same. Links of older logs cover the body as it is stored.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from uuid import UUID

from darbar_contracts.tables import alias_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHARED = b"shared"
# In JSON a quote inside a text is escaped: this is found where a key is, and nowhere else.
_ACCOUNT = b'"account_id":"'
_ACCOUNT_WITH_ID = re.compile(rb'"account_id":"((?:[^"\\]|\\.)*)"')


def first_link(table_id: UUID) -> bytes:
    """What stands before the first event: sha256("darbar" || table_id)."""
    return hashlib.sha256(b"darbar" + table_id.bytes).digest()


def microseconds(at: datetime) -> int:
    """Whole microseconds since 1970, as Postgres keeps them."""
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def link(previous: bytes, table_id: UUID, version: int, *, kind: str, at: datetime, body: bytes) -> bytes:
    """Of an event that names no account, `whole_link`. Of others the same hash of the shared body, with "shared" before
    everything, so that a stored body is never taken for a shared one."""
    if _ACCOUNT not in body:
        return whole_link(previous, table_id, version, kind=kind, at=at, body=body)
    return whole_link(_SHARED + previous, table_id, version, kind=kind, at=at, body=shared_body(table_id, body))


def whole_link(previous: bytes, table_id: UUID, version: int, *, kind: str, at: datetime, body: bytes) -> bytes:
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


def shared_body(table_id: UUID, body: bytes) -> bytes:
    """A body as everybody may see it who may read the log: an alias in place of an account's id, every other byte as it
    is stored."""
    if _ACCOUNT not in body:
        return body
    return _ACCOUNT_WITH_ID.sub(
        lambda found: _ACCOUNT + alias_of(str(table_id), found[1].decode()).encode() + b'"', body
    )
