"""What counts on a profile, without a server. Open this when a game counts that should not, or the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lobby_events import milestone_event

from darbar_contracts.tables import Milestone
from darbar_lobby.domain.statistics import (
    GameUnderWay,
    Outcome,
    TableStatistics,
    name_of_week,
    statistics_of,
    week_named,
    week_of,
)

AT = datetime(2026, 11, 29, 23, 59, 59, tzinfo=UTC)
SEATS = ("ann", "cyn", "bob", None)
# Winners, by seat.
EVEN, ODD = (1, 2, 1, 2), (2, 1, 2, 1)


def told(*events: tuple[str, dict[str, Any]]) -> list[Milestone]:
    """Milestones of one table, a minute after each other."""
    return [
        Milestone(1, "t", number=number, at=minutes(number), free_seats=0, event=milestone_event(kind, **fields))
        for number, (kind, fields) in enumerate(events, 1)
    ]


def minutes(number: int) -> datetime:
    return AT + timedelta(minutes=number)


def a_round(*points: int, game: int = 1, accounts: Sequence[str | None] = SEATS, counted: bool = True) -> Any:
    return "round_ended", {"game": game, "accounts": accounts, "points": points, "counted": counted}


def an_end(*places: int, game: int = 1, accounts: Sequence[str | None] = SEATS, reason: str = "played") -> Any:
    fields = {"game": game, "accounts": accounts, "places": places, "totals": (0,) * len(places), "reason": reason}
    return "game_ended", fields


def a_quit(account_id: str, *, game: int = 1, quits: bool = True) -> Any:
    return "seat_freed", {"seat": 1, "account_id": account_id, "quit": quits, "game": game}


CLOSED = ("table_closed", {"reason": "empty"})


def played(number: int, account_id: str, *, place: int, points: int, game: int = 1) -> Outcome:
    return Outcome(number, account_id, game, "played", minutes(number), place, points)


@pytest.mark.ruling("TL-54")
def test_tl_54_a_game_that_was_played_counts_for_who_sits_there_and_not_for_bots() -> None:
    statistics = statistics_of(told(a_round(2, 0, 2, 0), a_round(0, 1, 0, 1), an_end(*EVEN)))
    assert statistics == TableStatistics(
        None,
        (
            played(3, "ann", place=1, points=2),
            played(3, "cyn", place=2, points=1),
            played(3, "bob", place=1, points=2),
        ),
    )


@pytest.mark.ruling("TL-28")
def test_tl_28_rounds_that_do_not_count_bring_no_points_and_a_game_of_only_such_is_none() -> None:
    alone = ("ann", None, None, None)
    bots_only = told(a_round(9, 9, 9, 9, accounts=alone, counted=False), an_end(*EVEN, accounts=alone))
    assert statistics_of(bots_only) == TableStatistics(None, ())
    joined = told(a_round(9, 9, 9, 9, accounts=alone, counted=False), a_round(1, 0, 1, 0), an_end(*EVEN))
    assert [outcome.points for outcome in statistics_of(joined).outcomes] == [1, 0, 1]


@pytest.mark.ruling("TL-54")
def test_tl_54_points_are_of_the_rounds_at_whose_end_one_held_a_seat() -> None:
    newcomer = ("ann", "cyn", "eve", None)
    milestones = told(a_round(3, 0, 3, 0), a_quit("bob"), a_round(2, 0, 2, 0, accounts=newcomer))
    assert statistics_of(milestones).under_way == GameUnderWay(1, {"ann": 5, "cyn": 0, "bob": 3, "eve": 2})
    ended = statistics_of([*milestones, *told(*(CLOSED,) * 3, an_end(*EVEN, accounts=newcomer))[3:]])
    assert [(one.account_id, one.kind, one.place, one.points) for one in ended.outcomes] == [
        ("bob", "quit", None, 0),
        ("ann", "played", 1, 5),
        ("cyn", "played", 2, 0),
        ("eve", "played", 1, 2),
    ]


@pytest.mark.ruling("TL-31")
def test_tl_31_a_quit_counts_at_once_and_leaving_otherwise_does_not() -> None:
    statistics = statistics_of(told(a_round(1, 0, 1, 0), a_quit("bob"), a_quit("cyn", quits=False)))
    assert statistics.outcomes == (Outcome(2, "bob", 1, "quit", minutes(2)),)


@pytest.mark.ruling("TL-24")
@pytest.mark.parametrize("reason", ["voided", "ended_early"])
def test_tl_24_a_game_that_was_not_played_to_its_end_counts_for_nothing_and_nobody_has_quit_it(reason: str) -> None:
    first = (a_round(1, 0, 1, 0), a_quit("bob"), an_end(*EVEN))
    second = (a_round(1, 0, 1, 0, game=2), a_quit("ann", game=2), an_end(game=2, reason=reason))
    assert statistics_of(told(*first, *second)) == statistics_of(told(*first))


@pytest.mark.ruling("TL-33")
def test_tl_33_a_table_that_is_left_in_a_game_has_its_quits_and_nothing_else() -> None:
    statistics = statistics_of(told(a_round(1, 0, 1, 0), a_quit("bob"), CLOSED))
    assert (statistics.under_way, [one.kind for one in statistics.outcomes]) == (None, ["quit"])


def test_the_next_game_begins_without_points() -> None:
    statistics = statistics_of(told(a_round(5, 0, 5, 0), a_round(1, 0, 1, 0, game=2)))
    assert statistics.under_way == GameUnderWay(2, {"ann": 1, "cyn": 0, "bob": 1})
    # Of the first one nobody was told that it ended: it was not played.
    assert statistics.outcomes == ()


def test_what_an_older_table_service_told_without_a_game_counts_as_no_quit() -> None:
    assert statistics_of(told(a_round(1, 0, 1, 0), a_quit("bob", game=0))).outcomes == ()


@pytest.mark.parametrize(
    ("at", "monday", "name"),
    [
        (datetime(2026, 11, 30, 0, 0, tzinfo=UTC), date(2026, 11, 30), "2026-W49"),
        (datetime(2026, 11, 29, 23, 59, 59, 999999, tzinfo=UTC), date(2026, 11, 23), "2026-W48"),
        (datetime.fromisoformat("2026-11-30T01:00:00+02:00"), date(2026, 11, 23), "2026-W48"),
        (datetime(2027, 1, 3, 12, tzinfo=UTC), date(2026, 12, 28), "2026-W53"),
        (datetime(2024, 12, 30, tzinfo=UTC), date(2024, 12, 30), "2025-W01"),
    ],
)
def test_a_week_is_an_iso_week_in_utc(at: datetime, monday: date, name: str) -> None:
    assert (week_of(at), name_of_week(week_of(at)), week_named(name)) == (monday, name, monday)


@pytest.mark.parametrize("name", ["2026-W00", "2026-W54", "2025-W53", "0000-W01", "9999-W53", "2026", "", "-W", "x-Wy"])
def test_what_names_no_week_is_none(name: str) -> None:
    assert week_named(name) is None


NAMES = st.sampled_from(("ann", "bob", "cyn", None))
HOLDERS = st.tuples(NAMES, NAMES).filter(lambda pair: pair[0] is None or pair[0] != pair[1])
POINTS = st.tuples(st.integers(-40, 40), st.integers(-40, 40))


@st.composite
def games(draw: st.DrawFn) -> list[Any]:
    """Whole games of a table for two, with quits, ended in any way."""
    happened: list[Any] = []
    for game in range(1, draw(st.integers(1, 4)) + 1):
        for _ in range(draw(st.integers(0, 4))):
            accounts = draw(HOLDERS)
            happened.append(a_round(*draw(POINTS), game=game, accounts=accounts, counted=draw(st.booleans())))
            if quitter := draw(NAMES):
                happened.append(a_quit(quitter, game=game, quits=draw(st.booleans())))
        reason = draw(st.sampled_from(("played", "voided")))
        places = draw(st.sampled_from(((1, 2), (2, 1), (1, 1)))) if reason == "played" else ()
        happened.append(an_end(*places, game=game, accounts=draw(HOLDERS) if places else (), reason=reason))
    return happened


def counted_plainly(happened: list[Any]) -> dict[str, list[int]]:
    """Played, won, quits and points of each account, written down a second time from docs/tables.md alone."""
    found: dict[str, list[int]] = {}
    for game in {fields["game"] for _, fields in happened}:
        here = [(kind, fields) for kind, fields in happened if fields["game"] == game]
        kind, end = here[-1]
        assert kind == "game_ended"
        rounds = [fields for kind, fields in here if kind == "round_ended" and fields["counted"]]
        if end["reason"] != "played":
            continue
        for kind, fields in here:
            if kind == "seat_freed" and fields["quit"]:
                found.setdefault(fields["account_id"], [0, 0, 0, 0])[2] += 1
        for seat, account in enumerate(end["accounts"]):
            if account is not None and rounds:
                row = found.setdefault(account, [0, 0, 0, 0])
                row[0] += 1
                row[1] += end["places"][seat] == 1
                row[3] += sum(
                    sum(
                        points
                        for holder, points in zip(one["accounts"], one["points"], strict=True)
                        if holder == account
                    )
                    for one in rounds
                )
    return found


@given(games())
def test_what_is_counted_is_what_the_document_says(happened: list[Any]) -> None:
    found: dict[str, list[int]] = {}
    for outcome in statistics_of(told(*happened)).outcomes:
        row = found.setdefault(outcome.account_id, [0, 0, 0, 0])
        row[0] += outcome.kind == "played"
        row[1] += outcome.place == 1
        row[2] += outcome.kind == "quit"
        row[3] += outcome.points
    assert found == counted_plainly(happened)
