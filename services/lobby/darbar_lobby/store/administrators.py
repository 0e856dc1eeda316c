"""Administrators and their sessions in the database. Open this when one can't sign in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from darbar_contracts.admin.api import Role
from darbar_kit.database import Database


class StoredAdministrator(msgspec.Struct, frozen=True):
    """With what only the server may know. `account_ids`: with which accounts the same person plays."""

    administrator_id: UUID
    name: str
    role: Role
    password_hash: str
    totp_secret: bytes
    totp_step_last: int
    account_ids: tuple[str, ...]


class SignedIn(msgspec.Struct, frozen=True):
    """Who holds a session's token."""

    administrator_id: UUID
    name: str
    role: Role
    account_ids: tuple[str, ...]
    confirmed: bool
    expired: bool


class AdministratorStore:
    """Every statement about administrators; SQL in administrators.sql."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    async def by_name(self, name: str) -> StoredAdministrator | None:
        row = await self._database.read_row(self._sql["administrator_by_name"], name)
        return None if row is None else msgspec.convert(dict(row), StoredAdministrator)

    async def new_session(
        self, token: bytes, administrator_id: UUID, *, confirmed: bool, codes: int, seconds: float, instead_of: bytes
    ) -> None:
        await self._database.write(
            self._sql["new_administrator_session"], token, administrator_id, confirmed, codes, seconds, instead_of
        )

    async def signed_in(self, token: bytes) -> SignedIn | None:
        row = await self._database.read_row(self._sql["administrator_session"], token)
        return None if row is None else msgspec.convert(dict(row), SignedIn)

    async def try_code(self, token: bytes) -> tuple[bytes, int] | None:
        """The secret, and the last step that was used; None when no code may be tried any more."""
        rows = await self._database.write(self._sql["try_code"], token)
        return (rows[0]["totp_secret"], rows[0]["totp_step_last"]) if rows else None

    async def use_code(self, administrator_id: UUID, step: int) -> bool:
        """False when somebody was quicker."""
        return bool(await self._database.write(self._sql["use_code"], administrator_id, step))

    async def end_session(self, token: bytes) -> None:
        await self._database.write(self._sql["end_administrator_session"], token)

    async def add(self, administrator: StoredAdministrator) -> bool:
        """By the owner of the database. False: the name is taken."""
        values = (
            administrator.administrator_id,
            administrator.name,
            administrator.role,
            administrator.password_hash,
            administrator.totp_secret,
            list(administrator.account_ids),
        )
        return bool(await self._database.write(self._sql["new_administrator"], *values))

    async def disable(self, name: str) -> Role | None:
        """By the owner of the database; every session ends. The role that it had; None: there is none of this name."""
        rows = await self._database.write(self._sql["disable_administrator"], name)
        return rows[0]["role"] if rows else None

    async def accounts(self, handles: Sequence[str]) -> tuple[str, ...]:
        """The accounts that these handles name."""
        rows = await self._database.read(self._sql["accounts_of_handles"], list(handles))
        return tuple(row["account_id"] for row in rows)
