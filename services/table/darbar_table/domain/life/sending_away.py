"""Whom the host sends away from the table (TL-8). Open this when somebody can't come back, or can."""

from __future__ import annotations

from datetime import timedelta

from darbar_contracts.frames import SendPlayerAway, TableReason
from darbar_rules.game import Refusal
from darbar_table.domain import events
from darbar_table.domain.commands import Act, Draft
from darbar_table.domain.life import seats
from darbar_table.domain.refusals import refused


def send_player_away(draft: Draft, seat: int, act: Act, frame: SendPlayerAway) -> None:
    """Before a game and between games. It costs nothing and is no quit."""
    table, context = draft.table, draft.context
    if seat != table.host:
        raise refused(TableReason.NOT_HOST)
    if table.started or table.phase in seats.ABOUT_TO_DEAL:
        raise refused(Refusal.NOT_NOW)
    if not 0 <= frame.seat < len(table.seats):
        raise refused(TableReason.SEAT_UNKNOWN)
    account_id = table.accounts[frame.seat]
    if account_id is None or frame.seat == seat:
        raise refused(TableReason.NOBODY_ELSE_THERE)
    until = context.now() + timedelta(seconds=context.settings.sent_away_seconds)
    draft.add(
        events.PlayerSentAway(
            seat=frame.seat, actor=seat, account_id=account_id, until=until, id=frame.id, digest=act.digest
        )
    )
    seats.free(draft, frame.seat, "sent_away")
