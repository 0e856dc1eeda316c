"""Writes the golden log of a table: `python golden_log.py`, once for a game. What it wrote is replayed for ever."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from table_scripts import ANN, BOB, COURT_PIECE, TABLE_ID, Script

from darbar_contracts import frames
from darbar_table.store.chain import first_link, link
from darbar_table.store.codec import EventCodec
from darbar_table.store.store import StoredEvent

GOLDEN = Path(__file__).parent / "golden" / "court_piece_table.ndjson"
AT = datetime(2026, 11, 29, 12, 0, 0, 123456, tzinfo=UTC)
CODEC = EventCodec(COURT_PIECE)


def rows_of(script: Script) -> list[StoredEvent]:
    """A script's events as they would be stored."""
    rows: list[StoredEvent] = []
    chain = first_link(UUID(TABLE_ID))
    for version, (_, event, _) in enumerate(script.log, start=1):
        kind, body = CODEC.kind_of(event), CODEC.encode(event)
        chain = link(chain, UUID(TABLE_ID), version, kind=kind, at=AT, body=body)
        rows.append(StoredEvent(version, kind, body.decode(), AT, chain))
    return rows


def whole_game() -> Script:
    """One person and three bots, a whole game, and into the next count-in."""

    script = Script().sit(BOB)
    script.act(ANN, frames.StartNow(id="a-golden-command"))
    return script.play_game()


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    lines = (json.dumps([row.version, row.kind, row.body, row.chain.hex()]) for row in rows_of(whole_game()))
    GOLDEN.write_text("\n".join(lines) + "\n")
