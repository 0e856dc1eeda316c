"""Cards neither appear nor vanish: 52 or 32 different ones in every position of every King game (GEN-6)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darbar_rules.cards import mask_of
from darbar_rules.game import AnyGame
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.state import State
from darbar_rules.testing import STEADY, random_game, seeds, tables

GAMES = pytest.mark.parametrize("game", [KING_20, KING_SHORT, KING_LONG], ids=lambda game: game.name)


def everywhere(state: State) -> list[int]:
    """Each place that holds cards, as a mask."""
    taken = [mask_of(trick.cards) for trick in state.middle.tricks]
    return [*state.play.hands, mask_of(state.play.trick), *taken]


@pytest.mark.ruling("GEN-6")
@GAMES
@STEADY
@given(data=st.data())
def test_gen_6_each_card_of_king_is_in_one_place(game: AnyGame, data: st.DataObject) -> None:
    options: Any = data.draw(tables(game))
    deck = mask_of(game.new(options, 4).form.deck)
    for step in random_game(game, options, data.draw(seeds()), rounds_max=2):
        places = everywhere(step.after)
        assert sum(place.bit_count() for place in places) == deck.bit_count()
        assert sum(places) == deck
        assert mask_of(card for hand in step.after.deal.hands for card in hand) == deck


@pytest.mark.ruling("GEN-6")
@GAMES
@STEADY
@given(data=st.data())
def test_gen_6_points_and_counts_are_those_of_the_tricks_taken(game: AnyGame, data: st.DataObject) -> None:
    options: Any = data.draw(tables(game))
    for step in random_game(game, options, data.draw(seeds()), rounds_max=2):
        state = step.after
        if state.deal.contract is None:
            continue
        contract = state.form.contracts[state.deal.contract]
        points, counts = [0, 0, 0, 0], [0, 0, 0, 0]
        for number, trick in enumerate(state.middle.tricks):
            cards = mask_of(trick.cards)
            points[trick.winner] += contract.trick_points[number]
            points[trick.winner] += sum((cards & mask).bit_count() * each for mask, each in contract.card_points)
            counted = (cards & contract.counted_cards).bit_count() if contract.counted_cards else 0
            counts[trick.winner] += counted or int(not contract.counted_cards and number >= contract.counted_from)
        assert state.middle.points == tuple(points)
        assert state.middle.counts == tuple(counts)
