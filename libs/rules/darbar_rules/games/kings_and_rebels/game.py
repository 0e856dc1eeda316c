"""Kings and Rebels as the registry knows it: each promise of `Game` and the file that keeps it. Open this first."""

from __future__ import annotations

from typing import Final

from darbar_rules.game import Game
from darbar_rules.games.kings_and_rebels.deals import deal_record, deal_round, differences
from darbar_rules.games.kings_and_rebels.events import DECISIONS, EVENTS, OUT_OF_TURN, DealRecord, Decision, Event
from darbar_rules.games.kings_and_rebels.fallback import fallback
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions, check
from darbar_rules.games.kings_and_rebels.play import choices, decide, legal
from darbar_rules.games.kings_and_rebels.scoring import result
from darbar_rules.games.kings_and_rebels.state import State, evolve, first_state, turn
from darbar_rules.games.kings_and_rebels.view import SHOWN, KingsAndRebelsView, show, view

# Four to twelve seats; each round one leads the Rebels, and who else is one shows in play.
KINGS_AND_REBELS: Final[Game[KingsAndRebelsOptions, State, Event, Decision, KingsAndRebelsView, DealRecord]] = Game(
    name="kings_and_rebels",
    title="Kings and Rebels",
    rules_version=1,
    direction="clockwise",
    stake_unit="round",
    host_deals=True,
    out_of_turn=OUT_OF_TURN,
    options_type=KingsAndRebelsOptions,
    state_type=State,
    state_version=1,
    view_type=KingsAndRebelsView,
    events=EVENTS,
    shown=SHOWN,
    decisions=DECISIONS,
    check_options=check,
    seat_counts=lambda options: (options.seats,),
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
