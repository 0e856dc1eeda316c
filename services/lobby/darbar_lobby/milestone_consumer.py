"""Takes the milestones of tables from JetStream. Open this when the directory lags behind or skips something."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import msgspec
import nats.errors
import structlog
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import (
    MILESTONE_DUPLICATES_SECONDS,
    MILESTONE_SECONDS_KEPT,
    MILESTONE_STREAM,
    MILESTONE_SUBJECTS,
    milestone_table,
)
from darbar_contracts.tables import Milestone
from darbar_kit.bus import Bus
from darbar_kit.cancelling import stop_if_cancelled
from darbar_kit.errors import Unavailable
from darbar_kit.streams import ensure_stream
from darbar_lobby.handlers.milestones import Milestones

CONSUMER = "lobby"
BATCH_MAX = 100
FETCH_SECONDS = 5.0
# A fetch that outlives its own time by this much never ends.
FETCH_STUCK_SECONDS = 5.0
# After so many fetches without a message it is asked whether stream and consumer are still there.
FETCHES_IDLE_MAX = 6
ACK_SECONDS_MAX = 30.0

_log = structlog.get_logger()


class MilestoneConsumer:
    """Hands on what comes, table by table; acknowledges after the commit."""

    def __init__(self, *, bus: Bus, milestones: Milestones) -> None:
        self._bus = bus
        self._milestones = milestones
        self.subscribed = False

    async def run(self) -> None:
        """Ends only by raising Unavailable, and is then to be started again."""
        try:
            await self._take_for_ever()
        except (nats.errors.Error, TimeoutError, OSError) as error:
            stop_if_cancelled()
            raise Unavailable(Reason.BUS_UNREACHABLE, f"milestones: {type(error).__name__} {error}") from error
        finally:
            self.subscribed = False

    async def _take_for_ever(self) -> None:
        jetstream = self._bus.jetstream
        await ensure_milestones(jetstream)
        config = ConsumerConfig(
            durable_name=CONSUMER,
            deliver_policy=DeliverPolicy.ALL,
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=ACK_SECONDS_MAX,
        )
        subscription = await jetstream.pull_subscribe(
            MILESTONE_SUBJECTS, durable=CONSUMER, stream=MILESTONE_STREAM, config=config
        )
        try:
            self.subscribed = True
            idle = 0
            while True:
                messages = await _fetched(subscription)
                idle = 0 if messages else idle + 1
                if idle % FETCHES_IDLE_MAX == FETCHES_IDLE_MAX - 1:
                    # Quiet is well, unless the server has lost the stream: then this raises.
                    await subscription.consumer_info()
                await self._take(messages)
        finally:
            await _unsubscribed(subscription)

    async def _take(self, messages: Sequence[Msg]) -> None:
        """Every message is acknowledged, also of a table that had to be parked: what it said is asked for later."""
        by_table: dict[str, list[tuple[Msg, Milestone]]] = {}
        for message in messages:
            try:
                milestone = msgspec.json.decode(message.data, type=Milestone)
            except msgspec.DecodeError:
                # Of a newer kind, perhaps: the table waits until a lobby is here that can read it.
                await self._park(message)
                continue
            by_table.setdefault(milestone.table_id, []).append((message, milestone))
        for table_id, group in by_table.items():
            await self._milestones.take(table_id, [milestone for _, milestone in group])
            for message, _ in group:
                await message.ack()

    async def _park(self, message: Msg) -> None:
        table_id = milestone_table(message.subject)
        if table_id is None:
            _log.error("milestone_unreadable", subject=message.subject)
        else:
            await self._milestones.park(table_id, Reason.MILESTONE_UNREADABLE)
        await message.ack()


async def ensure_milestones(jetstream: JetStreamContext) -> None:
    """The stream that the table service writes; it may not have started yet."""
    await ensure_stream(
        jetstream,
        MILESTONE_STREAM,
        subjects=(MILESTONE_SUBJECTS,),
        seconds_kept=MILESTONE_SECONDS_KEPT,
        duplicates_seconds=MILESTONE_DUPLICATES_SECONDS,
    )


async def _fetched(subscription: JetStreamContext.PullSubscription) -> list[Msg]:
    async with asyncio.timeout(FETCH_SECONDS + FETCH_STUCK_SECONDS):
        try:
            return await subscription.fetch(BATCH_MAX, timeout=FETCH_SECONDS)
        except TimeoutError:
            # Nothing came: the client says so with its own error or with a plain one.
            stop_if_cancelled()
            return []


async def _unsubscribed(subscription: JetStreamContext.PullSubscription) -> None:
    # An error says that it ended with the connection.
    with suppress(nats.errors.Error):
        await subscription.unsubscribe()
