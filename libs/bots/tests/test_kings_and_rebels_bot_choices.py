"""What Kings and Rebels bots choose in positions that leave no doubt. Open this when one decides badly."""

from __future__ import annotations

from typing import Any

from darbar_bots.duels import play
from darbar_bots.kings_and_rebels import REGULAR
from darbar_rules.cards import IDS
from darbar_rules.games.kings_and_rebels.events import Bid, NameConverts, PassBid, PlayCard
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.pack import COPIES, mask_of_hand


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
