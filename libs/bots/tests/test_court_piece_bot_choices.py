"""What a person expects of a partner, hand by hand. Open this when a bot plays a card that looks stupid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from darbar_bots.policies import decide
from darbar_rules.game import Legal
from darbar_rules.games import BY_NAME
from darbar_rules.games.court_piece.events import AskTrump, ChooseTrump, Decision, PlayCard, ShowTrump
from darbar_rules.games.court_piece.options import CourtPieceOptions
from darbar_rules.games.court_piece.view import CourtPieceView, SeenCard, SeenTrick

GAME = BY_NAME["court_piece"]
ME = 0


def cards(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def laid(leader: int, text: str) -> tuple[SeenCard, ...]:
    """Cards on the table in the order of play; `-` lies face down."""
    return tuple(
        SeenCard((leader + place) % 4, None if card == "-" else card, face_down=card == "-")
        for place, card in enumerate(cards(text))
    )


def trick(leader: int, text: str, winner: int) -> SeenTrick:
    return SeenTrick(leader, laid(leader, text), winner, 0)


def view(
    hand: str,
    on_table: str = "",
    *,
    winning: int | None = None,
    trump: str | None = "S",
    tricks: Sequence[SeenTrick] = (),
    also: tuple[str, ...] = (),
    options: CourtPieceOptions | None = None,
    **other: Any,
) -> CourtPieceView:
    """Seat 0 is on turn with this hand; seats 1 and 3 are its opponents."""
    held, lying = cards(hand), cards(on_table)
    leader = -len(lying) % 4
    following = tuple(card for card in held if lying and card[1] == lying[0][1])
    counts = tuple(len(held) - (seat >= leader and seat != ME and bool(lying)) for seat in range(4))
    blank: CourtPieceView = GAME.view(GAME.new(options or CourtPieceOptions(trump="open"), 4), ME)
    return replace(
        blank,
        phase="playing",
        to_act=ME,
        caller=3,
        hand=held,
        hand_counts=counts,
        trump=trump,
        trump_shown=trump is not None,
        leader=leader,
        winning=winning,
        trick=laid(leader, on_table),
        tricks=(*tricks, *[trick(0, "", 0)] * (13 - len(held) - len(tricks))),
        pile_needed=2 if any(other.get("collected", (0, 0))) else 3,
        legal=Legal(following or held, (), also),
        **other,
    )


def decided(seen: CourtPieceView) -> Decision:
    decision: Decision = decide("court_piece", "normal", seen)
    return decision


def played(seen: CourtPieceView) -> str:
    decision = decided(seen)
    assert isinstance(decision, PlayCard)
    return decision.card


def test_the_last_seat_takes_a_pile_with_its_cheapest_winner() -> None:
    assert played(view("2D 9D JD AD 3C 4C", "5D 8D TD", winning=3, pile=4, streak=3)) == "JD"


def test_the_last_seat_wastes_nothing_on_a_trick_it_cannot_win() -> None:
    assert played(view("3D 9D QD 4C 5C 6H", "5D AD TD", winning=2, pile=0)) == "3D"


def test_a_trick_that_is_surely_the_partners_is_left_to_him() -> None:
    assert played(view("3D QD AD 4C 5C 6H", "5D KD TD", winning=2, pile=1)) == "3D"


def test_a_partners_trick_is_taken_when_that_picks_up_the_pile() -> None:
    assert played(view("3D QD AD 4C 5C 6H", "5D KD TD", winning=2, pile=5, streak=ME, collected=(2, 0))) == "AD"


def test_the_second_win_in_a_row_takes_the_pile() -> None:
    assert played(view("AC 3D 5D 7H 8H", pile=4, streak=ME, collected=(2, 1))) == "AC"


def test_an_opponent_about_to_pick_up_is_stopped_with_a_trump() -> None:
    assert played(view("2S 7H 8H 9C TC JC", "AD 4D 6D", winning=1, pile=5, streak=1, collected=(3, 3))) == "2S"


def test_a_void_seat_throws_a_worthless_card_under_its_partners_trick() -> None:
    assert played(view("2C KS AS AH KH QH", "2D AD 6D", winning=2, pile=0, streak=None)) == "2C"


def test_a_trump_is_beaten_no_higher_than_needed() -> None:
    assert played(view("4S 7S QS AS 2H 3H", "6S 5S 3S", winning=1, pile=5, streak=1, collected=(3, 3))) == "7S"


def test_an_ace_that_takes_no_pile_is_kept_when_nothing_can_follow_it() -> None:
    options = CourtPieceOptions(trump="open", ace_cannot_win_pile=True)
    assert played(view("AC 3D 5D 7H 8H", pile=4, streak=ME, collected=(2, 1), options=options)) != "AC"


def test_a_suit_that_an_opponent_has_run_out_of_is_not_led_for_a_pile() -> None:
    cut = [trick(1, "3D 5D 4S 6D", 3)]
    seen = view("AD AC 5H 7H 8H", pile=4, streak=ME, tricks=cut, collected=(2, 1))
    assert played(seen) == "AC"


@pytest.mark.parametrize(
    ("hand", "card"), [("2D 5D KD AC 3H", "2D"), ("2C 3D AS KS 4H", "KS"), ("4C 9C 2H 8H JH", "2H")]
)
def test_the_caller_hides_the_lowest_card_of_his_best_suit(hand: str, card: str) -> None:
    assert decided(choosing(hand, "hidden")) == ChooseTrump(card=card)


@pytest.mark.parametrize(("hand", "suit"), [("2D 5D KD AC 3H", "D"), ("AC KC 2D 3D 4H", "C")])
def test_the_caller_names_his_best_suit(hand: str, suit: str) -> None:
    assert decided(choosing(hand, "open")) == ChooseTrump(suit=suit)


def choosing(hand: str, trump: Any) -> CourtPieceView:
    names = cards(hand) if trump == "hidden" else tuple("CDHS")
    seen = view(hand, trump=None, options=CourtPieceOptions(trump=trump))
    return replace(seen, phase="choosing", caller=ME, tricks=(), legal=Legal((), names))


def test_a_seat_with_a_strong_side_asks_for_the_trump_when_it_pays() -> None:
    seen = view(
        "AS KS QS JS TS 9S AH KH",
        "5D 8D 9D",
        winning=3,
        trump=None,
        also=("ask_trump",),
        options=CourtPieceOptions(),
        pile=4,
        streak=None,
    )
    assert decided(seen) == AskTrump()


def test_the_caller_shows_the_trump_before_he_runs_his_winners() -> None:
    seen = view("AS KS QS AH KH 4D", trump="S", also=("show_trump",), options=CourtPieceOptions(), pile=6)
    seen = replace(seen, caller=ME, trump_shown=False, indicator="5S")
    assert decided(seen) == ShowTrump()


def test_the_card_that_makes_the_trump_is_of_a_long_suit() -> None:
    options = CourtPieceOptions(trump="kaat")
    seen = view("2C 3H AS KS QS JS 9S", "5D 8D 9D", winning=3, trump=None, options=options, pile=5)
    assert played(seen)[1] == "S"
