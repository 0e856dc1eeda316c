"""What the lobby tells once over NATS reaches also who did not hear it: a process that starts, or was cut off."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import aiohttp
import msgspec
import pytest
import pytest_asyncio
from table_stack import Stack, StartTable

from darbar_contracts.lobby import (
    AccountShutOut,
    BlockersAnswer,
    BlockersRequest,
    Maintenance,
    MaintenanceRequest,
    ShutOutsAnswer,
    ShutOutsRequest,
)
from darbar_contracts.subjects import LOBBY_BLOCKERS, LOBBY_MAINTENANCE, LOBBY_SHUT_OUT, LOBBY_SHUT_OUTS
from darbar_kit.bus import Bus
from darbar_kit.testing import Tunnel, eventually
from darbar_table.handlers.lobby_news import asking

NOBODYS = "00000000-0000-4000-8000-000000000000"
NEVER_SECONDS = 3600.0


class LobbyDouble:
    """Answers what it is asked, and tells nothing by itself; its gate holds back what it has to say."""

    def __init__(self) -> None:
        self.announcement: str | None = None
        self.blocks: set[tuple[str, str]] = set()
        self.shut_out: tuple[str, ...] = ()
        self.asked: Counter[type[msgspec.Struct]] = Counter()
        self.gate = asyncio.Event()
        self.gate.set()

    async def maintenance(self, request: MaintenanceRequest) -> Maintenance:
        self.asked[type(request)] += 1
        return Maintenance(1, self.announcement, draining=False)

    async def blockers(self, request: BlockersRequest) -> BlockersAnswer:
        self.asked[type(request)] += 1
        return BlockersAnswer(tuple(one for one in request.among if (one, request.account_id) in self.blocks))

    async def shut_outs(self, request: ShutOutsRequest) -> ShutOutsAnswer:
        """One account a page."""
        following = [account_id for account_id in self.shut_out if account_id > request.after]
        self.asked[type(request)] += 1
        await self.gate.wait()
        accounts = tuple(AccountShutOut(account_id, "banned", "insults") for account_id in following[:1])
        return ShutOutsAnswer(accounts, more=len(following) > 1)


@pytest_asyncio.fixture(loop_scope="session")
async def lobby(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LobbyDouble]:
    monkeypatch.setattr(asking, "ASK_AGAIN_SECONDS", NEVER_SECONDS)
    double = LobbyDouble()
    served = [
        await bus.serve(LOBBY_MAINTENANCE, MaintenanceRequest, double.maintenance),
        await bus.serve(LOBBY_BLOCKERS, BlockersRequest, double.blockers),
        await bus.serve(LOBBY_SHUT_OUTS, ShutOutsRequest, double.shut_outs),
    ]
    yield double
    double.gate.set()
    for one in served:
        await one.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def tunnel(nats_server: str) -> AsyncIterator[Tunnel]:
    """Open to the end, so that what uses it can stop."""
    async with Tunnel.to(nats_server) as opened:
        yield opened


async def replay_status(stack: Stack, who: str) -> int:
    """403 to who is shut out; to everybody else the table is unknown."""
    headers = {"Authorization": f"Bearer {stack.lobby.token(who)}"}
    address = f"{stack.address}/v1/tables/{NOBODYS}/replay"
    async with aiohttp.ClientSession() as session, session.get(address, headers=headers) as answer:
        return answer.status


async def test_a_process_that_starts_after_a_ban_knows_of_it_of_an_announcement_and_of_a_block(
    start_table: StartTable, lobby: LobbyDouble
) -> None:
    lobby.shut_out, lobby.announcement, lobby.blocks = ("bob", "cyn"), "Back soon", {("ann", "dan")}
    stack = await start_table()
    table_id = await stack.open_table()
    for name in ("bob", "cyn"):
        banned = await stack.join(table_id, name, hello=False)
        await banned.send(type="hello", protocol=1, token=banned.token)
        assert (await banned.frame("closing"))["code"] == "banned"
    ann, dan = await stack.join(table_id, "ann"), await stack.join(table_id, "dan")
    await ann.until(lambda frame: "Back soon" in (frame.get("announcement"), frame.get("text")))
    await dan.command("sit")
    await dan.command("say", phrase="hello")
    await ann.command("mute", seat=99, muted=True)
    assert [frame for frame in ann.frames if frame["type"] == "said"] == []


async def test_what_is_told_while_the_connection_is_gone_is_asked_for_when_it_is_back(
    tunnel: Tunnel, start_table: StartTable, lobby: LobbyDouble
) -> None:
    stack = await start_table(nats_url=tunnel.url)
    table_id = await stack.open_table()
    ann, bob, eve = [await stack.join(table_id, name) for name in ("ann", "bob", "eve")]
    await bob.command("sit")
    await bob.command("say", phrase="hello")
    await ann.frame("said")
    await eventually(lambda: len(lobby.asked) == 3)
    await tunnel.close()
    lobby.shut_out, lobby.announcement, lobby.blocks = ("eve",), "Back soon", {("ann", "bob")}
    await tunnel.open()
    assert (await eve.frame("closing"))["message"] == "insults"
    assert (await ann.frame("announced"))["text"] == "Back soon"
    start = len(ann.frames)
    assert (await bob.command("say", phrase="sad"))["type"] == "done"
    await ann.command("mute", seat=99, muted=True)
    assert [frame for frame in ann.frames[start:] if frame["type"] == "said"] == []


async def test_a_ban_and_its_end_that_nobody_told_are_found_soon(
    start_table: StartTable, lobby: LobbyDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lobby may die between storing one and telling it."""
    monkeypatch.setattr(asking, "ASK_AGAIN_SECONDS", 0.02)
    stack = await start_table()
    bob = await stack.join(await stack.open_table(), "bob")
    lobby.shut_out = ("bob",)
    assert (await bob.frame("closing"))["code"] == "banned"
    assert await replay_status(stack, "bob") == 403
    lobby.shut_out = ()

    async def is_let_in() -> bool:
        return await replay_status(stack, "bob") == 404

    await eventually(is_let_in)


async def test_a_ban_that_is_told_while_the_lobby_is_asked_is_newer_than_its_answer(
    start_table: StartTable, lobby: LobbyDouble, bus: Bus
) -> None:
    lobby.gate.clear()
    stack = await start_table()
    bob = await stack.join(await stack.open_table(), "bob")
    await eventually(lambda: lobby.asked[ShutOutsRequest] == 1)
    await bus.publish(LOBBY_SHUT_OUT, AccountShutOut("bob", "banned", "insults"))
    await bob.frame("closing")
    lobby.shut_out = ("bob",)
    lobby.gate.set()
    await eventually(lambda: lobby.asked[ShutOutsRequest] >= 2)
    assert await replay_status(stack, "bob") == 403
