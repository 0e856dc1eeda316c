"""The Court Piece bots: what they decide in each phase. Open this first; the thinking is in the files beside it."""

from __future__ import annotations

from darbar_bots.court_piece.known import Known, hand_of, known_from
from darbar_bots.court_piece.play import Choice, Position
from darbar_bots.court_piece.search import SearchPolicy
from darbar_bots.court_piece.trump import best_cut, card_to_hide, suit_to_call, value_of_asking, value_of_showing
from darbar_bots.policy import Policy, check_turn
from darbar_bots.search import FULL
from darbar_rules.cards import SUITS, TEXTS
from darbar_rules.games.court_piece.events import AskTrump, ChooseTrump, Decision, PlayCard, ShowTrump
from darbar_rules.games.court_piece.view import CourtPieceView


class RulePolicy:
    """Weighs each card by what its trick is likely to bring and what the card would bring later."""

    def __init__(self, *, attentive: bool) -> None:
        self._attentive = attentive

    def decide(self, view: CourtPieceView) -> Decision:
        check_turn(view)
        if view.phase == "choosing":
            return _call(view)
        known = known_from(view, attentive=self._attentive)
        choice = _best_card(known)
        if "ask_trump" in view.legal.also and value_of_asking(known) > choice.value:
            return AskTrump()
        if "show_trump" in view.legal.also:
            must_play_trump = view.options.show_on_lead_must_lead_trump
            if value_of_showing(known, must_play_trump=must_play_trump) > choice.value:
                return ShowTrump()
        return PlayCard(TEXTS[choice.card])


def _call(view: CourtPieceView) -> ChooseTrump:
    hand = hand_of(view)
    if view.options.trump == "hidden":
        return ChooseTrump(card=TEXTS[card_to_hide(hand)])
    return ChooseTrump(suit=SUITS[suit_to_call(hand)])


def _best_card(known: Known) -> Choice:
    return best_cut(known) if known.may_cut else Position(known).best(known.legal)


REGULAR: Policy = RulePolicy(attentive=True)
NOVICE: Policy = RulePolicy(attentive=False)
STRONG: Policy = SearchPolicy(REGULAR, FULL)
