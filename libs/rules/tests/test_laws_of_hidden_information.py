"""No game tells anybody what they may not know: from two positions that differ only there, a seat sees the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from plain_tricks.game import PLAIN_TRICKS

from darbar_rules.game import AnyGame, Shown
from darbar_rules.games import ALL
from darbar_rules.indistinguishable import compared, means_of, seeing, telling_secrets, until_round_ends
from darbar_rules.testing import random_game

GAMES = pytest.mark.parametrize("game", [*ALL, PLAIN_TRICKS], ids=lambda game: game.name)

COMPARISONS_A_ROUND_MIN = 20
ROUNDS_WITH_A_LEAK = 4
# In the last tricks of a round there is little left that a seat does not know.
SHARE_MIN = 0.5


def faults(game: AnyGame, table: str, *, rounds: int | None = None) -> list[str]:
    """One line for each step that could be told apart from one elsewhere."""
    return [
        f"a {' and '.join(found.kinds)} shows seat {found.seat} more than it may"
        for found in compared(game, table, rounds=rounds)
        if not found.is_same
    ]


@pytest.mark.ruling("GEN-7")
@GAMES
def test_gen_7_positions_that_look_the_same_to_a_seat_give_it_the_same_frames(game: AnyGame) -> None:
    kinds: Counter[str] = Counter()
    elsewhere: Counter[str] = Counter()
    means = means_of(game)
    for table in means.tables:
        checks = seen = 0
        for found in compared(game, table):
            assert found.is_same, f"{table}: {found.kinds} shows seat {found.seat} more than it may"
            checks += 1
            seen += found.is_seen
            kinds.update(found.kinds)
            elsewhere.update(found.kinds if found.is_elsewhere else ())
        assert checks >= means.rounds * COMPARISONS_A_ROUND_MIN
        assert seen >= checks * SHARE_MIN
    assert set(kinds) == set(game.events) - kinds_that_end_a_round(game)
    assert all(elsewhere[kind] >= SHARE_MIN * kinds[kind] for kind in kinds)


def kinds_that_end_a_round(game: AnyGame) -> set[str]:
    """Everything is shown then: there is nothing to compare."""
    for step in random_game(game, game.options_type(), 1, rounds_max=1):
        kept = until_round_ends(game, step.before, step.events)
    return {game.kind_of(event) for event in step.events[len(kept) :]}


@pytest.mark.ruling("GEN-7")
@GAMES
def test_gen_7_what_a_seat_is_told_in_secret_must_not_be_told_to_all(game: AnyGame) -> None:
    table = next(iter(means_of(game).tables))
    assert faults(telling_secrets(game), table, rounds=ROUNDS_WITH_A_LEAK)


@pytest.mark.ruling("GEN-7")
@GAMES
def test_gen_7_a_hand_of_somebody_else_must_not_be_seen(game: AnyGame) -> None:
    table = next(iter(means_of(game).tables))
    for other in (0, 3):
        leaking = seeing(game, partial(hand_of, game, other))
        assert faults(leaking, table, rounds=ROUNDS_WITH_A_LEAK)


def hand_of(game: AnyGame, other: int, state: Any, seat: int | None) -> dict[str, Any]:
    return {"hand": game.view(state, other).hand}


@pytest.mark.ruling("GEN-7")
@GAMES
def test_gen_7_what_another_seat_could_decide_must_not_be_seen(game: AnyGame) -> None:
    table = next(iter(means_of(game).tables))
    leaking = seeing(game, lambda state, _: {"legal": game.legal(state, (*game.turn(state).seats, 0)[0])})
    assert faults(leaking, table, rounds=ROUNDS_WITH_A_LEAK)


@pytest.mark.ruling("GEN-7")
@GAMES
def test_gen_7_the_deal_must_not_be_seen_while_it_is_played(game: AnyGame) -> None:
    table = next(iter(means_of(game).tables))
    leaking = seeing(game, lambda state, _: {"totals": game.deal_record(state)})
    assert faults(leaking, table, rounds=ROUNDS_WITH_A_LEAK)


@pytest.mark.ruling("GEN-7")
def test_gen_7_a_new_game_that_leaks_fails_though_nobody_touched_the_test() -> None:
    def show(before: object, event: object) -> Shown:
        shown = PLAIN_TRICKS.show(before, event)  # type: ignore[arg-type]
        return Shown({**shown.public, "next": getattr(event, "hands", ())[:1]}, shown.secret)

    leaking: AnyGame = replace(PLAIN_TRICKS, show=show)
    with pytest.raises(AssertionError, match="more than it may"):
        test_gen_7_positions_that_look_the_same_to_a_seat_give_it_the_same_frames(leaking)


@pytest.mark.ruling("GEN-7")
def test_gen_7_a_new_game_that_brings_no_means_to_look_for_leaks_fails() -> None:
    any_game: AnyGame = PLAIN_TRICKS
    with pytest.raises(LookupError):
        test_gen_7_positions_that_look_the_same_to_a_seat_give_it_the_same_frames(replace(any_game, name="other"))
    elsewhere = replace(any_game, decide=lambda state, seat, decision, chance: ())
    with pytest.raises(ModuleNotFoundError):
        test_gen_7_positions_that_look_the_same_to_a_seat_give_it_the_same_frames(elsewhere)


@pytest.mark.ruling("GEN-7")
def test_gen_7_means_that_find_no_other_position_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    means = means_of(PLAIN_TRICKS)
    lazy = replace(means, elsewhere=lambda game, step, seat, dice: (step.before, step.events))
    monkeypatch.setattr("plain_tricks.indistinguishable.MEANS", {PLAIN_TRICKS.name: lazy})
    with pytest.raises(AssertionError):
        test_gen_7_positions_that_look_the_same_to_a_seat_give_it_the_same_frames(PLAIN_TRICKS)
