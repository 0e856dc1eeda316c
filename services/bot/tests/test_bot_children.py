"""Whatever happens to a child, every request gets an answer and nothing is left behind. Open this about isolation."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from random import Random
from typing import Any

import msgspec
import psutil  # type: ignore[import-untyped,unused-ignore]
import pytest
from bot_fixtures import ANSWER_SECONDS, STUBBORN_CHILD, MakeRequest, StartWorkers, kept_alive

from darbar_bot.engine.child_process import REQUESTS_IN_CHILD_MAX
from darbar_bot.engine.workers import REQUESTS_WAITING_MAX, Workers
from darbar_contracts.bots import BotAnswer, BotRequest
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.testing import eventually

MUTATIONS = 400

# A parent like the service, which asks a child for a decision that never ends and is killed meanwhile.
PARENT = """
import asyncio, sys, msgspec
from darbar_bot.engine.workers import Workers
from darbar_contracts.bots import BotRequest

async def main():
    workers = Workers(answer_seconds_max=60, command=sys.argv[1:])
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(workers.live())
        tasks.create_task(workers.live())
        while workers.ready < 2:
            await asyncio.sleep(0.01)
        tasks.create_task(workers.decide(BotRequest("court_piece", "hang", 0, msgspec.Raw(b"null"))))
        await asyncio.sleep(0)
        print("ready", flush=True)

