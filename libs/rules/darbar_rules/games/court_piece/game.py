"""Court Piece (Rung) as the registry knows it: each promise of `Game` and the file that keeps it. Open this first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from darbar_rules.deal import Chance
from darbar_rules.game import Game, Legal, Refusal, RoundResult, RuleRefused, Shown, Turn
from darbar_rules.games.court_piece import fallback as fallbacks
from darbar_rules.games.court_piece import options as table_options
from darbar_rules.games.court_piece import play, proof, results
from darbar_rules.games.court_piece import state as states
from darbar_rules.games.court_piece import view as views
from darbar_rules.games.court_piece.deals import deal_round
from darbar_rules.games.court_piece.events import (
    DECISIONS,
    EVENTS,
    KINDS,
    AskTrump,
    ChooseTrump,
    DealRecord,
    Decision,
    Event,
    PlayCard,
    ShowTrump,
)
from darbar_rules.games.court_piece.options import SEATS, CourtPieceOptions
from darbar_rules.games.court_piece.state import State
from darbar_rules.games.court_piece.view import CourtPieceView


class CourtPiece:
    """Four seats in two teams, seats 0 and 2 against 1 and 3."""

    name: str = "court_piece"
    title: str = "Court Piece (Rung)"
    rules_version: int = 1
    direction: str = "anticlockwise"
    stake_unit: str = "round"
    options_type: type[Any] = CourtPieceOptions
    options_explained: Mapping[str, str] = table_options.EXPLAINED
    option_values: Mapping[str, tuple[Any, ...]] = table_options.VALUES
    view_type: type[Any] = CourtPieceView
    events: Mapping[str, type[Any]] = EVENTS
    decisions: Mapping[str, type[Any]] = DECISIONS
    out_of_turn: frozenset[str] = frozenset()
    host_deals: bool = False
    same_clock_after: frozenset[str] = frozenset({"trump_shown"})

    def check_options(self, options: CourtPieceOptions) -> None:
        table_options.check(options)

    def seat_counts(self, options: CourtPieceOptions) -> tuple[int, ...]:
        return (SEATS,)

    def partners(self, options: CourtPieceOptions, seats: int) -> tuple[tuple[int, ...], ...]:
        return results.TEAMS

    def new(self, options: CourtPieceOptions, seats: int) -> State:
        assert seats == SEATS
        return State(options)

    def deal(self, state: State, chance: Chance) -> tuple[Event, ...]:
        assert state.match.phase == "waiting", "the table deals only between rounds"
        return (deal_round(state, chance),)

    def decide(self, state: State, seat: int, decision: Decision, chance: Chance) -> tuple[Event, ...]:
        match decision:
            case PlayCard():
                return play.play_card(state, seat, decision.card)
            case ChooseTrump():
                return play.choose_trump(state, seat, chance, card=decision.card, suit=decision.suit)
            case AskTrump():
                return play.ask_trump(state, seat)
            case ShowTrump():
                return play.show_trump(state, seat)
            case _:
                raise RuleRefused(Refusal.DECISION_UNKNOWN)

    def evolve(self, state: State, event: Event) -> State:
        return states.evolve(state, event)

    def turn(self, state: State) -> Turn:
        seats = () if state.play.to_act is None else (state.play.to_act,)
        return Turn(state.match.round, state.play.turn, seats, state.match.phase == "over")

    def legal(self, state: State, seat: int) -> Legal:
        return play.legal(state, seat)

    def choices(self, legal: Legal) -> tuple[Decision, ...]:
        return play.choices(legal)

    def view(self, state: State, seat: int | None) -> CourtPieceView:
        return views.view(state, seat)

    def show(self, before: State, event: Event) -> Shown:
        return views.show(before, event)

    def fallback(self, view: CourtPieceView) -> Decision:
        return fallbacks.fallback(view)

    def kind_of(self, event: Event) -> str:
        return KINDS[type(event)]

    def result(self, state: State) -> RoundResult | None:
        return results.result(state)

    def deal_record(self, state: State) -> DealRecord | None:
        return proof.deal_record(state)

    def verify_deal(
        self, options: CourtPieceOptions, record: DealRecord, chance: Chance, *, round: int
    ) -> tuple[str, ...]:
        return proof.differences(options, record, chance, round=round)


COURT_PIECE: Game = CourtPiece()
