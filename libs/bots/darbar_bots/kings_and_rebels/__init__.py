"""The Kings and Rebels bots: what they decide in each phase. Open this first; the thinking is in the other files."""

from __future__ import annotations

from darbar_bots.kings_and_rebels.bidding import bid_or_pass, partners_needed
from darbar_bots.kings_and_rebels.known import hand_of, known_from, setup_from
from darbar_bots.kings_and_rebels.naming import best_converts, best_trump
from darbar_bots.kings_and_rebels.play import Position
from darbar_bots.policy import Policy, ViewInvalid, check_turn
from darbar_rules.cards import SUITS, TEXTS
from darbar_rules.games.kings_and_rebels.events import Bid, Decision, NameConverts, PassBid, PlayCard
from darbar_rules.games.kings_and_rebels.view import KingsAndRebelsView


class RulePolicy:
    """Bids what its hand is likely to bring, names the strongest cards of others, weighs each card by its trick."""

    def __init__(self, *, attentive: bool) -> None:
        self._attentive = attentive

    def decide(self, view: KingsAndRebelsView) -> Decision:
        check_turn(view)
        if view.seat != view.to_act:  # Off turn it may pass, but nobody asks a bot.
            raise ViewInvalid("it is not this seat's turn")
        if view.phase == "bidding":
            return self._bid(view)
        if view.phase == "naming":
            return self._name(view)
        known = known_from(view, attentive=self._attentive)
        return PlayCard(TEXTS[Position(known, saves=self._attentive).best(known.legal).card])

    def _bid(self, view: KingsAndRebelsView) -> Decision:
        points = bid_or_pass(view, setup_from(view.options), hand_of(view))
        return PassBid() if points is None else Bid(points)

    def _name(self, view: KingsAndRebelsView) -> Decision:
        setup, hand = setup_from(view.options), hand_of(view)
        trump = best_trump(setup, hand)
        count = partners_needed(setup, hand, trump, view.bid or setup.minimum)
        return NameConverts(SUITS[trump], best_converts(setup, hand, trump, count))


REGULAR: Policy = RulePolicy(attentive=True)
NOVICE: Policy = RulePolicy(attentive=False)
