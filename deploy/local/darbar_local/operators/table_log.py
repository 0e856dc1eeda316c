"""A table's log as operators' commands get it, up to the last round whose result is stored. Open this about replays."""

import msgspec

from darbar_contracts.admin.disclosure import LoggedEvent, LogPage, LogRequest
from darbar_contracts.api import Replay, ReplayEvent
from darbar_contracts.subjects import TABLE_LOG
from darbar_contracts.tables import TableTerms
from darbar_kit.bus import Bus
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.operators.admin_bus import ANSWER_SECONDS_MAX

BODY_CHARACTERS_MAX = 160


class _Terms(msgspec.Struct, frozen=True):
    terms: TableTerms


async def log_of(bus: Bus, table_id: str) -> list[LoggedEvent]:
    """All pages of it."""
    log: list[LoggedEvent] = []
    while True:
        request = LogRequest(table_id, log[-1].version if log else 0)
        page = await bus.request(TABLE_LOG, request, LogPage, timeout_seconds=ANSWER_SECONDS_MAX)
        log += page.events
        if not page.more:
            return log


def replay_of(table_id: str, log: list[LoggedEvent]) -> Replay:
    """As players get it, but for the accounts. Raises Failure for a table of which no round is over."""
    of_terms = [event.body for event in log if event.kind in ("table_created", "options_changed") and event.body]
    if not of_terms:
        raise Failure(ExitCode.REFUSED, "no round of this table is over")
    events = tuple(ReplayEvent(event.version, event.kind, event.at, event.body, event.chain or "") for event in log)
    return Replay(table_id, msgspec.json.decode(of_terms[-1], type=_Terms).terms, events)


def told(event: LoggedEvent) -> str:
    """One event on one line."""
    who = "" if event.by is None else f" by {event.by}" + ("" if event.seat is None else f" in seat {event.seat}")
    fast = "" if event.seconds is None else f" after {event.seconds:.1f} s"
    body = "(a seed that is not shown yet)" if event.body is None else event.body
    short = body if len(body) <= BODY_CHARACTERS_MAX else f"{body[:BODY_CHARACTERS_MAX]}..."
    return f"{event.version:5} {event.at:%H:%M:%S} {event.kind}{who}{fast} {short}"
