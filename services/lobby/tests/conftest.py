"""A lobby over real servers, its first administrator. Open this when a fixture of the lobby's tests isn't found."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from lobby_administrators import Operator, operator
from lobby_doubles import Caller, LobbyServer, open_lobby

from darbar_kit.testing import MakeDatabase, MakeNats


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def lobby(make_database: MakeDatabase, make_nats: MakeNats) -> AsyncIterator[LobbyServer]:
    """A file that wants other settings opens one of its own."""
    async with open_lobby(make_database, make_nats) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def olga(lobby: LobbyServer) -> Operator:
    return await operator(lobby, "olga")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def admin(olga: Operator) -> Caller:
    return await olga.signed_in()
