"""Asks the table service: who owns a table, make one, how does it look, what has happened. Open this when it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import chain
from time import monotonic
from uuid import uuid4

from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import TABLE_MILESTONES, TABLE_WHERE, table_create, table_leave_alone, table_look
from darbar_contracts.tables import (
    CreateTable,
    LeaveAloneAnswer,
    LeaveAloneRequest,
    LookRequest,
    MilestonesAnswer,
    MilestonesRequest,
    ShardsServed,
    TableLook,
    WhereAnswer,
    WhereRequest,
    shard_of,
)
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable

WHERE_SECONDS_MAX = 1.0
LOOK_SECONDS_MAX = 1.0
LEAVE_SECONDS_MAX = 3.0
CREATE_SECONDS_MAX = 3.0
MILESTONES_SECONDS_MAX = 5.0
# An owner that died is replaced within 6 s or so: a creation waits for that.
CREATING_SECONDS_MAX = 10.0
PAUSE_SECONDS = 0.1
PAUSE_SECONDS_MAX = 1.0
LOOKS_MAX = 2
# Each database's processes tell it once a second.
SERVED_SECONDS_MAX = 3.0
DRAWN_MAX = 64
# These say nothing about the request: another process, or the same one in a moment, may do it.
_ASK_AGAIN = frozenset((Reason.NOT_OWNER, Reason.BUSY, Reason.UNAVAILABLE))
_GONE = frozenset((Reason.TABLE_UNKNOWN, Reason.TABLE_CLOSED))


class TableGone(Exception):
    """Its owner does not know this table any more; the directory has not heard yet that it was closed."""


class TableClient:
    """Every request to the table service; each has a time limit."""

    def __init__(self, bus: Bus, *, clock: Callable[[], float] = monotonic) -> None:
        self._bus = bus
        self._clock = clock
        self._served_at: dict[int, float] = {}

    async def served(self, message: ShardsServed) -> None:
        """A table process tells which shards are served, where tables lie in several databases."""
        self._served_at |= dict.fromkeys(chain.from_iterable(message.owners.values()), self._clock())

    def new_table_id(self) -> str:
        """A new table's: where some databases are known to serve their tables, it lies in one of those."""
        limit = self._clock() - SERVED_SECONDS_MAX
        served = {shard for shard, at in self._served_at.items() if at > limit}
        drawn = (uuid4() for _ in range(DRAWN_MAX))
        return str(next((one for one in drawn if not served or shard_of(one) in served), uuid4()))

    async def create(self, table: CreateTable) -> TableLook:
        """Asks until somebody answers, for a while. Raises Refused with the table's reason, or Unavailable."""
        clock = asyncio.get_running_loop().time
        end = clock() + CREATING_SECONDS_MAX
        pause_seconds = PAUSE_SECONDS
        while True:
            look = await self._try_to_create(table)
            if look is not None:
                return look
            if clock() + pause_seconds > end:
                raise Unavailable(Reason.TABLES_UNAVAILABLE)
            await asyncio.sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, PAUSE_SECONDS_MAX)

    async def look(self, table_id: str, *, for_account: str | None = None) -> TableLook | None:
        """None when the owner does not say. Raises TableGone when it says that there is no such table any more."""
        try:
            for _ in range(LOOKS_MAX):
                process_id = await self.where(table_id)
                if process_id is None:
                    return None
                try:
                    request = LookRequest(table_id, for_account)
                    return await self._bus.request(
                        table_look(process_id), request, TableLook, timeout_seconds=LOOK_SECONDS_MAX
                    )
                except Refused as refused:
                    if refused.code in _GONE:
                        raise TableGone(table_id) from refused
                    if refused.code != Reason.NOT_OWNER:
                        return None
        except Unavailable:
            pass
        return None

    async def where(self, table_id: str) -> str | None:
        """The owner's process; None when nobody says."""
        try:
            return (await self._where(table_id)).process_id
        except (Refused, Unavailable):
            return None

    async def leave_alone(self, table_id: str, account_id: str) -> bool:
        """Frees the seat of an account that sits alone at a table where nothing has begun. False when it stays, or when
        nobody says."""
        process_id = await self.where(table_id)
        if process_id is None:
            return False
        request = LeaveAloneRequest(table_id, account_id)
        try:
            answer = await self._bus.request(
                table_leave_alone(process_id), request, LeaveAloneAnswer, timeout_seconds=LEAVE_SECONDS_MAX
            )
        except Refused as refused:
            # It has let everybody go.
            return refused.code in _GONE
        except Unavailable:
            return False
        return answer.left

    async def milestones(self, table_id: str, after: int) -> MilestonesAnswer:
        """What happened at a table after a milestone. Raises Unavailable or Refused."""
        request = MilestonesRequest(table_id=table_id, after=after)
        try:
            return await self._bus.request(
                TABLE_MILESTONES, request, MilestonesAnswer, timeout_seconds=MILESTONES_SECONDS_MAX
            )
        except Refused as refused:
            if refused.code in _ASK_AGAIN:
                raise Unavailable(refused.code, refused.message) from refused
            raise

    async def _where(self, table_id: str) -> WhereAnswer:
        return await self._bus.request(
            TABLE_WHERE, WhereRequest(table_id), WhereAnswer, timeout_seconds=WHERE_SECONDS_MAX
        )

    async def _try_to_create(self, table: CreateTable) -> TableLook | None:
        try:
            process_id = (await self._where(table.table_id)).process_id
            if process_id is None:
                return None
            return await self._bus.request(
                table_create(process_id), table, TableLook, timeout_seconds=CREATE_SECONDS_MAX
            )
        except Unavailable:
            return None
        except Refused as refused:
            if refused.code in _ASK_AGAIN:
                return None
            raise
