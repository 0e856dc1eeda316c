"""Votes over real servers: coins that really go back, and a server that is killed while others still have to answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from whole_games import BACKOFF, coins_add_up, local_server, new_folder

from darbar_client import Darbar, Player, TableSocket
from darbar_client.demo.local_server import LocalServer
from darbar_contracts.frames import EventFrame, VoteAbout
from darbar_contracts.tables import JsonObject
from darbar_kit.testing import eventually

BET_COINS = 100
CARDS = 6
SEATS = 4
VOTE_SECONDS = 8
STEP_SECONDS_MAX = 60.0
# Nobody is dealt a second game while the test looks at what came of the first.
LONG_COUNT_IN = {"DARBAR_TABLE_COUNT_IN_SECONDS": "300", "DARBAR_TABLE_VOTE_SECONDS": str(VOTE_SECONDS)}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def voting_server(stack_folder: Path) -> AsyncIterator[LocalServer]:
    async with local_server(new_folder(stack_folder, "votes"), LONG_COUNT_IN) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def voters(voting_server: LocalServer) -> AsyncIterator[Darbar]:
    async with Darbar(voting_server.url, backoff=BACKOFF) as opened:
        yield opened


class Voters:
    """People at one table."""

    def __init__(self, players: list[Player], tables: list[TableSocket]) -> None:
        self.players = players
        self.tables = tables

    @classmethod
    async def seated(cls, darbar: Darbar, *, people: int = SEATS) -> Voters:
        players = [await darbar.guest() for _ in range(people)]
        ref = await players[0].create_table("king_short", bet_coins=BET_COINS, turn_seconds=30)
        tables = [await player.join(ref, fair=False) for player in players]
        for table in tables[1:]:
            await table.sit()
        return cls(players, tables)

    async def play(self) -> None:
        """A few cards of the first round."""
        await self.tables[0].start_now()
        for _ in range(CARDS):
            await eventually(self._somebody_is_on_turn, seconds=STEP_SECONDS_MAX)
            on_turn = next(table for table in self.tables if table.legal is not None)
            await on_turn.decide(on_turn.choices()[0])

    async def ask(self, number: int, about: VoteAbout, seat: int | None = None) -> None:
        await self.tables[number].ask_vote(about, seat)
        await self.all_see(lambda table: table.now.vote is not None)

    async def all_see(self, condition: Callable[[TableSocket], object]) -> None:
        for table in self.tables:
            await table.until(condition, seconds=STEP_SECONDS_MAX)

    def _somebody_is_on_turn(self) -> bool:
        return any(table.legal is not None for table in self.tables)


@pytest.mark.ruling("TL-39")
async def test_tl_39_four_people_end_a_game_early_and_have_their_coins_and_no_quit(
    voting_server: LocalServer, voters: Darbar
) -> None:
    four = await Voters.seated(voters)
    before = [(await player.wallet()).balance_coins for player in four.players]
    await four.play()
    paid = [(await player.wallet()).balance_coins for player in four.players]
    assert paid == [coins - 2 * BET_COINS for coins in before]
    await four.ask(3, "end_game")
    for table in four.tables[:3]:
        await table.answer_vote(agree=True)
    await four.all_see(lambda table: table.now.game_number == 2)
    for player, coins in zip(four.players, before, strict=True):
        wallet = await player.wallet()
        back = [entry for entry in wallet.entries if entry.purpose == "ended_early"]
        assert sorted((entry.reason, entry.coins) for entry in back) == [
            ("bet_back", BET_COINS),
            ("reserve_back", BET_COINS),
        ]
        assert (wallet.balance_coins, wallet.in_pots_coins, wallet.reserved_coins) == (coins, 0, 0)
    assert await coins_add_up(voting_server)
    now = four.tables[0].now
    assert (now.people, now.phase, now.started) == ((0, 1, 2, 3), "counting_in", False)
    ended = await told(four.tables[1], "game_ended")
    assert (ended["reason"], ended["places"], ended["totals"]) == ("ended_early", [], [])
    replay = await four.players[0].replay(four.tables[0].table_id)
    assert [event.kind for event in replay.events].count("seeds_shown") == 1
    await four.tables[2].leave()
    assert (await told(four.tables[1], "seat_freed"))["quit"] is False


@pytest.mark.ruling("TL-26")
@pytest.mark.ruling("TL-39")
@pytest.mark.ruling("TL-43")
async def test_tl_39_a_vote_ends_as_it_would_have_though_the_server_is_killed_in_the_middle_of_it(
    voting_server: LocalServer, voters: Darbar
) -> None:
    agreeing, silent, for_a_bot = [await Voters.seated(voters, people=people) for people in (4, 4, 3)]
    for voted in (agreeing, silent):
        await voted.play()
        await voted.ask(0, "end_game")
        await voted.tables[1].answer_vote(agree=True)
    await for_a_bot.ask(0, "bot", 3)
    await voting_server.kill()
    await voting_server.start()
    await for_a_bot.all_see(lambda table: table.caught_up)
    for table in agreeing.tables[2:]:
        await table.until(lambda now: now.caught_up, seconds=STEP_SECONDS_MAX)
        await table.answer_vote(agree=True)
    await agreeing.all_see(lambda table: table.caught_up and table.now.game_number == 2)
    await silent.all_see(lambda table: table.caught_up and table.now.vote is None)
    await for_a_bot.all_see(lambda table: table.caught_up and table.now.seats[3].kind == "bot")
    assert (silent.tables[0].now.game_number, silent.tables[0].now.phase) == (1, "playing")
    for player in agreeing.players:
        wallet = await player.wallet()
        assert (wallet.in_pots_coins, wallet.reserved_coins) == (0, 0)
    assert (await silent.players[0].wallet()).in_pots_coins == BET_COINS
    assert await coins_add_up(voting_server)


async def told(table: TableSocket, kind: str) -> JsonObject:
    """The next event of this kind."""
    async with asyncio.timeout(STEP_SECONDS_MAX):
        async for frame in table.events():
            if isinstance(frame, EventFrame) and frame.kind == kind:
                return frame.public
    raise AssertionError(f"the table was closed without {kind}")
