"""How long an absent player's seat is kept, over real sockets and servers with a moved clock (TL-32, TL-36, TL-38)."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_kit.testing import eventually
from darbar_table.app import SERVICE
from darbar_table.domain.state import Phase
from darbar_table.engine.node import TableNode

GRACE_SECONDS = 0.05
# Nobody waits for it: the clock is moved.
COUNT_IN_SECONDS = 100.0
MINUTE_SECONDS = 60.0
# A tick of the wheel, and what the test itself takes.
NEARLY_SECONDS = 30.0


class MovedClock:
    """The clock by which this process waits: the lease's, and what a test has added."""

    def __init__(self, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
        self.node: TableNode = stack.runner.app[SERVICE].present_node()
        self._added = 0.0
        monkeypatch.setattr(self.node.timers, "_now", lambda: self.node.lease.clock() + self._added)

    def move(self, seconds: float) -> None:
        self._added += seconds
        self.node.timers.turn()


def ended(frame: dict[str, Any]) -> bool:
    return frame.get("kind") == "settled"


async def goes(player: Player, seen_by: Player) -> None:
    start = len(seen_by.frames)
    await player.close()
    await seen_by.event("player_went_offline", start=start)


async def waits(stack: Stack, table_id: str) -> None:
    """Until the table waits for who is absent, and the clock of that seat runs."""
    live = stack.runner.app[SERVICE].present_node().owner.live_tables[UUID(table_id)]
    await eventually(lambda: live.table.phase is Phase.WAITING and bool(live.timers))


async def play(*players: Player) -> None:
    """The rest of the round, with its coins."""
    await asyncio.gather(*(player.play(ended) for player in players))


@pytest.mark.ruling("TL-38")
async def test_tl_38_before_a_game_a_lost_seat_is_free_after_a_minute_and_no_quit(
    start_table: StartTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = await start_table(offline_grace_seconds=GRACE_SECONDS)
    clock, table_id = MovedClock(stack, monkeypatch), await stack.open_table()
    ann, bob = [await stack.join(table_id, name) for name in ("ann", "bob")]
    await bob.command("sit")
    await goes(bob, ann)
    await waits(stack, table_id)
    clock.move(MINUTE_SECONDS - NEARLY_SECONDS)
    assert (await stack.join(table_id, "eve")).frames[-1]["table"]["seats"][2]["name"] == "Bob"
    clock.move(NEARLY_SECONDS)
    freed = (await ann.event("seat_freed"))["public"]
    assert (freed["seat"], freed["reason"], freed["quit"]) == (2, "not_back", False)


@pytest.mark.ruling("TL-32")
@pytest.mark.ruling("TL-36")
@pytest.mark.parametrize("lost_in_a_round", [True, False])
async def test_tl_32_in_a_game_a_lost_seat_is_free_after_ten_minutes_and_it_is_a_quit(
    start_table: StartTable, monkeypatch: pytest.MonkeyPatch, lost_in_a_round: bool
) -> None:
    stack = await start_table(offline_grace_seconds=GRACE_SECONDS, count_in_seconds=COUNT_IN_SECONDS)
    clock = MovedClock(stack, monkeypatch)
    table_id, (ann, bob, cyn, dan) = await stack.full_table(turn_seconds=30)
    clock.move(COUNT_IN_SECONDS)
    await ann.event("round_dealt")
    if lost_in_a_round:
        await goes(dan, ann)
        await play(ann, bob, cyn)
    else:
        await play(ann, bob, cyn, dan)
        await goes(dan, ann)
        clock.move(COUNT_IN_SECONDS)
    await waits(stack, table_id)
    clock.move(10 * MINUTE_SECONDS - NEARLY_SECONDS)
    assert (await stack.join(table_id, "eve")).frames[-1]["table"]["seats"][3]["name"] == "Dan"
    clock.move(NEARLY_SECONDS)
    freed = (await ann.event("seat_freed"))["public"]
    assert (freed["seat"], freed["reason"], freed["quit"]) == (3, "not_back", True)


@pytest.mark.ruling("TL-32")
async def test_tl_32_who_is_back_in_the_tenth_minute_carries_on(
    start_table: StartTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = await start_table(offline_grace_seconds=GRACE_SECONDS, count_in_seconds=COUNT_IN_SECONDS)
    clock = MovedClock(stack, monkeypatch)
    table_id, (ann, bob, cyn, dan) = await stack.full_table(turn_seconds=30)
    clock.move(COUNT_IN_SECONDS)
    await ann.event("round_dealt")
    await goes(dan, ann)
    await play(ann, bob, cyn)
    await waits(stack, table_id)
    clock.move(10 * MINUTE_SECONDS - NEARLY_SECONDS)
    back = await stack.join(table_id, "dan")
    await ann.event("player_came_back")
    clock.move(max(NEARLY_SECONDS, COUNT_IN_SECONDS))
    second = await back.until(lambda frame: frame.get("kind") == "round_started" and frame["public"]["round"] == 2)
    assert not [frame for frame in ann.frames if frame.get("kind") == "seat_freed"]
    assert second["public"]["game"] == 1
