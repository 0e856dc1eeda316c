"""Who may look on, and when a log may be read: decided here and nowhere else. Open this about who sees a table at all.

What a seat sees of an event is in seat_view.py.
"""

from __future__ import annotations

from datetime import datetime

from darbar_contracts.tables import TableTerms
from darbar_table.domain.life.seats import can_be_taken
from darbar_table.domain.state import Phase, Table


def may_look_on(table: Table, account_id: str, *, now: datetime) -> bool:
    """TL-44: a private table is seen by who sits there and, not while a round runs, by who could sit down."""
    if table.terms.visibility == "public" or table.seat_of(account_id) is not None:
        return True
    until = table.sent_away_until(account_id)
    if until is not None and until > now:
        return False
    return table.phase is not Phase.PLAYING and any(can_be_taken(table, seat) for seat in table.seats)


def may_read_log(terms: TableTerms, *, has_sat_here: bool) -> bool:
    """The finished rounds of a private table are for those who have sat there."""
    return terms.visibility == "public" or has_sat_here


def at_rest(table: Table) -> bool:
    """Whether nothing of a round is under way, so that the whole log may be looked at."""
    return table.phase in (Phase.WAITING, Phase.COUNTING_IN, Phase.CLOSED) and not table.staked
