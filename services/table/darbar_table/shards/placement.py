"""Which shard a table lies in, and which process should own a shard. Open this when tables are unevenly spread."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from uuid import UUID

SHARDS = 1024


def shard_of(table_id: UUID) -> int:
    """The shard of a table, for ever."""
    return int.from_bytes(hashlib.sha256(table_id.bytes).digest()[:2], "big") % SHARDS


def should_own(shard: int, process_ids: Iterable[str]) -> str:
    """Rendezvous hashing: the process with the highest hash for this shard; few shards move when one comes or goes."""
    return max(process_ids, key=lambda process_id: hashlib.sha256(f"{shard}/{process_id}".encode()).digest())
