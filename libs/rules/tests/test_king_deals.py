"""How King is dealt, and how anyone can deal it again from the seeds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from darbar_rules.cards import TEXTS, unpacked
from darbar_rules.deal import Chance
from darbar_rules.game import AnyGame
from darbar_rules.games.king.events import DealRecord, RoundDealt
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.options import King20Options, KingLongOptions, KingShortOptions
from darbar_rules.testing import chance_of, evolved, random_game

NEXT = KingLongOptions(first_leader="next")
GAMES = pytest.mark.parametrize(
    ("game", "options"),
    [(KING_20, King20Options()), (KING_SHORT, KingShortOptions()), (KING_LONG, KingLongOptions()), (KING_LONG, NEXT)],
    ids=["20", "short", "long", "long, next leads"],
)


def record_of(game: AnyGame, options: Any, seed: int = 1) -> tuple[DealRecord, Chance]:
    chance = chance_of(seed, round=1)
    state = game.new(options, 4)
    record = game.deal_record(evolved(game, state, game.deal(state, chance)))
    assert isinstance(record, DealRecord)
    return record, chance


@pytest.mark.parametrize(
    ("game", "options", "lowest"), [(KING_20, King20Options(), 0), (KING_SHORT, KingShortOptions(), 5)]
)
def test_each_seat_gets_a_quarter_of_the_permutation(game: AnyGame, options: Any, lowest: int) -> None:
    """Cards by suit C, D, H, S and in it from the lowest rank of the deck up."""
    deck = [TEXTS[suit * 13 + rank] for suit in range(4) for rank in range(lowest, 13)]
    record, chance = record_of(game, options)
    dealt = [deck[place] for place in chance.order("deal", 0, len(deck))]
    held = len(deck) // 4
    assert record.hands == tuple(tuple(dealt[seat * held : (seat + 1) * held]) for seat in range(4))


@GAMES
def test_every_deal_of_a_king_game_is_proven_from_its_seeds(game: AnyGame, options: Any) -> None:
    number = 0
    for step in random_game(game, options, 3):
        if step.seat is None:
            number += 1
            assert isinstance(step.events[0], RoundDealt)
        record = game.deal_record(step.after)
        assert record == DealRecord(step.after.deal.leader, unpacked(step.after.deal.hands), step.after.deal.declarer)
        assert game.verify_deal(options, record, step.chance, number) == ()
    assert record == step.after.match.ended.deal
    assert number == step.after.form.deals


@GAMES
def test_a_changed_record_of_king_is_found_out(game: AnyGame, options: Any) -> None:
    record, chance = record_of(game, options)
    first, *others = record.hands
    swapped = (others[0], first, *others[1:])
    wrong = game.verify_deal(options, replace(record, hands=swapped), chance, 1)
    assert [found.split(" was due")[0] for found in wrong] == ["hands: seat 0", "hands: seat 1"]
    assert wrong[0] == f"hands: seat 0 was due {' '.join(first)}"
    assert game.verify_deal(options, replace(record, hands=()), chance, 1) == ("hands: 0 of them",)
    assert game.verify_deal(options, record, chance_of(2, round=1), 1)


@GAMES
def test_a_record_with_another_declarer_or_leader_is_found_out(game: AnyGame, options: Any) -> None:
    record, chance = record_of(game, options)
    first = record.leader if record.declarer is None else record.declarer
    moved = replace(
        record,
        leader=(record.leader + 1) % 4,
        declarer=None if record.declarer is None else (record.declarer + 1) % 4,
    )
    assert game.verify_deal(options, moved, chance, 1) == (f"declarer or leader: the first one was seat {first}",)
    assert game.verify_deal(options, moved, chance, 2) == ()  # In later rounds it follows from the first one.
    strange = replace(record, leader=7, declarer=None if record.declarer is None else 7)
    assert game.verify_deal(options, strange, chance, 2) == ("declarer or leader: there is no seat 7",)
    if record.declarer is None:
        nobody = game.verify_deal(options, replace(record, declarer=1), chance, 1)
        assert nobody == ("declarer: nobody declares",)
    else:
        assert game.verify_deal(options, replace(record, declarer=None), chance, 1) == ("declarer: every deal has one",)
        led = game.verify_deal(options, replace(record, leader=(record.leader + 1) % 4), chance, 1)
        assert led == (f"leader: with this declarer it is seat {record.leader}",)


def test_the_proof_of_a_broken_off_round_is_its_deal() -> None:
    steps = list(random_game(KING_20, King20Options(), 2, rounds_max=1))
    middle = steps[len(steps) // 2]
    record = KING_20.deal_record(middle.after)
    assert record is not None
    assert record.hands == steps[0].events[0].hands
    assert KING_20.verify_deal(King20Options(), record, middle.chance, 1) == ()
