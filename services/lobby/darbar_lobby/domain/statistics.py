"""What a table's milestones say of its players: pure rules. Open this when a profile or a leaderboard is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Literal

import msgspec

from darbar_contracts.tables import PLAYED, GameEnded, Milestone, RoundEnded, SeatFreed, TableClosed

OutcomeKind = Literal["played", "quit"]


class GameUnderWay(msgspec.Struct, frozen=True):
    """A game that counts and has not ended: what each account has won in its counted rounds."""

    game_number: int
    points: Mapping[str, int]


class Outcome(msgspec.Struct, frozen=True):
    """What a game came to for one player at a milestone: played to its end, or quit. A quit brings no points."""

    number: int
    account_id: str
    game_number: int
    kind: OutcomeKind
    at: datetime
    place: int | None = None
    points: int = 0


class StatisticsStep(msgspec.Struct, frozen=True):
    """What a milestone changes: the game under way, new outcomes, and the game whose outcomes count no more."""

    under_way: GameUnderWay | None
    outcomes: tuple[Outcome, ...] = ()
    taken_back: int | None = None


class TableStatistics(msgspec.Struct, frozen=True):
    """Everything that a table's milestones say of its players."""

    under_way: GameUnderWay | None
    outcomes: tuple[Outcome, ...]


def step_of(under_way: GameUnderWay | None, milestone: Milestone) -> StatisticsStep | None:
    """What the next milestone of a table changes; None: nothing."""
    match milestone.event:
        case RoundEnded(counted=True) as ended:
            return StatisticsStep(_with_round(under_way, ended))
        case SeatFreed(quit=True, account_id=str(account_id), game=game) if game > 0:
            return StatisticsStep(under_way, (Outcome(milestone.number, account_id, game, "quit", milestone.at),))
        case GameEnded(reason=reason) as ended if reason == PLAYED:
            return StatisticsStep(None, _played(under_way, ended, milestone))
        case GameEnded(game=game):
            # Nothing of it counts: whoever had left it has not quit (TL-24).
            return StatisticsStep(None, taken_back=game)
        case TableClosed():
            return StatisticsStep(None)
        case _:
            return None


def statistics_of(milestones: Iterable[Milestone]) -> TableStatistics:
    """All of a table's, from its first milestone on, in their order."""
    under_way: GameUnderWay | None = None
    outcomes: list[Outcome] = []
    for milestone in milestones:
        step = step_of(under_way, milestone)
        if step is None:
            continue
        under_way = step.under_way
        if step.taken_back is not None:
            outcomes = [outcome for outcome in outcomes if outcome.game_number != step.taken_back]
        outcomes.extend(step.outcomes)
    return TableStatistics(under_way, tuple(outcomes))


def week_of(at: datetime) -> date:
    """The Monday with which its ISO week begins, in UTC."""
    day = at.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


def week_named(name: str) -> date | None:
    """The Monday of a week like 2026-W48; None when there is no such week."""
    try:
        year, _, week = name.partition("-W")
        return date.fromisocalendar(int(year), int(week), 1)
    except (ValueError, OverflowError):
        return None


def name_of_week(monday: date) -> str:
    """Like 2026-W48."""
    year, week, _ = monday.isocalendar()
    return f"{year:04d}-W{week:02d}"


def _with_round(under_way: GameUnderWay | None, ended: RoundEnded) -> GameUnderWay:
    before = under_way.points if under_way is not None and under_way.game_number == ended.game else {}
    won = dict(before)
    for account_id, points in zip(ended.accounts, ended.points, strict=True):
        if account_id is not None:
            won[account_id] = won.get(account_id, 0) + points
    return GameUnderWay(ended.game, won)


def _played(under_way: GameUnderWay | None, ended: GameEnded, milestone: Milestone) -> tuple[Outcome, ...]:
    """One for each account that holds a seat, if a round of this game has counted (TL-28)."""
    if under_way is None or under_way.game_number != ended.game:
        return ()
    return tuple(
        Outcome(
            number=milestone.number,
            account_id=account_id,
            game_number=ended.game,
            kind="played",
            at=milestone.at,
            place=place,
            points=under_way.points.get(account_id, 0),
        )
        for account_id, place in zip(ended.accounts, ended.places, strict=True)
        if account_id is not None
    )
