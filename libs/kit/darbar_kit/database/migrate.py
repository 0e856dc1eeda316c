"""Brings a database to what the code needs. Open this when a migration is refused."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import asyncpg
import msgspec

_CONNECT_SECONDS_MAX = 10.0
# One number for all our databases: advisory locks belong to one database anyway. "darbar" in ASCII.
_LOCK = 0x646172626172
_FILE_NAME = re.compile(r"^\d{4}_(pre|post)_[a-z0-9_]+\.sql$")
_SERVICE_ROLE = re.compile(r"(?<![:\w]):service_role\b")
_ROLE_NAME = re.compile(r"^[a-z][a-z0-9_]{0,62}$")

_MAKE_TABLE = """
CREATE TABLE IF NOT EXISTS applied_migration (
    name text PRIMARY KEY,
    sha256 text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)
"""


class MigrationEdited(Exception):
    """A file was changed after it had been applied: add a new one instead."""


class MigrationMisnamed(Exception):
    """A file isn't called NNNN_pre_name.sql or NNNN_post_name.sql, or two have the same number."""


class DatabaseNewer(Exception):
    """The database has migrations that this code doesn't know: it has been used by a newer version."""


class ReleaseLeftOut(Exception):
    """A migration that an earlier release does after its roll-out was never applied: that release was left out."""


class _Migration(msgspec.Struct, frozen=True):
    name: str
    sql: str
    sha256: str

    @property
    def comes_after(self) -> bool:
        """Whether it waits until no process of the release before runs any more."""
        return self.name[5:].startswith("post_")


async def migrate(url: str, folder: Path, *, service_role: str | None, before_roll_out: bool = False) -> list[str]:
    """Applies what is missing, in order, and tells what it applied. Safe to run from many processes at once.

    `:service_role` in a file is the role that gets grants; without one it is the role that migrates. `before_roll_out`:
    processes of the release before still run, so `post` migrations at the end wait for a second run.
    """
    if service_role is not None and not _ROLE_NAME.match(service_role):
        raise ValueError(f"not a name for a role: {service_role!r}")
    migrations = read_folder(folder)
    connection = await asyncpg.connect(url, timeout=_CONNECT_SECONDS_MAX, server_settings={"timezone": "UTC"})
    try:
        # The lock is the session's: it ends with the connection, also when this process dies.
        await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
        await connection.execute("SET client_min_messages = warning")
        await connection.execute(_MAKE_TABLE)
        applied = {
            row["name"]: row["sha256"] for row in await connection.fetch("SELECT name, sha256 FROM applied_migration")
        }
        _refuse_surprises(migrations, applied)
        waiting = [migration for migration in migrations if migration.name not in applied]
        if before_roll_out:
            waiting = _without_last_posts(waiting, is_used=bool(applied))
        for migration in waiting:
            await _apply(connection, migration, service_role or "CURRENT_USER")
        return [migration.name for migration in waiting]
    finally:
        await connection.close()


def read_folder(folder: Path) -> list[_Migration]:
    """The migrations of a folder in their order. Raises MigrationMisnamed."""
    paths = sorted(path for path in folder.iterdir() if path.suffix == ".sql")
    numbers: set[str] = set()
    for path in paths:
        if not _FILE_NAME.match(path.name):
            raise MigrationMisnamed(f"{path.name}: the name must be like 0001_pre_first_tables.sql")
        if path.name[:4] in numbers:
            raise MigrationMisnamed(f"{path.name}: the number is taken")
        numbers.add(path.name[:4])
    return [_read(path) for path in paths]


def _read(path: Path) -> _Migration:
    content = path.read_bytes()
    return _Migration(path.name, content.decode("utf-8"), hashlib.sha256(content).hexdigest())


def _refuse_surprises(migrations: list[_Migration], applied: dict[str, str]) -> None:
    unknown = sorted(applied.keys() - {migration.name for migration in migrations})
    if unknown:
        raise DatabaseNewer(f"the database has migrations that this version doesn't know: {', '.join(unknown)}")
    for migration in migrations:
        if applied.get(migration.name, migration.sha256) != migration.sha256:
            raise MigrationEdited(f"{migration.name} was changed after it had been applied")


def _without_last_posts(waiting: list[_Migration], *, is_used: bool) -> list[_Migration]:
    while waiting and waiting[-1].comes_after:
        waiting = waiting[:-1]
    # On an empty database nothing runs that it could stand in the way of.
    if is_used and (late := [migration.name for migration in waiting if migration.comes_after]):
        raise ReleaseLeftOut(
            f"{', '.join(late)} belongs to a release between: roll that one out first, or stop the service and migrate"
        )
    return waiting


async def _apply(connection: asyncpg.Connection[asyncpg.Record], migration: _Migration, role: str) -> None:
    async with connection.transaction():
        await connection.execute(_SERVICE_ROLE.sub(role, migration.sql))
        await connection.execute(
            "INSERT INTO applied_migration (name, sha256) VALUES ($1, $2)", migration.name, migration.sha256
        )
