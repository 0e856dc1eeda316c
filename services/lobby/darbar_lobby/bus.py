"""What the lobby answers on NATS: subjects to questions, nothing else."""

from __future__ import annotations

from darbar_contracts.admin.disclosure import AuditLogVerified, ChainsRequest, VerifyAuditLog
from darbar_contracts.lobby import BlockersRequest, ChangeMaintenance, MaintenanceRequest, ShutOutsRequest
from darbar_contracts.subjects import (
    LOBBY_BLOCKERS,
    LOBBY_CHAINS,
    LOBBY_CHANGE_MAINTENANCE,
    LOBBY_MAINTENANCE,
    LOBBY_QUEUE,
    LOBBY_SHUT_OUTS,
    LOBBY_VERIFY_AUDIT_LOG,
)
from darbar_kit.bus import Bus
from darbar_lobby.handlers.questions import Questions
from darbar_lobby.store.audit_log import AuditLog
from darbar_lobby.store.search import TableSearch


async def serve(bus: Bus, questions: Questions) -> None:
    """Any lobby process answers; its bus ends it."""
    await bus.serve(LOBBY_CHANGE_MAINTENANCE, ChangeMaintenance, questions.change_maintenance, queue=LOBBY_QUEUE)
    await bus.serve(LOBBY_MAINTENANCE, MaintenanceRequest, questions.maintenance, queue=LOBBY_QUEUE)
    await bus.serve(LOBBY_BLOCKERS, BlockersRequest, questions.blockers, queue=LOBBY_QUEUE)
    await bus.serve(LOBBY_SHUT_OUTS, ShutOutsRequest, questions.shut_outs, queue=LOBBY_QUEUE)


async def serve_audits(bus: Bus, search: TableSearch, audit_log: AuditLog) -> None:
    """What `darbar audit` asks."""

    async def verify(_request: VerifyAuditLog) -> AuditLogVerified:
        last, wrong = await audit_log.fault()
        return AuditLogVerified(last.number if last else 0, last.chain.hex() if last else "", wrong)

    await bus.serve(LOBBY_CHAINS, ChainsRequest, search.chains, queue=LOBBY_QUEUE)
    await bus.serve(LOBBY_VERIFY_AUDIT_LOG, VerifyAuditLog, verify, queue=LOBBY_QUEUE)
