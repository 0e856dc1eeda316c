"""What operators and other services ask the lobby, one method a question; bus.py translates."""

from __future__ import annotations

import structlog

from darbar_contracts.lobby import (
    SHUT_OUTS_A_PAGE,
    BlockersAnswer,
    BlockersRequest,
    ChangeMaintenance,
    Maintenance,
    MaintenanceRequest,
    ShutOutsAnswer,
    ShutOutsRequest,
)
from darbar_contracts.subjects import LOBBY_MAINTENANCE_CHANGED
from darbar_kit.bus import Bus
from darbar_kit.tokens import ACCESS_SECONDS
from darbar_lobby.store.bans import BanStore
from darbar_lobby.store.blocks import BlockStore
from darbar_lobby.store.maintenance import MaintenanceStore

# As long as a token runs that was made before, and one that was being made at that moment.
SHUT_OUT_SECONDS = ACCESS_SECONDS + 60.0

log = structlog.get_logger()


class Questions:
    """Raises Refused and Unavailable only."""

    def __init__(self, *, maintenance: MaintenanceStore, blocks: BlockStore, bans: BanStore, bus: Bus) -> None:
        self._bans = bans
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

    async def shut_outs(self, request: ShutOutsRequest) -> ShutOutsAnswer:
        found = await self._bans.shut_outs(request.after, seconds=SHUT_OUT_SECONDS, limit=SHUT_OUTS_A_PAGE + 1)
        return ShutOutsAnswer(found[:SHUT_OUTS_A_PAGE], more=len(found) > SHUT_OUTS_A_PAGE)
