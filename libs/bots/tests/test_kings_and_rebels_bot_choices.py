"""What Kings and Rebels bots choose in positions that leave no doubt. Open this when one decides badly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from darbar_bots.duels import play
from darbar_bots.kings_and_rebels import REGULAR
from darbar_rules.cards import IDS
from darbar_rules.games.kings_and_rebels.events import Bid, NameConverts, PassBid, PlayCard
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.pack import COPIES, mask_of_hand
from darbar_rules.games.kings_and_rebels.testing import Played, bidding, naming
from darbar_rules.games.kings_and_rebels.testing import play as played_so_far

FOUR = KingsAndRebelsOptions(seats=4, convert_cards="public", convert_cards_max=1)
SIX = KingsAndRebelsOptions(seats=6)
THREE_ON_TOP = KingsAndRebelsOptions(seats=6, three_of_spades_top_trump=True)


def decided(options: KingsAndRebelsOptions, seed: int) -> list[tuple[Any, Any]]:
    """Each view of a round of good bots, and what was decided on it."""
    seen: list[tuple[Any, Any]] = []
    play(KINGS_AND_REBELS, options, [REGULAR] * options.seats, seed=seed, look=lambda *both: seen.append(both))
    return seen


def test_a_round_of_bots_has_every_kind_of_decision() -> None:
    assert {type(decision) for _, decision in decided(KingsAndRebelsOptions(), 3)} == {
        Bid,
        PassBid,
        NameConverts,
        PlayCard,
    }


def test_a_leader_names_cards_that_others_hold() -> None:
    for seed in range(10):
        options = KingsAndRebelsOptions(seats=6, decks=1 + seed % 2)
        ((view, named),) = [(view, said) for view, said in decided(options, seed) if isinstance(said, NameConverts)]
        hand = mask_of_hand(view.hand)
        assert not any(hand & COPIES[IDS[one.card]] for one in named.converts)


def card_of(table: Played) -> str:
    """What the bot on turn plays."""
    (seat,) = KINGS_AND_REBELS.turn(table.state).seats
    decision = REGULAR.decide(KINGS_AND_REBELS.view(table.state, seat))
    assert isinstance(decision, PlayCard)
    return decision.card


# Seat 0 leads the Rebels, and seat 2 joins them with the ace of hearts: seats 1 and 3 are Kings, and all know it.
@pytest.mark.parametrize(
    ("trick", "hand", "card"),
    [
        ("0: TC 5C JC", "2C QC AC", "QC"),  # the enemies' points are taken, no higher than needed
        ("0: AC 5C TC", "2C KC QC", "2C"),  # nothing is given to an enemy who has won
        ("0: 9C AC 5C", "2C TC", "TC"),  # a partner who has won gets points
        ("0: TC 5C JC", "2S AS 7D", "2S"),  # a trump takes the points, the lowest one
        ("0: 9C 4C 7C", "2S 3D 8D", "3D"),  # nothing is spent on a trick without points
        ("0: 9C AC 5C", "2S 3D TD", "TD"),  # a partner's trick is not trumped, but fed
        ("0: TC 3C 4S", "2S 6S 8S AS", "6S"),  # a trump is beaten no higher than needed
        ("0: TC 3C 8S", "2S 6S 7D", "7D"),  # and one that cannot be beaten is no reason to lose another
    ],
)
def test_the_last_to_play_takes_points_from_enemies_and_gives_them_to_partners(
    trick: str, hand: str, card: str
) -> None:
    holding = {0: "2H", 1: "3H", 2: "AH", 3: hand}
    assert card_of(played_so_far(FOUR, trick, converts="AH:1", holding=holding)) == card


def test_a_sure_winner_with_points_is_led_before_it_is_trumped() -> None:
    holding = {0: "2H 3S", 1: "AC 2C", 2: "AH 4C", 3: "3H 5C"}
    table = played_so_far(FOUR, "0: 9D AD 2D 3D", converts="AH:1", holding=holding)
    assert card_of(table) == "AC"


def offered(hand: str, *said: str) -> Any:
    """What the bot of seat 0 says with this hand when so much may be bid."""
    table = bidding(SIX)
    view: Any = KINGS_AND_REBELS.view(table.state, 0)
    view = replace(view, hand=tuple(hand.split()), legal=replace(view.legal, name=said or view.legal.name))
    return REGULAR.decide(view)


GOOD = "AS KS QS JS TS AH AD KD"
MIDDLING = "AS QS TS 9S KH 8D 4D 7C"
GOOD_WITH_SIDE_ACES = "AS KS QS JS TS AH AD 7C"
GOOD_WITHOUT = "AS KS QS JS TS 7H 7D 7C"
POOR = "4S 6S 7H 8H 4D 6D 7C 8C"


def bids_up_to(hand: str) -> int:
    """The highest bid that the bot makes with this hand; 0: it passes whatever is asked."""
    made = [points for points in range(50, 251, 5) if offered(hand, str(points)) == Bid(points)]
    assert made == list(range(50, 50 + 5 * len(made), 5)), "who bids so much bids less, too"
    return max(made, default=0)


def test_the_better_a_hand_the_higher_it_bids_and_a_poor_one_passes() -> None:
    good, middling, poor = bids_up_to(GOOD), bids_up_to(MIDDLING), bids_up_to(POOR)
    assert 250 > good > middling > poor > 0
    assert offered(POOR) == PassBid()
    assert bids_up_to(GOOD_WITH_SIDE_ACES) > bids_up_to(GOOD_WITHOUT)


def test_who_may_not_pass_bids_the_least() -> None:
    view: Any = KINGS_AND_REBELS.view(bidding(SIX).state, 0)
    must_bid = replace(view, hand=tuple(POOR.split()), legal=replace(view.legal, also=()))
    assert REGULAR.decide(must_bid) == Bid(int(view.legal.name[0]))


def named(hand: str, *, bid: int = 150, options: KingsAndRebelsOptions = SIX) -> NameConverts:
    table = naming(options, hand=hand, bid=bid)
    decision = REGULAR.decide(KINGS_AND_REBELS.view(table.state, 0))
    assert isinstance(decision, NameConverts)
    return decision


@pytest.mark.parametrize(
    ("hand", "trump"),
    [
        ("2H 4H 6H 8H 9H KS QS 5D", "H"),  # length before honours
        ("AD KD QD 9C 8C 7C 2H 3H", "D"),  # honours among suits of the same length
        ("TD 5D 4D QH 6H 4H 2S 2C", "H"),
    ],
)
def test_a_leader_names_the_suit_that_is_long_and_strong(hand: str, trump: str) -> None:
    assert named(hand).trump == trump


def test_a_leader_calls_the_aces_that_he_lacks_that_of_trumps_first_and_then_trumps_from_the_top() -> None:
    wanted = [one.card for one in named("KH JH TH 9H 8H AD 7C 6C", bid=250).converts]
    assert wanted == ["AH", "AC", "AS", "QH"]
    wanted = [one.card for one in named("AS KS QS JS TS AH AD AC", bid=250, options=THREE_ON_TOP).converts]
    assert wanted[0] == "3S"


def test_the_higher_the_bid_the_more_partners_are_called() -> None:
    counts = [len(named(GOOD, bid=bid).converts) for bid in (75, 150, 200, 250)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
