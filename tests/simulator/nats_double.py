"""NATS as its client shows it: subjects, queues, requests, and a stream. Open this about what a lost message does.

Messages of one connection arrive in their order, as with the real server. `test_bus_contract.py` asks the double and
the server the same.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import nats.errors
from virtual_loop import Process, VirtualLoop

RECONNECT_SECONDS = 0.25
CONNECT_SECONDS = 0.001
DUPLICATES_SECONDS = 120.0
STREAM_SUBJECTS = "milestone.table."

Headers = Mapping[str, str]


class MessageDouble:
    """What a subscription's callback is given."""

    __slots__ = ("data", "headers", "reply", "subject")

    def __init__(self, subject: str, data: bytes, reply: str, headers: Headers | None) -> None:
        self.subject = subject
        self.data = data
        self.reply = reply
        self.headers = headers


class Kept(NamedTuple):
    """A message in the stream."""

    subject: str
    data: bytes
    message_id: str


class Version(NamedTuple):
    major: int = 2
    minor: int = 12


class StreamState(NamedTuple):
    messages: int


class StreamInfo(NamedTuple):
    state: StreamState


class Broker:
    """The server. `losses` and `doubles` are the shares of messages that are lost, or delivered twice."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.loop = loop
        self.is_away = False
        self.slowness = 1.0
        self.losses = 0.0
        self.doubles = 0.0
        self.clients: list[ClientDouble] = []
        self.stream: list[Kept] = []
        self._seen_at: dict[str, float] = {}
        self._inboxes = 0
        self._subscriptions: dict[str, list[SubscriptionDouble]] = {}

    def latency(self) -> float:
        return (0.0001 + 0.0009 * self.loop.dice.random()) * self.slowness

    def new_inbox(self) -> str:
        self._inboxes += 1
        return f"_INBOX.{self._inboxes}"

    def subscribe(self, subscription: SubscriptionDouble) -> None:
        """Once: who subscribes without a connection is subscribed again with the rest when it comes back."""
        known = self._subscriptions.setdefault(subscription.subject, [])
        if subscription not in known:
            known.append(subscription)

    def unsubscribe(self, subscription: SubscriptionDouble) -> None:
        known = self._subscriptions.get(subscription.subject, [])
        if subscription in known:
            known.remove(subscription)

    def cut(self, process: Process | None = None, *, seconds: float = 0.0) -> None:
        """The connections of one process, or all, break; each client tries to come back."""
        for client in list(self.clients):
            if process is None or client.process is process:
                client.cut(seconds)

    def forget(self, process: Process) -> None:
        """A process is dead. Its subscriptions are gone as soon as the server has noticed."""
        for client in [one for one in self.clients if one.process is process]:
            client.drop()

    def route(self, message: MessageDouble, sender: ClientDouble) -> None:
        """A message has arrived here."""
        if self.is_away:
            return
        if message.subject.startswith("_INBOX."):
            for client in self.clients:
                if message.subject in client.waiting:
                    self._deliver(client, client.answered, message)
            return
        if message.subject.startswith(STREAM_SUBJECTS):
            self._keep(message, sender)
            return
        takers = self._takers(message.subject)
        if not takers and message.reply:
            nobody = MessageDouble(message.reply, b"", "", {"Status": "503"})
            self._deliver(sender, sender.answered, nobody)
        for subscription in takers:
            self._deliver(subscription.client, subscription.take, message)

    def _takers(self, subject: str) -> list[SubscriptionDouble]:
        """Everybody without a queue, and one of each queue."""
        queues: dict[str, list[SubscriptionDouble]] = {}
        takers = []
        for subscription in self._subscriptions.get(subject, ()):
            if subscription.queue:
                queues.setdefault(subscription.queue, []).append(subscription)
            else:
                takers.append(subscription)
        return takers + [self.loop.dice.choice(members) for members in queues.values()]

    def _keep(self, message: MessageDouble, sender: ClientDouble) -> None:
        message_id = (message.headers or {})["Nats-Msg-Id"]
        seen_at = self._seen_at.get(message_id)
        if seen_at is None or self.loop.now - seen_at > DUPLICATES_SECONDS:
            self._seen_at[message_id] = self.loop.now
            self.stream.append(Kept(message.subject, message.data, message_id))
        self._deliver(sender, sender.answered, MessageDouble(message.reply, b"{}", "", None))

    def _deliver(self, client: ClientDouble, take: Callable[[MessageDouble], None], message: MessageDouble) -> None:
        loop = self.loop
        if self.losses and loop.dice.random() < self.losses:
            return
        times = 2 if self.doubles and loop.dice.random() < self.doubles else 1
        for _ in range(times):
            client.hears_at = max(client.hears_at, loop.now + self.latency())
            loop.call_in(client.process, client.hears_at, client.hear, client.lines, take, message)


class ClientDouble:
    """In place of `nats.aio.client.Client`. `lines` counts the connections that it has had."""

    broker: Broker  # The simulation's; set by whoever runs it.

    def __init__(self) -> None:
        self.broker = type(self).broker
        self.process = self.broker.loop.current
        self.waiting: dict[str, asyncio.Future[MessageDouble]] = {}
        self.lines = 0
        self.hears_at = 0.0
        self._speaks_at = 0.0
        self._is_connected = False
        self._is_closed = False
        self._subscriptions: list[SubscriptionDouble] = []
        self._unsent: list[MessageDouble] = []

    # What the product calls.

    async def connect(self, url: str, **_options: Any) -> None:
        await self.broker.loop.pass_time(CONNECT_SECONDS * self.broker.slowness)
        if self.broker.is_away or self.broker.loop.is_over:
            raise nats.errors.NoServersError
        self._is_connected = True
        self.broker.clients.append(self)

    @property
    def connected_server_version(self) -> Version:
        return Version()

    @property
    def is_connected(self) -> bool:
        return self._is_connected

    async def publish(
        self, subject: str, payload: bytes = b"", reply: str = "", headers: dict[str, str] | None = None
    ) -> None:
        if self._is_closed:
            raise nats.errors.ConnectionClosedError
        self._send(MessageDouble(subject, payload, reply, headers))

    async def request(
        self, subject: str, payload: bytes = b"", timeout: float = 0.5, headers: dict[str, str] | None = None
    ) -> MessageDouble:
        if self._is_closed:
            raise nats.errors.ConnectionClosedError
        loop, inbox = self.broker.loop, self.broker.new_inbox()
        answered: asyncio.Future[MessageDouble] = loop.create_future()
        self.waiting[inbox] = answered
        late = loop.call_later(timeout, _too_late, answered)
        try:
            self._send(MessageDouble(subject, payload, inbox, headers))
            return await answered
        finally:
            late.cancel()
            del self.waiting[inbox]

    async def subscribe(
        self,
        subject: str,
        queue: str = "",
        cb: Callable[[Any], Awaitable[None]] | None = None,
        pending_msgs_limit: int = 0,
    ) -> SubscriptionDouble:
        assert cb is not None
        subscription = SubscriptionDouble(self, subject, queue, cb)
        self._subscriptions.append(subscription)
        self._when_sent(self.broker.subscribe, subscription)
        return subscription

    async def flush(self, timeout: float = 10) -> None:
        if not self._is_connected:
            raise nats.errors.ConnectionClosedError
        loop = self.broker.loop
        if self._speaks_at > loop.now:  # Else the server has everything already.
            await loop.pass_time(self._speaks_at - loop.now + 2 * self.broker.latency())

    async def close(self) -> None:
        self.drop()
        self._is_closed = True

    def jetstream(self) -> JetStreamDouble:
        return JetStreamDouble(self)

    # What the simulation does.

    def cut(self, seconds: float) -> None:
        """Whatever was on its way is lost."""
        if not self._is_connected:
            return
        self._is_connected = False
        self.lines += 1
        for subscription in self._subscriptions:
            self.broker.unsubscribe(subscription)
        loop = self.broker.loop
        loop.call_in(self.process, loop.now + seconds + RECONNECT_SECONDS, self._come_back)

    def drop(self) -> None:
        """It is gone for good."""
        self._is_connected = False
        self.lines += 1
        for subscription in self._subscriptions:
            self.broker.unsubscribe(subscription)
            subscription.end()
        if self in self.broker.clients:
            self.broker.clients.remove(self)

    def hear(self, line: int, take: Callable[[MessageDouble], None], message: MessageDouble) -> None:
        if line == self.lines:
            take(message)

    def answered(self, message: MessageDouble) -> None:
        waiting = self.waiting.get(message.subject)
        if waiting is None or waiting.done():
            return
        if (message.headers or {}).get("Status") == "503":
            waiting.set_exception(nats.errors.NoRespondersError())
        else:
            waiting.set_result(message)

    def _come_back(self) -> None:
        if self._is_closed or self._is_connected:
            return
        if self.broker.is_away:
            loop = self.broker.loop
            loop.call_in(self.process, loop.now + RECONNECT_SECONDS, self._come_back)
            return
        self._is_connected = True
        for subscription in self._subscriptions:
            self._when_sent(self.broker.subscribe, subscription)
        unsent, self._unsent = self._unsent, []
        for message in unsent:
            self._send(message)

    def _send(self, message: MessageDouble) -> None:
        if self._is_connected:
            self._when_sent(self.broker.route, message, self)
        else:
            self._unsent.append(message)

    def _when_sent(self, arrive: Callable[..., None], *what: Any) -> None:
        """In the order in which it was written."""
        loop = self.broker.loop
        self._speaks_at = max(self._speaks_at, loop.now + self.broker.latency())
        loop.call_in(loop.world, self._speaks_at, self._arrive, self.lines, arrive, *what)

    def _arrive(self, line: int, arrive: Callable[..., None], *what: Any) -> None:
        if line == self.lines:
            arrive(*what)


class SubscriptionDouble:
    """One message at a time goes to the callback, in order."""

    def __init__(
        self, client: ClientDouble, subject: str, queue: str, callback: Callable[[Any], Awaitable[None]]
    ) -> None:
        self.client = client
        self.subject = subject
        self.queue = queue
        self._callback = callback
        self._waiting: deque[MessageDouble] = deque()
        self._is_over = False
        self._reader: asyncio.Task[None] | None = None  # as long as something waits

    async def unsubscribe(self) -> None:
        self.client.broker.unsubscribe(self)
        if self in self.client._subscriptions:
            self.client._subscriptions.remove(self)
        self.end()

    def take(self, message: MessageDouble) -> None:
        if not self._is_over:
            self._waiting.append(message)
            if self._reader is None:
                self._reader = self.client.broker.loop.create_task(self._read())

    def end(self) -> None:
        self._is_over = True
        self._waiting.clear()

    async def _read(self) -> None:
        try:
            while self._waiting:
                await self._callback(self._waiting.popleft())
        finally:
            self._reader = None


class JetStreamDouble:
    """In place of the context for streams: one stream is there, and keeps what it has not seen."""

    def __init__(self, client: ClientDouble) -> None:
        self._client = client

    async def stream_info(self, name: str) -> StreamInfo:
        if not self._client.is_connected:
            raise nats.errors.TimeoutError
        broker = self._client.broker
        await broker.loop.pass_time(2 * broker.latency())
        return StreamInfo(StreamState(len(broker.stream)))

    async def publish(self, subject: str, payload: bytes, *, timeout: float, headers: dict[str, str]) -> None:
        await self._client.request(subject, payload, timeout=timeout, headers=headers)


def _too_late(answered: asyncio.Future[MessageDouble]) -> None:
    if not answered.done():
        answered.set_exception(nats.errors.TimeoutError())
