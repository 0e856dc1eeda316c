"""What other services and players ask besides cards, one method a question; http.py, bus.py, socket.py translate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from darbar_contracts import subjects
from darbar_contracts.frames import TableReason
from darbar_contracts.tables import (
    LeaveAloneAnswer,
    LeaveAloneRequest,
    LookRequest,
    ShardsHanded,
    ShardsTaken,
    TableLook,
    WhereAnswer,
    WhereRequest,
)
from darbar_contracts.wallet import BalancesAnswer, BalancesRequest
from darbar_kit.bus import Bus
from darbar_kit.errors import Unavailable
from darbar_table.domain.commands import LeaveAlone
from darbar_table.domain.life.seats import pauses
from darbar_table.domain.refusals import refused
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.node import TableNode
from darbar_table.handlers.awaited_reply import AwaitedReply
from darbar_table.shards.placement import shard_of
from darbar_table.store.store import Store

WALLET_SECONDS_MAX = 3.0


class Questions:
    """Raises Refused and Unavailable only."""

    def __init__(
        self,
        *,
        store: Store,
        bus: Bus,
        node: Callable[[], TableNode],
        seat_elsewhere: Callable[[str], Awaitable[UUID | None]],
    ) -> None:
        """`seat_elsewhere`: where an account has a seat at a table of another database."""
        self._store = store
        self.seat_elsewhere = seat_elsewhere
        self._bus = bus
        self._node = node

    async def where(self, request: WhereRequest) -> WhereAnswer:
        """Which process owns a table, or would own a new one; a hint that may be a second old."""
        return WhereAnswer(process_id=self._node().survey.owner_of(shard_of(table_id_of(request.table_id))))

    async def take(self, request: ShardsHanded) -> ShardsTaken:
        """Shards of another process are ours now: answered when their tables are served."""
        await self._node().take(request.shards)
        return ShardsTaken()

    async def look(self, request: LookRequest) -> TableLook:
        """What anybody with the code may know of a table this process owns."""
        node = self._node()
        if not node.lease.may_answer:
            raise Unavailable(TableReason.UNAVAILABLE, "the lease has run out")
        live = node.find(table_id_of(request.table_id))
        with node.freezer.answering(live):
            look = look_of(live, node.process_id)
            if request.account_id is None:
                return look
            keeps_out = bool(pauses(live.table, request.account_id, now=datetime.now(UTC)))
            return msgspec.structs.replace(look, keeps_out=keeps_out)

    async def leave_alone(self, request: LeaveAloneRequest) -> LeaveAloneAnswer:
        """Raises Refused (not_owner, table_unknown, table_closed, table_frozen) and Unavailable."""
        live = self._node().find(table_id_of(request.table_id))
        reply = AwaitedReply()
        self._node().owner.submit(live, LeaveAlone(request.account_id), reply)
        await reply.stored_version()
        return LeaveAloneAnswer(left=live.table.seat_of(request.account_id) is None)

    async def balance(self, account_id: str) -> int:
        """The coins an account can use now. Raises Unavailable while the wallet is silent."""
        request = BalancesRequest(account_ids=(account_id,))
        answer = await self._bus.request(
            subjects.WALLET_BALANCES, request, BalancesAnswer, timeout_seconds=WALLET_SECONDS_MAX
        )
        return answer.balances.get(account_id, 0)

    async def may_sit(self, table_id: UUID, account_id: str) -> int:
        """The account's coins. Raises Refused `seated_elsewhere` and Unavailable.

        Only a look: one account has one seat because its claim is stored with the event that seats it (TL-8). Claims
        of another database are looked at once more after that event.
        """
        seated_at = await self._store.claim_of(account_id) or await self.seat_elsewhere(account_id)
        if seated_at not in (None, table_id):
            raise refused(TableReason.SEATED_ELSEWHERE, table_id=str(seated_at))
        return await self.balance(account_id)


def look_of(live: LiveTable, process_id: str) -> TableLook:
    """The public outside of a table."""
    table = live.table
    return TableLook(
        table_id=table.table_id,
        terms=table.terms,
        phase=table.phase,
        seats=tuple(seat.player for seat in table.seats),
        bots=tuple(number for number, seat in enumerate(table.seats) if seat.bot is not None),
        round=table.round,
        version=table.version,
        process_id=process_id,
    )


def table_id_of(text: str) -> UUID:
    """The table that a path or a message names; what is no id is no table."""
    try:
        return UUID(text)
    except ValueError as error:
        raise refused(TableReason.TABLE_UNKNOWN) from error
