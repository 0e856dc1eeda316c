"""Who lives and who owns which shards, as the database says. Open this beside the statements about processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from darbar_kit.database import Database


class Outage(NamedTuple):
    """A time in which nobody could answer for a shard."""

    began: datetime
    ended: datetime


class Registry:
    """Every method is one statement, and raises DatabaseAway. A process's own row is the lease's business."""

    def __init__(self, database: Database, queries: Mapping[str, str]) -> None:
        self._database = database
        self._queries = queries

    async def expire(self, process_id: str, *, seconds: float) -> list[str]:
        """The processes that this call has declared dead, on the word of one that has itself renewed for so long."""
        rows = await self._database.write(self._queries["expire_processes"], process_id, seconds)
        return [row["process_id"] for row in rows]

    async def living(self) -> list[str]:
        """The processes whose lease holds and that are not about to stop."""
        return [row["process_id"] for row in await self._database.read(self._queries["living_processes"])]

    async def owners(self) -> dict[int, str | None]:
        """The living owner of every shard that this database has."""
        return {row["shard"]: row["process_id"] for row in await self._database.read(self._queries["shard_owners"])}

    async def claim(self, process_id: str, shards: Iterable[int]) -> list[int]:
        """Those of the asked shards that had no living owner and are now this process's."""
        rows = await self._database.write(self._queries["claim_shards"], process_id, list(shards))
        return [row["shard"] for row in rows]

    async def begin_leaving(self, process_id: str) -> None:
        """Nobody gives this process shards any more."""
        await self._database.write(self._queries["begin_leaving"], process_id)

    async def hand_over(self, process_id: str, shards: Iterable[int], successor: str) -> None:
        """Of these shards, those of this process become the successor's, if it lives and stays. May be asked again."""
        await self._database.write(self._queries["hand_over_shards"], process_id, list(shards), successor)

    async def outages(self, shards: Iterable[int]) -> dict[int, list[Outage]]:
        """The outages of these shards that are not forgotten yet; one that goes on ends now."""
        found: dict[int, list[Outage]] = {}
        for row in await self._database.read(self._queries["outages"], list(shards)):
            found.setdefault(row["shard"], []).append(Outage(row["began"], row["ended"]))
        return found

    async def note_outage(self, shards: Iterable[int], *, seconds: float) -> None:
        """Nobody could answer for these shards, until now, for so long."""
        await self._database.write(self._queries["note_outage"], list(shards), seconds)

    async def end_outages(self, shards: Iterable[int]) -> None:
        """These shards are served again. Outages that no clock reaches back to are forgotten."""
        await self._database.write(self._queries["end_outages"], list(shards))
