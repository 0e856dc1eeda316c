"""The three King games as the registry knows them: each promise of `Game` and the file that keeps it. Open this first.

They differ in `forms.py` and `contracts.py`; everything else is the same for all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from darbar_rules.game import AnyGame, Game
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
from darbar_rules.games.king.forms import Form20, FormLong, FormShort
from darbar_rules.games.king.options import SEATS, King20Options, KingLongOptions, KingShortOptions
from darbar_rules.games.king.play import choices, decide, legal
from darbar_rules.games.king.scoring import result
from darbar_rules.games.king.state import KingState, evolve, first_state, turn
from darbar_rules.games.king.view import (
    SHOWN_20,
    SHOWN_LONG,
    SHOWN_SHORT,
    King20View,
    KingLongView,
    KingShortView,
    show,
    view_20,
    view_long,
    view_short,
)

# Four seats, everyone alone, coins for the whole game: what the two games below do not name is theirs, too.
_KING: Final[Game[King20Options, KingState[Form20], Event, Decision, King20View, DealRecord]] = Game(
    name="king_20",
    title="King in 20 hands",
    rules_version=1,
    direction="anticlockwise",
    stake_unit="game",
    options_type=King20Options,
    state_type=KingState[Form20],
    state_version=1,
    view_type=King20View,
    events=EVENTS,
    shown=SHOWN_20,
    decisions=DECISIONS,
    seat_counts=lambda _: (SEATS,),
    new=lambda options, seats: first_state(Form20(options), seats),
    deal=deal_round,
    decide=decide,
    evolve=evolve,
    turn=turn,
    legal=legal,
    choices=choices,
    view=view_20,
    show=show,
    fallback=fallback_20,
    result=result,
    deal_record=deal_record,
    verify_deal=lambda options, *dealt: differences(Form20(options), *dealt),
)
KING_20: Final[AnyGame] = _KING
KING_SHORT: Final = replace(
    KING_20,
    name="king_short",
    title="King, short game",
    direction="clockwise",
    options_type=KingShortOptions,
    state_type=KingState[FormShort],
    view_type=KingShortView,
    events=EVENTS_SHORT,
    shown=SHOWN_SHORT,
    decisions=DECISIONS_SHORT,
    new=lambda options, seats: first_state(FormShort(options), seats),
    view=view_short,
    fallback=fallback_32,
    verify_deal=lambda options, *dealt: differences(FormShort(options), *dealt),
)
KING_LONG: Final = replace(
    KING_20,
    name="king_long",
    title="King, long game",
    direction="clockwise",
    options_type=KingLongOptions,
    state_type=KingState[FormLong],
    view_type=KingLongView,
    shown=SHOWN_LONG,
    new=lambda options, seats: first_state(FormLong(options), seats),
    view=view_long,
    fallback=fallback_32,
    verify_deal=lambda options, *dealt: differences(FormLong(options), *dealt),
)
