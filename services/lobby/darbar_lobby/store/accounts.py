"""Accounts, sessions and owed coins in the database. Open this when a sign-in is lost or a grant is asked twice."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID, uuid4

import asyncpg
import msgspec

from darbar_kit.database import Connection, Database
from darbar_lobby.domain.sessions import (
    RefreshJudgement,
    RefreshState,
    refresh_judgement,
    successor_of,
    token_sha256,
)

REFRESH_DAYS = 180
TIDIED_AT_ONCE_MAX = 500
REFRESH_TOKENS_KEPT_DAYS = 7
INTENTIONS_KEPT_DAYS = 30
INTENTS_KEPT_DAYS = 1
CODES_KEPT_DAYS = 1
PLACES_KEPT_DAYS = 1
ADMINISTRATOR_SESSIONS_KEPT_DAYS = 1


class NameLoginTaken(Exception):
    """Another account signs in with this name."""


class StoredAccount(msgspec.Struct, frozen=True):
    """An account with what only the server may know."""

    account_id: str
    name: str
    avatar: str
    role: str
    name_login: str | None
    password_hash: str | None


class GrantDue(msgspec.Struct, frozen=True):
    """Coins that the wallet has not confirmed."""

    account_id: str
    grant_key: str


class Rotation(msgspec.Struct, frozen=True):
    """What came of a refresh token; everything is None when it is unknown. `successor` counts only when the judgement
    is good or repeated."""

    judgement: RefreshJudgement | None = None
    account_id: str | None = None
    successor: str = ""


class AccountStore:
    """Every statement about accounts; SQL in queries.sql."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    async def new_account(
        self, account_id: str, name: str, avatar: str, *, grant_key: str, grant_wait_seconds: float, first_token: bytes
    ) -> None:
        """The account, the coins it is owed and its first session, or nothing. The grant is not due for a moment: who
        makes the account asks for it first."""
        async with self._database.transaction() as connection:
            await connection.execute(self._sql["new_account"], account_id, name, avatar, grant_key, grant_wait_seconds)
            await self._new_family(connection, account_id, first_token)

    async def account(self, account_id: str) -> StoredAccount | None:
        return _account(await self._database.read_row(self._sql["account"], account_id))

    async def account_by_login(self, name_login: str) -> StoredAccount | None:
        return _account(await self._database.read_row(self._sql["account_by_login"], name_login))

    async def change_account(
        self, changed: StoredAccount, *, password_hash_before: str | None, new_session: bytes | None
    ) -> StoredAccount | None:
        """None when the password was changed meanwhile. A new session ends every older one. Raises NameLoginTaken."""
        values = (changed.account_id, changed.name, changed.avatar, changed.name_login, changed.password_hash)
        async with self._database.transaction() as connection:
            try:
                row = await connection.fetchrow(self._sql["change_account"], *values, password_hash_before)
            except asyncpg.UniqueViolationError as error:
                raise NameLoginTaken from error
            if row is not None and new_session is not None:
                await connection.execute(self._sql["revoke_families_of_account"], changed.account_id)
                await self._new_family(connection, changed.account_id, new_session)
        return _account(row)

    async def new_session(self, account_id: str, token: bytes) -> None:
        async with self._database.transaction() as connection:
            await self._new_family(connection, account_id, token)

    async def rotate(self, refresh_token: str, *, salt: bytes) -> Rotation:
        """Puts a successor in the place of a token that is good; one that was used too long ago revokes its family."""
        token = token_sha256(refresh_token)
        async with self._database.transaction() as connection:
            family = await connection.fetchrow(self._sql["family_locked"], token)
            row = await connection.fetchrow(self._sql["refresh_state"], token)
            if family is None or row is None:
                return Rotation()
            judgement = refresh_judgement(
                RefreshState(family["family_revoked"], row["expired"], row["used_seconds"], row["successor_used"])
            )
            successor = successor_of(refresh_token, row["successor_salt"] or salt)
            if judgement == "good":
                next_token = token_sha256(successor)
                await connection.execute(self._sql["use_refresh_token"], token, salt, next_token)
                await connection.execute(self._sql["new_refresh_token"], next_token, family["family_id"], REFRESH_DAYS)
            elif judgement == "reused":
                await connection.execute(self._sql["revoke_family"], family["family_id"])
            return Rotation(judgement, family["account_id"], successor)

    async def end_session(self, token: bytes) -> None:
        await self._database.write(self._sql["revoke_family_of_token"], token)

    async def end_sessions(self, account_id: str) -> None:
        await self._database.write(self._sql["revoke_families_of_account"], account_id)

    async def grants_due(self, count_max: int, *, again_seconds: float) -> list[GrantDue]:
        """Takes some and puts off the next attempt at them."""
        rows = await self._database.write(self._sql["grants_due"], count_max, again_seconds)
        return [GrantDue(row["account_id"], row["grant_key"]) for row in rows]

    async def grant_done(self, account_id: str) -> None:
        await self._database.write(self._sql["grant_done"], account_id)

    async def grant_refused(self, account_id: str, reason: str) -> None:
        await self._database.write(self._sql["grant_refused"], account_id, reason)

    async def grants_waiting(self) -> int:
        row = await self._database.read_row(self._sql["grants_waiting"])
        return 0 if row is None else int(row["count"])

    async def tidy(self) -> None:
        """Forgets what nobody can need any more, some of each kind at a time."""
        for query, days in (
            ("forget_refresh_tokens", REFRESH_TOKENS_KEPT_DAYS),
            ("forget_families", REFRESH_TOKENS_KEPT_DAYS),
            ("forget_intentions", INTENTIONS_KEPT_DAYS),
            ("forget_intents", INTENTS_KEPT_DAYS),
            ("forget_codes", CODES_KEPT_DAYS),
            ("forget_places", PLACES_KEPT_DAYS),
            ("forget_administrator_sessions", ADMINISTRATOR_SESSIONS_KEPT_DAYS),
        ):
            await self._database.write(self._sql[query], TIDIED_AT_ONCE_MAX, days)

    async def _new_family(self, connection: Connection, account_id: str, token: bytes) -> UUID:
        family_id = uuid4()
        await connection.execute(self._sql["new_family"], family_id, account_id)
        await connection.execute(self._sql["new_refresh_token"], token, family_id, REFRESH_DAYS)
        return family_id


def _account(row: asyncpg.Record | None) -> StoredAccount | None:
    return None if row is None else StoredAccount(*row)
