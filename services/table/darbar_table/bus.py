"""What the table service answers on NATS: subjects to questions, nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import msgspec

from darbar_contracts import subjects
from darbar_contracts.admin.disclosure import (
    CoinsLogPage,
    CoinsLogRequest,
    FrozenTables,
    FrozenTablesRequest,
    LogPage,
    LogRequest,
    LogVerified,
    StateRequest,
    TableState,
    VerifyLog,
)
from darbar_contracts.lobby import BlockChanged, Maintenance
from darbar_contracts.tables import (
    CreateTable,
    LeaveAloneRequest,
    LookRequest,
    MilestonesAnswer,
    MilestonesRequest,
    OperateTable,
    ProcessRetired,
    ShardsHanded,
    WhereRequest,
)
from darbar_contracts.voice import NoteStep
from darbar_kit.bus import Bus, Subscription
from darbar_table.engine.node import TableNode
from darbar_table.handlers.create import TableCreator
from darbar_table.handlers.disclosure import Disclosure, coins_of_all, frozen_of_all
from darbar_table.handlers.elsewhere import AskedByCells, Elsewhere, Question, SeatAnswer, SeatRequest
from darbar_table.handlers.inspection import Inspection
from darbar_table.handlers.lobby_news.announcer import Announcer
from darbar_table.handlers.lobby_news.blocks import Blocks
from darbar_table.handlers.operate import Operations
from darbar_table.handlers.questions import Questions
from darbar_table.handlers.relay_messages import ToOwner
from darbar_table.handlers.relayed import RelayedSockets

_Request = TypeVar("_Request", bound=msgspec.Struct)
_Answer = TypeVar("_Answer", bound=msgspec.Struct)


async def serve_logs(
    bus: Bus, elsewhere: Elsewhere, inspection: Inspection, disclosure: Disclosure
) -> list[AskedByCells]:
    """What lobby, wallet and administrators ask any table process about logs, wherever they lie; what of it processes
    of other cells ask."""

    async def serve(
        question: Question[_Request, _Answer], answer: Callable[[_Request], Awaitable[_Answer]]
    ) -> AskedByCells:
        await bus.serve(question.subject, question.request_type, answer, queue=subjects.TABLE_QUEUE)
        return question

    milestones = Question(subjects.TABLE_MILESTONES, MilestonesRequest, MilestonesAnswer, inspection.milestones)
    log = Question(subjects.TABLE_LOG, LogRequest, LogPage, disclosure.log)
    state = Question(subjects.TABLE_STATE, StateRequest, TableState, disclosure.state)
    verify = Question(subjects.TABLE_VERIFY, VerifyLog, LogVerified, disclosure.verify)
    coins = Question(subjects.TABLE_COINS, CoinsLogRequest, CoinsLogPage, disclosure.coins)
    frozen = Question(subjects.TABLE_FROZEN, FrozenTablesRequest, FrozenTables, disclosure.frozen)
    return [
        await serve(milestones, elsewhere.of_table(milestones)),
        await serve(log, elsewhere.of_table(log)),
        await serve(state, elsewhere.of_table(state)),
        await serve(verify, elsewhere.of_table(verify)),
        await serve(coins, elsewhere.of_all(coins, coins_of_all)),
        await serve(frozen, elsewhere.of_all(frozen, frozen_of_all)),
        Question(subjects.TABLE_SEAT, SeatRequest, SeatAnswer, elsewhere.seat),
    ]


async def serve_process(
    bus: Bus,
    *,
    questions: Questions,
    announcer: Announcer,
    blocks: Blocks,
    retired: Callable[[ProcessRetired], Awaitable[None]],
) -> None:
    """A question that any table process can answer, and what all of them are told."""
    await bus.serve(subjects.TABLE_WHERE, WhereRequest, questions.where, queue=subjects.TABLE_QUEUE)
    await bus.serve(subjects.TABLE_RETIRED, ProcessRetired, retired)
    await bus.listen(subjects.LOBBY_MAINTENANCE_CHANGED, Maintenance, announcer.changed)
    await bus.listen(subjects.LOBBY_BLOCK_CHANGED, BlockChanged, blocks.changed)


async def serve_node(
    bus: Bus,
    node: TableNode,
    *,
    questions: Questions,
    creator: TableCreator,
    operations: Operations,
    relayed: RelayedSockets,
    asked: Iterable[AskedByCells],
) -> list[Subscription]:
    """What only this node can answer, and what other cells ask of it; stopped with it."""
    process_id = node.process_id
    return [
        *[await one.serve_at(bus, process_id) for one in asked],
        await bus.serve(subjects.table_create(process_id), CreateTable, creator.create),
        await bus.serve(subjects.table_look(process_id), LookRequest, questions.look),
        await bus.serve(subjects.table_leave_alone(process_id), LeaveAloneRequest, questions.leave_alone),
        await bus.serve(subjects.table_note(process_id), NoteStep, node.microphones.take),
        await bus.serve(subjects.table_operate(process_id), OperateTable, operations.operate),
        await bus.serve(subjects.table_take(process_id), ShardsHanded, questions.take),
        await bus.listen(subjects.table_relay(process_id), ToOwner, relayed.hear),
    ]
