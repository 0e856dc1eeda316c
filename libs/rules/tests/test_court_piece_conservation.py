"""No card of a Court Piece round appears, vanishes or lies in two places (GEN-6)."""

from __future__ import annotations

import pytest

from darbar_rules.cards import BITS, IDS, WHOLE_DECK, mask_of, texts_of
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.state import State, trump_is_hidden
from darbar_rules.testing import pairwise_options, random_game


def places_of(state: State) -> list[int]:
    """Every place where cards of a round lie, as masks."""
    if state.match.phase == "choosing":
        held = [mask_of(hand) for hand in state.deal.hands]
        assert all(hand & whole == hand for hand, whole in zip(state.play.hands, held, strict=True))
        return held
    places = [*state.play.hands, mask_of(state.play.trick)]
    places += [mask_of(trick.cards) for trick in state.middle.tricks]
    if trump_is_hidden(state) and state.deal.indicator is not None:
        places.append(BITS[state.deal.indicator])
    return places


@pytest.mark.ruling("GEN-6")
def test_gen_6_hands_table_piles_and_the_hidden_card_are_the_deck() -> None:
    for seed, options in enumerate(pairwise_options(COURT_PIECE)):
        for step in random_game(COURT_PIECE, options, seed, rounds_max=4):
            places = places_of(step.after)
            assert sum(places) == WHOLE_DECK
            assert sum(place.bit_count() for place in places) == 52


@pytest.mark.ruling("GEN-6")
def test_gen_6_tricks_lying_and_collected_are_the_tricks_played() -> None:
    for seed, options in enumerate(pairwise_options(COURT_PIECE)):
        for step in random_game(COURT_PIECE, options, seed, rounds_max=4):
            middle = step.after.middle
            assert middle.pile + sum(middle.collected) == len(middle.tricks)
            assert sum(trick.picked_up for trick in middle.tricks) == sum(middle.collected)


@pytest.mark.ruling("GEN-6")
def test_gen_6_each_seat_plays_the_cards_it_was_dealt() -> None:
    for seed, options in enumerate(pairwise_options(COURT_PIECE)):
        for step in random_game(COURT_PIECE, options, seed, rounds_max=4):
            if step.after.match.ended is None:
                continue
            left = [set(texts_of(hand)) for hand in step.after.play.hands]
            for trick in step.after.middle.tricks:
                for place, card in enumerate(trick.cards):
                    left[(trick.leader + place) % 4].add(texts_of(BITS[card])[0])
            assert left == [set(hand) for hand in step.after.match.ended.deal.hands]
            assert {IDS[card] for hand in left for card in hand} == set(range(52))
