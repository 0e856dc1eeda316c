"""What a client that comes back has missed, made again from the log. Open this when it sees another table than others.

A table keeps one state for each of its last rounds; everything since then is in the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from darbar_table.domain.events import TableEvent
from darbar_table.domain.evolve import evolve
from darbar_table.domain.seat_view import seat_frames
from darbar_table.domain.state import Table
from darbar_table.domain.visibility import may_look_on

# Two rounds of twelve seats have fewer; a client that can be told the rest only from further back has a snapshot.
EVENTS_TO_RESUME_MAX = 512


class Past(NamedTuple):
    """A state of a table, and the events that followed it up to now."""

    start: Table
    events: list[TableEvent]

    @property
    def version(self) -> int:
        return self.start.version + len(self.events)


def frames_after(
    version: int, past: Past, table: Table, *, account_id: str, now: datetime, remaining_ms: int | None
) -> list[bytes] | None:
    """Each frame after `version`, as it was sent to this account's seat; None when it needs a snapshot.

    The last frame alone has `legal` and `remaining_ms`: for the others both are over. Before an account had its seat it
    is shown what everybody was shown. It needs a snapshot if it has changed seats since (TL-5), has given its seat up
    (TL-29), or might not look on all the time (TL-44).
    """
    present_seat = table.seat_of(account_id)
    frames: list[bytes] = []
    for before, event, after in _replayed(past.start, past.events):
        if after.version <= version:
            continue
        seat = before.seat_of(account_id)
        if seat is None:
            seat = after.seat_of(account_id)
        if seat not in (None, present_seat) or not may_look_on(after, account_id, now=now):
            return None
        is_last = after.version == table.version
        frame = seat_frames(before, event, after, remaining_ms if is_last else None, last=is_last)
        frames.append(frame.for_seat(seat))
    return frames


def _replayed(table: Table, events: Iterable[TableEvent]) -> Iterable[tuple[Table, TableEvent, Table]]:
    for event in events:
        before, table = table, evolve(table, event)
        yield before, event, table
