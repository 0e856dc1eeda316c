"""How deals and games of King end, and who wins the pot (K20-16 to K20-18, K32-9, K32-12, GEN-8)."""

from __future__ import annotations

from typing import Any

import pytest

from darbar_rules.coins import shares
from darbar_rules.game import AnyGame, Legal
from darbar_rules.games.king.events import CardPlayed, Declare, Declared, RoundEnded
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.options import King20Options, KingLongOptions, KingOptions, KingShortOptions
from darbar_rules.games.king.state import Match
from darbar_rules.games.king.testing import GAMES, NO_CHANCE, Played, declaring, last_tricks, play, start
from darbar_rules.testing import Step, evolved, random_game

K20 = King20Options()
SHORT = KingShortOptions()
LONG = KingLongOptions()
N, E, S, W = 0, 1, 2, 3
EVERY_GAME = pytest.mark.parametrize(
    ("game", "options"), [(KING_20, K20), (KING_SHORT, SHORT), (KING_LONG, LONG)], ids=["20", "short", "long"]
)
STOPPING_20 = {"no_hearts", "no_boys", "no_girls", "no_king_of_hearts"}
STOPPING_32 = {
    f"{sign}_{name}" for sign in ("no", "take") for name in ("hearts", "kings_or_jacks", "queens", "king_of_hearts")
}


def to_the_end(options: KingOptions) -> Any:
    return type(options)(early_stop=False)


def endings(game: AnyGame, options: Any, seed: int) -> list[RoundEnded]:
    return [
        event for step in random_game(game, options, seed) for event in step.events if isinstance(event, RoundEnded)
    ]


@pytest.mark.ruling("K20-16")
def test_k20_16_king_of_hearts_ends_with_the_trick_that_takes_it() -> None:
    tricks = ("0: 2C 3C 4C 5C", "3: 2D 3D 4D 6D", "2: 2S 3S 5S 4S", "0: 7C 8C 9C TC", "3: QC KH AC JC")
    table = play(K20, "no_king_of_hearts", *tricks, holding={N: "9S", E: "9D", S: "AH", W: "KD"})
    assert table.ended is not None
    assert table.ended.points == (0, -320, 0, 0)
    assert table.ended.counts == (0, 1, 0, 0)
    assert table.ended.stopped_early
    assert KING_20.turn(table.state).seats == ()
    played_on = play(to_the_end(K20), "no_king_of_hearts", *tricks, holding={N: "9S", E: "9D", S: "AH", W: "KD"})
    assert played_on.ended is None
    assert played_on.points == (0, -320, 0, 0)
    assert KING_20.turn(played_on.state).seats == (E,)


@pytest.mark.ruling("K20-16")
@pytest.mark.parametrize(
    ("contract", "tricks", "left"),
    [
        ("no_girls", ("0: QC QH QS AD", "0: 2D QD 3D 5D"), 0),
        ("no_girls", ("0: QC QH QS AD", "0: 2D 4D 3D 5D"), 1),
        ("no_boys", ("0: KC KD KH KS", "0: JC JD JH JS"), 0),
        ("no_boys", ("0: KC KD KH KS", "0: JC JD JH 9S"), 1),
    ],
)
def test_k20_16_a_deal_ends_when_the_last_penalty_card_is_taken(
    contract: str, tricks: tuple[str, ...], left: int
) -> None:
    table = play(K20, contract, *tricks, holding=dict.fromkeys(range(4), "2S"))
    assert (table.ended is None) == bool(left)


@pytest.mark.ruling("K20-16")
@pytest.mark.parametrize("contract", ["trump:S", "no_tricks", "no_last_two"])
def test_k20_16_trump_no_tricks_and_last_two_are_never_cut(contract: str) -> None:
    for seed in range(3):
        for ended in endings(KING_20, K20, seed):
            assert ended.stopped_early is False or ended.contract in STOPPING_20
    table = last_tricks(K20, contract, "0: 2C 3C 4C 5C", "3: 2D 3D 4D 6D")
    assert table.ended is not None
    assert not table.ended.stopped_early


