"""How events change what is known of a table around the cards. Open this when a seat or the phase is out of date."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from darbar_contracts.frames import BARRED_SEAT, FREE_SEAT, EventFrame, SeatView, TableView, VoteView
from darbar_contracts.tables import JsonObject, TableTerms

_Change: TypeAlias = Callable[[TableView, JsonObject], TableView]


def after_event(table: TableView, frame: EventFrame) -> TableView:
    """The table one event later; what does not concern it leaves it as it is."""
    change = _CHANGES.get(frame.kind)
    if change is not None:
        return change(table, frame.public)
    phase = _PHASES.get(frame.kind)
    return table if phase is None else _in_phase(table, phase)


def _in_phase(table: TableView, phase: str) -> TableView:
    """Who is ready and who has committed to a string counts for one deal: until it comes, or does not."""
    counted_in = phase in ("waiting", "playing") and any(seat.ready or seat.committed for seat in table.seats)
    return replace(table, phase=phase, seats=_before_count_in(table) if counted_in else table.seats)


def _before_count_in(table: TableView) -> tuple[SeatView, ...]:
    return tuple(replace(seat, ready=False, committed=False) for seat in table.seats)


def _voided(table: TableView, _public: JsonObject) -> TableView:
    """Stakes that still go back are waited for."""
    return _in_phase(table, table.phase if table.phase == "refunding" else "waiting")


def _seat_taken(table: TableView, public: JsonObject) -> TableView:
    seat = SeatView(kind="player", name=public["name"], avatar=public["avatar"])
    vote = None if table.vote is None else table.vote.with_newcomer(public["seat"])
    return replace(_with(table, public["seat"], seat), vote=vote)


def _bot_seated(table: TableView, public: JsonObject) -> TableView:
    return _with(table, public["seat"], SeatView(kind="bot", name=public["name"]))


def _freed(table: TableView, public: JsonObject) -> TableView:
    return _without_say(_with(table, public["seat"], BARRED_SEAT if table.started else FREE_SEAT), public)


def _bot_sent_away(table: TableView, public: JsonObject) -> TableView:
    return _with(table, public["seat"], BARRED_SEAT)


def _leave_asked(table: TableView, public: JsonObject) -> TableView:
    return _without_say(_with_seat(table, public["seat"], away=True), public)


def _without_say(table: TableView, public: JsonObject) -> TableView:
    return replace(table, vote=None if table.vote is None else table.vote.without(public["seat"]))


def _options_changed(table: TableView, public: JsonObject) -> TableView:
    terms = msgspec.convert(public["terms"], TableTerms)
    more = (FREE_SEAT,) * (terms.seats - len(table.seats))
    return replace(table, terms=terms, seats=table.seats[: terms.seats] + more)


def _host_changed(table: TableView, public: JsonObject) -> TableView:
    return replace(table, host=public["seat"])


def _count_in_started(table: TableView, public: JsonObject) -> TableView:
    return replace(
        table,
        phase="counting_in",
        game_number=public["game"],
        round=public["round"],
        attempt=public["attempt"],
        seats=_before_count_in(table),
    )


def _bag_opened(table: TableView, public: JsonObject) -> TableView:
    return replace(table, bag=public["bag"])


def _game_ended(table: TableView, public: JsonObject) -> TableView:
    seats = tuple(FREE_SEAT if seat.kind == "free" else seat for seat in table.seats)
    return replace(table, game_number=public["game"] + 1, round=0, attempt=0, started=False, seats=seats)


def _game_started(table: TableView, _public: JsonObject) -> TableView:
    return replace(table, started=True)


def _vote_asked(table: TableView, public: JsonObject) -> TableView:
    about, about_seat, waits_for = public["about"], public["about_seat"], tuple(public["waits_for"])
    return replace(table, vote=VoteView(public["vote"], about, about_seat, public["seat"], waits_for))


def _vote_answered(table: TableView, public: JsonObject) -> TableView:
    """A "no" ends it: that comes next."""
    if table.vote is None or not public["agree"]:
        return table
    return replace(table, vote=table.vote.after_yes(public["seat"]))


def _vote_ended(table: TableView, public: JsonObject) -> TableView:
    """A game that is ended has no count-in any more."""
    over = replace(table, vote=None)
    if not public["agreed"] or public["about"] != "end_game":
        return over
    phase = "waiting" if table.phase in ("counting_in", "opening_seeds") else table.phase
    return replace(over, phase=phase, seats=_before_count_in(table))


def _seats_swapped(table: TableView, public: JsonObject) -> TableView:
    """A count-in that ran begins again."""
    first, second = public["seats"]
    swapped = _with(_with(table, first, table.seats[second]), second, table.seats[first])
    return _in_phase(swapped, "waiting")


def _seat(**changes: object) -> _Change:
    return lambda table, public: _with_seat(table, public["seat"], **changes)


def _with_seat(table: TableView, number: int, **changes: object) -> TableView:
    return _with(table, number, replace(table.seats[number], **changes))


def _with(table: TableView, number: int, seat: SeatView) -> TableView:
    return replace(table, seats=(*table.seats[:number], seat, *table.seats[number + 1 :]))


_CHANGES: Mapping[str, _Change] = {
    "seat_taken": _seat_taken,
    "seat_freed": _freed,
    "bot_seated": _bot_seated,
    "bot_sent_away": _bot_sent_away,
    "options_changed": _options_changed,
    "host_changed": _host_changed,
    "seat_ready": _seat(ready=True),
    "bag_opened": _bag_opened,
    "count_in_started": _count_in_started,
    "seed_committed": _seat(committed=True),
    "player_went_offline": _seat(away=True),
    "player_came_back": _seat(away=False, bot_plays=False),
    "player_went_idle": _seat(away=True),
    "leave_asked": _leave_asked,
    "bot_took_over": _seat(bot_plays=True),
    "game_started": _game_started,
    "game_ended": _game_ended,
    "vote_asked": _vote_asked,
    "vote_answered": _vote_answered,
    "vote_ended": _vote_ended,
    "seats_swapped": _seats_swapped,
    "table_voided": _voided,
}
_PHASES: Mapping[str, str] = {
    "count_in_stopped": "waiting",
    "seeds_asked": "opening_seeds",
    "stakes_asked": "staking",
    "stakes_refused": "waiting",
    "round_started": "playing",
    "seeds_shown": "waiting",
    "settle_asked": "settling",
    "settled": "waiting",
    "refund_asked": "refunding",
    "refunded": "waiting",
    "refund_refused": "waiting",
    "table_closed": "closed",
}
