"""A running table service with everybody around it. Open this to write a test over real servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

from aiohttp import web
from table_doubles import Lobby, Player, WalletDouble

from darbar_table.settings import Settings


class Stack:
    """One running table service and everybody around it."""

    def __init__(self, *, settings: Settings, runner: web.AppRunner, lobby: Lobby, wallet: WalletDouble) -> None:
        self.settings = settings
        self.runner = runner
        self.lobby = lobby
        self.wallet = wallet
        self.players: list[Player] = []
        self.table_ids: list[str] = []

    @property
    def address(self) -> str:
        host, port = self.runner.addresses[0][:2]
        return f"http://{host}:{port}"

    async def open_table(self, **changes: Any) -> str:
        """A new table of ann's; its id."""
        table_id = str(uuid4())
        await self.lobby.create(table_id, **changes)
        self.table_ids.append(table_id)
        return table_id

    async def join(self, table_id: str, name: str, *, hello: bool = True, version: int = 0) -> Player:
        """A connected player, not yet seated."""
        player = self.lobby.player(f"{self.address}/play/tables/{table_id}/socket", name)
        self.players.append(player)
        await player.connect(hello=hello, version=version)
        if hello:
            await player.until(lambda frame: frame["type"] in ("snapshot", "closing") or version > 0)
        return player

    async def full_table(self, **changes: Any) -> tuple[str, list[Player]]:
        """Ann, bob, cyn and dan in seats 0, 2, 1, 3: the count-in runs."""
        table_id = await self.open_table(**changes)
        players = [await self.join(table_id, "ann")]
        for name in ("bob", "cyn", "dan"):
            player = await self.join(table_id, name)
            answer = await player.command("sit")
            assert answer["type"] == "event", answer
            players.append(player)
        return table_id, players


StartTable = Callable[..., Awaitable[Stack]]