@pytest.mark.ruling("K20-16")
@pytest.mark.parametrize("seed", range(4))
def test_k20_16_whatever_is_played_on_changes_no_score(seed: int) -> None:
    assert STOPPING_20 - {"no_hearts"} <= _stopped_early(KING_20, K20, seed) <= STOPPING_20


@pytest.mark.ruling("K20-16")
def test_k20_16_hearts_end_with_the_thirteenth() -> None:
    tricks = ("0: AC 2H 3H 4H", "0: KC 5H 6H 7H", "0: QC 8H 9H TH", "0: JC JH QH KH", "0: AH 2S 3S 4S")
    table = play(K20, "no_hearts", *tricks, holding=dict.fromkeys(range(4), "2D"))
    assert table.ended is not None
    assert table.ended.points == (-390, 0, 0, 0)
    assert play(K20, "no_hearts", *tricks[:4], holding={N: "AH 3D", E: "2S"}).ended is None


@pytest.mark.ruling("K32-9")
def test_k32_9_hearts_kings_or_jacks_queens_and_king_of_hearts_stop_early_and_no_other() -> None:
    found: set[str] = set()
    for seed in range(8):
        found |= _stopped_early(KING_SHORT, SHORT, seed)
    found |= _stopped_early(KING_LONG, LONG, 1)
    assert STOPPING_32 - {"no_hearts", "take_hearts"} <= found <= STOPPING_32


@pytest.mark.ruling("K32-9")
@pytest.mark.parametrize(("contract", "points"), [("no_hearts", -160), ("take_hearts", 160)])
def test_k32_9_hearts_end_with_the_eighth(contract: str, points: int) -> None:
    tricks = ("0: AC 7H 8H 9H", "0: KC TH JH QH", "0: QC KH AH 7S")
    table = play(SHORT, contract, *tricks, holding=dict.fromkeys(range(4), "7D"))
    assert table.ended is not None
    assert table.ended.points == (points, 0, 0, 0)
    assert play(to_the_end(SHORT), contract, *tricks, holding={N: "7D"}).ended is None


def _stopped_early(game: AnyGame, options: KingOptions, seed: int) -> set[str]:
    """A game in which every deal is played to its end: where the other table would have stopped, the score stood."""
    form = game.new(options, 4).form
    stopped: set[str] = set()
    for steps in _deals(random_game(game, to_the_end(options), seed)):
        ended = steps[-1].events[-1]
        stops_after = form.contracts[ended.contract].stops_after
        taken = [step.events[0].trick for step in steps if isinstance(step.events[0], CardPlayed)]
        tricks = [trick for trick in taken if trick is not None]
        at_stop = next((trick for trick in tricks if 0 < stops_after == sum(trick.counts)), tricks[-1])
        assert at_stop.points == ended.points
        assert at_stop.counts == ended.counts
        assert not ended.stopped_early
        if at_stop is not tricks[-1]:
            stopped.add(ended.contract)
    return stopped


def _deals(game: Any) -> list[list[Step]]:
    deals: list[list[Step]] = []
    for step in game:
        if step.seat is None:
            deals.append([])
        deals[-1].append(step)
    return deals


@pytest.mark.ruling("K32-9")
def test_k32_9_queens_end_with_the_fourth_queen_unless_the_option_is_off() -> None:
    tricks = ("0: QC QH QS AD", "0: 7D QD 9D 8D")
    for contract, each in (("no_queens", -40), ("take_queens", 40)):
        table = play(SHORT, contract, *tricks, holding={N: "7S", E: "8S", S: "9S", W: "TS"})
        assert table.ended is not None
        assert table.ended.points == (3 * each, each, 0, 0)
        assert play(to_the_end(SHORT), contract, *tricks, holding={E: "7S"}).ended is None


