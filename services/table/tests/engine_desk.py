"""The engine without servers: what is offered to the writer is kept until a test says how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, NamedTuple, cast
from uuid import UUID

import msgspec
from table_scripts import SETTINGS, Script

from darbar_kit.bus import Bus
from darbar_table.engine.effects import Effects
from darbar_table.engine.freezer import Freezer
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.owner import Owner
from darbar_table.engine.table_timers import TableTimers
from darbar_table.metrics import Metrics
from darbar_table.settings import Settings
from darbar_table.shards.holdings import ShardState
from darbar_table.shards.placement import shard_of
from darbar_table.store.codec import EventCodec
from darbar_table.store.store import Store
from darbar_table.store.writer import Append, Outcome, Writer


class WriterDouble:
    """Stores nothing; `end` tells the oldest append how it ended."""

    def __init__(self) -> None:
        self.offered: list[Append] = []

    def offer(self, append: Append) -> None:
        self.offered.append(append)

    def end(self, outcome: Outcome = Outcome.STORED) -> None:
        self.offered.pop(0).done(outcome)


class BusDouble:
    """Keeps what is asked; answers with what the test has put there, or never."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, msgspec.Struct]] = []
        self.answers: asyncio.Queue[msgspec.Struct | Exception] = asyncio.Queue()

    async def request(self, subject: str, message: msgspec.Struct, answer_type: type, *, timeout_seconds: float) -> Any:
        self.asked.append((subject, message))
        answer = await self.answers.get()
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, answer_type)
        return answer


class Answer(NamedTuple):
    """How a command was answered: with a code, or with a version."""

    code: str | None
    version: int | None
    retry: bool = False


class ReplyDouble:
    """Keeps every answer to its command."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []

    def refuse(self, code: str, message: str, *, details: dict[str, Any], retry: bool) -> None:
        self.answers.append(Answer(code, None, retry))

    def done(self, version: int) -> None:
        self.answers.append(Answer(None, version))

    def stored(self, version: int) -> None:
        self.answers.append(Answer(None, version))


class Desk:
    """One table as its owner holds it, and everything around it that a test moves by hand."""

    def __init__(self, script: Script, settings: Settings = SETTINGS) -> None:
        self.writer, self.bus, self.metrics = WriterDouble(), BusDouble(), Metrics()
        self.time = 1000.0
        self.may_answer = True
        self.shard_state: ShardState | None = ShardState.SERVING
        self.reloaded: list[LiveTable] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.freezer = Freezer(cast(Store, StoreDouble()), metrics=self.metrics, spawn=self._spawn)
        self.timers = TableTimers(settings, lambda: self.time, submit=self._submit, guard=self.freezer.guard)
        self.owner = Owner(
            settings,
            writer=cast(Writer, self.writer),
            metrics=self.metrics,
            timers=self.timers,
            freezer=self.freezer,
            may_answer=lambda: self.may_answer,
            state_of=lambda shard: self.shard_state,
            publish=lambda table_id, milestones: None,
            after=lambda live, draft: None,
            reload=self.reloaded.append,
            fresh_seed=lambda: "0" * 64,
        )
        self.effects = Effects(
            settings,
            bus=cast(Bus, self.bus),
            metrics=self.metrics,
            owner=self.owner,
            freezer=self.freezer,
            spawn=self._spawn,
        )
        table_id = UUID(script.table.table_id)
        codec = EventCodec(script.table.rules)
        self.live = LiveTable(table_id, shard=shard_of(table_id), codec=codec, table=script.table, chain=bytes(32))
        self.owner.add(self.live)

    def tell(self, command: Any) -> ReplyDouble:
        reply = ReplyDouble()
        self.owner.submit(self.live, command, reply)
        return reply

    async def end(self) -> None:
        """Nothing that a test began goes on after it."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def _submit(self, live: LiveTable, command: Any) -> None:
        self.owner.submit(live, command)

    def _spawn(self, effect: Coroutine[None, None, None]) -> None:
        self.tasks.append(asyncio.ensure_future(effect))


class StoreDouble:
    """Takes what is frozen."""

    async def freeze(self, table_id: UUID, *, reason: str, command: str | None) -> None: ...
