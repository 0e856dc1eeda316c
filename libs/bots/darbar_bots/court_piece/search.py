"""The strong Court Piece bot: plays each card out in many worlds. Open this when it plays badly with the trump known.

A world is drawn from what the seat knows. Besides cards, asking for the hidden trump and showing it are played out.
Calling the trump is left to the rule policy, and so is what no playouts speak against.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from random import Random
from typing import Final

from darbar_bots.court_piece.drawing import World, drawn_worlds
from darbar_bots.court_piece.known import Known, known_from
from darbar_bots.court_piece.playout import NOBODY, Table, play_out
from darbar_bots.playouts import BIT_OF, SUIT_BITS, bits_of
from darbar_bots.policy import Policy, check_turn, naming_only_what_there_is
from darbar_bots.search import Effort
from darbar_rules.cards import TEXTS, cards_of, mask_of_ranks
from darbar_rules.games.court_piece.events import AskTrump, Decision, PlayCard, ShowTrump
from darbar_rules.games.court_piece.piles import TRICKS_TO_WIN, pile_needed
from darbar_rules.games.court_piece.state import TRICKS_IN_ROUND
from darbar_rules.games.court_piece.view import CourtPieceView

# What a round won with all tricks is worth beside one that is only won, and a trick more.
SWEEP: Final = 0.5
TRICK: Final = 0.1
# The rule policy is overruled by what is better by so many standard errors.
SURE: Final = 2.0
POWERS: Final[Mapping[str, Decision]] = {"ask_trump": AskTrump(), "show_trump": ShowTrump()}


@dataclass(frozen=True, slots=True)
class SearchPolicy:
    """Decides like `rule` where there is one thing to do or no card to play."""

    rule: Policy
    effort: Effort

    def decide(self, view: CourtPieceView) -> Decision:
        check_turn(view)
        ruled: Decision = self.rule.decide(view)
        if view.phase == "choosing" or len(view.legal.play) + len(view.legal.also) == 1:
            return ruled
        return Search(view, self.effort).best(ruled)


class Search:
    """One seat's turn to play a card: what it may decide, and what that brings in worlds."""

    @naming_only_what_there_is()
    def __init__(self, view: CourtPieceView, effort: Effort) -> None:
        self._known = known = known_from(view)
        self._table = table_of(view, known)
        self._firsts = [BIT_OF[card] for card in cards_of(known.legal)]
        self._candidates: list[Decision] = [PlayCard(TEXTS[card]) for card in cards_of(known.legal)]
        self._candidates += [POWERS[name] for name in view.legal.also]
        self._must_lead_trump = view.options.show_on_lead_must_lead_trump
        count = effort.worlds(len(self._candidates), sum(known.counts))
        self._worlds = drawn_worlds(view, known, Random(repr(known)), count)

    def best(self, ruled: Decision) -> Decision:
        """What brings surely more than what the rule policy decides; that, where nothing does."""
        par = self._candidates.index(ruled)
        more = [0.0] * len(self._candidates)
        squares = [0.0] * len(self._candidates)
        for world in self._worlds:
            values = list(self._values(world))
            for number, value in enumerate(values):
                difference = value - values[par]
                more[number] += difference
                squares[number] += difference * difference
        surely = [sum_ - SURE * sqrt(square) for sum_, square in zip(more, squares, strict=True)]
        return self._candidates[max(range(len(surely)), key=lambda number: (surely[number], number == par))]

    def _values(self, world: World) -> Iterator[float]:
        """What each candidate brings in this world."""
        team = self._known.seat % 2
        for first in self._firsts:
            ended = play_out(self._table, world.hands, first, hidden=world.hidden, indicator=world.indicator)
            yield VALUES[ended[team]][ended[1 - team]]
        if len(self._candidates) > len(self._firsts):
            ended = self._shown(world)
            yield VALUES[ended[team]][ended[1 - team]]

    def _shown(self, world: World) -> tuple[int, int]:
        """What comes of asking for the trump, or of showing it: a trump must follow, if there is one (CP-18)."""
        table = replace(self._table, power=world.hidden, since=self._table.lying)
        hands = list(world.hands)
        hands[table.caller] |= world.indicator
        first = 0
        if table.lying or self._must_lead_trump:
            trumps = hands[table.seat] & world.hidden
            if table.best & world.hidden:
                trumps = trumps & -(table.best << 1) or trumps
            trumps = trumps or hands[table.seat]
            first = trumps & -trumps
        return play_out(table, hands, first)


def table_of(view: CourtPieceView, known: Known) -> Table:
    """What lies on the table, as playouts have it."""
    options = view.options
    return Table(
        seat=known.seat,
        lying=len(view.trick),
        led=0 if known.led is None else SUIT_BITS[known.led],
        best=0 if known.best is None else BIT_OF[known.best],
        winning=known.seat if known.winning is None else known.winning,
        power=0 if known.trump is None else SUIT_BITS[known.trump],
        since=view.trump_from,
        kaat=options.trump == "kaat",
        fresh=options.fresh_win_must_be_after_showing,
        caller=0 if known.caller is None else known.caller,
        pile=known.pile,
        streak=NOBODY if known.streak is None else known.streak,
        collected=known.collected,
        first_pile=pile_needed(options, (0, 0)),
        later_pile=pile_needed(options, (1, 0)),
        tricks_left=known.tricks_left,
        no_pick_up=bits_of(mask_of_ranks("A")) if options.ace_cannot_win_pile else 0,
    )


def _value(ours: int, theirs: int) -> float:
    """How good it is for a team to have so many tricks when the others have so many."""
    sign = 1 if ours > theirs else -1
    sweep = SWEEP if TRICKS_IN_ROUND in (ours, theirs) else 0.0
    return sign * (1 + sweep) + TRICK * (min(ours, TRICKS_TO_WIN) - min(theirs, TRICKS_TO_WIN))


VALUES: Final[Sequence[Sequence[float]]] = [
    [_value(ours, theirs) for theirs in range(TRICKS_IN_ROUND + 1)] for ours in range(TRICKS_IN_ROUND + 1)
]
