"""What a milestone changes, when a code lives, what a refresh token is worth: pure rules. Open this first."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, assert_never

import msgspec

from darbar_contracts.tables import BotLevel, Milestone, Visibility
from darbar_lobby.entries import CodeStep, Entry, Holder, RefreshJudgement, RefreshState, Step

CODE_DIGITS = 6
CODES_COUNT = 10**CODE_DIGITS
INVITE_BYTES = 24
REFRESH_TOKEN_BYTES = 32
REFRESH_TOKEN_CHARACTERS_MAX = 128


def step_for(entry: Entry, milestone: Milestone) -> Step:
    """Only the next number is applied. What an older generation said was undone by a restore."""
    if milestone.generation < entry.generation or milestone.number <= entry.number:
        return Step.DROP
    return Step.APPLY if milestone.number == entry.number + 1 else Step.GAP


def opened(entry: Entry) -> Entry:
    """The table service has confirmed the table. Its milestones may have told us before the answer did."""
    if entry.state != "asked":
        return entry
    host = Holder(seat=0, account_id=entry.host_id, taken_at=entry.created_at)
    return msgspec.structs.replace(entry, state="open", free_seats=entry.seats - 1, holders=(host,))


def applied(entry: Entry, milestone: Milestone) -> Entry:
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


def code_step(entry: Entry, kind: str, *, has_code: bool) -> CodeStep:
    """Freed at the first deal with every seat taken and when the table closes; given anew when a seat is free.

    Between the last seat's taking and the deal the code rests with its table: it opens nothing, and is the same again
    when somebody stands up.
    """
    if has_code and (entry.state == "closed" or (kind == "round_started" and not entry.free_seats)):
        return CodeStep.FREE
    if not has_code and entry.code_opens:
        return CodeStep.GIVE
    return CodeStep.KEEP


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


def entry_of(created: Milestone, invite_token: str) -> Entry | None:
    """The entry of a table that this directory has never heard of, from its first milestone; None when that says too
    little. Needed when the directory is rebuilt."""
    try:
        made = msgspec.convert(created.body, CreatedBody)
    except msgspec.ValidationError:
        return None
    return Entry(
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


def refresh_judgement(state: RefreshState) -> RefreshJudgement:
    """A token that was used before ends its whole family: one of the two who hold it has stolen it."""
    if state.family_revoked:
        return "revoked"
    if state.used:
        return "reused"
    return "expired" if state.expired else "good"


def body_sha256(body: msgspec.Struct) -> bytes:
    """The same for bodies that mean the same, whatever the order of their fields."""
    return hashlib.sha256(msgspec.json.encode(body, order="deterministic")).digest()


def token_sha256(token: str) -> bytes:
    """What is stored of a refresh token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def new_code(below: Callable[[int], int]) -> str:
    """Six digits out of `below(n)`, a number from 0 to n-1 that nobody can foretell."""
    return f"{below(CODES_COUNT):0{CODE_DIGITS}d}"


def is_code(text: str) -> bool:
    return len(text) == CODE_DIGITS and text.isascii() and text.isdigit()


def _with_seat(entry: Entry, milestone: Milestone, *, taken: bool) -> Entry:
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
