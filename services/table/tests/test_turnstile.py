"""Thousands who come at once pass one after the other, and everything else has its turns between them."""

from __future__ import annotations

import asyncio

from darbar_table.handlers.turnstile import Turnstile

COUNT_MAX = 20
CROWD = 1000


async def next_turn() -> None:
    """What has been called soon until now is done."""
    await asyncio.sleep(0)


async def test_who_comes_alone_passes_at_once() -> None:
    passing = Turnstile(COUNT_MAX).passed()
    try:
        passing.send(None)
    except StopIteration:
        return
    raise AssertionError("nobody was there and it waited")


async def test_of_a_crowd_a_few_pass_in_each_turn_in_their_order() -> None:
    turnstile, passed, others = Turnstile(COUNT_MAX), list[int](), 0

    async def come(number: int) -> None:
        await turnstile.passed()
        passed.append(number)

    coming = [asyncio.create_task(come(number)) for number in range(CROWD)]
    before = 0
    while len(passed) < CROWD:
        await next_turn()
        others += 1
        assert len(passed) - before <= 2 * COUNT_MAX
        before = len(passed)
        assert others <= CROWD, "somebody does not pass"
    await asyncio.gather(*coming)
    assert passed == list(range(CROWD))
    assert others >= CROWD / (2 * COUNT_MAX)


async def test_who_gives_up_while_waiting_takes_nobodys_turn() -> None:
    turnstile = Turnstile(1)
    coming = [asyncio.create_task(turnstile.passed()) for _ in range(5)]
    await next_turn()
    for task in coming[1:4]:
        task.cancel()
    await asyncio.wait(coming, timeout=5)
    assert [task.cancelled() for task in coming] == [False, True, True, True, False]
    await turnstile.passed()
