"""The three King games as the registry knows them: each promise of `Game` and the file that keeps it. Open this first.

They differ in `forms.py` and `contracts.py`; everything else is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from darbar_rules.deal import Chance
from darbar_rules.game import Game, Legal, Refusal, RoundResult, RuleRefused, Shown, Turn
from darbar_rules.games.king import deals, declaring, play, scoring
from darbar_rules.games.king import fallback as fallbacks
from darbar_rules.games.king import options as table_options
from darbar_rules.games.king import state as states
from darbar_rules.games.king import view as views
from darbar_rules.games.king.events import (
    DECISIONS,
    DECISIONS_SHORT,
    EVENTS,
    EVENTS_SHORT,
    KINDS,
    DealRecord,
    Decision,
    Declare,
    Event,
    PlayCard,
)
from darbar_rules.games.king.forms import FORM_20, FORM_LONG, FORM_SHORT, Form, terms_of
from darbar_rules.games.king.options import SEATS, King20Options, KingLongOptions, KingOptions, KingShortOptions
from darbar_rules.games.king.state import State
from darbar_rules.games.king.view import King20View, KingLongView, KingShortView, KingView


class King:
    """Four seats, everyone alone. What is common to the three games."""

    form: Form
    rules_version: int = 1
    stake_unit: str = "game"
    options_explained: Mapping[str, str] = table_options.EXPLAINED
    option_values: Mapping[str, tuple[Any, ...]]
    events: Mapping[str, type[Any]] = EVENTS
    decisions: Mapping[str, type[Any]] = DECISIONS
    out_of_turn: frozenset[str] = frozenset()
    host_deals: bool = False
    same_clock_after: frozenset[str] = frozenset()
    _view: Callable[[State, int | None], KingView]
    _fallback: Callable[[KingView], Decision]

    def check_options(self, options: KingOptions) -> None:
        table_options.check(options, self.option_values)

    def seat_counts(self, options: KingOptions) -> tuple[int, ...]:
        return (SEATS,)

    def partners(self, options: KingOptions, seats: int) -> tuple[tuple[int, ...], ...]:
        return ()

    def new(self, options: KingOptions, seats: int) -> State:
        assert seats == SEATS
        return State(terms_of(self.form, options))

    def deal(self, state: State, chance: Chance) -> tuple[Event, ...]:
        assert state.match.phase == "waiting", "the table deals only between rounds"
        return deals.deal_round(state, chance)

    def decide(self, state: State, seat: int, decision: Decision, chance: Chance) -> tuple[Event, ...]:
        if not isinstance(decision, PlayCard | Declare):
            raise RuleRefused(Refusal.DECISION_UNKNOWN)
        if seat != state.play.to_act:
            raise RuleRefused(Refusal.NOT_NOW if state.play.to_act is None else Refusal.NOT_YOUR_TURN)
        if isinstance(decision, PlayCard):
            return play.play_card(state, seat, decision.card)
        return declaring.declare(state, seat, decision)

    def evolve(self, state: State, event: Event) -> State:
        return states.evolve(state, event)

    def turn(self, state: State) -> Turn:
        seats = () if state.play.to_act is None else (state.play.to_act,)
        return Turn(state.match.round, state.play.turn, seats, state.match.phase == "over")

    def legal(self, state: State, seat: int) -> Legal:
        return play.legal(state, seat)

    def choices(self, legal: Legal) -> tuple[Decision, ...]:
        return play.choices(legal)

    def view(self, state: State, seat: int | None) -> KingView:
        return self._view(state, seat)

    def show(self, before: State, event: Event) -> Shown:
        return views.show(before, event)

    def fallback(self, view: KingView) -> Decision:
        return self._fallback(view)

    def kind_of(self, event: Event) -> str:
        return KINDS[type(event)]

    def result(self, state: State) -> RoundResult | None:
        return scoring.result(state)

    def deal_record(self, state: State) -> DealRecord | None:
        return deals.deal_record(state)

    def verify_deal(self, options: KingOptions, record: DealRecord, chance: Chance, *, round: int) -> tuple[str, ...]:
        return deals.differences(terms_of(self.form, options), record, chance, round=round)


class King20(King):
    """52 cards, 20 hands."""

    name: str = "king_20"
    title: str = "King in 20 hands"
    direction: str = "anticlockwise"
    form: Form = FORM_20
    options_type: type[Any] = King20Options
    option_values: Mapping[str, tuple[Any, ...]] = table_options.VALUES_20
    view_type: type[Any] = King20View
    _view = staticmethod(views.view_20)
    _fallback = staticmethod(fallbacks.fallback_20)


class KingShort(King):
    """32 cards, 14 deals."""

    name: str = "king_short"
    title: str = "King, short game"
    direction: str = "clockwise"
    form: Form = FORM_SHORT
    options_type: type[Any] = KingShortOptions
    option_values: Mapping[str, tuple[Any, ...]] = table_options.VALUES_SHORT
    view_type: type[Any] = KingShortView
    events: Mapping[str, type[Any]] = EVENTS_SHORT
    decisions: Mapping[str, type[Any]] = DECISIONS_SHORT
    _view = staticmethod(views.view_short)
    _fallback = staticmethod(fallbacks.fallback_32)


class KingLong(King):
    """32 cards, 56 deals."""

    name: str = "king_long"
    title: str = "King, long game"
    direction: str = "clockwise"
    form: Form = FORM_LONG
    options_type: type[Any] = KingLongOptions
    option_values: Mapping[str, tuple[Any, ...]] = table_options.VALUES_LONG
    view_type: type[Any] = KingLongView
    _view = staticmethod(views.view_long)
    _fallback = staticmethod(fallbacks.fallback_32)


KING_20: Game = King20()
KING_SHORT: Game = KingShort()
KING_LONG: Game = KingLong()
