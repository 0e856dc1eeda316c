"""What a Court Piece table must not tell: leaks planted one by one are all found."""

from __future__ import annotations

from typing import Any

import pytest

from darbar_rules.game import AnyGame
from darbar_rules.games.court_piece.events import PlayCard
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.options import CourtPieceOptions
from darbar_rules.indistinguishable import compared, seeing, showing

ROUNDS = 12

GAME: AnyGame = COURT_PIECE
LEAKS: dict[str, AnyGame] = {
    "the hidden suit": showing(GAME, "trump_chosen", lambda _, event: {"suit": event.suit}),
    "the face-down card": showing(GAME, "trump_chosen", lambda _, event: {"card": event.card}),
    "how often it was dealt again": showing(GAME, "trump_chosen", lambda _, event: {"tries": len(event.tries)}),
    "whether the deal was filtered": showing(GAME, "round_dealt", lambda _, event: {"filtered": event.filtered}),
    "cards that are not dealt yet": showing(GAME, "round_dealt", lambda _, event: {"next": event.rest[0][:1]}),
    "what the caller threw away": showing(GAME, "card_played", lambda _, event: {"card": event.card}),
    "the hidden suit, when one looks": seeing(GAME, lambda state, _: {"trump": state.deal.trump}),
}


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("leak", LEAKS)
def test_gen_7_a_planted_leak_is_found(leak: str) -> None:
    assert not all(found.is_same for found in compared(LEAKS[leak], "hidden", rounds=ROUNDS))


@pytest.mark.ruling("GEN-7")
def test_gen_7_showing_the_trump_is_looked_at_often() -> None:
    shown = [found for found in compared(GAME, "hidden", rounds=4 * ROUNDS) if "trump_shown" in found.kinds]
    assert len(shown) > ROUNDS


@pytest.mark.ruling("GEN-7")
def test_gen_7_an_event_that_nobody_thought_of_is_shown_to_nobody() -> None:
    unknown: Any = PlayCard("AS")
    state = COURT_PIECE.new(CourtPieceOptions(), 4)
    for take in (COURT_PIECE.show, COURT_PIECE.evolve):
        with pytest.raises(AssertionError):
            take(state, unknown)
