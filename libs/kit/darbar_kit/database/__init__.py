"""How a service reaches its database: pool.py opens it, connections.py uses it, away.py says when it will be back.

lease.py: who may write; group_commit.py: how many writes become one.
"""

from darbar_kit.database.away import DatabaseAway, translated
from darbar_kit.database.connections import Connection, Database
from darbar_kit.database.group_commit import GroupCommit, Storage
from darbar_kit.database.lease import FenceLost, Lease, LeaseQueries, LeaseSeconds
from darbar_kit.database.pool import CONNECT_SECONDS_MAX, SESSION_LIMITS, StorageUnsafe, connect, open_pool
from darbar_kit.database.queries import QueriesInvalid, parse_queries, queries

__all__ = [
    "CONNECT_SECONDS_MAX",
    "SESSION_LIMITS",
    "Connection",
    "Database",
    "DatabaseAway",
    "FenceLost",
    "GroupCommit",
    "Lease",
    "LeaseQueries",
    "LeaseSeconds",
    "QueriesInvalid",
    "Storage",
    "StorageUnsafe",
    "connect",
    "open_pool",
    "parse_queries",
    "queries",
    "translated",
]
