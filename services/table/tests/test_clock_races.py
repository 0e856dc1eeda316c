"""A turn's clock and its player's late click meet a thousand times over real sockets: one decision each (GEN-4)."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Container, Sequence
from typing import Any
from uuid import UUID

import msgspec
import pytest
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_contracts.reading import DecisionFrames
from darbar_kit.testing import eventually
from darbar_table.app import SERVICE
from darbar_table.domain.commands import TimerRang
from darbar_table.domain.life.play import EXPIRIES_MAX
from darbar_table.domain.state import Phase
from darbar_table.domain.timers import TurnTimer
from darbar_table.engine.live_table import LiveTable

RACES = 1000
SEED = 11
# So many steps of the event loop after the click the clock rings; less than none: before it.
HEAD_STARTS = range(-1, 10)
# The round may be over.
LATE = ("stale_turn", "not_now")
FRAMES = DecisionFrames()

Frame = dict[str, Any]
Turn = tuple[int, int, int]  # game, round, turn


class Race:
    """One turn: whose it is, the click, and the clock that rings about now."""

    def __init__(self, live: LiveTable, players: Sequence[Player], number: int) -> None:
        table = live.table
        self.turn = table.rules.turn(table.state)
        self.game = table.game
        (self.seat,) = self.turn.seats
        self.player = players[self.seat]
        choice = table.rules.choices(table.rules.legal(table.state, self.seat))[0]
        self.id = f"click-of-race-{number:05d}"
        named = {"game": table.game, "round": self.turn.round, "turn": self.turn.turn}
        self._frame: Frame = msgspec.to_builtins(FRAMES.frame_of(choice, id=self.id, **named))

    async def run(self, ring: Callable[[TimerRang], None], head_start: int) -> Frame:
        """The answer to the click."""
        start, rings = len(self.player.frames), TimerRang(TurnTimer(self.turn.round, self.turn.turn))
        if head_start < 0:
            ring(rings)
        await self.player.send(**self._frame)
        for _ in range(head_start):
            await asyncio.sleep(0)
        if head_start >= 0:
            ring(rings)
        return await self.player.until(lambda frame: frame.get("id") == self.id, start=start)

    async def stay_at_the_seat(self, live: LiveTable) -> None:
        """A player who loses five races in a row would have a bot decide for them (TL-16), and that is no race."""
        if live.table.seats[self.seat].expiries >= EXPIRIES_MAX - 1:
            await self.player.command("im_back")


def held(stack: Stack, table_id: str) -> LiveTable:
    return stack.runner.app[SERVICE].present_node().owner.live_tables[UUID(table_id)]


@pytest.mark.ruling("GEN-4")
@pytest.mark.ruling("TL-16")
async def test_tl_16_a_clock_and_a_late_click_race_a_thousand_times_with_one_decision_each(
    start_table: StartTable, record_property: Callable[[str, object], None]
) -> None:
    stack = await start_table(count_in_seconds=0.02)
    table_id, (ann, bob, cyn, dan) = await stack.full_table(turn_seconds=30, options={"trump": "open"})
    live, owner = held(stack, table_id), stack.runner.app[SERVICE].present_node().owner
    dice = random.Random(SEED)
    answers: dict[Turn, Frame] = {}
    for number in range(RACES):
        await eventually(lambda: live.table.phase is Phase.PLAYING and not live.in_flight)
        race = Race(live, (ann, cyn, bob, dan), number)
        await race.stay_at_the_seat(live)
        answer = await race.run(lambda rings: owner.submit(live, rings), dice.choice(HEAD_STARTS))
        answers[race.game, race.turn.round, race.turn.turn] = answer
    await ann.until(lambda frame: frame.get("version", 0) >= live.table.version)
    decided = decisions(ann, live.table.rules.events)
    assert len(decided) == RACES
    won = Counter(winner(answer, decided[turn]) for turn, answer in answers.items())
    assert won.total() == RACES
    assert min(won["player"], won["clock"]) > RACES / 10
    record_property("count", f"{dict(won)} of {RACES} races")


def decisions(player: Player, kinds: Container[str]) -> dict[Turn, Frame]:
    """What decided each turn. Fails where a second thing did, and where a turn was left out."""
    decided: dict[Turn, Frame] = {}
    game_round, due = (0, 0), 0
    for frame in player.frames:
        public = frame.get("public", {})
        if frame.get("kind") == "round_started":
            game_round, due = (public["game"], public["round"]), 0
        elif frame.get("kind") in kinds and "seat" in public and public.get("by") != "table":
            assert public["turn"] == due + 1, frame
            decided[*game_round, due] = frame
            due += 1
    return decided


def winner(answer: Frame, decision: Frame) -> str:
    """Who decided, by the log; the click is acknowledged just then, and else refused as late."""
    by: str = decision["public"].get("by", "player")
    if by == "player":
        assert (answer["type"], answer.get("version")) == ("event", decision["version"])
    else:
        assert (answer["type"], answer["code"] in LATE) == ("refused", True), (answer, decision)
    return by
