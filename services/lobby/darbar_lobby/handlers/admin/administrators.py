"""Who administers, as `darbar admin` sets it on the machine: by the owner of the database, never by a lobby."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import uuid4

from darbar_contracts.admin.api import Act, Role
from darbar_contracts.refusals import Reason
from darbar_kit.database import Database, queries
from darbar_kit.errors import Refused
from darbar_lobby.domain.names import normalised_login_name
from darbar_lobby.domain.second_factor import SECRET_BYTES, address_for_apps
from darbar_lobby.handlers.accounts import validated_password
from darbar_lobby.handlers.passwords import Passwords
from darbar_lobby.store.administrators import AdministratorStore, StoredAdministrator
from darbar_lobby.store.audit_log import AuditLog


async def create_administrator(owner_url: str, name: str, role: Role, password: str, *, handles: Sequence[str]) -> str:
    """What an authenticator app takes in; it is told once and never again. `handles`: of the accounts with which the
    same person plays. Raises Refused and DatabaseAway."""
    login_name = normalised_login_name(name)
    if login_name is None:
        raise Refused(Reason.NAME_LOGIN_INVALID)
    password_hash = await Passwords().hash(validated_password(password))
    secret = secrets.token_bytes(SECRET_BYTES)
    async with _opened(owner_url) as (store, audit_log):
        accounts = await store.accounts(handles)
        if len(accounts) != len(set(handles)):
            raise Refused(Reason.PLAYER_UNKNOWN)
        made = StoredAdministrator(uuid4(), login_name, role, password_hash, secret, 0, accounts)
        if not await store.add(made):
            raise Refused(Reason.NAME_LOGIN_TAKEN)
        await audit_log.add(_on_the_machine("create_administrator", login_name, role))
    return address_for_apps(login_name, secret)


async def disable_administrator(owner_url: str, name: str) -> bool:
    """Ends every session too. False: there is none of this name, or no more. Raises DatabaseAway."""
    async with _opened(owner_url) as (store, audit_log):
        role = await store.disable(name)
        if role is None:
            return False
        await audit_log.add(_on_the_machine("disable_administrator", name, role))
    return True


def _on_the_machine(act: str, name: str, role: Role) -> Act:
    return Act(name, role, act, f"administrator:{name}", "on the machine, by who may change the database")


@asynccontextmanager
async def _opened(owner_url: str) -> AsyncIterator[tuple[AdministratorStore, AuditLog]]:
    # Whether the storage is safe is asked when a lobby starts.
    database = await Database.open(owner_url, size_max=1, unsafe_storage=True)
    try:
        sql = queries("darbar_lobby.store", "administrators.sql")
        yield AdministratorStore(database, sql), AuditLog(database, sql)
    finally:
        await database.close()