asyncio.run(main())
"""


async def test_a_request_is_decided(start_workers: StartWorkers, views: list[Any], request_of: MakeRequest) -> None:
    workers, _ = await start_workers()
    answer = await workers.decide(request_of(views[0]))
    assert answer.type == "choose_trump"
    assert msgspec.json.decode(answer.decision)["card"] in views[0].legal.name


async def test_requests_of_many_tables_are_each_answered_with_their_own_decision(
    start_workers: StartWorkers, views: list[Any], request_of: MakeRequest
) -> None:
    workers, _ = await start_workers(2)
    many = [view for view in views for _ in range(3)]
    answers = await asyncio.gather(*(workers.decide(request_of(view)) for view in many))
    for view, answer in zip(many, answers, strict=True):
        named = msgspec.json.decode(answer.decision).get("card")
        assert answer.type in view.legal.also or named in (*view.legal.play, *view.legal.name)


async def test_a_child_that_hangs_fails_its_request_only(
    start_workers: StartWorkers, views: list[Any], request_of: MakeRequest
) -> None:
    workers, ended = await start_workers(command=STUBBORN_CHILD)
    levels = ["normal", "hang", "normal", "normal"]
    outcomes = await asyncio.gather(
        *(workers.decide(request_of(views[0], level=level)) for level in levels), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [BotAnswer, Unavailable, BotAnswer, BotAnswer]
    assert str(outcomes[1]).startswith("decision_too_slow")
    assert ended() == 1


async def test_a_decision_that_comes_too_late_is_nobody_s(views: list[Any], request_of: MakeRequest) -> None:
    workers = Workers(answer_seconds_max=0.1, command=STUBBORN_CHILD)
    async with kept_alive(workers, 1) as ended:
        await eventually(lambda: workers.ready, seconds=ANSWER_SECONDS)
        with pytest.raises(Unavailable, match="decision_too_slow"):
            await workers.decide(request_of(views[0], level="late"))

        async def decided() -> BotAnswer | None:
            try:
                return await workers.decide(request_of(views[-1]))
            except Unavailable:
                return None

        answer: BotAnswer = await eventually(decided, seconds=ANSWER_SECONDS)
        named = msgspec.json.decode(answer.decision)["card"]
        assert (answer.type, named in views[-1].legal.play) == ("play_card", True)
        assert ended() == 0


async def test_new_lines_in_a_view_keep_the_child_in_step(
    start_workers: StartWorkers, views: list[Any], request_of: MakeRequest
) -> None:
    workers, ended = await start_workers()
    request = request_of(views[0])
    written = BotRequest(request.game, request.level, request.seat, msgspec.Raw(b"\n" + bytes(request.view) + b"\n"))

    answers = await asyncio.gather(*(workers.decide(each) for each in (written, request, written)))

    assert len({msgspec.json.encode(answer) for answer in answers}) == 1
    assert ended() == 0


async def test_a_child_that_dies_is_replaced(
    start_workers: StartWorkers, views: list[Any], request_of: MakeRequest
) -> None:
    workers, ended = await start_workers(command=STUBBORN_CHILD)
    for deaths in (1, 2):
        with pytest.raises(Unavailable, match="decision_too_slow"):
            await workers.decide(request_of(views[0], level="die"))
        assert isinstance(await workers.decide(request_of(views[0])), BotAnswer)
        assert ended() == deaths


async def test_a_policy_that_breaks_costs_no_child(
    start_workers: StartWorkers, views: list[Any], request_of: MakeRequest
) -> None:
    workers, ended = await start_workers(command=STUBBORN_CHILD)
    with pytest.raises(Unavailable, match="decision_failed"):
        await workers.decide(request_of(views[0], level="break"))
    assert isinstance(await workers.decide(request_of(views[0])), BotAnswer)
    assert not ended()


async def test_a_program_that_does_not_start_is_tried_again(views: list[Any], request_of: MakeRequest) -> None:
    nothing = (sys.executable, "-c", "pass")
    workers = Workers(answer_seconds_max=0.1, command=nothing)
    async with kept_alive(workers, 1) as ended:
        await eventually(lambda: ended() > 1, seconds=ANSWER_SECONDS)
        assert workers.ready == 0
        with pytest.raises(Unavailable, match="decision_too_slow"):
            await workers.decide(request_of(views[0]))


async def test_more_than_can_wait_are_refused_at_once(
    start_workers: StartWorkers, views: list[Any], request_of: MakeRequest
) -> None:
    workers, _ = await start_workers(command=STUBBORN_CHILD)
    held = REQUESTS_IN_CHILD_MAX + REQUESTS_WAITING_MAX
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(workers.decide(request_of(views[0]))) for _ in range(held)]
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match="busy"):
            await workers.decide(request_of(views[0]))
    assert all(isinstance(task.result(), BotAnswer) for task in asked)


async def test_a_view_too_large_to_be_one_is_refused(start_workers: StartWorkers) -> None:
    workers, _ = await start_workers()
    view = msgspec.Raw(b'"' + b"x" * 300_000 + b'"')
    with pytest.raises(Refused, match="view_invalid"):
        await workers.decide(BotRequest("court_piece", "normal", 0, view))


async def test_damaged_views_cost_no_child(
    start_workers: StartWorkers, views: list[Any], request_of: MakeRequest
) -> None:
    workers, ended = await start_workers()
    dice = Random(11)
    outcomes = set()
    for _ in range(MUTATIONS):
        view = dice.choice(views)
        damaged = BotRequest("court_piece", "normal", view.seat, _damaged(view, dice))
        try:
            await workers.decide(damaged)
            outcomes.add("decided")
        except (Refused, Unavailable) as failure:
            outcomes.add(failure.code)
    assert "view_invalid" in outcomes
    assert outcomes <= {"decided", "view_invalid", "decision_failed"}
    assert not ended()


async def test_children_end_with_a_parent_that_is_killed() -> None:
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", PARENT, *STUBBORN_CHILD, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert await parent.stdout.readline() == b"ready\n"
    children = psutil.Process(parent.pid).children()
    assert len(children) == 2
    parent.kill()
    await parent.wait()
    await eventually(lambda: not any(_lives(child) for child in children), seconds=ANSWER_SECONDS)


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _damaged(view: Any, dice: Random) -> msgspec.Raw:
    """The view with one field of another one's value, or with bytes changed."""
    fields = msgspec.to_builtins(view)
    if dice.random() < 0.7:
        strange: list[Any] = [None, -1, 4, 99, "", "ZZ", "AS", "X", [], [0, 0], ["AS"], ["ZZ", "2C"], {}, True]
        fields[dice.choice(list(fields))] = dice.choice(strange)
        return msgspec.Raw(msgspec.json.encode(fields))
    text = bytearray(msgspec.json.encode(fields))
    text[dice.randrange(len(text))] = dice.choice(b'0159ACDHSTK{}[]",:\\')
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return msgspec.Raw(b"{}")  # A request whose view is no JSON is no JSON itself: the bus refuses it.
    return msgspec.Raw(bytes(text))
