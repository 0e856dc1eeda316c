"""Takes what a stream keeps, in batches, for ever. Open this when messages wait though somebody should take them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeAlias

import nats.errors
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from darbar_kit.bus.connection import Bus
from darbar_kit.bus.streams import Stream, bus_errors, ensure_stream
from darbar_kit.cancelling import stop_if_cancelled

BATCH_MAX = 100
FETCH_SECONDS = 5.0
# A fetch that outlives its own time by this much never ends.
FETCH_STUCK_SECONDS = 5.0
# After so many fetches without a message it is asked whether stream and consumer are still there.
FETCHES_IDLE_MAX = 6
# A message that has not been acknowledged by then is delivered again.
ACK_SECONDS_MAX = 30.0

Take: TypeAlias = Callable[[Sequence[Msg]], Awaitable[None]]


class StreamConsumer:
    """Hands batches to `take`, which acknowledges each message once it is done with it.

    `run` is a task for the Supervisor: a subscription that fails ends it with Unavailable, and the next run makes
    another one. Nothing coming is no failure: an idle stream is ready.
    """

    def __init__(self, bus: Bus, stream: Stream, *, subject: str, durable_name: str, take: Take) -> None:
        self._bus = bus
        self._stream = stream
        self._subject = subject
        self._durable_name = durable_name
        self._take = take
        self.is_subscribed = False

    async def run(self) -> None:
        """Ends only by raising Unavailable, or what `take` raises."""
        with bus_errors(self._durable_name):
            subscription = await self._subscribed()
        try:
            self.is_subscribed = True
            idle = 0
            while True:
                messages = await self._fetched(subscription)
                idle = 0 if messages else idle + 1
                if messages:
                    await self._take(messages)
                elif idle % FETCHES_IDLE_MAX == 0:
                    # Quiet is well, unless the server has lost the stream: then this raises.
                    with bus_errors(self._durable_name):
                        await subscription.consumer_info()
        finally:
            self.is_subscribed = False
            # An error says that it ended with the connection.
            with suppress(nats.errors.Error):
                await subscription.unsubscribe()

    async def _subscribed(self) -> JetStreamContext.PullSubscription:
        jetstream = self._bus.jetstream
        await ensure_stream(jetstream, self._stream)
        config = ConsumerConfig(
            durable_name=self._durable_name,
            deliver_policy=DeliverPolicy.ALL,
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=ACK_SECONDS_MAX,
        )
        return await jetstream.pull_subscribe(
            self._subject, durable=self._durable_name, stream=self._stream.name, config=config
        )

    async def _fetched(self, subscription: JetStreamContext.PullSubscription) -> list[Msg]:
        """What came; nothing after FETCH_SECONDS."""
        with bus_errors(self._durable_name):
            async with asyncio.timeout(FETCH_SECONDS + FETCH_STUCK_SECONDS):
                try:
                    return await subscription.fetch(BATCH_MAX, timeout=FETCH_SECONDS)
                except TimeoutError:
                    # Nothing came: the client says so with its own error, or with a plain one.
                    stop_if_cancelled()
                    return []
