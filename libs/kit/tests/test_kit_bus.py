"""Services that speak to each other. Open this when a request gets lost or a failure looks like another."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import structlog

from darbar_kit.bus import MESSAGE_BYTES_MAX, Bus, MessageTooLarge
from darbar_kit.bus import connection as bus_module
from darbar_kit.embedded.nats import NatsServer
from darbar_kit.embedded.nats_rights import Permissions
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.testing import MakeNats, Tunnel, eventually


class Question(msgspec.Struct, frozen=True):
    number: int
    text: str = ""


class Answer(msgspec.Struct, frozen=True):
    number: int


@pytest.fixture
async def bus(nats_server: str) -> AsyncIterator[Bus]:
    opened = await Bus.connect(nats_server, name="ann")
    yield opened
    await opened.close()


@pytest.fixture
async def other(nats_server: str) -> AsyncIterator[Bus]:
    opened = await Bus.connect(nats_server, name="bob")
    yield opened
    await opened.close()


async def double(question: Question) -> Answer:
    return Answer(question.number * 2)


async def refuse(question: Question) -> Answer:
    raise Refused("too_big", "that is too big", {"number_max": 9}, 422)


async def give_up(question: Question) -> Answer:
    raise Unavailable("shop_closed", "come back later", retry=7)


async def break_down(question: Question) -> Answer:
    raise ZeroDivisionError("a secret detail")


async def wait_for_ever(question: Question) -> Answer:
    await asyncio.Event().wait()
    raise AssertionError


async def test_a_request_is_answered(bus: Bus, other: Bus) -> None:
    await other.serve("shop.double", Question, double)

    assert await bus.request("shop.double", Question(21), Answer, timeout_seconds=5) == Answer(42)


async def test_a_refusal_comes_back_as_a_refusal(bus: Bus, other: Bus) -> None:
    await other.serve("shop.refuse", Question, refuse)

    with pytest.raises(Refused) as caught:
        await bus.request("shop.refuse", Question(10), Answer, timeout_seconds=5)

    refused = caught.value
    assert (refused.code, refused.message, refused.details, refused.status) == (
        "too_big",
        "that is too big",
        {"number_max": 9},
        422,
    )


async def test_an_outage_comes_back_as_an_outage(bus: Bus, other: Bus) -> None:
    await other.serve("shop.outage", Question, give_up)

    with pytest.raises(Unavailable) as caught:
        await bus.request("shop.outage", Question(1), Answer, timeout_seconds=5)

    assert (caught.value.code, caught.value.message, caught.value.retry) == ("shop_closed", "come back later", 7)


async def test_a_bug_comes_back_as_an_outage_without_its_details(bus: Bus, other: Bus) -> None:
    await other.serve("shop.bug", Question, break_down)

    with pytest.raises(Unavailable, match="service_failed") as caught:
        await bus.request("shop.bug", Question(1), Answer, timeout_seconds=5)

    assert "secret" not in str(caught.value)


async def test_a_message_of_another_form_is_refused(bus: Bus, other: Bus) -> None:
    await other.serve("shop.form", Question, double)

    with pytest.raises(Refused, match="message_invalid"):
        await bus.request("shop.form", Empty(), Answer, timeout_seconds=5)


class Empty(msgspec.Struct, frozen=True):
    pass


async def test_an_answer_of_another_form_is_an_outage_and_no_fault_of_the_asker(bus: Bus, other: Bus) -> None:
    class Nested(msgspec.Struct, frozen=True):
        answer: Answer

    await other.serve("shop.double", Question, double)

    with pytest.raises(Unavailable) as raised:
        await bus.request("shop.double", Question(4), Nested, timeout_seconds=5)

    assert raised.value.code == "service_failed"


async def test_nobody_there_is_known_at_once(bus: Bus) -> None:
    with pytest.raises(Unavailable, match="no_responders"):
        await bus.request("shop.nobody", Question(1), Answer, timeout_seconds=60)


async def test_no_answer_in_time_is_an_outage(bus: Bus, nats_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = await Bus.connect(nats_server, name="silent")
    await silent.serve("shop.silent", Question, wait_for_ever)

    with pytest.raises(Unavailable, match="timed_out"):
        await bus.request("shop.silent", Question(1), Answer, timeout_seconds=0.05)

    monkeypatch.setattr(bus_module, "CLOSE_SECONDS_MAX", 0.05)
    await silent.close()


async def test_of_a_queue_one_answers(bus: Bus, other: Bus) -> None:
    served: list[str] = []

    async def count(question: Question) -> None:
        served.append(question.text)

    for listener in (bus, other):
        await listener.serve("shop.queue", Question, count, queue="shop")
    for number in range(50):
        await bus.publish("shop.queue", Question(number, str(number)))

    await eventually(lambda: len(served) >= 50)
    assert sorted(served, key=int) == [str(number) for number in range(50)]


async def test_listening_keeps_the_order_however_long_a_message_takes(bus: Bus, other: Bus) -> None:
    heard: list[int] = []

    async def hear(question: Question) -> None:
        for _ in range(5 - question.number % 5):
            await asyncio.sleep(0)
        heard.append(question.number)

    await other.listen("shop.frames", Question, hear)
    for number in range(50):
        await bus.publish("shop.frames", Question(number))

    await eventually(lambda: len(heard) == 50)
    assert heard == list(range(50))


async def test_a_stopped_subject_has_nobody(bus: Bus, other: Bus) -> None:
    subscription = await other.serve("shop.stopped", Question, double)

    await subscription.stop()

    async def nobody_answers() -> bool:
        try:
            await bus.request("shop.stopped", Question(1), Answer, timeout_seconds=0.1)
        except Unavailable as unavailable:
            return unavailable.code == "no_responders"
        return False

    await eventually(nobody_answers)


async def test_a_message_that_is_too_large_is_not_sent(bus: Bus) -> None:
    with pytest.raises(MessageTooLarge, match=str(MESSAGE_BYTES_MAX)):
        await bus.publish("shop.large", Question(1, "x" * MESSAGE_BYTES_MAX))


async def test_an_answer_may_be_as_large_as_a_message(bus: Bus, other: Bus) -> None:
    async def echo(question: Question) -> Question:
        return question

    await other.serve("shop.echo", Question, echo)
    large = Question(1, "x" * (MESSAGE_BYTES_MAX - 100))

    assert await bus.request("shop.echo", large, Question, timeout_seconds=5) == large


async def test_a_trace_travels_with_the_request(bus: Bus, other: Bus) -> None:
    traces: list[object] = []

    async def note(question: Question) -> Answer:
        traces.append(structlog.contextvars.get_contextvars().get("traceparent"))
        return Answer(1)

    await other.serve("shop.trace", Question, note)
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    await bus.request("shop.trace", Question(1), Answer, timeout_seconds=5, traceparent=trace)
    await bus.request("shop.trace", Question(1), Answer, timeout_seconds=5)

    assert traces == [trace, None]


async def test_only_so_many_handlers_run_at_once(nats_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_module, "HANDLERS_RUNNING_MAX", 3)
    bus = await Bus.connect(nats_server, name="few")
    running, most = 0, 0
    done = asyncio.Event()

    async def work(question: Question) -> Answer:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await done.wait()
        running -= 1
        return Answer(question.number)

    await bus.serve("shop.work", Question, work)
    requests = [
        asyncio.create_task(bus.request("shop.work", Question(number), Answer, timeout_seconds=5))
        for number in range(10)
    ]
    await eventually(lambda: running == 3)

    done.set()

    assert [answer.number for answer in await asyncio.gather(*requests)] == list(range(10))
    assert most == 3
    await bus.close()


async def test_closing_finishes_what_runs(bus: Bus, nats_server: str) -> None:
    server = await Bus.connect(nats_server, name="closing")
    started, finish = asyncio.Event(), asyncio.Event()

    async def work(question: Question) -> Answer:
        started.set()
        await finish.wait()
        return Answer(question.number)

    await server.serve("shop.closing", Question, work)
    request = asyncio.create_task(bus.request("shop.closing", Question(1), Answer, timeout_seconds=5))
    await started.wait()
    closing = asyncio.create_task(server.close())

    finish.set()

    assert await request == Answer(1)
    await closing
    assert not server.connected


@pytest.mark.parametrize("is_noticed", [True, False])
async def test_closing_ends_quietly_when_the_server_is_gone(nats_server: str, is_noticed: bool) -> None:
    async with Tunnel.to(nats_server) as tunnel:
        bus = await Bus.connect(tunnel.url, name="ann")
        await bus.serve("shop.double", Question, double)
        await tunnel.close()
        if is_noticed:
            await eventually(lambda: not bus.connected)

        with structlog.testing.capture_logs() as logs:
            await asyncio.wait_for(bus.close(), timeout=2)

        assert [log for log in logs if log["log_level"] == "error"] == []
        await tunnel.open()


async def test_jetstream_keeps_messages(bus: Bus) -> None:
    await bus.jetstream.add_stream(name="ORDERS", subjects=["orders.>"])
    await bus.jetstream.publish("orders.new", b"{}")

    assert (await bus.jetstream.stream_info("ORDERS")).state.messages == 1


async def test_a_connection_comes_back_when_the_server_does(servers_folder: Path) -> None:
    server = NatsServer(servers_folder / "nats-restarted")
    bus = await Bus.connect(await server.start(), name="patient")
    await bus.serve("shop.double", Question, double)

    await server.stop()
    await eventually(lambda: not bus.connected)
    with pytest.raises(Unavailable):
        await bus.request("shop.double", Question(1), Answer, timeout_seconds=0.05)
    await server.start()

    await eventually(lambda: bus.connected)
    assert await bus.request("shop.double", Question(1), Answer, timeout_seconds=5) == Answer(2)
    await bus.close()
    await server.stop()


async def test_who_missed_what_was_told_meanwhile_is_told_that_the_connection_is_back(nats_server: str) -> None:
    async with Tunnel.to(nats_server) as tunnel:
        bus = await Bus.connect(tunnel.url, name="patient")
        told: list[bool] = []
        bus.on_reconnected(lambda: told.append(bus.connected))

        async def cut_off() -> None:
            await tunnel.close()
            await eventually(lambda: not bus.connected)
            await tunnel.open()

        await cut_off()
        await eventually(lambda: told == [True])
        await cut_off()
        await eventually(lambda: told == [True, True])
        await bus.close()


async def test_what_is_served_while_there_is_no_connection_is_served_when_it_comes_back(servers_folder: Path) -> None:
    server = NatsServer(servers_folder / "nats-late")
    bus = await Bus.connect(await server.start(), name="patient")
    await server.stop()
    await eventually(lambda: not bus.connected)

    await bus.serve("shop.double", Question, double)
    await server.start()

    await eventually(lambda: bus.connected)
    assert await bus.request("shop.double", Question(1), Answer, timeout_seconds=5) == Answer(2)
    await bus.close()
    await server.stop()


async def test_a_server_that_is_not_there_is_an_outage() -> None:
    with pytest.raises(Unavailable, match="bus_unreachable"):
        await Bus.connect("nats://127.0.0.1:1", name="nobody", seconds_max=0.2)


async def test_a_wrong_password_is_an_outage(nats_server: str) -> None:
    with pytest.raises(Unavailable, match=r"bus_unreachable: .*Authorization Violation"):
        await Bus.connect(nats_server.replace("operator:", "operator:x"), name="nobody", seconds_max=0.5)


USERS = {
    "shop": Permissions(publish=("bank.ask",), subscribe=("shop.>",)),
    "bank": Permissions(subscribe=("bank.>",)),
    "thief": Permissions(publish=("thief.>",), subscribe=("thief.>",)),
}


@pytest.fixture(scope="module")
async def strict_server(make_nats: MakeNats) -> NatsServer:
    return await make_nats(USERS)


async def test_a_user_may_ask_what_it_has_a_right_to_and_gets_the_answer(strict_server: NatsServer) -> None:
    bank = await Bus.connect(strict_server.url("bank"), name="bank")
    shop = await Bus.connect(strict_server.url("shop"), name="shop")
    await bank.serve("bank.ask", Question, double)

    assert await shop.request("bank.ask", Question(4), Answer, timeout_seconds=5) == Answer(8)

    await shop.close()
    await bank.close()


async def test_a_user_without_the_right_is_not_heard(strict_server: NatsServer) -> None:
    bank = await Bus.connect(strict_server.url("bank"), name="bank")
    thief = await Bus.connect(strict_server.url("thief"), name="thief")
    asked: list[Question] = []

    async def note(question: Question) -> Answer:
        asked.append(question)
        return Answer(0)

    await bank.serve("bank.ask", Question, note)
    with pytest.raises(Unavailable):
        await thief.request("bank.ask", Question(1), Answer, timeout_seconds=0.2)

    assert asked == []
    await thief.close()
    await bank.close()


@pytest.mark.parametrize("subject", ["bank.>", "_INBOX.shop.>", "_INBOX.>", ">"])
async def test_nobody_may_listen_to_the_subjects_and_answers_of_others(strict_server: NatsServer, subject: str) -> None:
    refusals: list[str] = []

    async def note(error: Exception) -> None:
        refusals.append(str(error))

    thief = await Bus.connect(strict_server.url("thief"), name="thief")
    thief.client._error_cb = note
    heard: list[Question] = []

    async def hear(question: Question) -> None:
        heard.append(question)

    await thief.serve(subject, Question, hear)

    await eventually(lambda: any("permissions violation" in refusal.lower() for refusal in refusals))
    assert heard == []
    await thief.close()
