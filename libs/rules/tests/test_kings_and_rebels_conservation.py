"""Cards and points neither appear nor vanish, at every table of Kings and Rebels (GEN-6)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darbar_rules.cards import mask_of
from darbar_rules.games.kings_and_rebels.events import CardPlayed, RoundEnded
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.pack import POINTS
from darbar_rules.games.kings_and_rebels.testing import lively_game
from darbar_rules.testing import STEADY, seeds, tables


@pytest.mark.ruling("GEN-6")
@STEADY
@given(data=st.data())
def test_gen_6_each_card_of_kings_and_rebels_is_in_one_place(data: st.DataObject) -> None:
    options: Any = data.draw(tables(KINGS_AND_REBELS))
    deck = mask_of(KINGS_AND_REBELS.new(options, options.seats).setup.deck)
    for step in lively_game(options, data.draw(seeds())):
        state = step.after
        taken = [mask_of(trick.cards) for trick in state.middle.tricks]
        places = [*state.play.hands, mask_of(state.play.trick), *taken]
        assert sum(place.bit_count() for place in places) == deck.bit_count()
        assert sum(places) == deck


@pytest.mark.ruling("GEN-6")
@STEADY
@given(data=st.data())
def test_gen_6_points_are_those_of_the_tricks_taken_and_all_of_them_at_the_end(data: st.DataObject) -> None:
    options: Any = data.draw(tables(KINGS_AND_REBELS))
    for step in lively_game(options, data.draw(seeds())):
        captured = [0] * options.seats
        for trick in step.after.middle.tricks:
            captured[trick.winner] += sum(POINTS[card] for card in trick.cards)
        assert step.after.middle.captured == tuple(captured)
    ended = step.events[-1]
    assert isinstance(ended, RoundEnded)
    assert sum(ended.captured) == 250 * options.decks
    assert ended.red_points == sum(ended.captured[seat] for seat in ended.rebels)


@pytest.mark.ruling("KR-15")
@STEADY
@given(data=st.data())
def test_kr_15_plays_are_counted_by_anyone_and_every_convert_card_has_its_fate(data: st.DataObject) -> None:
    """Followed from the log alone, with a count of each card."""
    options: Any = data.draw(tables(KINGS_AND_REBELS))
    counts: dict[int, int] = {}
    rebels: set[int] = set()
    cards = 0
    for step in lively_game(options, data.draw(seeds())):
        deal = step.after.deal
        rebels |= {deal.leader} - {None}
        for event in step.events:
            if isinstance(event, CardPlayed):
                cards += 1
                face = next(one for one in range(104) if _text(one) == event.card) % 52
                counts[face] = counts.get(face, 0) + 1
                named = [(one.card, one.ordinal) for one in deal.converts]
                triggered = (_text(face), counts[face]) in named
                assert (event.converted is not None) == (triggered and event.seat not in rebels)
                assert (event.spent is not None) == (triggered and event.seat in rebels)
                if triggered:
                    rebels.add(event.seat)
    assert cards == len(step.after.setup.deck)
    ended = step.events[-1]
    assert isinstance(ended, RoundEnded)
    assert set(ended.rebels) == rebels
    assert {(fate.card, fate.ordinal) for fate in ended.converts} == set(named)
    assert sum(fate.joined for fate in ended.converts) == len(rebels) - 1


def _text(card: int) -> str:
    return "23456789TJQKA"[card % 13] + "CDHS"[card % 52 // 13] + ("#2" if card >= 52 else "")
