"""Bans, and accounts as administrators see them. Open this when a ban does not hold."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from darbar_contracts.admin.api import AccountLookedAt, Ban, LobbyScope, SessionSeen
from darbar_contracts.lobby import AccountShutOut
from darbar_contracts.refusals import Reason
from darbar_kit.database import Database

SESSIONS_SEEN_MAX = 50


class BanStore:
    """Statements about single accounts; SQL in administrators.sql."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    async def ban(
        self, account_id: str, scope: LobbyScope, hours: int | None, *, reason: str, administrator: str
    ) -> Ban | None:
        """None: there is no such account."""
        rows = await self._database.write(self._sql["ban"], account_id, scope, hours, reason, administrator)
        return msgspec.convert(dict(rows[0]), Ban) if rows else None

    async def lift(self, account_id: str, scope: LobbyScope) -> bool:
        return bool(await self._database.write(self._sql["lift_ban"], account_id, scope))

    async def bans(self, account_id: str) -> tuple[Ban, ...]:
        """Those that hold now, the widest first."""
        rows = await self._database.read(self._sql["bans"], account_id)
        return tuple(msgspec.convert(dict(row), Ban) for row in rows)

    async def shut_outs(self, after: str, *, seconds: float, limit: int) -> tuple[AccountShutOut, ...]:
        """Those banned or deleted in the last `seconds`, in the order of their ids."""
        rows = await self._database.read(self._sql["shut_outs"], after, seconds, limit)
        return tuple(shut_out(row["account_id"], ban_reason=row["reason"]) for row in rows)

    async def looked_at(self, account: str) -> AccountLookedAt | None:
        """By id or handle, also one that is no more."""
        row = await self._database.read_row(self._sql["account_looked_at"], account)
        return None if row is None else msgspec.convert(dict(row), AccountLookedAt)

    async def sessions(self, account_id: str) -> tuple[SessionSeen, ...]:
        """The last sign-ins."""
        rows = await self._database.read(self._sql["sessions_of_account"], account_id, SESSIONS_SEEN_MAX)
        return tuple(msgspec.convert(dict(row), SessionSeen) for row in rows)

    async def rename(self, account_id: str, name: str) -> bool:
        return bool(await self._database.write(self._sql["rename_account"], account_id, name))

    async def delete(self, account_id: str, *, name: str, avatar: str) -> bool:
        """False: it is no more already."""
        return bool(await self._database.write(self._sql["delete_account"], account_id, name, avatar))


def shut_out(account_id: str, *, ban_reason: str | None) -> AccountShutOut:
    """What table processes are told; without a reason the account is no more."""
    if ban_reason is None:
        return AccountShutOut(account_id, Reason.ACCOUNT_UNKNOWN, "This account has been deleted.")
    return AccountShutOut(account_id, Reason.BANNED, ban_reason)
