"""How services speak to each other. Open this when a request between services gets lost or refused."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import unquote, urlsplit

import msgspec
import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as NatsSubscription
from nats.js import JetStreamContext

from darbar_kit.bus.messages import ERROR_HEADER, ErrorAnswer, Handler, MessageTooLarge, answer_of, encoded, outcome
from darbar_kit.cancelling import stop_if_cancelled
from darbar_kit.errors import KitReason, Unavailable

# What waits beyond this stays in the subscription's queue of MESSAGES_WAITING_MAX; after that the newest is dropped
# and its sender hears nothing until its time is over.
HANDLERS_RUNNING_MAX = 256
MESSAGES_WAITING_MAX = 8192
CONNECT_SECONDS_MAX = 10.0
RECONNECT_SECONDS = 0.25
ERRORS_TOLD_MAX = 10
PING_SECONDS = 5
CLOSE_SECONDS_MAX = 5.0
FLUSH_SECONDS_MAX = 5
# Older servers take per-key time limits and then ignore them.
SERVER_VERSION_MIN = (2, 12)

_TRACE_HEADER = "traceparent"

_Message = TypeVar("_Message", bound=msgspec.Struct)
_Answer = TypeVar("_Answer", bound=msgspec.Struct)
_log = structlog.get_logger()


class ServerTooOld(Exception):
    """The NATS server lacks what the services rely on."""


class Subscription:
    """A subject that is being served, until stop()."""

    def __init__(self, subscription: NatsSubscription, forget: Callable[["Subscription"], None]) -> None:
        self._subscription = subscription
        self._forget = forget

    async def stop(self) -> None:
        """No new messages; those being handled are finished."""
        self._forget(self)
        # It may have ended with the connection, which is what we want.
        with contextlib.suppress(nats.errors.ConnectionClosedError, nats.errors.BadSubscriptionError):
            await self._subscription.unsubscribe()


class Bus:
    """One connection to NATS, which comes back by itself for ever."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._closing = False
        self._errors: dict[str, None] = {}  # The different ones since the last connection, in their order.
        self._running: set[asyncio.Task[None]] = set()
        self._subscriptions: set[Subscription] = set()
        self._told_of_reconnecting: list[Callable[[], None]] = []
        self._places = asyncio.Semaphore(HANDLERS_RUNNING_MAX)

    @classmethod
    async def connect(cls, url: str, *, name: str, seconds_max: float = CONNECT_SECONDS_MAX) -> "Bus":
        """Raises Unavailable when no server answers in time. Answers come to the private `_INBOX.<user of the url>`."""
        bus = cls(Client())
        try:
            async with asyncio.timeout(seconds_max):
                await bus._open(url, name)
        except (OSError, TimeoutError, nats.errors.Error) as error:
            await bus.close()
            reason = "; ".join(bus._errors) or str(error)
            raise Unavailable(KitReason.BUS_UNREACHABLE, f"no NATS server lets us in: {reason}") from error
        version = bus.client.connected_server_version
        if (version.major, version.minor) < SERVER_VERSION_MIN:
            await bus.close()
            raise ServerTooOld(f"the NATS server has version {version}, 2.12 is needed at least")
        return bus

    async def _open(self, url: str, name: str) -> None:
        user = unquote(urlsplit(url).username or name)
        await self._client.connect(
            url,
            name=name,
            inbox_prefix=f"_INBOX.{user}",
            max_reconnect_attempts=-1,
            reconnect_time_wait=RECONNECT_SECONDS,  # type: ignore[arg-type]  # It is only slept.
            ping_interval=PING_SECONDS,
            error_cb=self._log_error,
            disconnected_cb=self._log_disconnected,
            reconnected_cb=self._reconnected,
        )

    @property
    def client(self) -> Client:
        """The connection itself, for what this class doesn't offer."""
        return self._client

    @property
    def jetstream(self) -> JetStreamContext:
        return self._client.jetstream()

    @property
    def connected(self) -> bool:
        return self._client.is_connected

    async def request(
        self,
        subject: str,
        message: msgspec.Struct,
        answer_type: type[_Answer],
        *,
        timeout_seconds: float,
        traceparent: str | None = None,
    ) -> _Answer:
        """Raises Refused when the other side refuses, Unavailable when no answer comes (it may be done even so)."""
        headers = {_TRACE_HEADER: traceparent} if traceparent else None
        try:
            answered = await self._client.request(subject, encoded(message), timeout=timeout_seconds, headers=headers)
        except nats.errors.NoRespondersError as error:
            raise Unavailable(KitReason.NO_RESPONDERS, f"nobody serves {subject}") from error
        except (TimeoutError, nats.errors.TimeoutError) as error:
            stop_if_cancelled()
            raise Unavailable(KitReason.TIMED_OUT, f"no answer on {subject} in {timeout_seconds} s") from error
        except nats.errors.Error as error:
            stop_if_cancelled()
            raise Unavailable(KitReason.BUS_UNREACHABLE, f"{subject}: {type(error).__name__}") from error
        return answer_of(answered, answer_type)

    async def publish(self, subject: str, message: msgspec.Struct, *, traceparent: str | None = None) -> None:
        """Sends without waiting for anybody. Lost when nobody listens: use `jetstream` for what must arrive."""
        headers = {_TRACE_HEADER: traceparent} if traceparent else None
        try:
            await self._client.publish(subject, encoded(message), headers=headers)
        except nats.errors.Error as error:
            raise Unavailable(KitReason.BUS_UNREACHABLE, f"{subject}: {type(error).__name__}") from error

    async def serve(
        self, subject: str, request_type: type[_Message], handler: Handler[_Message], *, queue: str = ""
    ) -> Subscription:
        """Answers requests with what `handler` returns, many at a time; to a plain message nothing is sent back."""

        async def take(received: Msg) -> None:
            # Waiting here keeps this subscription from taking more; messages then wait in its queue.
            await self._places.acquire()
            task = asyncio.create_task(self._answer(received, request_type, handler))
            self._running.add(task)
            task.add_done_callback(self._finished)

        return await self._subscribe(subject, take, queue=queue)

    async def listen(
        self, subject: str, message_type: type[_Message], handler: Handler[_Message], *, queue: str = ""
    ) -> Subscription:
        """Like serve, but one message at a time in the order they came: for streams of frames."""

        async def take(received: Msg) -> None:
            await self._answer(received, message_type, handler)

        return await self._subscribe(subject, take, queue=queue)

    def on_reconnected(self, tell: Callable[[], None]) -> None:
        """`tell` is called each time the connection has come back: what was published meanwhile was missed."""
        self._told_of_reconnecting.append(tell)

    async def close(self) -> None:
        """Takes nothing new, finishes the handlers that run (for a short while), then ends the connection."""
        self._closing = True
        for subscription in list(self._subscriptions):
            await subscription.stop()
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=CLOSE_SECONDS_MAX)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        # A server that has gone has ended the connection already; one that is silent never hears the goodbye.
        with contextlib.suppress(OSError, nats.errors.Error):
            async with asyncio.timeout(CLOSE_SECONDS_MAX):
                await self._client.close()

    async def _subscribe(self, subject: str, take: Callable[[Msg], Awaitable[None]], *, queue: str) -> Subscription:
        subscribed = await self._client.subscribe(
            subject, queue=queue, cb=take, pending_msgs_limit=MESSAGES_WAITING_MAX
        )
        subscription = Subscription(subscribed, self._subscriptions.discard)
        self._subscriptions.add(subscription)
        await self._settle()
        return subscription

    async def _settle(self) -> None:
        """After this the server knows the subscription: a request sent by anybody finds us."""
        # A connection that is lost, now or meanwhile, brings its subscriptions along when it comes back.
        with contextlib.suppress(nats.errors.Error, TimeoutError):
            # The library writes the first PING before the subscription that waits to be written; the second follows it.
            for _ in range(2):
                if self.connected:
                    await self._client.flush(timeout=FLUSH_SECONDS_MAX)

    async def _log_error(self, error: Exception) -> None:
        # While there is no connection the same few come several times a second.
        text = str(error) or type(error).__name__
        told = not self.connected and (text in self._errors or len(self._errors) >= ERRORS_TOLD_MAX)
        if not told and not self._closing:
            _log.warning("bus_error", error=text)
        if len(self._errors) < ERRORS_TOLD_MAX:
            self._errors[text] = None

    async def _reconnected(self) -> None:
        self._errors.clear()
        _log.info("bus_reconnected")
        for tell in self._told_of_reconnecting:
            tell()

    async def _log_disconnected(self) -> None:
        if not self._closing:
            _log.warning("bus_disconnected")

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._places.release()

    async def _answer(self, received: Msg, request_type: type[_Message], handler: Handler[_Message]) -> None:
        trace = received.headers.get(_TRACE_HEADER) if received.headers else None
        bound = structlog.contextvars.bound_contextvars(**{_TRACE_HEADER: trace}) if trace else contextlib.nullcontext()
        with bound:
            answer = await outcome(received, request_type, handler)
            if received.reply and answer is not None:
                await self._send_back(received, answer)

    async def _send_back(self, received: Msg, answer: msgspec.Struct) -> None:
        headers = {ERROR_HEADER: answer.error.kind} if isinstance(answer, ErrorAnswer) else None
        try:
            await self._client.publish(received.reply, encoded(answer), headers=headers)
        except (MessageTooLarge, nats.errors.Error) as error:
            # The sender will ask again; there is no way to tell it.
            _log.error("answer_lost", subject=received.subject, error=str(error))
