"""A seat learns from each frame all that it may decide, on turn and off turn, in whole games of every kind."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from table_scripts import BOB, CYN, DAN, Script

from darbar_contracts.frames import EventFrame, Snapshot
from darbar_rules.game import AnyGame, Legal
from darbar_rules.games import ALL
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_table.domain.commands import Command, Draft
from darbar_table.domain.seat_view import seat_frames, snapshot
from darbar_table.domain.state import Phase

VIEWERS = (0, 1, 2, 3, None)
ABSENT_SHARE = 0.02
CLOCK_SHARE = 0.05
OFF_TURN_SHARE = 0.1
_event_frame = msgspec.json.Decoder(EventFrame).decode
_snapshot = msgspec.json.Decoder(Snapshot).decode


class Watched(Script):
    """After everything that happens, the newest frame of each seat is held against a snapshot of then."""

    def tell(self, command: Command) -> Draft:
        draft = super().tell(command)
        if draft.events:
            before, event, after = self.log[-1]
            made = seat_frames(before, event, after, None)
            for seat in VIEWERS:
                told = _event_frame(made.for_seat(seat)).legal
                fresh = _snapshot(snapshot(self.table, seat, None))
                assert told == fresh.legal, (seat, event)
                if seat is not None and self.phase is Phase.PLAYING:
                    assert (told or Legal()) == self.table.rules.legal(self.table.state, seat)
        return draft


def _off_turn(script: Script) -> list[int]:
    rules, state = script.table.rules, script.table.state
    return [seat for seat in range(4) if seat not in script.turn.seats and rules.legal(state, seat).also]


def _one_thing(script: Script, dice: random.Random) -> None:
    """A decision on turn or off turn, the clock, or somebody who goes and comes back."""
    off_turn, chance = _off_turn(script), dice.random()
    if chance < ABSENT_SHARE:
        script.offline(BOB).back(BOB)
    elif chance < ABSENT_SHARE + CLOCK_SHARE:
        script.time_up()
    elif off_turn and chance < ABSENT_SHARE + CLOCK_SHARE + OFF_TURN_SHARE:
        script.plays(dice.choice(off_turn), dice)
    else:
        script.plays(script.turn.seats[0], dice)


@pytest.mark.ruling("KR-8")
@pytest.mark.ruling("GEN-1")
@pytest.mark.parametrize("game", ALL, ids=lambda game: game.name)
def test_kr_8_gen_1_each_frame_says_all_that_its_seat_may_decide_then(game: AnyGame) -> None:
    dice = random.Random(8)
    options: dict[str, Any] = {"seats": 4} if game is KINGS_AND_REBELS else {}
    script = Watched(rules=game, **options).sit(BOB, CYN, DAN)
    number = script.table.game
    while script.table.game == number:
        if script.phase is Phase.PLAYING:
            _one_thing(script, dice)
        else:
            script.step()


@pytest.mark.ruling("KR-8")
def test_kr_8_who_may_pass_off_turn_is_told_by_the_deal_and_no_more_after_the_pass() -> None:
    script = Script(rules=KINGS_AND_REBELS, seats=4).dealt()
    (on_turn,) = script.turn.seats
    told = _told(script)
    assert all(told[seat] == Legal(also=("pass_bid",)) for seat in range(4) if seat != on_turn)
    own = told[on_turn]
    assert own is not None
    assert own.name
    assert told[None] is None
    passing = _off_turn(script)[0]
    script.plays(passing)
    told = _told(script)
    assert told[passing] is None
    assert {seat for seat in VIEWERS if told[seat] is not None} == set(range(4)) - {passing}


def _told(script: Script) -> dict[int | None, Legal | None]:
    before, event, after = script.log[-1]
    made = seat_frames(before, event, after, None)
    return {seat: _event_frame(made.for_seat(seat)).legal for seat in VIEWERS}
