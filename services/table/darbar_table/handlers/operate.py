"""What an operator does to one table. Open this when a table that was stopped can't be helped."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from darbar_contracts.frames import TableReason
from darbar_contracts.tables import OperateTable, TableOperated
from darbar_kit.errors import Refused
from darbar_table.domain.commands import OperatorAct
from darbar_table.domain.refusals import refused
from darbar_table.engine.node import TableNode
from darbar_table.handlers.awaited_reply import AwaitedReply
from darbar_table.handlers.questions import table_id_of

NOT_OPEN = (TableReason.TABLE_UNKNOWN, TableReason.TABLE_CLOSED)


class Operations:
    """The same act twice gets the same answer, and is stored once."""

    def __init__(self, *, node: Callable[[], TableNode]) -> None:
        self._node = node

    async def operate(self, request: OperateTable) -> TableOperated:
        """Raises Refused (not_owner, table_unknown, table_closed, table_frozen, table_unreadable) and Unavailable."""
        table_id = table_id_of(request.table_id)
        try:
            await self._operate(table_id, request)
        except Refused as refusal:
            if refusal.code not in NOT_OPEN:
                raise
            await self._require_voided(table_id, request)
        return TableOperated(table_id=request.table_id, action=request.action)

    async def _operate(self, table_id: UUID, request: OperateTable) -> None:
        node = self._node()
        live = await node.find_to_operate(table_id)
        if live.frozen or not (request.action == "resume" or live.table.voided):
            reply = AwaitedReply()
            node.owner.submit(live, OperatorAct(request.action, request.operator, request.reason), reply)
            await reply.stored_version()

    async def _require_voided(self, table_id: UUID, request: OperateTable) -> None:
        """A table that is over takes no other act than the one that ended it."""
        was_voided = await self._node().store.was_voided(table_id)
        if was_voided is None:
            raise refused(TableReason.TABLE_UNKNOWN)
        if not was_voided or request.action != "void":
            raise refused(TableReason.TABLE_CLOSED)
