"""Maintenance: what operators announce is kept and told, and while they drain no new table is made (TL-40)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp.test_utils import TestClient, TestServer
from lobby_doubles import LobbyServer

from darbar_contracts.lobby import ChangeMaintenance, Maintenance, MaintenanceRequest
from darbar_contracts.subjects import LOBBY_CHANGE_MAINTENANCE, LOBBY_MAINTENANCE, LOBBY_MAINTENANCE_CHANGED
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused
from darbar_kit.testing import eventually
from darbar_lobby.app import build_app

pytestmark = pytest.mark.ruling("TL-40")

LINE = "Maintenance at 22:00"


@pytest_asyncio.fixture(loop_scope="session")
async def admin(lobby: LobbyServer) -> AsyncIterator[Bus]:
    """As operators' commands come; nothing is announced afterwards."""
    bus = await Bus.connect(lobby.nats.url("admin"), name="admin")
    yield bus
    await change(bus, announcement=None, draining=False)
    await bus.close()


async def change(admin: Bus, **changes: Any) -> Maintenance:
    message = ChangeMaintenance("olga", **changes)
    return await admin.request(LOBBY_CHANGE_MAINTENANCE, message, Maintenance, timeout_seconds=5)


async def test_tl_40_an_announcement_is_kept_told_and_taken_back(lobby: LobbyServer, admin: Bus) -> None:
    table = lobby.table.bus
    told: list[Maintenance] = []

    async def hear(message: Maintenance) -> None:
        told.append(message)

    listening = await table.listen(LOBBY_MAINTENANCE_CHANGED, Maintenance, hear)
    announced = await change(admin, announcement=LINE)
    assert (announced.announcement, announced.draining) == (LINE, False)
    assert await table.request(LOBBY_MAINTENANCE, MaintenanceRequest(), Maintenance, timeout_seconds=5) == announced
    # A repeat is no news; what is not spoken of stays.
    assert await change(admin, announcement=LINE) == announced
    draining = await change(admin, draining=True)
    assert draining == Maintenance(announced.number + 1, LINE, draining=True)
    taken_back = await change(admin, announcement=None)
    assert taken_back == Maintenance(announced.number + 2, None, draining=True)
    await eventually(lambda: told == [announced, announced, draining, taken_back])
    await listening.stop()


@pytest.mark.parametrize("text", ["", "x" * 201, "two\nlines", "tab\t"])
async def test_tl_40_what_is_announced_is_one_short_line(admin: Bus, text: str) -> None:
    with pytest.raises(Refused, match="message_invalid"):
        await change(admin, announcement=text)


async def test_tl_40_while_operators_drain_no_table_is_made_and_open_ones_are_found(
    lobby: LobbyServer, admin: Bus
) -> None:
    ann, bob, key = await lobby.guest(), await lobby.guest(), lobby.key()
    made = await ann.make_table(key)
    await change(admin, draining=True)
    refused = [
        await bob.make_table(lobby.key()),
        await bob.post("/v1/quick-play", {"game": "king_20", "bet_coins": 300}),
        await bob.post("/v1/quick-play", {"game": "king_20", "bet_coins": 300}, Idempotency_Key=lobby.key()),
    ]
    assert [(answer.status, answer.code) for answer in refused] == [(409, "draining")] * 3
    assert len(lobby.table.asked) == 1
    # A repeat gets its answer, and quick play a seat that is free.
    assert await ann.make_table(key) == made
    terms = lobby.table.asked[0].terms
    found = await bob.post("/v1/quick-play", {"game": terms.game, "bet_coins": terms.bet_coins})
    assert (found.status, found.body["table_id"]) == (200, made.body["table_id"])
    await change(admin, draining=False)
    assert (await bob.make_table(lobby.key())).status == 201


async def test_tl_40_another_lobby_drains_too_and_so_does_one_that_starts(lobby: LobbyServer, admin: Bus) -> None:
    await change(admin, announcement=LINE, draining=True)
    async with TestClient(TestServer(build_app(lobby.settings))) as client:
        ann = (await lobby.guest()).at(client)
        assert (await ann.make_table(lobby.key())).code == "draining"
