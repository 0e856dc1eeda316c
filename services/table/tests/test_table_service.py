"""A table over real servers: from sitting down to the coins of a round."""

from __future__ import annotations

import asyncio

from table_stack import StartTable

from darbar_contracts.wallet import SettleRequest, StakeRequest


async def test_four_players_play_a_round_and_the_pot_is_settled(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    _, players = await stack.full_table()
    await asyncio.gather(*(player.play(lambda frame: frame.get("kind") == "settled") for player in players))
    stake, settle = stack.wallet.requests[:2]
    assert isinstance(stake, StakeRequest)
    assert isinstance(settle, SettleRequest)
    assert settle.stake_key == stake.key
    assert sum(share.coins for share in settle.shares) == 100 * (4 + len(settle.pays_again))


async def test_every_seat_gets_one_frame_for_every_version(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    _, players = await stack.full_table()
    await asyncio.gather(*(player.play(lambda frame: frame.get("kind") == "settled") for player in players))
    for player in players:
        versions = [frame["version"] for frame in player.frames if frame["type"] == "event"]
        assert versions == list(range(versions[0], versions[0] + len(versions)))
