"""The chain over what administrators did. Open this to check it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime

import msgspec

from darbar_lobby.domain.instants import microseconds

FIRST_LINK = hashlib.sha256(b"darbar audit log").digest()


class StoredEntry(msgspec.Struct, frozen=True):
    """A row of the log. `body` is its JSON text as stored."""

    number: int
    at: datetime
    body: str
    chain: bytes


def link(previous: bytes, number: int, at: datetime, body: bytes) -> bytes:
    """sha256(previous || number || at || body): number and at, in microseconds since 1970, 8 bytes each, big-endian."""
    return hashlib.sha256(previous + number.to_bytes(8, "big") + microseconds(at).to_bytes(8, "big") + body).digest()


def chain_fault(entries: Iterable[StoredEntry], *, after: StoredEntry | None = None) -> int | None:
    """The first number that does not follow from the one before; None when all do. `after`: the entry before these."""
    number, previous = (0, FIRST_LINK) if after is None else (after.number, after.chain)
    for entry in entries:
        number += 1
        if entry.number != number or entry.chain != link(previous, number, entry.at, entry.body.encode()):
            return number
        previous = entry.chain
    return None
