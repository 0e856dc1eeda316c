"""What a client makes of the events of a table is what a snapshot says at each version. Both are pure here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import msgspec
import pytest
from random_tables import RandomTable

from darbar_client.table_changes import after_event
from darbar_contracts.frames import EventFrame, TableView
from darbar_rules.game import AnyGame
from darbar_rules.games import ALL
from darbar_table.domain.seat_view import seat_frames, table_view
from darbar_table.domain.state import Phase

STEPS = 120
TABLES = 30


def as_sent(view: TableView) -> TableView:
    return msgspec.json.decode(msgspec.json.encode(view), type=TableView)


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_a_client_that_follows_the_events_knows_what_a_snapshot_says(
    rules: AnyGame, record_property: Callable[[str, object], None]
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(TABLES):
        made = RandomTable(rules, seed)
        for _ in range(STEPS):
            if made.script.phase is not Phase.CLOSED:
                made.step()
        made.end()
        mirror = as_sent(table_view(made.script.log[0][2]))
        for before, event, after in made.script.log[1:]:
            sent = seat_frames(before, event, after, None).for_seat(None)
            frame = msgspec.json.decode(sent, type=EventFrame)
            mirror = after_event(mirror, frame)
            if frame.version in made.script.at_rest:
                assert mirror == as_sent(table_view(after)), (seed, json.loads(sent))
            seen[frame.kind] += 1
    record_property("count", dict(seen))
    assert min(seen["vote_asked"], seen["vote_answered"], seen["vote_ended"], seen["game_ended"]) > 0
    assert bool(made.changeable) == (seen["options_changed"] > 0)
    assert rules.name != "court_piece" or seen["seats_swapped"] > 0
