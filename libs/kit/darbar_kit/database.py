"""How a service reaches its database. Open this when a connection is refused or a query isn't found."""

import re
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

import asyncpg

STATEMENT_SECONDS_MAX = 5
LOCK_SECONDS_MAX = 5
IDLE_IN_TRANSACTION_SECONDS_MAX = 2
# The server's limit counts from when the statement arrives; this one also ends waiting for a server that is gone.
COMMAND_SECONDS_MAX = 10.0
CONNECT_SECONDS_MAX = 10.0

# Also given to service roles, so that a session opened by hand has them too.
SESSION_LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "statement_timeout": f"{STATEMENT_SECONDS_MAX}s",
        "lock_timeout": f"{LOCK_SECONDS_MAX}s",
        "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_SECONDS_MAX}s",
    }
)

_HEADING = re.compile(r"^-- ([a-z][a-z0-9_]*) --[ \t]*$", re.MULTILINE)


class StorageUnsafe(Exception):
    """The server may lose what it has acknowledged: it runs with fsync or synchronous_commit off."""


class QueriesInvalid(Exception):
    """A queries.sql has a block without a name, or two with the same one."""


async def open_pool(
    url: str, *, size_min: int = 1, size_max: int = 8, unsafe_storage: bool = False
) -> "asyncpg.Pool[asyncpg.Record]":
    """Connections in UTC and with limits on every wait. Raises StorageUnsafe unless `unsafe_storage`."""
    pool = await asyncpg.create_pool(
        url,
        min_size=size_min,
        max_size=size_max,
        command_timeout=COMMAND_SECONDS_MAX,
        timeout=CONNECT_SECONDS_MAX,
        server_settings={"timezone": "UTC", **SESSION_LIMITS},
    )
    if not unsafe_storage:
        try:
            async with pool.acquire() as connection:
                await refuse_unsafe(connection)
        except BaseException:
            await pool.close()
            raise
    return pool


async def refuse_unsafe(connection: "asyncpg.pool.PoolConnectionProxy[asyncpg.Record]") -> None:
    """Raises StorageUnsafe when a commit on this connection would not survive a power cut."""
    off = [
        name
        for name in ("fsync", "full_page_writes", "synchronous_commit")
        if await connection.fetchval("SELECT current_setting($1)", name) == "off"
    ]
    if off:
        raise StorageUnsafe(
            f"the PostgreSQL server runs with {', '.join(off)} off and may lose what it acknowledged; "
            "turn it on, or set DARBAR_UNSAFE_STORAGE=1 where losing data doesn't matter"
        )


def queries(package: str) -> Mapping[str, str]:
    """The statements of the package's queries.sql by name: blocks headed by `-- name --`."""
    text = resources.files(package).joinpath("queries.sql").read_text(encoding="utf-8")
    return parse_queries(text)


def parse_queries(text: str) -> Mapping[str, str]:
    """Splits the text of a queries.sql."""
    before, *blocks = _HEADING.split(text)
    if any(line and not line.startswith("--") for line in map(str.strip, before.splitlines())):
        raise QueriesInvalid("there is SQL above the first name")
    found: dict[str, str] = {}
    for name, body in zip(blocks[::2], blocks[1::2], strict=True):
        if name in found:
            raise QueriesInvalid(f"{name} is there twice")
        found[name] = body.strip().removesuffix(";").rstrip()
    return MappingProxyType(found)