@pytest.mark.ruling("K20-16")
def test_k20_16_unplayed_cards_are_hidden_until_the_result_and_shown_with_it() -> None:
    table = play(K20, "no_king_of_hearts", "0: 2C KH 3C 4C", holding={N: "9S", E: "9D", S: "AH", W: "KD"})
    *_, played, ended = table.events
    assert isinstance(played, CardPlayed)
    shown = KING_20.show(table.state, played)
    assert not shown.secret
    for card in ("9S", "9D", "AH", "KD"):
        assert card not in str(shown.public)
        assert card in str(KING_20.show(table.state, ended).public["deal"])


@pytest.mark.ruling("K20-17")
def test_k20_17_a_bad_hand_is_played_like_any_other() -> None:
    """No misdeal: a trump hand with nothing above the ten, a bare king of hearts, a queen each."""
    table = declaring(K20, hand="2C 3C 4D 5D 6H 7H 8S 9S TS")
    assert KING_20.legal(table.state, N).also == ()
    (declared,) = KING_20.decide(table.state, N, Declare("trump", "S"), NO_CHANCE)
    assert declared == Declared(N, "trump", turn=1, to_act=N, suit="S")
    bare_king = start(K20, "no_king_of_hearts", "0: ", holding={N: "2C KH"})
    assert KING_20.legal(bare_king.state, N) == Legal(play=("2C",))
    a_queen_each = play(K20, "no_girls", "0: 2C 3C 4C QC", holding={N: "QD", E: "QH", S: "QS", W: "2S"})
    assert KING_20.legal(a_queen_each.state, W) == Legal(play=("2S",))


@pytest.mark.ruling("K20-17")
def test_k20_17_eleven_tricks_are_no_king_and_end_no_game() -> None:
    suits = ("S", "H", "D")
    tricks = [f"0: A{suit} 2{suit} 3{suit} 4{suit}" for suit in suits] + [
        f"0: K{suit} 5{suit} 6{suit} 7{suit}" for suit in suits
    ]
    tricks += ["0: AC 2C 3C 4C", "0: KC 5C 6C 7C", "0: QS 8S 9S TS", "0: QH 8H 9H TH", "0: QD 8D 9D TD"]
    tricks += ["0: QC 8C 9C TC", "0: JS JH JD JC"]
    table = play(K20, "trump:S", *tricks)
    assert table.ended is not None
    assert table.ended.points == (650, 0, 0, 0)
    assert not table.ended.game_over
    assert KING_20.turn(table.state).game_over is False


def after_the_last_deal(options: KingOptions, totals: tuple[int, ...], contract: str, trick: str) -> Played:
    """The end of the game: its last deal's last trick, with these totals before that deal."""
    rounds = GAMES[type(options)].new(options, 4).form.deals
    return last_tricks(options, contract, trick, match=Match(round=rounds - 1, totals=totals))


@pytest.mark.ruling("K20-18")
@pytest.mark.parametrize(
    ("before", "totals", "places", "winners", "positive"),
    [
        ((10, 20, 30, -110), (10, 20, 30, -60), (3, 2, 1, 4), (2,), (True, True, True, False)),
        ((100, 0, 50, -200), (100, 0, 50, -150), (1, 3, 2, 4), (0,), (True, False, True, False)),
        ((50, 50, -50, -100), (50, 50, -50, -50), (1, 1, 3, 3), (0, 1), (True, True, False, False)),
        ((0, 0, 0, -50), (0, 0, 0, 0), (1, 1, 1, 1), (0, 1, 2, 3), (False, False, False, False)),
    ],
)
def test_k20_18_the_highest_total_wins_and_equal_totals_share_a_place(
    before: tuple[int, ...],
    totals: tuple[int, ...],
    places: tuple[int, ...],
    winners: tuple[int, ...],
    positive: tuple[bool, ...],
) -> None:
    table = after_the_last_deal(K20, before, "trump:S", "0: 2C 3C 4C 5C")
    ended, result = table.ended, KING_20.result(table.state)
    assert ended is not None
    assert result is not None
    assert (ended.totals, ended.places, ended.positive) == (totals, places, positive)
    assert (result.totals, result.places, result.winners) == (totals, places, winners)
    assert result.points == (0, 0, 0, 50)
    assert result.game_over
    assert KING_20.turn(table.state).game_over


