"""What is done with all sockets again and again: never with thousands of them at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, cast

import pytest

from darbar_contracts import frames
from darbar_table.socket import session
from darbar_table.socket.handler import PARTS, SocketHandler
from darbar_table.socket.session import PlayerSocket

SOCKETS = 10 * PARTS


class Looked:
    """A socket that only counts."""

    def __init__(self, counts: Counter[int], number: int) -> None:
        self._counts = counts
        self._number = number

    def look(self) -> None:
        self._counts[self._number] += 1


class Beaten:
    """A node that notes which part of its tables is told, and of how many."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int]] = []

    def beat(self, part: int, parts: int) -> None:
        self.told.append((part, parts))


class Rounds:
    """A handler whose pauses end when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.node = Beaten()
        self.pauses: list[float] = []
        self._next = asyncio.Semaphore(0)
        self.handler = SocketHandler(
            cast(Any, _Limits()),
            node=lambda: cast(Any, self.node),
            gateway=cast(Any, None),
            decoder=cast(Any, None),
            tokens=cast(Any, None),
            metrics=cast(Any, None),
        )
        monkeypatch.setattr(asyncio, "sleep", self._pause)

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await self._next.acquire()

    async def pass_one(self) -> None:
        """One pause is over, and what follows it is done."""
        before = len(self.pauses)
        self._next.release()
        while len(self.pauses) == before:
            await asyncio.wait_for(_turn(), 1)


class _Limits:
    trusted_proxies: tuple[str, ...] = ()


async def _turn() -> None:
    loop = asyncio.get_running_loop()
    turned = loop.create_future()
    loop.call_soon(turned.set_result, None)
    await turned


async def test_everybody_is_looked_at_once_a_round_and_only_a_small_part_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rounds, counts = Rounds(monkeypatch), Counter[int]()
    for number in range(SOCKETS):
        rounds.handler._admit(cast(PlayerSocket, Looked(counts, number)))
    looking = asyncio.create_task(rounds.handler.look())
    await _turn()
    before = 0
    for _ in range(PARTS):
        await rounds.pass_one()
        assert counts.total() - before <= 2 * SOCKETS / PARTS
        before = counts.total()
    assert counts == Counter(range(SOCKETS))
    assert sum(rounds.pauses[:PARTS]) == pytest.approx(session.LOOK_SECONDS)
    looking.cancel()


async def test_every_part_of_the_tables_hears_one_heartbeat_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = Rounds(monkeypatch)
    beating = asyncio.create_task(rounds.handler.beat())
    await _turn()
    for _ in range(PARTS):
        await rounds.pass_one()
    assert rounds.node.told == [(part, PARTS) for part in range(PARTS)]
    assert sum(rounds.pauses[:PARTS]) == pytest.approx(frames.HEARTBEAT_SECONDS)
    beating.cancel()
