"""Which events other services are told of, numbered in each table. Open this when the directory or a profile is off."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from darbar_contracts.tables import Milestone, MilestoneKind
from darbar_table.domain import events
from darbar_table.domain.state import Table

_KINDS: dict[type[events.Event], MilestoneKind] = {
    events.TableCreated: "table_created",
    events.SeatTaken: "seat_taken",
    events.BotSeated: "seat_taken",
    events.SeatFreed: "seat_freed",
    events.BotSentAway: "seat_freed",
    events.RoundBegan: "round_started",
    events.SeedsShown: "round_ended",
    events.GameEnded: "game_ended",
    events.TableClosed: "table_closed",
}


def counts(event: events.Event) -> int:
    """1 for an event that is a milestone, else 0: every milestone is one event, so numbers never jump."""
    return 1 if type(event) in _KINDS else 0


def milestone_of(event: events.Event, after: Table, *, at: datetime, generation: int) -> Milestone | None:
    """What other services are told of an event that led to the state `after`."""
    kind = _KINDS.get(type(event))
    if kind is None:
        return None
    return Milestone(
        generation=generation,
        table_id=after.table_id,
        number=after.milestones,
        kind=kind,
        at=at,
        free_seats=sum(seat.free for seat in after.seats),
        body=_body(event, after),
    )


def _body(event: events.Event, after: Table) -> dict[str, Any]:
    match event:
        case events.TableCreated():
            return {
                "game": event.game,
                "options": event.options,
                "seats": event.seats,
                "bet_coins": event.bet_coins,
                "turn_seconds": event.turn_seconds,
                "visibility": event.visibility,
                "bot_level": event.bot_level,
                "host": event.host_account_id,
            }
        case events.SeatTaken():
            return {"seat": event.seat, "account_id": event.account_id}
        case events.BotSeated():
            return {"seat": event.seat, "account_id": None}
        case events.SeatFreed():
            return {"seat": event.seat, "account_id": event.account_id, "quit": event.quit, "reason": event.reason}
        case events.BotSentAway():
            return {"seat": event.seat, "account_id": None}
        case events.RoundBegan():
            return {"game": event.game, "round": event.round, "accounts": _accounts(after)}
        case events.SeedsShown():
            result = after.rules.result(after.state)
            points = list(result.points) if result is not None else []
            return {"game": event.game, "round": event.round, "accounts": _accounts(after), "points": points}
        case events.GameEnded():
            return {"game": event.game, "places": list(event.places), "totals": list(event.totals)}
        case events.TableClosed():
            return {"reason": event.reason}
    raise AssertionError(f"{type(event).__name__} is no milestone")


def _accounts(table: Table) -> list[str | None]:
    return [seat.player.account_id if seat.player is not None else None for seat in table.seats]