@pytest.mark.ruling("K32-12")
@pytest.mark.parametrize("options", [SHORT, LONG], ids=["short", "long"])
def test_k32_12_totals_are_zero_sum_and_ranked(options: KingOptions) -> None:
    table = after_the_last_deal(options, (-420, 100, 60, -160), "take_everything", "0: AH KH QH JH")
    assert table.ended is not None
    assert table.ended.totals == (0, 100, 60, -160)
    assert sum(table.ended.totals) == 0
    assert table.ended.places == (3, 1, 2, 4)
    assert table.ended.positive == (False, True, True, False)


def test_a_result_names_the_contract_and_its_trump() -> None:
    table = last_tricks(K20, "trump:H", "2: 3S 2C 2H 2D")
    assert table.ended is not None
    assert (table.ended.contract, table.ended.suit, table.ended.counts) == ("trump", "H", (1, 0, 0, 0))
    assert table.ended.deal.declarer == table.ended.deal.leader == S
    (line,) = KING_20.view(table.state, None).sheet
    assert (line.round, line.declarer, line.contract, line.suit) == (1, S, "trump", "H")
    assert (line.counts, line.points) == ((1, 0, 0, 0), (50, 0, 0, 0))


@EVERY_GAME
@pytest.mark.parametrize("seed", range(3))
def test_a_king_game_ends_after_its_last_deal_and_pays_only_then(game: AnyGame, options: Any, seed: int) -> None:
    rounds = game.new(options, 4).form.deals
    for step in random_game(game, options, seed):
        result = game.result(step.after)
        if result is None:
            continue
        assert result.round == step.after.match.round
        assert result.game_over == (result.round == rounds)
        assert result.winners == tuple(seat for seat, place in enumerate(result.places) if place == 1)
        assert bool(result.winners) == bool(step.after.match.ended.positive) == result.game_over
        assert not result.losers_pay_again
    assert game.view(step.after, None).phase == "over"
    assert sum(game.view(step.after, None).totals) == 0


@EVERY_GAME
def test_the_winner_of_a_king_game_takes_the_pot_and_equal_scores_share_it(game: AnyGame, options: Any) -> None:
    *_, last = random_game(game, options, 1)
    result = game.result(last.after)
    assert result is not None
    assert sum(shares(result, bet_coins=25).won_coins) == 100
    tied = after_the_last_deal(K20, (50, 50, 50, -150), "trump:S", "0: 2C 3C 4C 5C")
    shared = shares(KING_20.result(tied.state), bet_coins=25, away={0, 1})  # type: ignore[arg-type]
    assert shared.won_coins == (33, 33, 33, 0)
    assert (shared.rounding_coins, shared.forfeit_coins) == (1, 0)


@EVERY_GAME
def test_an_ended_king_round_is_told_until_the_next_one_is_dealt(game: AnyGame, options: Any) -> None:
    for step in random_game(game, options, 5, rounds_max=3):
        ended = step.events[-1] if isinstance(step.events[-1], RoundEnded) else None
        assert step.after.match.ended == ended
        assert game.view(step.after, None).ended == ended
        assert (game.result(step.after) is None) == (ended is None)


@EVERY_GAME
def test_totals_are_the_sum_of_the_sheet(game: AnyGame, options: Any) -> None:
    *_, last = random_game(game, options, 2)
    view = game.view(evolved(game, last.before, last.events), None)
    assert len(view.sheet) == view.rounds
    assert view.totals == tuple(sum(line.points[seat] for line in view.sheet) for seat in range(4))
