"""Administrators for tests, made as `darbar admin` makes them. Open this to sign one in."""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import asyncpg
from lobby_doubles import Caller, LobbyServer, Reply

from darbar_contracts.admin.api import Role
from darbar_lobby.domain.second_factor import STEP_SECONDS, code_at
from darbar_lobby.handlers.admin.administrators import create_administrator

PASSWORD = "seven mangoes at noon"


@dataclass(frozen=True)
class Operator:
    """An administrator with what an authenticator app knows."""

    lobby: LobbyServer
    name: str
    secret: bytes

    @property
    def code(self) -> str:
        """Of this moment."""
        return code_at(self.secret, int(time.time()) // STEP_SECONDS)

    async def password_given(self) -> Caller:
        """With a session that waits for the second factor."""
        stranger = self.lobby.stranger()
        reply = await stranger.post("/v1/admin/sessions", {"name": self.name, "password": PASSWORD})
        assert (reply.status, reply.body["confirmed"]) == (201, False), reply
        return with_token(stranger, reply)

    async def signed_in(self) -> Caller:
        """With both factors. A code is good once: here it is as if it had not been used."""
        await by_owner(self.lobby, "UPDATE administrator SET totp_step_last = 0 WHERE name = $1", self.name)
        waiting = await self.password_given()
        reply = await waiting.post("/v1/admin/sessions/confirm", {"code": self.code})
        assert (reply.status, reply.body["confirmed"]) == (201, True), reply
        return with_token(waiting, reply)


async def operator(lobby: LobbyServer, name: str, role: Role = "admin", *, handles: tuple[str, ...] = ()) -> Operator:
    address = await create_administrator(lobby.database.owner_url, name, role, PASSWORD, handles=handles)
    key = parse_qs(urlsplit(address).query)["secret"][0]
    return Operator(lobby, name, base64.b32decode(key + "=" * (-len(key) % 8)))


async def by_owner(lobby: LobbyServer, statement: str, *arguments: object) -> None:
    """What nobody may do who is not the owner of the database."""
    connection = await asyncpg.connect(lobby.database.owner_url)
    try:
        await connection.execute(statement, *arguments)
    finally:
        await connection.close()


def with_token(caller: Caller, reply: Reply) -> Caller:
    return Caller(caller.client, caller.address, {}, token=reply.body["token"])
