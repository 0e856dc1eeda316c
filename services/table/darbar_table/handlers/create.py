"""Opening a table for the lobby. Open this when creating one is refused, or makes two."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from uuid import UUID

from darbar_contracts.frames import TableReason
from darbar_contracts.tables import CreateTable, TableLook
from darbar_rules.games import BY_NAME
from darbar_table.domain.commands import Create, LeaveAlone
from darbar_table.domain.life.create import option_invalid
from darbar_table.domain.refusals import refused
from darbar_table.domain.state import unopened
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.node import TableNode
from darbar_table.handlers.awaited_reply import AwaitedReply
from darbar_table.handlers.questions import Questions, look_of, table_id_of
from darbar_table.shards.placement import shard_of
from darbar_table.store.chain import first_link


class TableCreator:
    """Opens tables for the lobby; the same id with the same body is the same table."""

    def __init__(self, *, questions: Questions, node: Callable[[], TableNode]) -> None:
        self._questions = questions
        self._node = node
        self._opening: dict[UUID, asyncio.Future[TableLook]] = {}

    async def create(self, request: CreateTable) -> TableLook:
        """Raises Refused (not_owner, option_invalid, short_of_coins, seated_elsewhere) and Unavailable."""
        table_id = table_id_of(request.table_id)
        opening = self._opening.get(table_id)
        if opening is None:
            opening = self._opening[table_id] = asyncio.ensure_future(self._create(table_id, request))
            opening.add_done_callback(lambda _: self._opening.pop(table_id))
        # Shielded: a caller that goes away must not leave a stored table that nobody holds.
        return await asyncio.shield(opening)

    async def _create(self, table_id: UUID, request: CreateTable) -> TableLook:
        node = self._node()
        shard, host = shard_of(table_id), request.host.account_id
        known = node.owner.live_tables.get(table_id)
        if known is not None:
            return look_of(known, node.process_id)
        node.require_shard(table_id)
        if request.terms.game not in BY_NAME:
            raise option_invalid("game", "there is no such game")
        rules, codec = node.codecs.of(request.terms.game)
        balance = await self._questions.may_sit(table_id, host)
        table = unopened(str(table_id), rules)
        live = LiveTable(table_id, shard=shard, codec=codec, table=table, chain=first_link(table_id))
        reply = AwaitedReply()
        node.owner.submit(live, Create(request, balance), reply)
        await reply.stored_version()
        seated_at = await self._questions.seat_elsewhere(host)
        if seated_at is not None:
            node.owner.submit(live, LeaveAlone(host))
            raise refused(TableReason.SEATED_ELSEWHERE, table_id=str(seated_at))
        return look_of(live, node.process_id)
