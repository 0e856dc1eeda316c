"""How many points a hand is likely to bring with its partners. Open this when a bot bids too high or too low (KR-7).

The numbers were fitted to many rounds in which such bots led the Rebels with hands of all kinds.
"""

from __future__ import annotations

from typing import Final

from darbar_bots.kings_and_rebels.naming import best_trump, trump_strength
from darbar_bots.policy import ViewInvalid
from darbar_rules.cards import ACE, cards_of
from darbar_rules.games.kings_and_rebels.options import Setup
from darbar_rules.games.kings_and_rebels.view import KingsAndRebelsView

# What the Rebels take beyond their part of the table: the leader chose the suit and the strongest partners.
LEAD: Final = 0.06
LEAD_A_SEAT: Final = 0.04
# The strength of a usual hand's best suit, by its number of cards; what more strength brings; what a side ace does.
USUAL_STRENGTH: Final = 2.2
USUAL_STRENGTH_A_CARD: Final = 0.715
STRENGTH_SHARE: Final = 0.018
USUAL_ACES_A_CARD: Final = 0.055
ACE_SHARE: Final = 0.05
KING_OF_AN_ACE: Final = 0.4
# Nobody bids up to what is only just likely.
CAUTION: Final = 0.04
FEWEST_SEATS: Final = 4


def bid_or_pass(view: KingsAndRebelsView, setup: Setup, hand: int) -> int | None:
    """The lowest bid that is offered, while the hand is good for it; None is a pass."""
    if not view.legal.name:
        raise ViewInvalid("it is not this seat's turn to bid")
    try:
        lowest = int(view.legal.name[0])
    except ValueError as wrong:
        raise ViewInvalid(f"no bid: {view.legal.name[0]}") from wrong
    good_for = setup.total * expected_share(setup, hand, best_trump(setup, hand), _half_a_table(setup))
    if lowest <= good_for or "pass_bid" not in view.legal.also:
        return lowest
    return None


def partners_needed(setup: Setup, hand: int, trump: int, bid: int) -> int:
    """The fewest convert cards with which the bid is likely reached; all that are allowed when it never is."""
    for count in range(max(setup.seats // 2 - 1, 1), setup.converts_max):
        if setup.total * expected_share(setup, hand, trump, count) >= bid:
            return count
    return setup.converts_max


def expected_share(setup: Setup, hand: int, trump: int, count: int) -> float:
    """The part of all points that this hand is good for as the leader's, with so many convert cards."""
    others = setup.seats - 1
    partners = others * (1 - (1 - 1 / others) ** count)  # Somebody may hold two of them.
    share = (1 + partners) / setup.seats
    share += LEAD + LEAD_A_SEAT * (setup.seats - FEWEST_SEATS) / setup.options.decks
    usual = USUAL_STRENGTH + USUAL_STRENGTH_A_CARD * setup.held
    share += STRENGTH_SHARE * (trump_strength(setup, hand, trump) - usual)
    aces = _side_aces(setup, hand, trump) - USUAL_ACES_A_CARD * setup.held
    return share + ACE_SHARE * aces / setup.options.decks - CAUTION


def _half_a_table(setup: Setup) -> int:
    return min((setup.seats - 1) // 2, setup.converts_max)


def _side_aces(setup: Setup, hand: int, trump: int) -> float:
    side = hand & ~setup.masks[trump][trump]
    ranks = [setup.ranks[card] for card in cards_of(side)]
    return ranks.count(ACE) + KING_OF_AN_ACE * ranks.count(ACE - 1)
