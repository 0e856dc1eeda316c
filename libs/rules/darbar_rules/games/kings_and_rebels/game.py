"""Kings and Rebels as the registry knows it: each promise of `Game` and the file that keeps it. Open this first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from darbar_rules.deal import Chance
from darbar_rules.game import Game, Legal, Refusal, RoundResult, RuleRefused, Shown, Turn
from darbar_rules.games.kings_and_rebels import auction, deals, naming, play, scoring
from darbar_rules.games.kings_and_rebels import fallback as fallbacks
from darbar_rules.games.kings_and_rebels import options as table_options
from darbar_rules.games.kings_and_rebels import state as states
from darbar_rules.games.kings_and_rebels import view as views
from darbar_rules.games.kings_and_rebels.events import (
    DECISIONS,
    EVENTS,
    KINDS,
    OUT_OF_TURN,
    Bid,
    DealRecord,
    Decision,
    Event,
    NameConverts,
    PassBid,
    PlayCard,
)
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.state import State
from darbar_rules.games.kings_and_rebels.terms import terms_of
from darbar_rules.games.kings_and_rebels.view import KingsAndRebelsView


class KingsAndRebels:
    """Four to twelve seats; each round one leads the Rebels, and who else is one shows in play."""

    name: str = "kings_and_rebels"
    title: str = "Kings and Rebels"
    rules_version: int = 1
    direction: str = "clockwise"
    stake_unit: str = "round"
    options_type: type[Any] = KingsAndRebelsOptions
    options_explained: Mapping[str, str] = table_options.EXPLAINED
    option_values: Mapping[str, tuple[Any, ...]] = table_options.VALUES
    view_type: type[Any] = KingsAndRebelsView
    events: Mapping[str, type[Any]] = EVENTS
    decisions: Mapping[str, type[Any]] = DECISIONS
    out_of_turn: frozenset[str] = OUT_OF_TURN
    host_deals: bool = True
    same_clock_after: frozenset[str] = frozenset()

    def check_options(self, options: KingsAndRebelsOptions) -> None:
        table_options.check(options)

    def seat_counts(self, options: KingsAndRebelsOptions) -> tuple[int, ...]:
        return (options.seats,)

    def partners(self, options: KingsAndRebelsOptions, seats: int) -> tuple[tuple[int, ...], ...]:
        return ()

    def new(self, options: KingsAndRebelsOptions, seats: int) -> State:
        assert seats == options.seats
        return states.first_state(terms_of(options))

    def deal(self, state: State, chance: Chance) -> tuple[Event, ...]:
        assert state.match.phase == "waiting", "the table deals only between rounds"
        return (deals.deal_round(state, chance),)

    def decide(self, state: State, seat: int, decision: Decision, chance: Chance) -> tuple[Event, ...]:
        match decision:
            case PlayCard():
                return play.play_card(state, seat, decision.card)
            case Bid():
                return auction.bid(state, seat, decision.points)
            case PassBid():
                return auction.pass_bid(state, seat, chance)
            case NameConverts():
                return naming.name_converts(state, seat, decision)
            case _:
                raise RuleRefused(Refusal.DECISION_UNKNOWN)

    def evolve(self, state: State, event: Event) -> State:
        return states.evolve(state, event)

    def turn(self, state: State) -> Turn:
        seats = () if state.play.to_act is None else (state.play.to_act,)
        return Turn(state.match.round, state.play.turn, seats, state.match.phase == "over", state.auction.dealt)

    def legal(self, state: State, seat: int) -> Legal:
        return play.legal(state, seat)

    def choices(self, legal: Legal) -> tuple[Decision, ...]:
        return play.choices(legal)

    def view(self, state: State, seat: int | None) -> KingsAndRebelsView:
        return views.view(state, seat)

    def show(self, before: State, event: Event) -> Shown:
        return views.show(before, event)

    def fallback(self, view: KingsAndRebelsView) -> Decision:
        return fallbacks.fallback(view)

    def kind_of(self, event: Event) -> str:
        return KINDS[type(event)]

    def result(self, state: State) -> RoundResult | None:
        return scoring.result(state)

    def deal_record(self, state: State) -> DealRecord | None:
        return deals.deal_record(state)

    def verify_deal(
        self, options: KingsAndRebelsOptions, record: DealRecord, chance: Chance, *, round: int
    ) -> tuple[str, ...]:
        return deals.differences(terms_of(options), record, chance, round=round)


KINGS_AND_REBELS: Game = KingsAndRebels()
