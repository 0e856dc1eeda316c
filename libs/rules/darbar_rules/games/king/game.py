"""The three King games as the registry knows them: each promise of `Game` and the file that keeps it. Open this first.

They differ in `forms.py` and `contracts.py`; everything else is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from darbar_rules.deal import Chance
from darbar_rules.game import AnyGame, Direction, Game
from darbar_rules.games.king.deals import deal_record, deal_round, differences
from darbar_rules.games.king.events import (
    DECISIONS,
    DECISIONS_SHORT,
    EVENTS,
    EVENTS_SHORT,
    DealRecord,
    Decision,
    Event,
)
from darbar_rules.games.king.fallback import fallback_20, fallback_32
from darbar_rules.games.king.forms import Form, Form20, FormLong, FormShort
from darbar_rules.games.king.options import SEATS, King20Options, KingLongOptions, KingShortOptions
from darbar_rules.games.king.play import choices, decide, legal
from darbar_rules.games.king.scoring import result
from darbar_rules.games.king.state import KingState, evolve, turn
from darbar_rules.games.king.view import (
    King20View,
    KingLongView,
    KingShortView,
    KingView,
    show,
    view_20,
    view_long,
    view_short,
)

Options = TypeVar("Options")
FormPlayed = TypeVar("FormPlayed", bound=Form)
View = TypeVar("View", bound=KingView)


def king(
    name: str,
    title: str,
    *,
    direction: Direction,
    form: Callable[[Options], FormPlayed],
    options_type: type[Options],
    state_type: type[KingState[FormPlayed]],
    view_type: type[View],
    view: Callable[[KingState[FormPlayed], int | None], View],
    fallback: Callable[[KingView], Decision],
    events: Mapping[str, type[Event]] = EVENTS,
    decisions: Mapping[str, type[Decision]] = DECISIONS,
) -> Game[Options, KingState[FormPlayed], Event, Decision, View, DealRecord]:
    """One of the three: four seats, everyone alone, coins for the whole game."""

    def new(options: Options, seats: int) -> KingState[FormPlayed]:
        assert seats == SEATS
        return KingState(form(options))

    def verify_deal(options: Options, record: DealRecord, chance: Chance, round: int) -> tuple[str, ...]:
        return differences(form(options), record, chance, round)

    return Game(
        name=name,
        title=title,
        rules_version=1,
        direction=direction,
        stake_unit="game",
        options_type=options_type,
        state_type=state_type,
        state_version=1,
        view_type=view_type,
        events=events,
        decisions=decisions,
        seat_counts=lambda _: (SEATS,),
        new=new,
        deal=deal_round,
        decide=decide,
        evolve=evolve,
        turn=turn,
        legal=legal,
        choices=choices,
        view=view,
        show=show,
        fallback=fallback,
        result=result,
        deal_record=deal_record,
        verify_deal=verify_deal,
    )


KING_20: Final[AnyGame] = king(
    "king_20",
    "King in 20 hands",
    direction="anticlockwise",
    form=Form20,
    options_type=King20Options,
    state_type=KingState[Form20],
    view_type=King20View,
    view=view_20,
    fallback=fallback_20,
)
KING_SHORT: Final[AnyGame] = king(
    "king_short",
    "King, short game",
    direction="clockwise",
    form=FormShort,
    options_type=KingShortOptions,
    state_type=KingState[FormShort],
    view_type=KingShortView,
    view=view_short,
    fallback=fallback_32,
    events=EVENTS_SHORT,
    decisions=DECISIONS_SHORT,
)
KING_LONG: Final[AnyGame] = king(
    "king_long",
    "King, long game",
    direction="clockwise",
    form=FormLong,
    options_type=KingLongOptions,
    state_type=KingState[FormLong],
    view_type=KingLongView,
    view=view_long,
    fallback=fallback_32,
)
