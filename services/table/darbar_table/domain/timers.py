"""What a table waits for, and for how long: several timers at the same time. Open this when something ends too late.

Pure: who keeps the time says what time it is. A timer is known by what it was set for, so one that rings late finds
that the table waits for something else (GEN-4).
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from darbar_table.domain import events
from darbar_table.domain.state import Phase, Table
from darbar_table.settings import Settings

# CP-16: who shows or asks for the trump goes on with the time that was left, and has so much at least.
SAME_TURN_SECONDS_MIN = 5.0


class TurnTimer(msgspec.Struct, frozen=True, gc=False):
    """The time for one decision (TL-15)."""

    round: int
    turn: int


class CountInTimer(msgspec.Struct, frozen=True, gc=False):
    """The seconds before a deal (TL-9)."""

    round: int
    attempt: int


class SeedsTimer(msgspec.Struct, frozen=True, gc=False):
    """The time in which clients open their strings."""

    round: int
    attempt: int


class KeptSeatTimer(msgspec.Struct, frozen=True, gc=False):
    """The time for which an absent player's seat is kept; `since` says whose sitting. `in_game`: ten minutes (TL-32,
    TL-36); a game that is ended early leaves the one of no game, a minute from then (TL-38)."""

    since: int
    in_game: bool = False


class VoteTimer(msgspec.Struct, frozen=True, gc=False):
    """The time for answers to the vote with this number (TL-5, TL-26, TL-39)."""

    vote: int


Timer: TypeAlias = TurnTimer | CountInTimer | SeedsTimer | KeptSeatTimer | VoteTimer
# What runs beside the clock that everybody plays by.
BESIDE = (KeptSeatTimer, VoteTimer)


def due(table: Table, settings: Settings) -> dict[Timer, float]:
    """Everything that this table waits for, with its whole time in seconds. One that was due before runs on."""
    found: dict[Timer, float] = {}
    match table.phase:
        case Phase.PLAYING:
            turn = table.rules.turn(table.state)
            found[TurnTimer(turn.round, turn.turn)] = float(table.terms.turn_seconds)
        case Phase.COUNTING_IN:
            found[CountInTimer(table.round, table.attempt)] = settings.count_in_seconds
        case Phase.OPENING_SEEDS:
            found[SeedsTimer(table.round, table.attempt)] = settings.seeds_open_seconds
    found.update(beside(table, settings))
    return found


def beside(table: Table, settings: Settings) -> dict[Timer, float]:
    """What runs beside the clock that everybody plays by: seats that are kept, a vote."""
    found: dict[Timer, float] = {} if table.vote is None else {VoteTimer(table.vote.number): settings.vote_seconds}
    if table.phase is Phase.WAITING:
        seconds = settings.keep_in_game_seconds if table.started else settings.keep_before_game_seconds
        found |= {KeptSeatTimer(seat.since, table.started): seconds for seat in table.seats if seat.away}
    return found


def goes_on(event: events.TableEvent, after: Table) -> bool:
    """Whether the same seat decides on, with the time it had (CP-16)."""
    if not isinstance(event, events.Played) or event.seat is None:
        return False
    rules = after.rules
    if rules.kind_of(event.event) not in rules.same_clock_after or after.phase is not Phase.PLAYING:
        return False
    return rules.turn(after.state).seats == (event.seat,)
