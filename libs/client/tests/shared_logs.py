"""A log of a version that chained accounts, as one of today writes and shows it. Open this about aliases."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec

from darbar_client import Replay, ReplayEvent
from darbar_contracts.tables import alias_of


def shared_as_now(replay: Replay) -> Replay:
    """The same log as a table of today writes and shows it: aliases in place of accounts, in the chain too."""
    table = UUID(replay.table_id)
    previous = hashlib.sha256(b"darbar" + table.bytes).digest()
    events: list[ReplayEvent] = []
    for event in replay.events:
        if event.body is None:
            break
        body = re.sub(
            r'"account_id":"([^"]*)"',
            lambda found: f'"account_id":"{alias_of(replay.table_id, found[1])}"',
            event.body,
        )
        mark = b"shared" if body != event.body else b""
        time = (event.at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        numbers = event.version.to_bytes(4, "big") + event.kind.encode() + time.to_bytes(8, "big")
        previous = hashlib.sha256(mark + previous + table.bytes + numbers + body.encode()).digest()
        events.append(msgspec.structs.replace(event, body=body, chain=previous.hex()))
    return msgspec.structs.replace(replay, events=tuple(events))
