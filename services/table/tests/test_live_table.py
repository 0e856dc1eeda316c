"""From which state a client that comes back can be told the rest: that of its round, until the next one is dealt."""

from __future__ import annotations

from engine_desk import Desk
from table_scripts import BOB, CYN, DAN, Script

from darbar_table.domain import events
from darbar_table.domain.state import Phase
from darbar_table.engine.live_table import LiveTable


def held(script: Script) -> LiveTable:
    """The table of a script, as its owner holds it after all that happened."""
    live = Desk(Script()).live
    for before, event, after in script.log:
        live.remember_round(event, before)
        live.table = after
    return live


def first_count_in(script: Script, round_number: int) -> int:
    """The version before this round's first count-in."""
    return next(
        before.version
        for before, event, _ in script.log
        if isinstance(event, events.CountInStarted) and (event.round, event.attempt) == (round_number, 1)
    )


def test_before_the_first_deal_everything_can_be_told() -> None:
    live = held(Script())
    assert [start.version for start in (live.round_start, live.count_in_start)] == [1, 1]
    assert live.start_before(1) is live.round_start
    assert live.start_before(0) is None


def test_a_round_can_be_told_from_its_first_count_in_until_the_next_deal() -> None:
    script = Script().dealt().play_round()
    while script.phase is not Phase.COUNTING_IN:
        script.step()
    live = held(script)
    first, second = (first_count_in(script, number) for number in (1, 2))
    told = {version: live.start_before(version) for version in (first, second - 1, second, script.table.version)}
    assert [start and start.version for start in told.values()] == [first, first, second, second]
    live = held(script.zero().wallet())
    assert live.start_before(second - 1) is None
    assert live.start_before(second) is live.round_start
    assert live.start_before(script.table.version + 1) is None


def test_a_count_in_that_is_stopped_and_begins_again_belongs_to_its_round() -> None:
    script = Script().sit(BOB, CYN, DAN).leaves(DAN).sit(DAN)
    live = held(script)
    first = first_count_in(script, 1)
    assert len(script.all(events.CountInStarted)) == 2
    assert live.count_in_start.version == first
