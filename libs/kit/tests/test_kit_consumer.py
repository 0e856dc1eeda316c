"""What a stream keeps reaches who takes it, through idle times and outages. Open this when messages wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from nats.aio.msg import Msg
from prometheus_client import CollectorRegistry

from darbar_kit.bus import Bus, Stream, StreamConsumer, bus_errors, ensure_stream
from darbar_kit.bus.consumer import FETCHES_IDLE_MAX
from darbar_kit.embedded.nats import NatsServer
from darbar_kit.errors import Unavailable
from darbar_kit.supervisor import Supervisor
from darbar_kit.testing import eventually

ORDERS = Stream(name="ORDERS", subjects=("orders.*",), seconds_kept=3600, duplicates_seconds=60)


class Taker:
    """Notes what comes, and acknowledges it."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.failures = 0

    async def __call__(self, messages: Sequence[Msg]) -> None:
        for message in messages:
            if self.failures:
                self.failures -= 1
                raise ZeroDivisionError("a bug")
            self.taken.append(message.data.decode())
            await message.ack()


@pytest.fixture
async def server(servers_folder: Path, tmp_path: Path) -> AsyncIterator[NatsServer]:
    made = NatsServer(servers_folder / f"nats-consumer-{tmp_path.name}", file_store_bytes_max=1024**3)
    yield made
    await made.stop()


@pytest.fixture
async def bus(server: NatsServer) -> AsyncIterator[Bus]:
    opened = await Bus.connect(await server.start(), name="shop")
    yield opened
    await opened.close()


@pytest.fixture
def taker() -> Taker:
    return Taker()


@pytest.fixture
def consumer(bus: Bus, taker: Taker) -> StreamConsumer:
    return StreamConsumer(bus, ORDERS, subject="orders.*", durable_name="shop", take=taker)


@asynccontextmanager
async def supervised(consumer: StreamConsumer) -> AsyncIterator[Supervisor]:
    supervisor = Supervisor("shop", CollectorRegistry())
    supervisor.watch("orders", consumer.run, pause_seconds_max=0.05)
    context = supervisor.context(web.Application())
    await anext(context)
    yield supervisor
    with pytest.raises(StopAsyncIteration):
        await asyncio.wait_for(anext(context), timeout=20)


async def publish(bus: Bus, *orders: str) -> None:
    for order in orders:
        await bus.jetstream.publish("orders.new", order.encode())


async def published(bus: Bus, order: str) -> bool:
    try:
        with bus_errors("publishing"):
            await ensure_stream(bus.jetstream, ORDERS)
            await publish(bus, order)
    except Unavailable:
        return False
    return True


async def waiting(bus: Bus) -> int:
    info = await bus.jetstream.consumer_info("ORDERS", "shop")
    return (info.num_pending or 0) + (info.num_ack_pending or 0)


async def test_what_is_published_is_taken_once_and_in_order(bus: Bus, consumer: StreamConsumer, taker: Taker) -> None:
    orders = [f"order {number}" for number in range(250)]
    async with supervised(consumer):
        await eventually(lambda: consumer.is_subscribed)
        await publish(bus, *orders)
        await eventually(lambda: len(taker.taken) >= 250)

        async def nothing_waits() -> bool:
            return await waiting(bus) == 0

        await eventually(nothing_waits)
    assert taker.taken == orders


async def test_idle_is_ready(bus: Bus, consumer: StreamConsumer, taker: Taker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("darbar_kit.bus.consumer.FETCH_SECONDS", 0.01)
    fetches = 0
    fetched = StreamConsumer._fetched

    async def counted(self: StreamConsumer, subscription: object) -> list[Msg]:
        nonlocal fetches
        fetches += 1
        return await fetched(self, subscription)  # type: ignore[arg-type]

    monkeypatch.setattr(StreamConsumer, "_fetched", counted)
    running = asyncio.create_task(consumer.run())
    await eventually(lambda: consumer.is_subscribed)
    while fetches < 10 * FETCHES_IDLE_MAX:
        assert consumer.is_subscribed
        assert not running.done()
        await asyncio.sleep(0)
    await publish(bus, "first")
    await eventually(lambda: taker.taken == ["first"])

    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert not consumer.is_subscribed


@pytest.mark.parametrize("lost", ["stream", "consumer"])
async def test_a_lost_stream_or_consumer_is_made_anew(
    bus: Bus, consumer: StreamConsumer, taker: Taker, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_kit.bus.consumer.FETCH_SECONDS", 0.05)
    async with supervised(consumer) as supervisor:
        await eventually(lambda: consumer.is_subscribed)
        if lost == "stream":
            await bus.jetstream.delete_stream("ORDERS")
        else:
            await bus.jetstream.delete_consumer("ORDERS", "shop")
        await eventually(lambda: not consumer.is_subscribed)
        await eventually(lambda: consumer.is_subscribed)
        await publish(bus, "after")
        await eventually(lambda: taker.taken == ["after"])
        assert supervisor.not_healthy() == []


async def test_after_a_restart_of_the_server_messages_come_again(
    server: NatsServer, bus: Bus, consumer: StreamConsumer, taker: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_kit.bus.consumer.FETCH_SECONDS", 0.2)
    async with supervised(consumer):
        await eventually(lambda: consumer.is_subscribed)
        await publish(bus, "before")
        await eventually(lambda: taker.taken == ["before"])

        await server.stop()
        await eventually(lambda: not bus.connected)
        await server.start()
        await eventually(lambda: published(bus, "after"), seconds=30)

        await eventually(lambda: "after" in taker.taken, seconds=30)


async def test_without_a_server_the_run_ends_as_an_outage(
    server: NatsServer, consumer: StreamConsumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await server.stop()

    with pytest.raises(Unavailable) as raised:
        await asyncio.wait_for(consumer.run(), timeout=30)

    assert raised.value.code == "bus_unreachable"


async def test_a_bug_of_the_taker_ends_the_run_and_the_message_comes_again(
    bus: Bus, consumer: StreamConsumer, taker: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darbar_kit.bus.consumer.ACK_SECONDS_MAX", 0.2)
    taker.failures = 1
    running = asyncio.create_task(consumer.run())
    await eventually(lambda: consumer.is_subscribed)
    await publish(bus, "first")
    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(running, timeout=10)

    async with supervised(consumer):
        await eventually(lambda: taker.taken == ["first"])


async def test_a_run_that_is_cancelled_in_the_middle_of_a_fetch_ends_at_once(consumer: StreamConsumer) -> None:
    running = asyncio.create_task(consumer.run())
    await eventually(lambda: consumer.is_subscribed)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, timeout=2)
