"""Quick play over real servers: those who seek the same sit down together. Open this when people sit apart."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest

from darbar_client import Darbar, DarbarError
from darbar_client.darbar import Player
from darbar_contracts.refusals import Reason

SEATS = 4
RACES = 12
RACES_SEED = 4
GAME = "court_piece"
RACE_BETS_COINS = range(100, 100 + RACES)
LONE_BET_COINS = 50
SENT_AWAY_BET_COINS = 60


async def seated_by_quick_play(player: Player, bet_coins: int) -> str:
    """Asks, and takes a seat at the table that the answer names."""
    found = await player.quick_play(GAME, bet_coins=bet_coins)
    async with await player.join(found, fair=False) as table:
        try:
            await table.sit()
        except DarbarError as refused:
            if refused.code != Reason.ALREADY_SEATED:
                raise
        return found.table_id


async def leave(player: Player, table_id: str) -> None:
    async with await player.join(table_id, fair=False) as table:
        await table.leave()


async def test_in_seeded_races_those_who_seek_the_same_sit_down_together(darbar: Darbar) -> None:
    for seed, bet_coins in enumerate(RACE_BETS_COINS, RACES_SEED):
        dice = random.Random(seed)
        players = [await darbar.guest() for _ in range(dice.randint(2, 6))]
        # Some ask twice, as impatient people do.
        asking = [*players, *(player for player in players if dice.random() < 0.2)]
        at = await asyncio.gather(*(seated_by_quick_play(player, bet_coins) for player in asking))
        people = Counter(dict(zip((player.account.id for player in asking), at, strict=True)).values())
        assert set(at) == set(people), (seed, "asking twice leads to the same table")
        assert (len(people), max(people.values()) <= SEATS) == (-(-len(players) // SEATS), True), (seed, people)
        for player, table_id in dict(zip(players, at, strict=False)).items():
            await leave(player, table_id)


async def test_hosts_who_sit_alone_meet_when_they_ask_again(darbar: Darbar) -> None:
    hosts = [await darbar.guest() for _ in range(SEATS)]
    tables = [await host.create_table(GAME, bet_coins=LONE_BET_COINS, visibility="public") for host in hosts]
    at: list[str] = []
    for _ in hosts:
        at = await asyncio.gather(*(seated_by_quick_play(host, LONE_BET_COINS) for host in hosts))
    assert set(at) == {tables[0].table_id}
    closed = [await closed_code(hosts[0], table.table_id) for table in tables[1:]]
    assert closed == [Reason.TABLE_CLOSED] * (SEATS - 1)
    await asyncio.gather(*(leave(host, tables[0].table_id) for host in hosts))


async def closed_code(player: Player, table_id: str) -> str:
    """Waits until the lobby has heard of it."""
    async with asyncio.timeout(30):
        while True:
            try:
                await player.table(table_id)
            except DarbarError as refused:
                return refused.code


@pytest.mark.ruling("TL-8")
async def test_tl_8_who_was_sent_away_is_brought_to_another_table(darbar: Darbar) -> None:
    host, guest, other = [await darbar.guest() for _ in range(3)]
    made = await host.create_table(GAME, bet_coins=SENT_AWAY_BET_COINS, visibility="public")
    async with await host.join(made, fair=False) as table:
        assert await seated_by_quick_play(guest, SENT_AWAY_BET_COINS) == made.table_id
        await table.until(lambda now: len(now.now.people) == 2)
        await table.send_player_away(next(seat for seat in table.now.people if seat != table.seat))
        await table.until(lambda now: len(now.now.people) == 1)
        elsewhere = await seated_by_quick_play(guest, SENT_AWAY_BET_COINS)
        assert elsewhere != made.table_id
        assert await seated_by_quick_play(other, SENT_AWAY_BET_COINS) == made.table_id
    for player, table_id in ((guest, elsewhere), (other, made.table_id), (host, made.table_id)):
        await leave(player, table_id)
