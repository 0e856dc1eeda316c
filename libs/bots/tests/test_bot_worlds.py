"""Worlds hold to what is known and to nothing else. Open this when a bot thinks of a world that can't be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darbar_bots.policy import ViewInvalid
from darbar_bots.worlds import Worlds
from darbar_rules.cards import cards_of
from darbar_rules.testing import STEADY, seeds

PLACES_MAX = 5
DRAWS = 4_000


@st.composite
def positions(draw: st.DrawFn) -> tuple[int, list[int], list[int]]:
    """Unseen cards, how many lie in each place, and the cards that each can't have: often more than is possible."""
    unseen = draw(st.integers(0, 2**12 - 1)) << draw(st.sampled_from([0, 20, 40]))
    places = draw(st.integers(1, PLACES_MAX))
    ends = sorted(draw(st.lists(st.integers(0, unseen.bit_count()), min_size=places - 1, max_size=places - 1)))
    counts = [end - start for start, end in zip([0, *ends], [*ends, unseen.bit_count()], strict=True)]
    some = st.integers(0, 2**52 - 1)
    cannot = [draw(some) & draw(some) & draw(some) for _ in range(places)]
    return unseen, counts, cannot


def is_possible(unseen: int, counts: Sequence[int], cannot: Sequence[int]) -> bool:
    """Hall: no cards have fewer places to lie in than they are."""
    for size in range(len(counts) + 1):
        for closed in combinations(range(len(counts)), size):
            only_there = unseen
            for place in set(range(len(counts))) - set(closed):
                only_there &= cannot[place]
            if only_there.bit_count() > sum(counts[place] for place in closed):
                return False
    return True


@STEADY
@given(position=positions(), seed=seeds())
def test_a_world_contradicts_nothing_known_and_is_found_whenever_there_is_one(
    position: tuple[int, list[int], list[int]], seed: int
) -> None:
    unseen, counts, cannot = position
    worlds = Worlds(unseen, counts, cannot)
    dice = Random(seed)
    if not is_possible(*position):
        with pytest.raises(ViewInvalid):
            worlds.draw(dice)
        return
    for weight in (1.0, 1.6):
        drawn = worlds.draw(
            dice, favoured=unseen & dice.getrandbits(52), place=dice.randrange(len(counts)), weight=weight
        )
        assert [mask.bit_count() for mask in drawn] == counts
        assert sum(drawn) == unseen
        assert not any(mask & held for mask, held in zip(cannot, drawn, strict=True))


@pytest.mark.parametrize("counts", [(1, 1), (2, 2), (4, -1)])
def test_cards_that_do_not_add_up_are_no_position(counts: tuple[int, int]) -> None:
    with pytest.raises(ViewInvalid):
        Worlds(0b111, counts, (0, 0))


def shares(worlds: Worlds, place: int, *, favoured: int = 0, weight: float = 1.0) -> dict[int, float]:
    """How often each card lies in this place, for which some may be favoured."""
    dice, found = Random(1), Counter[int]()
    for _ in range(DRAWS):
        drawn = worlds.draw(dice, favoured=favoured, place=place, weight=weight)
        found.update(cards_of(drawn[place]))
    return {card: count / DRAWS for card, count in found.items()}


def test_where_nothing_is_known_every_card_lies_anywhere_as_often_as_there_is_room() -> None:
    unseen, counts = 2**39 - 1, (13, 9, 17)
    worlds = Worlds(unseen, counts, (0, 0, 0))
    for place, count in enumerate(counts):
        found = shares(worlds, place)
        assert len(found) == 39
        assert all(abs(share - count / 39) < 0.03 for share in found.values())


def test_pairs_of_cards_lie_together_as_often_as_in_a_shuffle() -> None:
    worlds, dice = Worlds(0b1111, (2, 2), (0, 0)), Random(2)
    hands = Counter(worlds.draw(dice)[0] for _ in range(6 * DRAWS))
    assert len(hands) == 6
    assert all(abs(count / DRAWS - 1) < 0.1 for count in hands.values())


def test_a_favoured_card_lies_in_its_place_more_often() -> None:
    found = shares(Worlds(0b11, (1, 1), (0, 0)), 1, favoured=0b01, weight=3.0)
    assert abs(found[0] - 0.75) < 0.03


def test_the_same_dice_draw_the_same_worlds() -> None:
    worlds = Worlds(2**39 - 1, (13, 13, 13), (0b111, 0, 0b111000))
    assert worlds.draw(Random(7)) == worlds.draw(Random(7)) != worlds.draw(Random(8))
