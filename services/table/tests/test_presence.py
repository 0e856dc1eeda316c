"""Who counts as here: several connections, short losses, long ones (TL-30, TL-41, TL-42); over real sockets."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_contracts import frames
from darbar_kit.testing import eventually
from darbar_table.app import SERVICE

GRACE_SECONDS = 0.3


def sockets_of(stack: Stack, table_id: str, account_id: str) -> int:
    live = stack.runner.app[SERVICE].present_node().owner.live_tables[UUID(table_id)]
    return sum(socket.account_id == account_id for socket in live.sockets)


def kinds(player: Player) -> list[Any]:
    return [frame["kind"] for frame in player.frames if frame["type"] == "event"]


async def some_time_passes(stack: Stack) -> None:
    """Longer than the grace: another table sees an absence come about that began just now."""
    other = await stack.open_table(host="zoe")
    zoe, yan = await stack.join(other, "zoe"), await stack.join(other, "yan")
    await yan.command("sit")
    await yan.close()
    await zoe.event("player_went_offline")


@pytest.mark.ruling("TL-41")
async def test_tl_41_a_player_is_online_while_one_of_several_connections_is_open(start_table: StartTable) -> None:
    stack = await start_table(offline_grace_seconds=GRACE_SECONDS)
    table_id = await stack.open_table()
    ann, first = await stack.join(table_id, "ann"), await stack.join(table_id, "bob")
    await first.command("sit")
    second = await stack.join(table_id, "bob")
    assert (await second.frame("snapshot"))["seat"] == 2
    await first.close()
    await eventually(lambda: sockets_of(stack, table_id, "bob") == 1)
    await some_time_passes(stack)
    assert "player_went_offline" not in kinds(ann)
    await second.close()
    assert (await ann.event("player_went_offline"))["public"] == {"seat": 2}


@pytest.mark.ruling("TL-41")
async def test_tl_41_every_connection_of_a_seat_gets_its_frames(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    table_id, players = await stack.full_table()
    twin = await stack.join(table_id, "dan")
    dealt = [await player.event("round_dealt") for player in (players[3], twin)]
    assert dealt[0] == dealt[1]


async def test_everybody_hears_the_version_without_asking(
    start_table: StartTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "HEARTBEAT_SECONDS", 0.05)
    stack = await start_table()
    table_id = await stack.open_table()
    ann, bob = await stack.join(table_id, "ann"), await stack.join(table_id, "bob")
    await bob.command("sit")
    for player in (ann, bob):
        await player.until(lambda frame: frame == {"type": "heartbeat", "version": 2})


@pytest.mark.ruling("TL-44")
async def test_tl_44_who_looked_on_at_a_private_table_is_sent_away_when_a_round_begins(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.5)
    table_id = await stack.open_table(visibility="private")
    eve, players = await stack.join(table_id, "eve"), []
    for name in ("bob", "cyn", "dan"):
        players.append(await stack.join(table_id, name))
        await players[-1].command("sit")
    assert (await eve.frame("closing"))["code"] == "table_private"
    for player in players:
        await player.event("round_dealt")
    assert "round_dealt" not in kinds(eve)


@pytest.mark.ruling("TL-30")
@pytest.mark.ruling("TL-42")
async def test_tl_42_a_connection_lost_for_less_than_the_grace_is_nothing(start_table: StartTable) -> None:
    stack = await start_table(offline_grace_seconds=GRACE_SECONDS)
    table_id = await stack.open_table()
    ann, bob = await stack.join(table_id, "ann"), await stack.join(table_id, "bob")
    await bob.command("sit")
    await bob.close()
    await eventually(lambda: sockets_of(stack, table_id, "bob") == 0)
    back = await stack.join(table_id, "bob")
    assert (await back.frame("snapshot"))["table"]["seats"][2]["away"] is False
    await some_time_passes(stack)
    assert kinds(ann) == ["seat_taken"]
    await back.close()
    assert (await ann.event("player_went_offline"))["public"] == {"seat": 2}
