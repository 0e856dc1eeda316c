"""What the table service answers on NATS: subjects to questions, nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from darbar_contracts import subjects
from darbar_contracts.admin.disclosure import CoinsLogRequest, FrozenTablesRequest, LogRequest, StateRequest, VerifyLog
from darbar_contracts.lobby import BlockChanged, Maintenance
from darbar_contracts.tables import (
    CreateTable,
    LeaveAloneRequest,
    LookRequest,
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
from darbar_table.handlers.disclosure import Disclosure
from darbar_table.handlers.inspection import Inspection
from darbar_table.handlers.lobby_news.announcer import Announcer
from darbar_table.handlers.lobby_news.blocks import Blocks
from darbar_table.handlers.operate import Operations
from darbar_table.handlers.questions import Questions
from darbar_table.handlers.relay_messages import ToOwner
from darbar_table.handlers.relayed import RelayedSockets


async def serve_process(
    bus: Bus,
    *,
    questions: Questions,
    inspection: Inspection,
    announcer: Announcer,
    blocks: Blocks,
    retired: Callable[[ProcessRetired], Awaitable[None]],
) -> None:
    """Questions that any table process can answer, and what all of them are told."""
    await bus.serve(subjects.TABLE_WHERE, WhereRequest, questions.where, queue=subjects.TABLE_QUEUE)
    await bus.serve(subjects.TABLE_MILESTONES, MilestonesRequest, inspection.milestones, queue=subjects.TABLE_QUEUE)
    await bus.serve(subjects.TABLE_RETIRED, ProcessRetired, retired)
    await bus.listen(subjects.LOBBY_MAINTENANCE_CHANGED, Maintenance, announcer.changed)
    await bus.listen(subjects.LOBBY_BLOCK_CHANGED, BlockChanged, blocks.changed)


async def serve_administrators(bus: Bus, disclosure: Disclosure) -> None:
    """What lobby and wallet ask for those who run Darbar; any table process can answer."""
    await bus.serve(subjects.TABLE_LOG, LogRequest, disclosure.log, queue=subjects.TABLE_QUEUE)
    await bus.serve(subjects.TABLE_STATE, StateRequest, disclosure.state, queue=subjects.TABLE_QUEUE)
    await bus.serve(subjects.TABLE_VERIFY, VerifyLog, disclosure.verify, queue=subjects.TABLE_QUEUE)
    await bus.serve(subjects.TABLE_COINS, CoinsLogRequest, disclosure.coins, queue=subjects.TABLE_QUEUE)
    await bus.serve(subjects.TABLE_FROZEN, FrozenTablesRequest, disclosure.frozen, queue=subjects.TABLE_QUEUE)


async def serve_node(
    bus: Bus,
    node: TableNode,
    *,
    questions: Questions,
    creator: TableCreator,
    operations: Operations,
    relayed: RelayedSockets,
) -> list[Subscription]:
    """What only this node can answer; stopped with it."""
    process_id = node.process_id
    return [
        await bus.serve(subjects.table_create(process_id), CreateTable, creator.create),
        await bus.serve(subjects.table_look(process_id), LookRequest, questions.look),
        await bus.serve(subjects.table_leave_alone(process_id), LeaveAloneRequest, questions.leave_alone),
        await bus.serve(subjects.table_note(process_id), NoteStep, node.microphones.take),
        await bus.serve(subjects.table_operate(process_id), OperateTable, operations.operate),
        await bus.serve(subjects.table_take(process_id), ShardsHanded, questions.take),
        await bus.listen(subjects.table_relay(process_id), ToOwner, relayed.hear),
    ]
