"""What a milestone changes in the directory: pure rules. Open this when a seat or a number is wrong."""

from __future__ import annotations

from typing import Any, assert_never

import msgspec

from darbar_contracts.tables import BotLevel, Milestone, Visibility
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
    return msgspec.structs.replace(entry, state="open", free_seats=entry.seats - 1, holders=(host,))


def applied(entry: DirectoryEntry, milestone: Milestone) -> DirectoryEntry:
    """The entry after a milestone whose turn it is."""
    counted = msgspec.structs.replace(
        entry,
        generation=milestone.generation,
        number=milestone.number,
        state="open" if entry.state == "asked" else entry.state,
        free_seats=milestone.free_seats,
    )
    match milestone.kind:
        case "table_created":
            host = Holder(seat=0, account_id=entry.host_id, taken_at=milestone.at)
            return msgspec.structs.replace(counted, holders=(host,))
        case "seat_taken":
            return _with_seat(counted, milestone, taken=True)
        case "seat_freed":
            return _with_seat(counted, milestone, taken=False)
        case "round_started":
            return msgspec.structs.replace(counted, playing=True, round=_number(milestone, "round", entry.round + 1))
        case "game_ended":
            return msgspec.structs.replace(counted, playing=False)
        case "table_closed":
            return msgspec.structs.replace(counted, state="closed", playing=False, free_seats=0, holders=())
        case "round_ended":
            return counted
        case _:
            assert_never(milestone.kind)


class CreatedBody(msgspec.Struct, frozen=True):
    """What the first milestone of a table says of it."""

    game: str
    options: dict[str, Any]
    seats: int
    bet_coins: int
    turn_seconds: int
    visibility: Visibility
    host: str
    bot_level: BotLevel = "normal"


def entry_of(created: Milestone, invite_token: str) -> DirectoryEntry | None:
    """The entry of a table that this directory has never heard of, from its first milestone; None when that says too
    little. Needed when the directory is rebuilt."""
    try:
        made = msgspec.convert(created.body, CreatedBody)
    except msgspec.ValidationError:
        return None
    return DirectoryEntry(
        table_id=created.table_id,
        host_id=made.host,
        game=made.game,
        options=made.options,
        seats=made.seats,
        bet_coins=made.bet_coins,
        turn_seconds=made.turn_seconds,
        visibility=made.visibility,
        bot_level=made.bot_level,
        invite_token=invite_token,
        free_seats=created.free_seats,
        created_at=created.at,
    )


def _with_seat(entry: DirectoryEntry, milestone: Milestone, *, taken: bool) -> DirectoryEntry:
    seat = _number(milestone, "seat", -1)
    if seat < 0:
        return entry
    others = tuple(holder for holder in entry.holders if holder.seat != seat)
    if not taken:
        return msgspec.structs.replace(entry, holders=others)
    account_id = milestone.body.get("account_id")
    holder = Holder(seat=seat, account_id=account_id if isinstance(account_id, str) else None, taken_at=milestone.at)
    return msgspec.structs.replace(entry, holders=(*others, holder))


def _number(milestone: Milestone, field: str, otherwise: int) -> int:
    value = milestone.body.get(field)
    return value if type(value) is int else otherwise
