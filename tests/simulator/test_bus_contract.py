"""What the simulator takes for granted of NATS, asked of the server and of its double alike."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import msgspec
import pytest
from nats_double import Broker, ClientDouble
from virtual_loop import Process, VirtualLoop

from darbar_contracts import subjects
from darbar_kit.bus import Bus, ensure_stream
from darbar_kit.bus import connection as bus_connection
from darbar_kit.errors import KitReason, Refused, Unavailable
from darbar_table.store.outbox import MILESTONES

SECONDS_MAX = 10.0
IN_A_ROW = 50


class Number(msgspec.Struct, frozen=True):
    number: int


Connect = Callable[[], Awaitable[Bus]]
Sentence = Callable[[Connect], Awaitable[None]]


async def a_request_is_answered(connect: Connect) -> None:
    ann, bob = await connect(), await connect()

    async def double(asked: Number) -> Number:
        return Number(asked.number * 2)

    await bob.serve("contract.double", Number, double)
    answer = await ann.request("contract.double", Number(4), Number, timeout_seconds=SECONDS_MAX)
    assert answer == Number(8)


async def a_refusal_comes_back_as_one(connect: Connect) -> None:
    ann, bob = await connect(), await connect()

    async def refuse(_asked: Number) -> Number:
        raise Refused("too_large", "that is too large", {}, 422)

    await bob.serve("contract.refuse", Number, refuse)
    with pytest.raises(Refused, match="too large"):
        await ann.request("contract.refuse", Number(4), Number, timeout_seconds=SECONDS_MAX)


async def who_asks_nobody_hears_so_at_once(connect: Connect) -> None:
    ann = await connect()
    with pytest.raises(Unavailable) as raised:
        await ann.request("contract.nobody", Number(1), Number, timeout_seconds=SECONDS_MAX)
    assert raised.value.code == KitReason.NO_RESPONDERS


async def who_is_not_answered_hears_it_in_time(connect: Connect) -> None:
    ann, bob = await connect(), await connect()

    async def sleep(_asked: Number) -> Number:
        await asyncio.Event().wait()
        raise AssertionError

    await bob.serve("contract.sleep", Number, sleep)
    with pytest.raises(Unavailable) as raised:
        await ann.request("contract.sleep", Number(1), Number, timeout_seconds=0.05)
    assert raised.value.code == KitReason.TIMED_OUT


async def messages_of_one_connection_come_in_their_order(connect: Connect) -> None:
    ann, bob = await connect(), await connect()
    heard: list[int] = []
    every = asyncio.Event()

    async def hear(told: Number) -> None:
        await asyncio.sleep(0)
        heard.append(told.number)
        if len(heard) == IN_A_ROW:
            every.set()

    await bob.listen("contract.order", Number, hear)
    for number in range(IN_A_ROW):
        await ann.publish("contract.order", Number(number))
    await asyncio.wait_for(every.wait(), SECONDS_MAX)
    assert heard == list(range(IN_A_ROW))


async def one_of_a_queue_hears_and_everybody_without_one(connect: Connect) -> None:
    ann, bob, cyn = await connect(), await connect(), await connect()
    heard: list[str] = []
    every = asyncio.Event()

    def hearing(name: str) -> Callable[[Number], Awaitable[None]]:
        async def hear(_told: Number) -> None:
            heard.append(name)
            if len(heard) == 3 * IN_A_ROW:
                every.set()

        return hear

    await bob.listen("contract.queue", Number, hearing("queue"), queue="some")
    await cyn.listen("contract.queue", Number, hearing("queue"), queue="some")
    await bob.listen("contract.queue", Number, hearing("bob"))
    await cyn.listen("contract.queue", Number, hearing("cyn"))
    for number in range(IN_A_ROW):
        await ann.publish("contract.queue", Number(number))
    await asyncio.wait_for(every.wait(), SECONDS_MAX)
    assert sorted(heard) == ["bob"] * IN_A_ROW + ["cyn"] * IN_A_ROW + ["queue"] * IN_A_ROW


async def who_has_stopped_is_asked_no_more(connect: Connect) -> None:
    ann, bob = await connect(), await connect()

    async def answer(asked: Number) -> Number:
        return asked

    subscription = await bob.serve("contract.stop", Number, answer)
    await ann.request("contract.stop", Number(1), Number, timeout_seconds=SECONDS_MAX)
    await subscription.stop()
    await bob.client.flush()
    with pytest.raises(Unavailable):
        await ann.request("contract.stop", Number(2), Number, timeout_seconds=SECONDS_MAX)


async def the_stream_keeps_a_message_id_once(connect: Connect) -> None:
    ann = await connect()
    await ensure_stream(ann.jetstream, MILESTONES)
    before = (await ann.jetstream.stream_info(MILESTONES.name)).state.messages
    for message_id in ("contract:1", "contract:2", "contract:1"):
        await ann.jetstream.publish(
            subjects.milestone("contract"), b"{}", timeout=SECONDS_MAX, headers={"Nats-Msg-Id": message_id}
        )
    assert (await ann.jetstream.stream_info(MILESTONES.name)).state.messages == before + 2


SENTENCES: tuple[Sentence, ...] = (
    a_request_is_answered,
    a_refusal_comes_back_as_one,
    who_asks_nobody_hears_so_at_once,
    who_is_not_answered_hears_it_in_time,
    messages_of_one_connection_come_in_their_order,
    one_of_a_queue_hears_and_everybody_without_one,
    who_has_stopped_is_asked_no_more,
    the_stream_keeps_a_message_id_once,
)


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence.__name__)
async def test_of_the_server(sentence: Sentence, nats_server: str) -> None:
    opened: list[Bus] = []

    async def connect() -> Bus:
        opened.append(await Bus.connect(nats_server, name="contract"))
        return opened[-1]

    try:
        await sentence(connect)
    finally:
        for bus in opened:
            await bus.close()


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence.__name__)
def test_of_the_double(sentence: Sentence, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = VirtualLoop(random.Random(sentence.__name__))
    monkeypatch.setattr(ClientDouble, "broker", Broker(loop), raising=False)
    monkeypatch.setattr(bus_connection, "Client", ClientDouble)
    ended: list[BaseException | None] = []

    async def connect() -> Bus:
        return await Bus.connect("nats://double", name="contract")

    async def run() -> None:
        try:
            await sentence(connect)
        except BaseException as error:
            ended.append(error)
            raise
        ended.append(None)

    loop.spawn(loop.add(Process("contract")), run())
    loop.run_until(lambda: bool(ended), time_max=10 * SECONDS_MAX)
    loop.end()
    assert ended == [None]


def test_who_subscribes_to_the_double_without_a_connection_hears_everything_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = VirtualLoop(random.Random(1))
    broker = Broker(loop)
    monkeypatch.setattr(ClientDouble, "broker", broker, raising=False)
    monkeypatch.setattr(bus_connection, "Client", ClientDouble)
    heard: list[int] = []

    async def hear(message: Number) -> None:
        heard.append(message.number)

    async def run() -> None:
        bus = await Bus.connect("nats://double", name="contract")
        broker.cut()
        await bus.listen("contract.away", Number, hear)
        # These wait for the connection as well.
        for number in range(IN_A_ROW):
            await bus.publish("contract.away", Number(number))

    loop.spawn(loop.add(Process("contract")), run())
    loop.run_until(lambda: len(heard) >= IN_A_ROW, time_max=SECONDS_MAX)
    loop.run_until(lambda: False, time_max=2 * SECONDS_MAX)
    loop.end()
    assert heard == list(range(IN_A_ROW))
