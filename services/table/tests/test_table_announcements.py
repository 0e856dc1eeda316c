"""What operators announce is shown at every table, to who is there and to who comes; the lobby may be away (TL-40)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from table_doubles import Player
from table_stack import StartTable

from darbar_contracts.lobby import Maintenance, MaintenanceRequest
from darbar_contracts.subjects import LOBBY_MAINTENANCE, LOBBY_MAINTENANCE_CHANGED
from darbar_kit.bus import Bus
from darbar_kit.errors import Unavailable
from darbar_table.handlers.lobby_news import asking

pytestmark = pytest.mark.ruling("TL-40")

LINE = "Maintenance at 22:00"


class LobbyDouble:
    """Says what is announced, and tells changes."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.is_away = True
        self.now = Maintenance(0, None, draining=False)

    async def maintenance(self, _request: MaintenanceRequest) -> Maintenance:
        if self.is_away:
            raise Unavailable("unavailable")
        return self.now

    async def tell(self, number: int, text: str | None) -> None:
        self.now = Maintenance(number, text, draining=False)
        await self._bus.publish(LOBBY_MAINTENANCE_CHANGED, self.now)


@pytest_asyncio.fixture(loop_scope="session")
async def lobby(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LobbyDouble]:
    """A table process asks it often, not once in ten seconds."""
    for name in ("ASK_AGAIN_SECONDS", "PAUSE_SECONDS_MIN", "PAUSE_SECONDS_MAX"):
        monkeypatch.setattr(asking, name, 0.02)
    double = LobbyDouble(bus)
    serving = await bus.serve(LOBBY_MAINTENANCE, MaintenanceRequest, double.maintenance)
    yield double
    await serving.stop()


def heard(player: Player) -> list[str | None]:
    return [frame["text"] for frame in player.frames if frame["type"] == "announced"]


async def test_tl_40_every_table_is_told_at_once_and_who_comes_later_with_the_welcome(
    start_table: StartTable, lobby: LobbyDouble
) -> None:
    stack = await start_table()
    tables = [await stack.open_table(host=host) for host in ("ann", "bob")]
    ann, bob, eve = [
        await stack.join(table, name) for table, name in zip((*tables, tables[0]), ("ann", "bob", "eve"), strict=True)
    ]
    assert (await ann.frame("welcome"))["announcement"] is None
    await lobby.tell(1, LINE)
    for player in (ann, bob, eve):
        assert await player.frame("announced") == {"type": "announced", "text": LINE}
    cyn = await stack.join(tables[0], "cyn")
    assert (await cyn.frame("welcome"))["announcement"] == LINE
    # One that comes late, and one that is no news, are not shown.
    await lobby.tell(0, "old")
    await lobby.tell(2, LINE)
    await lobby.tell(3, None)
    await bob.until(lambda frame: frame["type"] == "announced" and frame["text"] is None)
    assert heard(bob) == [LINE, None]
    assert (await (await stack.join(tables[0], "dan")).frame("welcome"))["announcement"] is None


async def test_tl_40_a_process_that_was_not_told_asks_and_nobody_waits_for_a_silent_lobby(
    start_table: StartTable, lobby: LobbyDouble
) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    ann = await stack.join(table_id, "ann")
    lobby.now = Maintenance(7, LINE, draining=True)
    lobby.is_away = False
    assert (await ann.frame("announced"))["text"] == LINE
    # The lobby's database was restored from a backup: its numbers are smaller, and it is right.
    lobby.now = Maintenance(2, "Back soon", draining=False)
    await ann.until(lambda frame: frame.get("text") == "Back soon")
    lobby.is_away = True
    bob = await stack.join(table_id, "bob")
    assert (await bob.frame("welcome"))["announcement"] == "Back soon"
    assert (await bob.command("sit"))["type"] == "event"
