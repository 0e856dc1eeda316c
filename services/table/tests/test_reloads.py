"""Who reloads the page has the same hand and the same turn, whatever the table is doing (TL-41, TL-42)."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import UUID

import pytest
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_contracts.frames import PROTOCOL
from darbar_kit.testing import eventually
from darbar_table.app import SERVICE
from darbar_table.domain.commands import Decide
from darbar_table.domain.state import Phase

NEVER_SECONDS = 3600.0
DAN = 3
STRING = "a string of dan's"
# The caller names the trump, somebody leads, the middle of a trick and its end, late tricks.
TURNS_LOOKED_AT = (0, 1, 2, 3, 4, 5, 23, 26)
# What runs down meanwhile.
TIMES = ("remaining_ms", "vote_remaining_ms")

Frame = dict[str, Any]


class Reloads:
    """A table whose dan comes back with nothing, again and again."""

    def __init__(self, stack: Stack, table_id: str, dan: Player) -> None:
        node = stack.runner.app[SERVICE].present_node()
        self._stack, self._table_id, self._owner = stack, table_id, node.owner
        self.live = node.owner.live_tables[UUID(table_id)]
        self.dan = dan
        self.hand: set[str] = set()
        self._read = 0
        self.phases: set[str] = set()

    async def until(self, phase: Phase) -> None:
        await eventually(lambda: self.live.table.phase is phase and not self.live.in_flight)

    async def one_plays(self) -> None:
        """The first choice of whoever is on turn."""
        table = self.live.table
        turn, rules, version = table.rules.turn(table.state), table.rules, table.version
        player, choice = table.seats[turn.seats[0]].player, rules.choices(rules.legal(table.state, turn.seats[0]))[0]
        kind = next(kind for kind, made in rules.decisions.items() if type(choice) is made)
        assert player is not None
        command_id = f"turn-{turn.round}-{turn.turn:011d}"
        self._owner.submit(self.live, Decide(player, command_id, 1, turn.round, turn.turn, kind, choice))
        await eventually(lambda: self.live.table.version > version and not self.live.in_flight)

    async def same_after_a_reload(self) -> Frame:
        """The snapshot: on the old connection, on a new one that has nothing, and by the events told before."""
        start = len(self.dan.frames)
        await self.dan.send(type="hello", protocol=PROTOCOL, token=self.dan.token, version=0)
        before = await self.dan.until(self._is_snapshot_of_now, start=start)
        self._follow()
        await self.dan.close()
        self.dan, self._read = await self._stack.join(self._table_id, "dan"), 0
        after = await self.dan.frame("snapshot")
        self._read = len(self.dan.frames)
        assert without_times(after) == without_times(before)
        assert (after["seat"], after["table"]["seats"][DAN]["away"]) == (DAN, False)
        if self.live.table.phase is Phase.PLAYING:
            turn = self.live.table.rules.turn(self.live.table.state)
            assert (after["game"]["turn"], set(after["game"]["hand"])) == (turn.turn, self.hand)
            assert ("legal" in after and after["legal"] is not None) == (DAN in turn.seats)
        self.phases.add(after["table"]["phase"])
        return after

    def _is_snapshot_of_now(self, frame: Frame) -> bool:
        return bool(frame["type"] == "snapshot" and frame["version"] == self.live.table.version)

    def _follow(self) -> None:
        """What dan holds, by what was told of it."""
        for frame in self.dan.frames[self._read :]:
            public, secret = frame.get("public") or {}, frame.get("secret") or {}
            if "hand" in secret or frame.get("kind") == "round_dealt":
                self.hand = set(secret.get("hand", ()))
            if frame.get("kind") == "card_played" and public["seat"] == DAN:
                self.hand.remove(public["card"])


def without_times(snapshot: Frame) -> Frame:
    return {name: part for name, part in snapshot.items() if name not in TIMES}


async def four(stack: Stack) -> tuple[Reloads, Player, Player, Player]:
    """Bob's seat is free yet."""
    table_id = await stack.open_table(turn_seconds=30, options={"trump": "open"})
    ann, bob, cyn, dan = [await stack.join(table_id, name) for name in ("ann", "bob", "cyn", "dan")]
    for player, seat in ((cyn, 1), (dan, DAN)):
        await player.command("sit", seat=seat)
    return Reloads(stack, table_id, dan), ann, bob, cyn


async def round_with_reloads(table: Reloads) -> None:
    turns = 0
    while table.live.table.phase is Phase.PLAYING:
        if turns in TURNS_LOOKED_AT:
            await table.same_after_a_reload()
        await table.one_plays()
        turns += 1
    assert turns > max(TURNS_LOOKED_AT)


@pytest.mark.ruling("TL-41")
@pytest.mark.ruling("TL-42")
async def test_tl_42_a_reload_in_every_phase_gives_the_same_hand_and_turn(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=NEVER_SECONDS, seeds_open_seconds=NEVER_SECONDS)
    table, ann, bob, cyn = await four(stack)
    await ann.command("ask_vote", about="bot", seat=2)
    assert (await table.same_after_a_reload())["table"]["vote"]["waits_for"] == [1, DAN]
    await bob.command("sit")
    await table.until(Phase.COUNTING_IN)
    await table.same_after_a_reload()
    await table.dan.command("seed_commit", sha256=hashlib.sha256(STRING.encode()).hexdigest())
    await ann.command("start_now")
    await table.until(Phase.OPENING_SEEDS)
    assert (await table.same_after_a_reload())["table"]["seats"][DAN]["committed"]
    stack.wallet.hold()
    await table.dan.command("seed_open", string=STRING)
    await table.until(Phase.STAKING)
    await table.same_after_a_reload()
    stack.wallet.release()
    await table.until(Phase.PLAYING)
    stack.wallet.hold()
    await round_with_reloads(table)
    await table.until(Phase.SETTLING)
    await table.same_after_a_reload()
    stack.wallet.release()
    await table.until(Phase.COUNTING_IN)
    for player in (ann, bob, cyn, table.dan):
        await player.command("ready")
    await table.until(Phase.PLAYING)
    await ann.command("ask_vote", about="end_game")
    vote = (await table.same_after_a_reload())["table"]["vote"]["number"]
    stack.wallet.hold()
    for player in (bob, cyn, table.dan):
        await player.command("answer_vote", vote=vote, agree=True)
    await table.until(Phase.REFUNDING)
    await table.same_after_a_reload()
    stack.wallet.release()
    await table.until(Phase.COUNTING_IN)
    assert (await table.same_after_a_reload())["table"]["game_number"] == 2
    assert table.phases == {phase.value for phase in Phase if phase is not Phase.CLOSED}
