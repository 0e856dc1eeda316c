"""What operators and other services ask the lobby, one method a question; bus.py translates."""

from __future__ import annotations

import structlog

from darbar_contracts.lobby import (
    BlockersAnswer,
    BlockersRequest,
    ChangeMaintenance,
    Maintenance,
    MaintenanceRequest,
)
from darbar_contracts.subjects import LOBBY_MAINTENANCE_CHANGED
from darbar_kit.bus import Bus
from darbar_lobby.store.blocks import BlockStore
from darbar_lobby.store.maintenance import MaintenanceStore

log = structlog.get_logger()


class Questions:
    """Raises Refused and Unavailable only."""

    def __init__(self, *, maintenance: MaintenanceStore, blocks: BlockStore, bus: Bus) -> None:
        self._blocks = blocks
        self._maintenance = maintenance
        self._bus = bus

    async def change_maintenance(self, change: ChangeMaintenance) -> Maintenance:
        """Stored first. Table processes that are not told now ask before long."""
        changed = await self._maintenance.change(change)
        log.info(
            "maintenance_changed",
            operator=change.operator,
            number=changed.number,
            announcement=changed.announcement,
            draining=changed.draining,
        )
        await self._bus.publish(LOBBY_MAINTENANCE_CHANGED, changed)
        return changed

    async def maintenance(self, _request: MaintenanceRequest) -> Maintenance:
        return await self._maintenance.current()

    async def blockers(self, request: BlockersRequest) -> BlockersAnswer:
        return BlockersAnswer(await self._blocks.blockers(request.account_id, request.among))
