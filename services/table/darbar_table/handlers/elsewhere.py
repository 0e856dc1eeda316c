"""Questions about tables whose logs lie in another database. Open this when one cell does not find a table of another.

Any table process may be asked. What lies in its own database it answers; else it asks a process of the cell that has
the table, which answers out of its database and never asks on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar
from uuid import UUID

import msgspec
import structlog

from darbar_contracts.admin.disclosure import LogRequest, StateRequest, VerifyLog
from darbar_contracts.subjects import TABLE_SEAT, table_asked
from darbar_contracts.tables import MilestonesRequest
from darbar_kit.bus import Bus, Subscription
from darbar_kit.errors import Unavailable
from darbar_table.handlers.questions import table_id_of
from darbar_table.shards.cells import Cells
from darbar_table.shards.placement import shard_of
from darbar_table.store.store import Store

# A whole log may be read for it, behind others.
ASKED_SECONDS_MAX = 20.0
SEAT_SECONDS_MAX = 1.0

_Request = TypeVar("_Request", bound=msgspec.Struct)
_Answer = TypeVar("_Answer", bound=msgspec.Struct)
log = structlog.get_logger()


class AskedByCells(Protocol):
    """Something that processes of other cells may ask."""

    async def serve_at(self, bus: Bus, process_id: str) -> Subscription:
        """From now on this process answers it, out of its own database."""


class Question(NamedTuple, Generic[_Request, _Answer]):
    """What is asked of processes under a subject, and what answers it out of the own database."""

    subject: str
    request_type: type[_Request]
    answer_type: type[_Answer]
    answer: Callable[[_Request], Awaitable[_Answer]]

    async def serve_at(self, bus: Bus, process_id: str) -> Subscription:
        return await bus.serve(table_asked(process_id, self.subject), self.request_type, self.answer)


class ReplayRequest(msgspec.Struct, frozen=True):
    """A page of a replay, for an account."""

    table_id: str
    account_id: str
    after: int


class AuditRequest(msgspec.Struct, frozen=True):
    """An audit of a table, for an account."""

    table_id: str
    account_id: str


class SeatRequest(msgspec.Struct, frozen=True):
    """Where does an account have a seat?"""

    account_id: str


class SeatAnswer(msgspec.Struct, frozen=True):
    """`table_id` None: nowhere in this database."""

    table_id: str | None


_OfTable = TypeVar("_OfTable", LogRequest, StateRequest, VerifyLog, MilestonesRequest, ReplayRequest, AuditRequest)


class Elsewhere:
    """The way to other cells."""

    def __init__(self, bus: Bus, cells: Cells, store: Store) -> None:
        self._bus = bus
        self._cells = cells
        self._store = store

    def of_table(self, question: Question[_OfTable, _Answer]) -> Callable[[_OfTable], Awaitable[_Answer]]:
        """Answers it here, or where the table lies. Raises Unavailable also when nobody has told where."""

        async def ask(request: _OfTable) -> _Answer:
            process_id = self._cells.asked(shard_of(table_id_of(request.table_id)))
            if process_id is None:
                return await question.answer(request)
            return await self._ask(process_id, question.subject, request, question.answer_type)

        return ask

    def of_all(
        self, question: Question[_Request, _Answer], merged: Callable[[Sequence[_Answer]], _Answer]
    ) -> Callable[[_Request], Awaitable[_Answer]]:
        """Asks every cell, and merges what they say. Raises Unavailable when one of them is silent."""

        async def ask(request: _Request) -> _Answer:
            others = sorted(self._cells.others())
            asking = (self._ask(one, question.subject, request, question.answer_type) for one in others)
            answers = await asyncio.gather(question.answer(request), *asking)
            return merged(answers) if others else answers[0]

        return ask

    async def seat_of(self, account_id: str) -> UUID | None:
        """Where an account has a seat at a table of another cell. One that is silent keeps nobody from playing here."""
        if not self._cells.is_split:
            return None
        request = SeatRequest(account_id)
        seats = await asyncio.gather(*(self._seat_at(one, request) for one in self._cells.known()))
        return next((UUID(seat.table_id) for seat in seats if seat.table_id is not None), None)

    async def seat(self, request: SeatRequest) -> SeatAnswer:
        """Of this database, for another cell."""
        table_id = await self._store.claim_of(request.account_id)
        return SeatAnswer(None if table_id is None else str(table_id))

    async def _seat_at(self, process_id: str, request: SeatRequest) -> SeatAnswer:
        try:
            return await self._ask(process_id, TABLE_SEAT, request, SeatAnswer, seconds=SEAT_SECONDS_MAX)
        except Unavailable as unavailable:
            log.warning("seats_unknown", reason=unavailable.message)
            return SeatAnswer(None)

    async def _ask(
        self,
        process_id: str,
        subject: str,
        request: msgspec.Struct,
        answer_type: type[_Answer],
        *,
        seconds: float = ASKED_SECONDS_MAX,
    ) -> _Answer:
        return await self._bus.request(table_asked(process_id, subject), request, answer_type, timeout_seconds=seconds)
