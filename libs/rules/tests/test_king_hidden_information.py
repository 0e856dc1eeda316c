"""What a King table must not tell: leaks planted one by one are all found."""

from __future__ import annotations

from typing import Any

import pytest

from darbar_rules.cards import texts_of, unpacked
from darbar_rules.game import AnyGame
from darbar_rules.games.king.events import PlayCard
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.options import King20Options
from darbar_rules.games.king.state import State
from darbar_rules.indistinguishable import compared, seeing, showing

ROUNDS = 4


def hearts_of(state: State, seat: int) -> list[str]:
    return [card for card in unpacked(state.deal.hands)[seat] if card[1] == "H"]


LEAKS: dict[str, tuple[str, AnyGame]] = {
    "a card of somebody": ("plain", showing(KING_20, "round_dealt", lambda _, event: {"one": event.hands[0][:1]})),
    "how many hearts the declarer has": (
        "plain",
        showing(
            KING_20,
            "declared",
            lambda before, event: {"hearts": len(hearts_of(before, event.seat))},
        ),
    ),
    "what is left to who played": (
        "plain",
        showing(KING_SHORT, "card_played", lambda before, event: {"left": texts_of(before.play.hands[event.seat])}),
    ),
    "the cards, before a blind choice": (
        "blind",
        seeing(KING_LONG, lambda state, seat: {"hand": state.play.hands[seat or 0]}),
    ),
}


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("leak", LEAKS)
def test_gen_7_a_planted_leak_of_king_is_found(leak: str) -> None:
    table, leaking = LEAKS[leak]
    assert not all(found.is_same for found in compared(leaking, table, rounds=ROUNDS))


@pytest.mark.ruling("GEN-7")
def test_gen_7_an_event_of_king_that_nobody_thought_of_is_shown_to_nobody() -> None:
    unknown: Any = PlayCard("AS")
    state = KING_20.new(King20Options(), 4)
    for take in (KING_20.show, KING_20.evolve):
        with pytest.raises(AssertionError):
            take(state, unknown)
