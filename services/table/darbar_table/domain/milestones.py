"""Which events other services are told of, numbered in each table. Open this when the directory or a profile is off."""

from __future__ import annotations

from datetime import datetime

from darbar_contracts import tables
from darbar_contracts.tables import Milestone
from darbar_table.domain import events
from darbar_table.domain.state import Table

_TOLD = frozenset(
    {
        events.TableCreated,
        events.SeatTaken,
        events.BotSeated,
        events.SeatFreed,
        events.BotSentAway,
        events.SeatsSwapped,
        events.OptionsChanged,
        events.RoundStarted,
        events.SeedsShown,
        events.GameEnded,
        events.TableClosed,
    }
)


def counts(event: events.TableEvent) -> int:
    """1 for an event that is a milestone, else 0: every milestone is one event, so numbers never jump."""
    return 1 if type(event) in _TOLD else 0


def milestone_of(
    event: events.TableEvent, after: Table, *, at: datetime, generation: int, chain: bytes = b""
) -> Milestone | None:
    """What other services are told of an event that led to the state `after`; `chain` is its link."""
    if not counts(event):
        return None
    return Milestone(
        generation=generation,
        table_id=after.table_id,
        number=after.milestones,
        at=at,
        free_seats=sum(seat.free for seat in after.seats),
        event=_told(event, after),
        version=after.version,
        chain=chain.hex(),
    )


def _told(event: events.TableEvent, after: Table) -> tables.AnyMilestoneEvent:
    match event:
        case events.TableCreated():
            return tables.TableCreated(event.terms, event.host.account_id)
        case events.SeatTaken():
            return tables.SeatTaken(event.seat, event.account_id)
        case events.BotSeated():
            return tables.SeatTaken(event.seat, None)
        case events.SeatFreed():
            return tables.SeatFreed(event.seat, event.account_id, event.quit, event.reason, after.game)
        case events.BotSentAway():
            return tables.SeatFreed(event.seat)
        case events.SeatsSwapped():
            return tables.SeatsSwapped(event.seats)
        case events.OptionsChanged():
            return tables.TermsChanged(event.terms)
        case events.RoundStarted():
            return tables.RoundStarted(event.game, event.round, after.accounts)
        case events.SeedsShown():
            result = after.rules.result(after.state)
            points, counted = ((), False) if result is None else (result.points, after.counted)
            return tables.RoundEnded(event.game, event.round, after.accounts, points, counted)
        case events.GameEnded():
            return tables.GameEnded(event.game, event.places, event.totals, event.reason, after.accounts)
        case events.TableClosed():
            return tables.TableClosed(event.reason)
    raise AssertionError(f"{type(event).__name__} is no milestone")
