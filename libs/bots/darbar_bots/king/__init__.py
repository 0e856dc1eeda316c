"""The King bots: what they decide in each phase. Open this first; the thinking is in the files beside it."""

from __future__ import annotations

from darbar_bots.king.declaring import best_contract, first_contract
from darbar_bots.king.known import known_from
from darbar_bots.king.play import Position
from darbar_bots.policy import Policy, check_turn
from darbar_rules.cards import TEXTS
from darbar_rules.games.king.events import Decision, PlayCard
from darbar_rules.games.king.view import KingView


class RulePolicy:
    """Weighs each card by what its trick is likely to bring and what the card would bring later.

    Who is not `attentive` forgets the cards of finished tricks, and declares whatever the clock would.
    """

    def __init__(self, *, attentive: bool) -> None:
        self._attentive = attentive

    def decide(self, view: KingView) -> Decision:
        check_turn(view)
        if view.phase == "declaring":
            return best_contract(view) if self._attentive else first_contract(view)
        known = known_from(view, attentive=self._attentive)
        return PlayCard(TEXTS[Position(known).best(known.legal).card])


REGULAR: Policy = RulePolicy(attentive=True)
NOVICE: Policy = RulePolicy(attentive=False)
