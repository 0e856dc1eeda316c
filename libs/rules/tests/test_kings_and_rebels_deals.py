"""How Kings and Rebels is dealt, and how anyone can deal it again from the seeds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from darbar_rules.cards import TEXTS
from darbar_rules.deal import Chance
from darbar_rules.games.kings_and_rebels.events import DealRecord, RoundDealt
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.testing import lively_game
from darbar_rules.testing import chance_of, evolved

FIVE = KingsAndRebelsOptions()
NINE = KingsAndRebelsOptions(seats=9, decks=2)
MAY_PASS_OUT = KingsAndRebelsOptions(seats=4, last_seat_must_bid=False)


def record_of(options: KingsAndRebelsOptions, seed: int = 1) -> tuple[DealRecord, Chance]:
    chance = chance_of(seed, round=1)
    state = KINGS_AND_REBELS.new(options, options.seats)
    record = KINGS_AND_REBELS.deal_record(evolved(KINGS_AND_REBELS, state, KINGS_AND_REBELS.deal(state, chance)))
    assert record is not None
    return record, chance


@pytest.mark.parametrize("options", [FIVE, NINE], ids=["five", "nine"])
def test_each_seat_gets_its_part_of_the_permutation_of_the_cards_in_use(options: KingsAndRebelsOptions) -> None:
    """Cards by deck, in it by suit C, D, H, S, in it from the lowest rank up, without those left out."""
    removed = KINGS_AND_REBELS.view(KINGS_AND_REBELS.new(options, options.seats), None).removed
    deck = [text for text in TEXTS[: 52 * options.decks] if text not in removed]
    record, chance = record_of(options)
    dealt = [deck[place] for place in chance.order("deal", 0, len(deck))]
    held = len(deck) // options.seats
    assert record.hands == tuple(tuple(dealt[seat * held : (seat + 1) * held]) for seat in range(options.seats))
    assert record.dealer == chance.lot("first_dealer", options.seats)
    assert record.attempt == 0


@pytest.mark.parametrize("options", [FIVE, NINE, MAY_PASS_OUT], ids=["five", "nine", "passed out"])
def test_every_deal_of_kings_and_rebels_is_proven_from_its_seeds(options: KingsAndRebelsOptions) -> None:
    attempts = set()
    proven = 0
    for seed in range(8):
        number = 0
        for step in lively_game(options, seed, rounds_max=3):
            number += step.seat is None
            record = KINGS_AND_REBELS.deal_record(step.after)
            assert record is not None
            attempts.add(record.attempt)
            if any(isinstance(event, RoundDealt) for event in step.events):
                assert KINGS_AND_REBELS.verify_deal(options, record, step.chance, number) == ()
                proven += 1
        assert record == step.after.match.ended.deal
    assert proven >= 8 * 3
    assert attempts >= ({0, 1} if options is MAY_PASS_OUT else {0})


@pytest.mark.parametrize("options", [FIVE, NINE], ids=["five", "nine"])
def test_a_changed_record_is_found_out(options: KingsAndRebelsOptions) -> None:
    record, chance = record_of(options)

    def wrong(changed: DealRecord, *, round: int = 1) -> tuple[str, ...]:
        return KINGS_AND_REBELS.verify_deal(options, changed, chance, round)

    first, second, *others = record.hands
    found = wrong(replace(record, hands=(second, first, *others)))
    assert [text.split(" was due")[0] for text in found] == ["hands: seat 0", "hands: seat 1"]
    assert found[0] == f"hands: seat 0 was due {' '.join(first)}"
    assert wrong(replace(record, hands=())) == ("hands: 0 of them",)
    assert wrong(replace(record, dealer=12)) == ("dealer: there is no seat 12",)
    other = (record.dealer + 1) % options.seats
    assert wrong(replace(record, dealer=other)) == (f"dealer: it was seat {record.dealer}",)
    assert wrong(replace(record, dealer=other), round=2) == ()  # In later rounds it follows from the first one.
    assert wrong(replace(record, attempt=3)) == ("attempt: there is no deal 3",)
    assert wrong(replace(record, attempt=-1)) == ("attempt: there is no deal -1",)
    assert wrong(replace(record, attempt=1))[0] == "attempt: no deal can be passed out"
    assert len(KINGS_AND_REBELS.verify_deal(options, record, chance_of(2, round=1), 2)) == options.seats


def test_a_deal_that_came_after_a_passed_out_one_has_the_next_dealer() -> None:
    record, chance = record_of(MAY_PASS_OUT)
    late = replace(record, attempt=1)
    found = KINGS_AND_REBELS.verify_deal(MAY_PASS_OUT, late, chance, 1)
    assert found[0] == f"dealer: it was seat {(record.dealer + 1) % 4}"
    assert len(found) == 5
