"""Who blocks a player does not hear them at any table, and nobody waits for the lobby that knows it (TL-8, TL-45)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_contracts.lobby import BlockChanged, BlockersAnswer, BlockersRequest
from darbar_contracts.subjects import LOBBY_BLOCK_CHANGED, LOBBY_BLOCKERS
from darbar_kit.bus import Bus
from darbar_kit.errors import Unavailable
from darbar_kit.testing import eventually
from darbar_table.handlers.lobby_news import blocks
from darbar_table.handlers.lobby_news.blocks import Blocks

pytestmark = pytest.mark.ruling("TL-8")


class LobbyDouble:
    """Knows who blocks whom; says nothing while its gate is closed."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.pairs: set[tuple[str, str]] = set()
        self.asked: list[BlockersRequest] = []
        self.is_away = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def blockers(self, request: BlockersRequest) -> BlockersAnswer:
        self.asked.append(request)
        answer = BlockersAnswer(tuple(one for one in request.among if (one, request.account_id) in self.pairs))
        await self.gate.wait()
        if self.is_away:
            raise Unavailable("unavailable")
        return answer

    async def tell(self, blocker: str, blocked: str, *, is_blocked: bool) -> None:
        await self._bus.publish(LOBBY_BLOCK_CHANGED, BlockChanged(blocker, blocked, is_blocked=is_blocked))


@pytest_asyncio.fixture(loop_scope="session")
async def lobby(bus: Bus) -> AsyncIterator[LobbyDouble]:
    double = LobbyDouble(bus)
    serving = await bus.serve(LOBBY_BLOCKERS, BlockersRequest, double.blockers)
    yield double
    double.gate.set()
    await serving.stop()


async def three(stack: Stack) -> tuple[Player, Player, Player]:
    """Ann and bob sit, eve looks on."""
    table_id = await stack.open_table()
    ann, bob, eve = [await stack.join(table_id, name) for name in ("ann", "bob", "eve")]
    await bob.command("sit", seat=2)
    return ann, bob, eve


async def heard(player: Player) -> list[str]:
    """Up to now: the answer to what they ask comes after everything that was said before."""
    await player.command("mute", seat=99, muted=True)
    return [frame["phrase"] for frame in player.frames if frame["type"] == "said"]


async def test_tl_8_who_blocks_a_player_hears_nothing_of_them_seated_or_not(
    start_table: StartTable, lobby: LobbyDouble
) -> None:
    lobby.pairs = {("ann", "bob"), ("eve", "bob")}
    ann, bob, eve = await three(await start_table())
    for _ in range(2):
        assert (await bob.command("say", phrase="angry"))["type"] == "done"
    assert [await heard(player) for player in (ann, bob, eve)] == [[], ["angry", "angry"], []]
    assert [(asked.account_id, sorted(asked.among)) for asked in lobby.asked] == [("bob", ["ann", "eve"])]
    # The other way round it would be another block.
    await ann.command("say", phrase="hello")
    assert [await heard(player) for player in (ann, bob, eve)] == [["hello"], ["angry", "angry", "hello"], ["hello"]]


async def test_tl_8_a_block_of_this_moment_is_told_to_the_table_and_so_is_its_end(
    start_table: StartTable, lobby: LobbyDouble
) -> None:
    ann, bob, eve = await three(await start_table(phrases_a_minute_max=0))

    async def ann_hears() -> bool:
        before = len(await heard(ann))
        await bob.command("say", phrase="hello")
        return len(await heard(ann)) > before

    async def ann_hears_nothing() -> bool:
        return not await ann_hears()

    assert await ann_hears()
    await lobby.tell("ann", "bob", is_blocked=True)
    await eventually(ann_hears_nothing)
    assert not await ann_hears()
    await lobby.tell("ann", "bob", is_blocked=False)
    await eventually(ann_hears)
    assert len(await heard(eve)) > len(await heard(ann))
    assert len(lobby.asked) == 1


