"""What a round of Court Piece is worth, who calls next and when the game ends (CP-24, CP-29 to CP-34)."""

from __future__ import annotations

import pytest

from darbar_rules.coins import shares
from darbar_rules.game import RoundResult
from darbar_rules.games.court_piece.events import CardPlayed, Outcome, RoundEnded
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.options import CourtPieceOptions
from darbar_rules.games.court_piece.results import next_caller
from darbar_rules.games.court_piece.testing import Played, last_trick, start, tricks_won_by
from darbar_rules.testing import random_game

OPEN = CourtPieceOptions(trump="open")
TWOS = CourtPieceOptions(trump="open", four_point_card="2", six_point_finish=True)
N, E, S, W = 0, 1, 2, 3


def ended(played: Played) -> RoundEnded:
    event = played.events[-1]
    assert isinstance(event, RoundEnded)
    return event


@pytest.mark.ruling("CP-24")
@pytest.mark.parametrize(
    ("caller", "winning_team", "collected", "following"),
    [
        (N, 0, (7, 3), N),  # won: the same player
        (N, 0, (12, 1), N),
        (N, 0, (13, 0), S),  # all thirteen: the caller's partner
        (W, 1, (0, 13), E),
        (N, 1, (5, 7), E),  # lost: the next player
        (W, 0, (7, 6), N),
        (W, 0, (13, 0), N),  # a Goon Court too
    ],
)
def test_cp_24_who_calls_next(caller: int, winning_team: int, collected: tuple[int, int], following: int) -> None:
    assert next_caller(caller, winning_team, collected) == following


@pytest.mark.ruling("CP-24")
@pytest.mark.parametrize("mode", ["hidden", "open", "kaat"])
def test_cp_24_the_next_round_is_called_or_led_by_whom_the_last_one_named(mode: str) -> None:
    state, named, rounds = None, None, 0
    options = CourtPieceOptions(trump=mode)  # type: ignore[arg-type]
    for step in random_game(COURT_PIECE, options, 7):
        if step.seat is None and named is not None:
            assert COURT_PIECE.turn(step.after).seats == (named,)
            assert step.after.match.caller == named
            rounds += 1
        state = step.after
        named = state.match.ended.next_caller if state.match.ended else named
    assert rounds >= 3


@pytest.mark.ruling("CP-29")
@pytest.mark.parametrize(
    ("caller", "collected", "trick", "outcome", "points"),
    [
        (N, (6, 6), "0: 3S 2C 2D 2H", "win", (1, 0)),
        (N, (6, 6), "0: 2S 3S 2D 2H", "win", (0, 1)),
        (N, (0, 0), "0: 3S 2C 2D 2H", "court", (2, 0)),
        (E, (0, 0), "0: 3S 2C 2D 2H", "goon_court", (3, 0)),
        (E, (0, 0), "0: 2C 3S 2D 2H", "court", (0, 2)),
        (S, (0, 0), "0: 2C 3S 2D 2H", "goon_court", (0, 3)),
        (N, (12, 0), "0: 2C 3S 2D 2H", "win", (1, 0)),
    ],
)
def test_cp_29_a_court_is_worth_two_and_a_goon_court_three_and_losers_score_nothing(
    caller: int, collected: tuple[int, int], trick: str, outcome: Outcome, points: tuple[int, int]
) -> None:
    result = ended(last_trick(OPEN, trick, caller=caller, trump="S", collected=collected))
    assert (result.outcome, result.points) == (outcome, points)


@pytest.mark.ruling("CP-31")
def test_cp_31_a_trump_that_was_never_asked_for_is_still_the_callers() -> None:
    tricks = tricks_won_by([N] * 13, caller=N, trump="S")
    hidden = CourtPieceOptions()
    led = start(hidden, *tricks, caller=N, trump="2S").then(*tricks[:12], tricks[12].replace("2S", "2S*"))
    followed = last_trick(hidden, "1: AC 3C 4C 2S*", caller=N, trump="2S")
    for result in (ended(led), ended(followed)):
        assert (result.outcome, result.points) == ("court", (2, 0))
        assert (result.trump, result.trump_seat) == ("S", N)


@pytest.mark.ruling("CP-31")
def test_cp_31_the_others_sweep_on_it_is_a_goon_court() -> None:
    result = ended(last_trick(CourtPieceOptions(), "1: AS 3C 4C 2S*", caller=N, trump="2S"))
    assert (result.outcome, result.points, result.trump_seat) == ("goon_court", (0, 3), N)


