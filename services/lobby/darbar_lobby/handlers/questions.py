"""What operators and other services ask the lobby, one method a question; bus.py translates."""

from __future__ import annotations

import structlog

from darbar_contracts.lobby import ChangeMaintenance, Maintenance, MaintenanceRequest
from darbar_contracts.subjects import LOBBY_MAINTENANCE_CHANGED
from darbar_kit.bus import Bus
from darbar_lobby.store.maintenance import MaintenanceStore

log = structlog.get_logger()


class Questions:
    """Raises Refused and Unavailable only."""

    def __init__(self, *, maintenance: MaintenanceStore, bus: Bus) -> None:
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