@pytest.mark.ruling("TL-45")
async def test_tl_45_a_phrase_that_waits_for_the_lobby_holds_up_nothing_else(
    start_table: StartTable, lobby: LobbyDouble
) -> None:
    lobby.gate.clear()
    ann, bob, eve = await three(await start_table())
    await bob.send(type="say", id="phrase-of-bob-0001", phrase="hello")
    await eventually(lambda: bool(lobby.asked))
    assert (await eve.command("sit"))["type"] == "event"
    assert (await bob.command("mute", seat=0, muted=False))["type"] == "done"
    assert await heard(ann) == []
    lobby.gate.set()
    await ann.frame("said")
    assert (await bob.until(lambda frame: frame.get("id") == "phrase-of-bob-0001"))["type"] == "done"


@pytest.mark.ruling("TL-45")
async def test_tl_45_while_the_lobby_is_away_phrases_pass_and_what_was_known_counts(
    start_table: StartTable, lobby: LobbyDouble
) -> None:
    lobby.pairs = {("ann", "bob"), ("fay", "bob")}
    stack = await start_table()
    ann, bob, eve = await three(stack)
    await bob.command("say", phrase="angry")
    lobby.is_away = True
    fay = await stack.join(stack.table_ids[0], "fay")
    await bob.command("say", phrase="sad")
    assert [await heard(player) for player in (ann, eve, fay)] == [[], ["angry", "sad"], ["sad"]]


class TestPairs:
    """What is known of them, for how long, and how many."""

    async def test_tl_8_they_are_asked_for_again_after_a_while(self, bus: Bus, lobby: LobbyDouble) -> None:
        now = [0.0]
        known = Blocks(bus, clock=lambda: now[0])
        assert known.known_blockers("bob", ["ann", "bob"]) is None
        assert await known.blockers("bob", ["ann", "bob"]) == frozenset()
        lobby.pairs = {("ann", "bob")}
        assert known.known_blockers("bob", ["ann"]) == frozenset()
        now[0] = blocks.KEPT_SECONDS
        assert known.known_blockers("bob", ["ann"]) is None
        assert await known.blockers("bob", ["ann"]) == {"ann"}

    @pytest.mark.parametrize("says_so", [True, False])
    async def test_tl_8_a_silent_lobby_is_left_alone_for_a_while(
        self, bus: Bus, lobby: LobbyDouble, monkeypatch: pytest.MonkeyPatch, says_so: bool
    ) -> None:
        now = [0.0]
        known = Blocks(bus, clock=lambda: now[0])
        lobby.pairs = {("ann", "bob")}
        with monkeypatch.context() as hurried:
            hurried.setattr(blocks, "LOBBY_SECONDS_MAX", 0.05)
            lobby.is_away = says_so
            if not says_so:
                lobby.gate.clear()
            assert await known.blockers("bob", ["ann"]) == frozenset()
        assert known.known_blockers("bob", ["ann"]) == frozenset()
        lobby.is_away = False
        lobby.gate.set()
        now[0] = blocks.SILENCE_SECONDS
        assert await known.blockers("bob", ["ann"]) == {"ann"}

    async def test_tl_8_what_is_told_while_the_lobby_is_asked_is_newer(self, bus: Bus, lobby: LobbyDouble) -> None:
        known = Blocks(bus, clock=lambda: 0.0)
        lobby.gate.clear()
        asking = asyncio.create_task(known.blockers("bob", ["ann"]))
        await eventually(lambda: bool(lobby.asked))
        await known.changed(BlockChanged("ann", "bob", is_blocked=True))
        lobby.gate.set()
        assert await asking == {"ann"}

    async def test_tl_8_the_oldest_is_forgotten_first(self, bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(blocks, "PAIRS_MAX", 2)
        known = Blocks(bus, clock=lambda: 0.0)
        for blocker in ("ann", "cyn", "dan"):
            await known.changed(BlockChanged(blocker, "bob", is_blocked=True))
        assert known.known_blockers("bob", ["cyn", "dan"]) == frozenset(("cyn", "dan"))
        assert known.known_blockers("bob", ["ann"]) is None
