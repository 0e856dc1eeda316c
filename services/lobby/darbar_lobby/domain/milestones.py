"""What a milestone changes in the directory: pure rules. Open this when a seat or a number is wrong."""

from __future__ import annotations

from typing import assert_never

import msgspec

from darbar_contracts.tables import (
    GameEnded,
    Milestone,
    RoundEnded,
    RoundStarted,
    SeatFreed,
    SeatsSwapped,
    SeatTaken,
    TableClosed,
    TableCreated,
    TermsChanged,
)
from darbar_lobby.domain.directory_model import DirectoryEntry, Holder, Step


def step_for(entry: DirectoryEntry, milestone: Milestone) -> Step:
    """Only the next number is applied. What an older generation said was undone by a restore."""
    if milestone.generation < entry.generation or milestone.number <= entry.number:
        return Step.DROP
    return Step.APPLY if milestone.number == entry.number + 1 else Step.GAP


def opened(entry: DirectoryEntry) -> DirectoryEntry:
    """The table service has confirmed the table. Its milestones may have told us before the answer did."""
    if entry.state != "asked":
        return entry
    host = Holder(seat=0, account_id=entry.host_id, taken_at=entry.created_at)
    return msgspec.structs.replace(entry, state="open", free_seats=entry.terms.seats - 1, holders=(host,))


def applied(entry: DirectoryEntry, milestone: Milestone) -> DirectoryEntry:
    """The entry after a milestone whose turn it is."""
    counted = msgspec.structs.replace(
        entry,
        generation=milestone.generation,
        number=milestone.number,
        state="open" if entry.state == "asked" else entry.state,
        free_seats=milestone.free_seats,
        version=milestone.version,
        chain=milestone.chain,
    )
    match milestone.event:
        case TableCreated():
            host = Holder(seat=0, account_id=entry.host_id, taken_at=milestone.at)
            return msgspec.structs.replace(counted, holders=(host,))
        case SeatTaken(seat=seat, account_id=account_id):
            holder = Holder(seat=seat, account_id=account_id, taken_at=milestone.at)
            return msgspec.structs.replace(counted, holders=(*_others(entry, seat), holder))
        case SeatFreed(seat=seat):
            return msgspec.structs.replace(counted, holders=_others(entry, seat))
        case SeatsSwapped(seats=seats):
            return msgspec.structs.replace(counted, holders=_swapped(entry, seats))
        case TermsChanged(terms=terms):
            return msgspec.structs.replace(counted, terms=terms)
        case RoundStarted(round=number):
            return msgspec.structs.replace(counted, playing=True, round=number)
        case GameEnded():
            return msgspec.structs.replace(counted, playing=False)
        case TableClosed():
            return msgspec.structs.replace(counted, state="closed", playing=False, free_seats=0, holders=())
        case RoundEnded():
            return counted
        case _:
            assert_never(milestone.event)


def entry_of(first: Milestone, invite_token: str) -> DirectoryEntry | None:
    """The entry of a table that this directory has never heard of, from its first milestone; None when that is not the
    one that opens a table. Needed when the directory is rebuilt."""
    created = first.event
    if not isinstance(created, TableCreated):
        return None
    return DirectoryEntry(
        table_id=first.table_id,
        host_id=created.host_account_id,
        terms=created.terms,
        invite_token=invite_token,
        free_seats=first.free_seats,
        created_at=first.at,
    )


def _others(entry: DirectoryEntry, seat: int) -> tuple[Holder, ...]:
    return tuple(holder for holder in entry.holders if holder.seat != seat)


def _swapped(entry: DirectoryEntry, seats: tuple[int, int]) -> tuple[Holder, ...]:
    moved = dict(zip(seats, reversed(seats), strict=True))
    return tuple(msgspec.structs.replace(holder, seat=moved.get(holder.seat, holder.seat)) for holder in entry.holders)
