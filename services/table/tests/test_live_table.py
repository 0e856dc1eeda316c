"""What a table in memory keeps for sockets that come back: just what they missed, or nothing where there is a gap."""

from __future__ import annotations

import pytest
from engine_desk import Desk
from msgspec.structs import replace
from table_scripts import Script

from darbar_table.domain.seat_view import SeatFrames
from darbar_table.engine.live_table import FRAMES_KEPT_MAX, LiveTable


class SocketDouble:
    """Somebody who looks on."""

    account_id = "eve"
    seat: int | None = None

    def send(self, frame: bytes) -> None: ...

    def close(self, code: str, message: str) -> None: ...


def watched_until(version: int) -> LiveTable:
    """A table at this version whose frames were all kept, as far as there is room for them."""
    live = Desk(Script()).live
    live.sockets.append(SocketDouble())
    for one in range(2, version + 1):
        live.table = replace(live.table, version=one)
        live.keep_frames([SeatFrames(one, b"{", ())])
    return live


def versions(frames: list[SeatFrames] | None) -> list[int] | None:
    return None if frames is None else [frame.version for frame in frames]


@pytest.mark.parametrize(
    ("version", "missed"),
    [
        (4, None),
        (5, list(range(6, 22))),
        (6, list(range(7, 22))),
        (20, [21]),
        (21, []),
        (22, None),
    ],
)
def test_who_comes_back_gets_what_was_missed_unless_there_is_a_gap(version: int, missed: list[int] | None) -> None:
    live = watched_until(FRAMES_KEPT_MAX + 5)
    assert (live.table.version, len(live.frames)) == (21, FRAMES_KEPT_MAX)
    assert versions(live.frames_after(version)) == missed


def test_what_happens_while_nobody_looks_leaves_no_gap_behind() -> None:
    live = watched_until(5)
    live.sockets.clear()
    live.keep_frames([])
    assert live.frames_after(4) is None
    assert live.frames_after(5) == []