@pytest.mark.ruling("CP-32")
@pytest.mark.parametrize(
    ("trick", "caller", "winner", "outcome"),
    [
        ("0: 2S KC 2D 9H", N, N, "six_points"),  # the worked example
        ("0: 2S KC 2D 5D", N, N, "four_points"),  # an opponent threw a higher diamond
        ("0: 2S 5D 2D KC", N, N, "four_points"),  # so did the other one
        ("1: KC 2D 9H 2S", N, N, "six_points"),  # whoever led
        ("0: 2S KC 3D 9H", N, N, "four_points"),  # the partner's card is of another rank
        ("0: 3S KC 2D 9H", N, N, "court"),  # the winning card is of another rank
        ("0: 2S KC 2D 9H", E, N, "six_points"),  # instead of a Goon Court too
        ("1: KC 9H 2S AH", E, W, "four_points"),
        ("0: 2H 3C 2D 4C", N, N, "six_points"),  # with a plain card
        ("0: 2H 3H 2D 4C", N, E, "goon_court"),  # the twos did not win
    ],
)
def test_cp_32_four_and_six_point_finishes(trick: str, caller: int, winner: int, outcome: Outcome) -> None:
    played = last_trick(TWOS, trick, caller=caller, trump="S")
    assert played.state.middle.tricks[-1].winner == winner
    assert ended(played).winners == tuple(sorted((winner, (winner + 2) % 4)))
    assert ended(played).outcome == outcome


@pytest.mark.ruling("CP-32")
def test_cp_32_the_points_replace_those_of_a_court_and_never_add() -> None:
    assert ended(last_trick(TWOS, "0: 2S KC 2D 9H", caller=N, trump="S")).points == (6, 0)
    assert ended(last_trick(TWOS, "0: 2S KC 3D 9H", caller=E, trump="S")).points == (4, 0)


@pytest.mark.ruling("CP-32")
def test_cp_32_without_all_thirteen_there_is_no_finish() -> None:
    result = ended(last_trick(TWOS, "0: 2S KC 2D 9H", caller=N, trump="S", collected=(6, 6)))
    assert (result.outcome, result.points) == ("win", (1, 0))


@pytest.mark.ruling("CP-32")
def test_cp_32_an_active_trump_of_an_opponent_beats_the_partners_plain_card() -> None:
    # The ace of hearts is chosen and trump; West's lower trump would have taken a trick led with the ace of clubs.
    options = CourtPieceOptions(trump="open", four_point_card="A", six_point_finish=True)
    assert ended(last_trick(options, "0: AH 3D AC 2H", caller=N, trump="H")).outcome == "four_points"
    assert ended(last_trick(options, "0: AH 2H AC 3D", caller=N, trump="H")).outcome == "four_points"
    assert ended(last_trick(options, "0: AH 4D AC 3D", caller=N, trump="H")).outcome == "six_points"
    assert ended(last_trick(options, "0: AC 4D AH 3D", caller=N, trump="H")).winners == (N, S)


@pytest.mark.ruling("CP-32")
def test_cp_32_a_trump_played_before_the_showing_beats_nothing() -> None:
    options = CourtPieceOptions(four_point_card="A", six_point_finish=True)
    # West throws a spade before the caller, North, has to show; South's partner is the caller.
    dead = last_trick(options, "2: AC 9S AS* 3C", caller=N, trump="AS")
    assert (ended(dead).outcome, dead.state.middle.tricks[-1].winner) == ("six_points", N)
    alive = last_trick(options, "1: 3C AC 9S AS*", caller=N, trump="AS")
    assert ended(alive).outcome == "six_points"
    late = last_trick(options, "2: AC 3C AS* 9S", caller=N, trump="AS")
    assert ended(late).outcome == "four_points"
    for trick in ("2: AC ask 9S AS 3C", "1: 3C AC ask 9S AS"):
        assert ended(last_trick(options, trick, caller=N, trump="AS")).outcome == "four_points"


