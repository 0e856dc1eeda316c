"""Accounts that the lobby shuts out: their sockets end at once, and they don't come back before they may."""

from __future__ import annotations

from uuid import UUID

import aiohttp
import pytest
from table_stack import Stack, StartTable

from darbar_contracts.lobby import BANNED_ROLE, AccountShutOut
from darbar_contracts.subjects import LOBBY_SHUT_OUT
from darbar_kit.bus import Bus
from darbar_kit.testing import eventually
from darbar_kit.tokens import Claims
from darbar_table.app import SERVICE


async def replay_status(stack: Stack, who: str) -> int:
    headers = {"Authorization": f"Bearer {stack.lobby.token(who)}"}
    address = f"{stack.address}/v1/tables/00000000-0000-4000-8000-000000000000/replay"
    async with aiohttp.ClientSession() as session, session.get(address, headers=headers) as answer:
        return answer.status


async def test_whoever_is_shut_out_goes_at_once_everybody_else_stays(start_table: StartTable, bus: Bus) -> None:
    stack = await start_table()
    table_id, players = await stack.full_table()
    await bus.publish(LOBBY_SHUT_OUT, AccountShutOut("bob", "banned", "insults"))
    closing = await players[1].until(lambda frame: frame["type"] == "closing")
    assert (closing["code"], closing["message"]) == ("banned", "insults")
    again = await stack.join(table_id, "bob", hello=False)
    await again.send(type="hello", protocol=1, token=stack.lobby.token("bob"))
    assert (await again.until(lambda frame: frame["type"] == "closing"))["code"] == "banned"
    assert await replay_status(stack, "bob") == 403
    assert await replay_status(stack, "ann") == 404
    assert (await players[0].command("ready"))["type"] != "closing"
    await bus.publish(LOBBY_SHUT_OUT, AccountShutOut("bob", "banned", "a mistake", is_over=True))

    async def is_let_in() -> bool:
        return await replay_status(stack, "bob") == 404

    await eventually(is_let_in)
    back = await stack.join(table_id, "bob")
    assert back.frames[0]["type"] == "welcome"


@pytest.mark.parametrize(("role", "welcome"), [(BANNED_ROLE, False), ("player", True)])
async def test_whose_token_says_so_sits_at_no_table(start_table: StartTable, role: str, welcome: bool) -> None:
    stack = await start_table()
    table_id = await stack.open_table(visibility="public")
    player = await stack.join(table_id, "eve", hello=False)
    token = stack.lobby.writer.write(Claims(account_id="eve", name="Eve", avatar="fox", role=role))
    await player.send(type="hello", protocol=1, token=token)
    first = await player.until(lambda frame: frame["type"] in ("welcome", "closing"))
    assert (first["type"] == "welcome", first.get("code")) == (welcome, None if welcome else "banned")


async def test_a_socket_ends_when_its_fresh_token_says_that_the_account_sits_at_no_table(
    start_table: StartTable,
) -> None:
    stack = await start_table()
    player = await stack.join(await stack.open_table(visibility="public"), "eve")
    token = stack.lobby.writer.write(Claims(account_id="eve", name="Eve", avatar="fox", role=BANNED_ROLE))
    await player.send(type="fresh_token", token=token)
    assert (await player.frame("closing"))["code"] == "banned"


async def test_whoever_is_shut_out_goes_also_where_the_table_is_at_another_process(
    start_table: StartTable, bus: Bus
) -> None:
    stays = {"better_place_seconds": 3600.0}
    owner, other = await start_table(**stays), await start_table(**stays)
    table_id = await owner.open_table()
    bob, eve = await other.join(table_id, "bob"), await other.join(table_id, "eve")
    sockets = other.runner.app[SERVICE].socket_handler
    assert sockets is not None
    # As if only this process had heard of it.
    sockets.close_those({"bob": AccountShutOut("bob", "banned", "insults")})
    assert (await bob.frame("closing"))["message"] == "insults"
    live = owner.runner.app[SERVICE].present_node().owner.live_tables[UUID(table_id)]
    await eventually(lambda: [socket.account_id for socket in live.sockets] == ["eve"])
    assert (await eve.command("sit"))["type"] == "event"
