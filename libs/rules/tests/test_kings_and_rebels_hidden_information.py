"""What a Kings and Rebels table must not tell: leaks planted one by one are all found."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from darbar_rules.game import AnyGame
from darbar_rules.games.kings_and_rebels.events import CardPlayed, PlayCard
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.indistinguishable import MEANS, elsewhere, other_position
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.pack import texts_of
from darbar_rules.games.kings_and_rebels.play import is_rebel
from darbar_rules.games.kings_and_rebels.state import State
from darbar_rules.games.kings_and_rebels.testing import lively_game
from darbar_rules.indistinguishable import compared, seeing, showing

ROUNDS = 4
GAME: AnyGame = KINGS_AND_REBELS


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("table", MEANS[GAME.name].tables)
def test_gen_7_plays_of_convert_cards_are_compared_and_the_leader_is_looked_at(table: str) -> None:
    options = MEANS[GAME.name].tables[table]
    dice = random.Random(table)
    found: Counter[str] = Counter()
    for seed in range(MEANS[GAME.name].rounds):
        for step in lively_game(options, seed):
            first, leader = step.events[0], step.before.deal.leader
            if isinstance(first, CardPlayed) and elsewhere(GAME, step, dice.randrange(options.seats), dice):
                found["converted"] += first.converted is not None
                found["spent"] += first.spent is not None
            found["leader"] += leader is not None and elsewhere(GAME, step, leader, dice) is not None
    assert found["converted"] > 5
    assert found["spent"] > 5
    assert found["leader"] > 40


def test_other_positions_differ_in_what_is_hidden() -> None:
    """Or the comparison would prove nothing: hands, convert cards, spent ones and Rebels that nobody knows."""
    options = MEANS[GAME.name].tables["two decks"]
    dice = random.Random(5)
    hands = converts = spent = rebels = 0
    for seed in range(8):
        for step in lively_game(options, seed):
            leader = step.before.deal.leader
            if step.before.match.phase == "playing":
                assert leader is not None
                other = other_position(step.before, (leader + 1) % 6, dice)
                hands += other.play.hands != step.before.play.hands
                converts += set(other.deal.converts) != set(step.before.deal.converts)
                spent += [one for one in other.deal.fates if not one.joined] != [
                    one for one in step.before.deal.fates if not one.joined
                ]
                rebels += _rebels_to_be(other) != _rebels_to_be(step.before)
                mine = other_position(step.before, leader, dice)
                assert (mine.deal.converts, mine.deal.fates) == (step.before.deal.converts, step.before.deal.fates)
    assert min(hands, converts, spent, rebels) > 50


def _rebels_to_be(state: State) -> set[int]:
    """Seats that hold a convert card and have not shown it."""
    named = {convert.card for convert in state.deal.converts}
    return {
        seat
        for seat, hand in enumerate(state.play.hands)
        if not is_rebel(state.deal, seat) and named & {text.removesuffix("#2") for text in texts_of(hand)}
    }


def points_of_all_rebels(state: State, seat: int | None) -> dict[str, Any]:
    red = {*state.deal.rebels, *_rebels_to_be(state)}
    return {"rebel_points": sum(state.middle.captured[one] for one in red)}


LEAKS: dict[str, tuple[str, AnyGame]] = {
    "a card of somebody": ("four", showing(GAME, "round_dealt", lambda _, event: {"one": event.hands[0][:1]})),
    "how many convert cards were named": (
        "four",
        showing(GAME, "converts_named", lambda _, event: {"count": len(event.converts)}),
    ),
    "that a convert card was spent": (
        "four",
        showing(GAME, "card_played", lambda _, event: {"spent": bool(event.spent)}),
    ),
    "what is left to who played": (
        "public",
        showing(GAME, "card_played", lambda before, event: {"left": texts_of(before.play.hands[event.seat])}),
    ),
    "the convert cards, when one looks": ("four", seeing(GAME, lambda state, _: {"converts": state.deal.converts})),
    "the spent ones, when one looks": ("two decks", seeing(GAME, lambda state, _: {"fates": state.deal.fates})),
    "Rebels who have not shown themselves": (
        "five, passed out",
        seeing(GAME, lambda state, _: {"rebels": (*state.deal.rebels, *sorted(_rebels_to_be(state)))}),
    ),
    "what all Rebels have": ("two decks", seeing(GAME, points_of_all_rebels)),
}


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("leak", LEAKS)
def test_gen_7_a_planted_leak_of_kings_and_rebels_is_found(leak: str) -> None:
    table, leaking = LEAKS[leak]
    assert not all(found.is_same for found in compared(leaking, table, rounds=ROUNDS))


@pytest.mark.ruling("GEN-7")
def test_gen_7_an_event_of_kings_and_rebels_that_nobody_thought_of_is_shown_to_nobody() -> None:
    unknown: Any = PlayCard("AS")
    state = KINGS_AND_REBELS.new(KingsAndRebelsOptions(), 5)
    for take in (KINGS_AND_REBELS.show, KINGS_AND_REBELS.evolve):
        with pytest.raises(AssertionError):
            take(state, unknown)
