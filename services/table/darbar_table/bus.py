"""What the table service answers on NATS: subjects to handlers, nothing else."""

from __future__ import annotations

from darbar_contracts import subjects
from darbar_contracts.tables import (
    CreateTable,
    LookRequest,
    MilestonesRequest,
    WhereRequest,
)
from darbar_kit.bus import Bus, Listening
from darbar_table.handlers import Handlers
from darbar_table.house import House
from darbar_table.inspection import Inspection
from darbar_table.opening import Opening


async def serve_all(bus: Bus, *, handlers: Handlers, inspection: Inspection) -> None:
    """Questions that any table process can answer."""
    await bus.serve(subjects.TABLE_WHERE, WhereRequest, handlers.where, queue=subjects.TABLE_QUEUE)
    await bus.serve(subjects.TABLE_MILESTONES, MilestonesRequest, inspection.milestones, queue=subjects.TABLE_QUEUE)


async def serve_house(bus: Bus, house: House, *, handlers: Handlers, opening: Opening) -> list[Listening]:
    """What only this life of this process can answer; stopped with it."""
    process_id = house.process_id
    return [
        await bus.serve(subjects.table_create(process_id), CreateTable, opening.create),
        await bus.serve(subjects.table_look(process_id), LookRequest, handlers.look),
    ]
