"""What a look at a table says about its seats: pure rules. Open this when somebody is sent to a full table."""

from __future__ import annotations

from collections.abc import Sequence

from darbar_contracts.tables import TableLook

PHASE_WAITING = "waiting"


def free_seats(look: TableLook) -> int:
    return sum(person is None and seat not in look.bots for seat, person in enumerate(look.seats))


def sits_in(look: TableLook, account_id: str) -> bool:
    return any(person is not None and person.account_id == account_id for person in look.seats)


def has_room(look: TableLook, held_by: Sequence[str]) -> bool:
    """Whether a seat is left when all who are on their way have sat down."""
    return free_seats(look) > sum(not sits_in(look, account_id) for account_id in held_by)


def sits_alone(look: TableLook, account_id: str) -> bool:
    """No other person, no bot, and nothing has begun."""
    others = [person for person in look.seats if person is not None and person.account_id != account_id]
    return sits_in(look, account_id) and not others and not look.bots and look.phase == PHASE_WAITING
