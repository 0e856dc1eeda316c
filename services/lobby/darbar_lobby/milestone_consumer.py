"""Takes the milestones of tables from JetStream. Open this when the directory lags behind or skips something."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import structlog
from nats.aio.msg import Msg

from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import (
    MILESTONE_CONSUMER,
    MILESTONE_DUPLICATES_SECONDS,
    MILESTONE_SECONDS_KEPT,
    MILESTONE_STREAM,
    MILESTONE_SUBJECTS,
    milestone_table,
)
from darbar_contracts.tables import Milestone
from darbar_kit.bus import Bus, Stream, StreamConsumer, bus_errors
from darbar_lobby.handlers.milestones import Milestones

# The stream that the table service writes; it may not have started yet.
MILESTONES = Stream(
    name=MILESTONE_STREAM,
    subjects=(MILESTONE_SUBJECTS,),
    seconds_kept=MILESTONE_SECONDS_KEPT,
    duplicates_seconds=MILESTONE_DUPLICATES_SECONDS,
)

_log = structlog.get_logger()


class MilestoneConsumer:
    """Hands on what comes, table by table; acknowledges after the commit."""

    def __init__(self, *, bus: Bus, milestones: Milestones) -> None:
        self._milestones = milestones
        self._consumer = StreamConsumer(
            bus, MILESTONES, subject=MILESTONE_SUBJECTS, durable_name=MILESTONE_CONSUMER, take=self._take
        )

    @property
    def subscribed(self) -> bool:
        return self._consumer.is_subscribed

    async def run(self) -> None:
        """Ends only by raising, and is then to be started again."""
        await self._consumer.run()

    async def _take(self, messages: Sequence[Msg]) -> None:
        """Every message is acknowledged, also of a table that had to be parked: what it said is asked for later."""
        by_table: dict[str, list[tuple[Msg, Milestone]]] = {}
        for message in messages:
            try:
                milestone = msgspec.json.decode(message.data, type=Milestone)
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                # Of a newer kind, perhaps: the table waits until a lobby is here that can read it.
                await self._park(message)
                continue
            by_table.setdefault(milestone.table_id, []).append((message, milestone))
        for table_id, group in by_table.items():
            await self._milestones.take(table_id, [milestone for _, milestone in group])
            for message, _ in group:
                await _acknowledge(message)

    async def _park(self, message: Msg) -> None:
        table_id = milestone_table(message.subject)
        if table_id is None:
            _log.error("milestone_unreadable", subject=message.subject)
        else:
            await self._milestones.park(table_id, Reason.MILESTONE_UNREADABLE)
        await _acknowledge(message)


async def _acknowledge(message: Msg) -> None:
    with bus_errors("acknowledging milestones"):
        await message.ack()
