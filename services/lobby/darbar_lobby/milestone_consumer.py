"""Takes the milestones of tables from JetStream. Open this when the directory lags behind or skips something."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import msgspec
import nats.errors
import nats.js.errors
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
)
from darbar_contracts.tables import Milestone
from darbar_kit.bus import Bus
from darbar_kit.cancelling import stop_if_cancelled
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.streams import ensure_stream
from darbar_lobby.handlers.directory_projector import DirectoryProjector
from darbar_lobby.handlers.table_client import TableClient
from darbar_lobby.metrics import Metrics

CONSUMER = "lobby"
BATCH_MAX = 100
FETCH_SECONDS = 5.0
# A fetch that outlives its own time by this much never ends.
FETCH_STUCK_SECONDS = 5.0
# After so many fetches without a message it is asked whether stream and consumer are still there.
FETCHES_IDLE_MAX = 6
ACK_SECONDS_MAX = 30.0
AGAIN_SECONDS = 1.0
AGAIN_SECONDS_MAX = 30.0
RESUBSCRIBE_SECONDS = 1.0
# Of at most MILESTONES_ANSWERED_MAX milestones each.
GAP_QUESTIONS_MAX = 1000

_log = structlog.get_logger()


class MilestoneConsumer:
    """Applies what comes, in order for each table; acknowledges after the commit."""

    def __init__(self, *, bus: Bus, table_client: TableClient, projector: DirectoryProjector, metrics: Metrics) -> None:
        self._bus = bus
        self._table_client = table_client
        self._projector = projector
        self._metrics = metrics
        self.subscribed = False

    async def run(self) -> None:
        """Never ends: a subscription that fails is made anew."""
        while True:
            try:
                await self._take_while_it_works()
            except (nats.errors.Error, TimeoutError, OSError) as error:
                stop_if_cancelled()
                _log.warning("milestones_interrupted", error=str(error) or type(error).__name__)
            finally:
                self.subscribed = False
            await asyncio.sleep(RESUBSCRIBE_SECONDS)

    async def _take_while_it_works(self) -> None:
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
            while idle < FETCHES_IDLE_MAX:
                messages = await _fetched(subscription)
                idle = 0 if messages else idle + 1
                await self._take(messages)
        finally:
            await _unsubscribed(subscription)

    async def _take(self, messages: Sequence[Msg]) -> None:
        by_table: dict[str, list[tuple[Msg, Milestone]]] = {}
        for message in messages:
            try:
                milestone = msgspec.json.decode(message.data, type=Milestone)
            except msgspec.DecodeError:
                _log.error("milestone_unreadable", subject=message.subject)
                await message.term()
                continue
            by_table.setdefault(milestone.table_id, []).append((message, milestone))
        for table_id, group in by_table.items():
            await self._take_table(table_id, group)

    async def _take_table(self, table_id: str, group: Sequence[tuple[Msg, Milestone]]) -> None:
        log = _log.bind(table_id=table_id, number=group[-1][1].number)
        try:
            await self.catch_up(table_id, [milestone for _, milestone in group])
        except Unavailable as unavailable:
            log.warning("milestones_put_off", code=unavailable.code)
            await self._again(group)
        except Refused as refused:
            # The table service itself does not know this table: asking again for ever would help nobody.
            log.error("milestones_refused", code=refused.code)
            for message, _ in group:
                await message.term()
        except Exception:  # The outermost loop of a message: one table's bug must not stop the others.
            log.exception("milestones_failed")
            await self._again(group)
        else:
            for message, _ in group:
                await message.ack()

    async def catch_up(self, table_id: str, milestones: Sequence[Milestone]) -> None:
        """Applies these and everything before them. Raises Unavailable, or Refused when nobody knows of those."""
        waiting = sorted(milestones, key=_number)
        for _ in range(GAP_QUESTIONS_MAX):
            missing_after = await self._apply(table_id, waiting)
            if missing_after is None:
                return
            self._metrics.milestone_gaps.inc()
            answered = await self._table_client.milestones(table_id, missing_after)
            if await self._apply(table_id, answered.milestones) == missing_after or not answered.milestones:
                break
        raise Unavailable(Reason.MILESTONES_MISSING, f"the milestones of {table_id} have a gap that nobody fills")

    async def _apply(self, table_id: str, milestones: Sequence[Milestone]) -> int | None:
        done = await self._projector.apply(table_id, milestones)
        for kind in done.kinds:
            self._metrics.milestones_applied.labels(kind).inc()
        if done.unreadable:
            raise Refused(Reason.MILESTONE_UNREADABLE)
        return done.missing_after

    async def _again(self, group: Sequence[tuple[Msg, Milestone]]) -> None:
        self._metrics.milestones_failed.inc()
        for message, _ in group:
            times = min(message.metadata.num_delivered or 1, 16)
            await message.nak(delay=min(AGAIN_SECONDS * 2 ** (times - 1), AGAIN_SECONDS_MAX))


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
        except nats.errors.TimeoutError:
            stop_if_cancelled()
            return []


async def _unsubscribed(subscription: JetStreamContext.PullSubscription) -> None:
    # An error says that it ended with the connection.
    with suppress(nats.errors.Error):
        await subscription.unsubscribe()


def _number(milestone: Milestone) -> int:
    return milestone.number
