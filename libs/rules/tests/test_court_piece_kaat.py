"""Rung Kaat, where the first card that does not follow suit makes the trump (CP-25 to CP-28, CP-30)."""

from __future__ import annotations

import pytest

from darbar_rules.games.court_piece.events import CardPlayed, RoundEnded
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.options import CourtPieceOptions
from darbar_rules.games.court_piece.testing import last_trick, play, start, tricks_won_by
from darbar_rules.testing import random_game

KAAT = CourtPieceOptions(trump="kaat")
N, E, S, W = 0, 1, 2, 3


@pytest.mark.ruling("CP-25")
def test_cp_25_the_first_card_that_does_not_follow_suit_makes_its_suit_trump() -> None:
    table = play(KAAT, "0: KH 3H 2D 4H", "2: AC 2C 3C 4C", caller=N)
    fixed = [event.trump for event in table.events if isinstance(event, CardPlayed)]
    assert fixed == [None, None, "D", None, None, None, None, None]
    for seat in (N, E, S, W, None):
        assert COURT_PIECE.view(table.state, seat).trump == "D"
        assert COURT_PIECE.view(table.state, seat).trump_shown


@pytest.mark.ruling("CP-25")
def test_cp_25_it_stays_trump_for_the_rest_of_the_round() -> None:
    table = play(KAAT, "0: KH 3H 2D 4H", "2: AC 2C 3S 3D", caller=N)
    assert [trick.winner for trick in table.state.middle.tricks] == [S, E]


@pytest.mark.ruling("CP-25")
def test_cp_25_a_void_seat_has_every_card_and_no_other_choice() -> None:
    table = start(KAAT, "0: KH 3H", caller=N, holding={S: "2D 3C AS"}).then("0: KH 3H")
    legal = COURT_PIECE.legal(table.state, S)
    assert legal.play == ("3C", "2D", "AS")
    assert legal.also == ()


@pytest.mark.ruling("CP-25")
def test_cp_25_before_that_there_is_no_trump() -> None:
    table = play(KAAT, "0: KH 3H 9H 4H", "0: 2H 5H 6H AH", caller=N)
    assert COURT_PIECE.view(table.state, N).trump is None
    assert not COURT_PIECE.view(table.state, N).trump_shown
    assert [trick.winner for trick in table.state.middle.tricks] == [N, W]


@pytest.mark.ruling("CP-26")
def test_cp_26_the_trump_wins_the_very_trick_and_later_voids_may_overtrump() -> None:
    assert play(KAAT, "0: AH 3H 2D 4H", caller=N).state.middle.tricks[-1].winner == S
    assert play(KAAT, "0: AH 2D 3D 4H", caller=N).state.middle.tricks[-1].winner == S
    assert play(KAAT, "0: AH 4D 3D 4H", caller=N).state.middle.tricks[-1].winner == E
    assert play(KAAT, "0: AH 2D AC 4H", caller=N).state.middle.tricks[-1].winner == E  # clubs came too late
    last = play(KAAT, "0: AH 3H 4H 2S", caller=N)
    assert last.state.middle.tricks[-1].winner == W
    assert COURT_PIECE.view(last.state, None).trump == "S"


@pytest.mark.ruling("CP-27")
def test_cp_27_nobody_picks_up_until_there_is_a_trump_and_the_cut_is_the_first_win() -> None:
    tricks = (
        "3: KC 2C 3C 4C",
        "3: QC 5C 6C 7C",
        "3: AD 2D 3D 4D",
        "3: KD 5D 6D 7D",
        "3: AH 2H 3H 2S",  # South cuts
        "2: AS 3S 4S 5S",
    )
    table = play(KAAT, *tricks, caller=W)
    assert [trick.picked_up for trick in table.state.middle.tricks] == [0, 0, 0, 0, 0, 6]
    assert table.state.middle.collected == (6, 0)


@pytest.mark.ruling("CP-27")
def test_cp_27_a_streak_from_before_the_trump_is_worth_nothing() -> None:
    table = play(KAAT, "0: KC 2C 3C 4C", "0: QC 5C 6C 7C", "0: AD 2D 3D 4D", "0: KD 5D 6D 2S", caller=N)
    assert [trick.winner for trick in table.state.middle.tricks] == [N, N, N, W]
    assert COURT_PIECE.view(table.state, N).streak == W


@pytest.mark.ruling("CP-28")
def test_cp_28_a_trump_that_appears_in_trick_thirteen_gives_its_winner_everything() -> None:
    tricks = tricks_won_by([N] * 13, caller=N, trump="S")
    table = start(KAAT, *tricks, caller=N).then(*tricks[:12])
    assert COURT_PIECE.view(table.state, N).trump is None
    assert [trick.picked_up for trick in table.state.middle.tricks] == [0] * 12
    ended = table.then(tricks[12])
    assert ended.state.middle.tricks[-1].picked_up == 13
    assert isinstance(ended.events[-1], RoundEnded)
    assert ended.events[-1].trump == tricks[12].split()[2][1]  # the second card cut


@pytest.mark.ruling("CP-28")
def test_cp_28_a_trump_always_appears() -> None:
    for seed in range(80):
        *_, last = random_game(COURT_PIECE, KAAT, seed, rounds_max=1)
        assert isinstance(last.events[-1], RoundEnded)
        assert last.events[-1].trump in tuple("CDHS")


@pytest.mark.ruling("CP-30")
@pytest.mark.parametrize(
    ("trick", "outcome", "points", "trump_seat"),
    [
        ("0: 3C 2C 2D 5C", "court", (2, 0), S),  # South's team cut, and swept
        ("0: 3C 2D 5C 6C", "court", (0, 2), E),
        ("0: 3C 2D 5D 6C", "goon_court", (3, 0), E),  # East cut, South overtrumped
        ("1: 3C 2D 4D 6C", "goon_court", (0, 3), S),
    ],
)
def test_cp_30_the_trump_belongs_to_the_team_that_cut(
    trick: str, outcome: str, points: tuple[int, int], trump_seat: int
) -> None:
    ended = last_trick(KAAT, trick, caller=N).events[-1]
    assert isinstance(ended, RoundEnded)
    assert (ended.outcome, ended.points, ended.trump_seat) == (outcome, points, trump_seat)


@pytest.mark.ruling("CP-30")
def test_cp_30_with_the_option_every_sweep_is_worth_two() -> None:
    options = CourtPieceOptions(trump="kaat", kaat_sweep_always_two=True)
    ended = last_trick(options, "0: 3C 2D 5D 6C", caller=N).events[-1]
    assert isinstance(ended, RoundEnded)
    assert (ended.outcome, ended.points) == ("court", (2, 0))
