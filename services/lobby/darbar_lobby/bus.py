"""What the lobby answers on NATS: subjects to questions, nothing else."""

from __future__ import annotations

from darbar_contracts.lobby import BlockersRequest, ChangeMaintenance, MaintenanceRequest
from darbar_contracts.subjects import LOBBY_BLOCKERS, LOBBY_CHANGE_MAINTENANCE, LOBBY_MAINTENANCE, LOBBY_QUEUE
from darbar_kit.bus import Bus
from darbar_lobby.handlers.questions import Questions


async def serve(bus: Bus, questions: Questions) -> None:
    """Any lobby process answers; its bus ends it."""
    await bus.serve(LOBBY_CHANGE_MAINTENANCE, ChangeMaintenance, questions.change_maintenance, queue=LOBBY_QUEUE)
    await bus.serve(LOBBY_MAINTENANCE, MaintenanceRequest, questions.maintenance, queue=LOBBY_QUEUE)
    await bus.serve(LOBBY_BLOCKERS, BlockersRequest, questions.blockers, queue=LOBBY_QUEUE)
