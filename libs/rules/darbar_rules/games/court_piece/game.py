"""Court Piece (Rung) as the registry knows it: each promise of `Game` and the file that keeps it. Open this first."""

from __future__ import annotations

from typing import Final

from darbar_rules.game import Game
from darbar_rules.games.court_piece.deals import deal_round
from darbar_rules.games.court_piece.events import DECISIONS, EVENTS, DealRecord, Decision, Event
from darbar_rules.games.court_piece.fallback import fallback
from darbar_rules.games.court_piece.options import SEATS, CourtPieceOptions, check
from darbar_rules.games.court_piece.play import choices, decide, legal
from darbar_rules.games.court_piece.proof import deal_record, differences
from darbar_rules.games.court_piece.results import partners, result
from darbar_rules.games.court_piece.state import State, evolve, first_state, turn
from darbar_rules.games.court_piece.view import SHOWN, CourtPieceView, show, view

# Four seats in two teams, seats 0 and 2 against 1 and 3.
COURT_PIECE: Final[Game[CourtPieceOptions, State, Event, Decision, CourtPieceView, DealRecord]] = Game(
    name="court_piece",
    title="Court Piece (Rung)",
    rules_version=1,
    direction="anticlockwise",
    stake_unit="round",
    same_clock_after=frozenset({"trump_shown"}),
    options_type=CourtPieceOptions,
    state_type=State,
    state_version=2,
    view_type=CourtPieceView,
    events=EVENTS,
    shown=SHOWN,
    decisions=DECISIONS,
    check_options=check,
    seat_counts=lambda _: (SEATS,),
    partners=partners,
    new=first_state,
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
    verify_deal=differences,
)