@pytest.mark.ruling("CP-32")
def test_cp_32_a_full_card_must_be_exactly_that_card() -> None:
    options = CourtPieceOptions(trump="open", four_point_card="2S", six_point_finish=True)
    assert ended(last_trick(options, "0: 2S KC 3D 9H", caller=N, trump="S")).outcome == "four_points"
    assert ended(last_trick(options, "0: 2S KC 2D 9H", caller=N, trump="S")).outcome == "six_points"
    assert ended(last_trick(options, "0: 2H KC 2D 9C", caller=N, trump="H")).outcome == "court"
    assert ended(last_trick(options, "0: 2H KC 2S 9C", caller=N, trump="H")).outcome == "court"


@pytest.mark.ruling("CP-32")
def test_cp_32_without_the_six_point_option_the_finish_is_worth_four() -> None:
    options = CourtPieceOptions(trump="open", four_point_card="2")
    assert ended(last_trick(options, "0: 2S KC 2D 9H", caller=N, trump="S")).outcome == "four_points"
    assert ended(last_trick(OPEN, "0: 2S KC 2D 9H", caller=N, trump="S")).outcome == "court"


@pytest.mark.ruling("CP-33")
@pytest.mark.parametrize(
    ("totals", "over"), [((8, 9), False), ((9, 0), True), ((9, 9), True), ((0, 9), False), ((98, 97), True)]
)
def test_cp_33_the_game_ends_when_a_team_reaches_the_winning_points(totals: tuple[int, int], over: bool) -> None:
    played = last_trick(OPEN, "0: 3S 2C 2D 2H", caller=N, trump="S", collected=(6, 6), totals=totals)
    result = ended(played)
    assert result.totals == (totals[0] + 1, totals[1])
    assert result.game_over is over
    assert COURT_PIECE.turn(played.state).game_over is over
    assert result.places == ((1, 2, 1, 2) if over else ())


@pytest.mark.ruling("CP-33")
def test_cp_33_a_longer_game_goes_on() -> None:
    options = CourtPieceOptions(trump="open", winning_points=100)
    before = last_trick(options, "0: 3S 2C 2D 2H", caller=N, trump="S", collected=(6, 6), totals=(98, 12))
    assert not ended(before).game_over
    after = last_trick(options, "0: 2C 3S 2D 2H", caller=N, trump="S", totals=(98, 97))
    assert ended(after).totals == (98, 100)
    assert ended(after).game_over
    assert ended(after).places == (2, 1, 2, 1)


@pytest.mark.ruling("CP-34")
@pytest.mark.parametrize(
    ("collected", "trick", "won"),
    [
        ((6, 6), "0: 3S 2C 2D 2H", (200, 0, 200, 0)),
        ((0, 0), "0: 3S 2C 2D 2H", (300, 0, 300, 0)),
        ((0, 0), "0: 2C 3S 2D 2H", (0, 300, 0, 300)),
    ],
)
def test_cp_34_a_sweep_pays_double(collected: tuple[int, int], trick: str, won: tuple[int, ...]) -> None:
    result = COURT_PIECE.result(last_trick(OPEN, trick, caller=N, trump="S", collected=collected).state)
    assert result is not None
    assert shares(result, bet_coins=100).won_coins == won


def test_the_result_speaks_of_seats_and_is_gone_when_the_next_round_is_dealt() -> None:
    played = last_trick(OPEN, "0: 3S 2C 2D 2H", caller=E, trump="S", totals=(3, 5))
    assert COURT_PIECE.result(played.state) == RoundResult(
        round=1,
        points=(3, 0, 3, 0),
        totals=(6, 5, 6, 5),
        winners=(0, 2),
        losers_pay_again=True,
        game_over=False,
    )
    steps = list(random_game(COURT_PIECE, OPEN, 1, rounds_max=2))
    assert [step.seat is None for step in steps].count(True) == 2
    assert all(
        (COURT_PIECE.result(step.after) is not None) == isinstance(step.events[-1], RoundEnded) for step in steps
    )


def test_a_whole_round_says_everything_that_was_hidden_in_it() -> None:
    tricks = tricks_won_by([N] * 13, caller=N, trump="S")
    played = start(OPEN, *tricks, caller=N, trump="S").then(*tricks)
    result = ended(played)
    for seat, hand in enumerate(result.deal.hands):
        assert list(hand) == [card.card for card in played.events if isinstance(card, CardPlayed) and card.seat == seat]
    assert (result.deal.trump, result.deal.indicator, result.deal.caller) == ("S", None, N)
    assert result.collected == (13, 0)
    assert (result.winners, result.next_caller) == ((N, S), S)
