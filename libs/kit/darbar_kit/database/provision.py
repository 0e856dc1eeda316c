"""Makes a service's database and roles. Open this when a role may too much or too little."""

from __future__ import annotations

import contextlib
import re
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg
import msgspec

from darbar_kit.database import SESSION_LIMITS

_NAME = re.compile(r"^[a-z][a-z0-9_]{0,62}$")
_CONNECT_SECONDS_MAX = 10.0


class DatabaseUrls(msgspec.Struct, frozen=True):
    """The owner makes and changes tables; the service role owns nothing and has only what migrations grant."""

    owner_url: str
    service_url: str
    service_role: str


def owner_role(database: str) -> str:
    """Migrations run as this role."""
    return f"{database}_owner"


def service_role(database: str) -> str:
    """The service runs as this role."""
    return f"{database}_service"


async def provision(admin_url: str, database: str, *, owner_password: str, service_password: str) -> DatabaseUrls:
    """Makes what is missing and sets the passwords; safe to repeat. The admin needs CREATEROLE and CREATEDB."""
    if not _NAME.match(database):
        raise ValueError(f"not a name for a database: {database!r}")
    owner, service = owner_role(database), service_role(database)
    admin = await asyncpg.connect(admin_url, timeout=_CONNECT_SECONDS_MAX)
    try:
        await ensure_role(admin, owner, owner_password)
        await ensure_role(admin, service, service_password)
        for name, value in SESSION_LIMITS.items():
            await admin.execute(f"ALTER ROLE {service} SET {name} = '{value}'")
        await _ensure_database(admin, database, owner)
        await admin.execute(f"REVOKE ALL ON DATABASE {database} FROM PUBLIC")
        await admin.execute(f"GRANT CONNECT ON DATABASE {database} TO {service}")
    finally:
        await admin.close()
    return DatabaseUrls(
        owner_url=url_for(admin_url, database=database, user=owner, password=owner_password),
        service_url=url_for(admin_url, database=database, user=service, password=service_password),
        service_role=service,
    )


async def ensure_role(admin: asyncpg.Connection[asyncpg.Record], role: str, password: str) -> None:
    """A role that can log in and nothing else."""
    if not _NAME.match(role):
        raise ValueError(f"not a name for a role: {role!r}")
    if not await admin.fetchval("SELECT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = $1)", role):
        # Another process may make it at the same moment.
        with contextlib.suppress(asyncpg.UniqueViolationError, asyncpg.DuplicateObjectError):
            await admin.execute(f"CREATE ROLE {role} NOINHERIT")
    literal = await admin.fetchval("SELECT quote_literal($1)", password)
    await admin.execute(f"ALTER ROLE {role} LOGIN PASSWORD {literal}")


async def _ensure_database(admin: asyncpg.Connection[asyncpg.Record], database: str, owner: str) -> None:
    if await admin.fetchval("SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", database):
        return
    superuser = await admin.fetchval("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
    if not superuser:
        # Who is no superuser may give a database only to a role it can become itself.
        await admin.execute(f"GRANT {owner} TO CURRENT_USER")
    await admin.execute(f"CREATE DATABASE {database} OWNER {owner} TEMPLATE template0 ENCODING 'UTF8'")


def url_for(url: str, *, database: str, user: str, password: str) -> str:
    """The same server, another database and role."""
    parts = urlsplit(url)
    _, _, place = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{quote(user)}:{quote(password, safe='')}@{place}", path=f"/{database}"))
