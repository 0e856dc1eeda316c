"""When the tricks in the middle are picked up, and when that ends a round of Court Piece (CP-8 to CP-14b)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from darbar_rules.cards import TEXTS
from darbar_rules.games.court_piece.events import CardPlayed, RoundEnded, TrickTaken
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.options import CourtPieceOptions, PileSizes, TrumpMode
from darbar_rules.games.court_piece.piles import ends_round
from darbar_rules.games.court_piece.testing import Played, play, start, tricks_won_by
from darbar_rules.testing import random_game

N, E, S, W = 0, 1, 2, 3  # in the order of play
THREE = CourtPieceOptions(trump="open", piles="3-2-2")
FIVE = CourtPieceOptions(trump="open", piles="5-3-3")
THREE_ACE = CourtPieceOptions(trump="open", piles="3-2-2", ace_cannot_win_pile=True)
STATISTIC_ROUNDS = 700


def picked_up(played: Played) -> list[int]:
    """How many tricks were taken from the middle at each trick."""
    return [event.trick.picked_up for event in played.events if isinstance(event, CardPlayed) and event.trick]


def after_winners(
    options: CourtPieceOptions, winners: Sequence[int], *, last_rank: str = "2", high_first: bool = False
) -> Played:
    """A round through the tricks that these seats win; the last of them would win the others too."""
    whole = [*winners, *[winners[-1]] * (13 - len(winners))]
    tricks = tricks_won_by(whole, caller=whole[0], trump="S", last_rank=last_rank, high_first=high_first)
    beginning = start(options, *tricks, caller=whole[0], trump="S")
    return beginning.then(*tricks[: len(winners)])


@pytest.mark.ruling("CP-8")
@pytest.mark.parametrize(
    ("winners", "taken"),
    [
        ([E, N, N], [0, 0, 3]),  # the same seat twice in a row
        ([E, N, E, N, E], [0, 0, 0, 0, 0]),  # never twice
        ([N, S, N, S], [0, 0, 0, 0]),  # a partner's win does not count
        ([E, E, S, W, W], [0, 0, 0, 0, 5]),
    ],
)
def test_cp_8_the_same_player_must_win_two_tricks_in_a_row(winners: list[int], taken: list[int]) -> None:
    assert picked_up(after_winners(THREE, winners)) == taken


@pytest.mark.ruling("CP-8")
def test_cp_8_at_trick_thirteen_any_winner_picks_up() -> None:
    played = after_winners(THREE, [N, E, N, E, N, E, N, E, N, E, N, E, S])
    assert picked_up(played) == [0] * 12 + [13]
    assert played.state.middle.collected == (13, 0)


@pytest.mark.ruling("CP-9")
def test_cp_9_three_two_two_takes_all_lying() -> None:
    played = after_winners(THREE, [N, N, N, N, N])
    assert picked_up(played) == [0, 0, 3, 0, 2]
    assert COURT_PIECE.view(played.state, E).streak == N  # a pick-up does not end a streak
    assert played.state.middle.collected == (5, 0)


@pytest.mark.ruling("CP-9")
def test_cp_9_five_three_three_needs_five_then_three() -> None:
    played = after_winners(FIVE, [E, N, N, S, S, S, S, S])
    assert picked_up(played) == [0, 0, 0, 0, 5, 0, 0, 3]
    assert played.state.middle.collected == (8, 0)


@pytest.mark.ruling("CP-9")
def test_cp_9_partners_winning_one_each_pick_up_nothing() -> None:
    assert picked_up(after_winners(THREE, [E, W, E, N, S])) == [0, 0, 0, 0, 0]


@pytest.mark.ruling("CP-9")
def test_cp_9_the_first_pick_up_is_of_the_round_and_not_of_the_team() -> None:
    played = after_winners(THREE, [N, N, N, E, E])
    assert picked_up(played) == [0, 0, 3, 0, 2]
    assert played.state.middle.collected == (3, 2)


@pytest.mark.ruling("CP-9")
def test_cp_9_the_view_says_how_many_must_lie() -> None:
    assert COURT_PIECE.view(after_winners(FIVE, [N]).state, 0).pile_needed == 5
    assert COURT_PIECE.view(after_winners(FIVE, [N, N, N, N, N]).state, 0).pile_needed == 3


@pytest.mark.ruling("CP-10")
def test_cp_10_an_ace_never_picks_up_but_is_a_win_for_the_streak() -> None:
    tricks = ("0: AC 2C 3C 4C", "0: AS 2S 3S 4S", "0: KC 5C 6C 7C")
    played = play(THREE_ACE, *tricks, caller=0, trump="S")
    assert picked_up(played) == [0, 0, 3]


@pytest.mark.ruling("CP-10")
@pytest.mark.parametrize(("ace", "trump"), [("A", "S"), ("A", "C")])
def test_cp_10_the_ace_of_trump_is_an_ace(ace: str, trump: str) -> None:
    tricks = ("0: QC 2C 3C 4C", "0: KC 5C 6C 7C", f"0: {ace}C 8C 9C TC")
    assert picked_up(play(THREE_ACE, *tricks, caller=0, trump=trump)) == [0, 0, 0]
    assert picked_up(play(THREE, *tricks, caller=0, trump=trump)) == [0, 0, 3]


@pytest.mark.ruling("CP-10")
def test_cp_10_an_ace_that_does_not_win_its_trick_has_no_effect() -> None:
    tricks = ("0: QC 2C 3C 4C", "0: KC 5C 6C 7C", "0: KD AC 8D 9D")
    assert picked_up(play(THREE_ACE, *tricks, caller=0, trump="S")) == [0, 0, 3]


@pytest.mark.ruling("CP-10")
def test_cp_10_four_aces_in_a_row_pick_up_nothing_and_the_next_card_takes_all() -> None:
    played = after_winners(THREE_ACE, [N, N, N, N, N], high_first=True)
    assert picked_up(played) == [0, 0, 0, 0, 5]


@pytest.mark.ruling("CP-11")
def test_cp_11_an_ace_takes_what_is_left_at_trick_thirteen() -> None:
    played = after_winners(THREE_ACE, [N, E, N, E, N, E, N, E, N, E, N, E, W], last_rank="A")
    assert all(TEXTS[card][0] == "A" for card in played.state.middle.tricks[-1].cards)
    assert picked_up(played) == [0] * 12 + [13]
    assert played.state.middle.collected == (0, 13)


@pytest.mark.ruling("CP-11")
@pytest.mark.parametrize(("last", "collected"), [(E, (12, 1)), (S, (13, 0))])
def test_cp_11_trick_thirteen_is_taken_even_when_it_lies_alone(last: int, collected: tuple[int, int]) -> None:
    played = after_winners(THREE, [N, S, N, N, N, N, N, N, N, N, N, N, last])
    assert picked_up(played) == [0, 0, 0, 4, 0, 2, 0, 2, 0, 2, 0, 2, 1]
    assert played.state.middle.collected == collected


@pytest.mark.ruling("CP-12")
@pytest.mark.parametrize("mode", ["hidden", "open", "kaat"])
def test_cp_12_one_team_always_reaches_seven(mode: TrumpMode) -> None:
    for seed in range(60):
        *_, last = random_game(COURT_PIECE, CourtPieceOptions(trump=mode), seed, rounds_max=1)
        collected = last.after.middle.collected
        assert max(collected) >= 7
        assert min(collected) <= 6
        assert sum(collected) == 13 or min(collected) >= 1


@pytest.mark.ruling("CP-13")
def test_cp_13_the_round_stops_when_one_team_has_seven_and_the_other_one() -> None:
    winners = [N, N, N, N, N, N, N, E, N, E, E]
    played = after_winners(THREE, winners)
    assert picked_up(played) == [0, 0, 3, 0, 2, 0, 2, 0, 0, 0, 4]
    assert played.state.middle.collected == (7, 4)
    ended = played.events[-1]
    assert isinstance(ended, RoundEnded)
    assert ended.points == (1, 0)
    assert sum(hand.bit_count() for hand in played.state.play.hands) == 8  # tricks 12 and 13 were never played
    assert COURT_PIECE.turn(played.state).seats == ()


@pytest.mark.ruling("CP-13")
def test_cp_13_eight_to_nothing_goes_on_until_the_others_pick_up() -> None:
    played = after_winners(THREE, [E, N, E, N, E, N, E, N, N, E, S])
    assert played.state.middle.collected == (9, 0)
    played = after_winners(THREE, [E, N, E, N, E, N, N, N, E, S])
    assert played.state.middle.collected == (7, 0)
    played = after_winners(THREE, [E, N, E, N, E, S, N, N, S, E, W, W])
    assert played.state.middle.collected == (8, 4)
    assert isinstance(played.events[-1], RoundEnded)
    assert played.events[-1].points == (1, 0)
    assert len(played.state.middle.tricks) == 12


@pytest.mark.ruling("CP-13")
def test_cp_13_eleven_to_nothing_is_not_the_end() -> None:
    played = after_winners(THREE, [N] * 12)
    assert played.state.match.phase == "playing"
    assert isinstance(after_winners(THREE, [N] * 13).events[-1], RoundEnded)


@pytest.mark.ruling("CP-13")
@pytest.mark.parametrize(
    ("collected", "tricks", "ends"),
    [((7, 1), 9, True), ((1, 7), 9, True), ((6, 6), 12, False), ((12, 0), 12, False), ((13, 0), 13, True)],
)
def test_cp_13_seven_and_one_are_enough(collected: tuple[int, int], tricks: int, ends: bool) -> None:
    assert ends_round(TrickTaken(N, 2, 0, collected), tricks) is ends


@pytest.mark.ruling("CP-14")
def test_cp_14_a_team_that_won_single_tricks_can_still_be_swept() -> None:
    played = after_winners(THREE, [N, E, N, E, N, E, N, N, N, N, N, N, N])
    assert picked_up(played)[7] == 8
    ended = played.events[-1]
    assert isinstance(ended, RoundEnded)
    assert ended.collected == (13, 0)
    assert ended.outcome == "court"
    assert COURT_PIECE.result(played.state).losers_pay_again  # type: ignore[union-attr]


@pytest.mark.ruling("CP-14b")
@pytest.mark.parametrize(
    ("mode", "piles", "ace", "expected"),
    [
        ("open", "3-2-2", False, 0.33),
        ("kaat", "5-3-3", True, 0.61),
    ],
)
def test_cp_14b_random_play_sweeps_often(mode: TrumpMode, piles: PileSizes, ace: bool, expected: float) -> None:
    options = CourtPieceOptions(trump=mode, piles=piles, ace_cannot_win_pile=ace)
    share = share_of_sweeps(options)
    assert abs(share - expected) < 0.08


@pytest.mark.ruling("CP-14b")
def test_cp_14b_hidden_rounds_are_swept_most_and_the_less_is_asked_the_more() -> None:
    hidden = CourtPieceOptions()
    rarely, sometimes, often = (share_of_sweeps(hidden, power_share=share) for share in (0.1, 0.2, 0.6))
    assert rarely > sometimes > often
    assert abs(sometimes - 0.67) < 0.08
    wide = CourtPieceOptions(piles="5-3-3", ace_cannot_win_pile=True)
    assert abs(share_of_sweeps(wide, power_share=0.2) - 0.74) < 0.08


def share_of_sweeps(options: CourtPieceOptions, *, power_share: float = 0.3) -> float:
    """The share of rounds in which one team collected all thirteen, with random legal play."""
    outcomes: Counter[bool] = Counter()
    for seed in range(STATISTIC_ROUNDS):
        *_, last = random_game(COURT_PIECE, options, seed, rounds_max=1, power_share=power_share)
        outcomes[max(last.after.middle.collected) == 13] += 1
    return outcomes[True] / STATISTIC_ROUNDS
