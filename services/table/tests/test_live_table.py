"""From which state a client that comes back can be told the rest: that of its round, until the next one is dealt."""

from __future__ import annotations

import pytest
from engine_desk import Desk
from golden_log import SCRIPTS
from table_scripts import BOB, CYN, DAN, Script

from darbar_table.domain import events
from darbar_table.domain.state import Phase
from darbar_table.engine.live_table import IDS_REMEMBERED_MAX, Ids, LiveTable, remembered
from darbar_table.engine.round_start import RoundStart


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


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_packed_start_is_the_state_that_was_packed(name: str) -> None:
    befores = [before for before, event, _ in SCRIPTS[name]().log if isinstance(event, events.CountInStarted)]
    assert befores
    for before in befores:
        start = RoundStart(before)
        start.pack()
        start.pack()
        assert (start.version, start.table()) == (before.version, before)
        assert repr(start.table().state) == repr(before.state)


def test_the_last_ids_of_an_account_are_known_with_what_they_were_for() -> None:
    ids = Ids(seat=0)
    sent = [(f"command-of-ann-{number:04}", 2**32 - 1 - number, number) for number in range(IDS_REMEMBERED_MAX + 3)]
    for command_id, digest, version in sent:
        ids.remember(remembered(command_id, digest, version))
    assert [ids.find(command_id) for command_id, _, _ in sent[:3]] == [None] * 3
    assert [ids.find(command_id) for command_id, _, _ in sent[3:]] == [
        (digest, version) for _, digest, version in sent[3:]
    ]
