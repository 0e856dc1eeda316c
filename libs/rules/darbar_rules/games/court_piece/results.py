"""What a finished round is worth, who calls next and when a game ends. Open this about points (CP-24, CP-29..33)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from darbar_rules.cards import RANKS, SUIT_OF, SUITS, TEXTS, texts_of
from darbar_rules.game import RoundResult
from darbar_rules.games.court_piece.events import Outcome, RoundEnded
from darbar_rules.games.court_piece.options import SEATS, CourtPieceOptions
from darbar_rules.games.court_piece.proof import deal_record
from darbar_rules.games.court_piece.state import TRICKS_IN_ROUND, State, Trick
from darbar_rules.ranking import ranking

TEAMS: Final = ((0, 2), (1, 3))

_POINTS: Final[Mapping[Outcome, int]] = {"win": 1, "court": 2, "goon_court": 3, "four_points": 4, "six_points": 6}


def round_ended(state: State) -> RoundEnded:
    """The result of a round whose last card has just been played, and everything that was hidden in it."""
    match, deal, collected = state.match, state.deal, state.middle.collected
    record = deal_record(state)
    assert record is not None
    assert match.caller is not None
    assert deal.trump is not None
    assert deal.trump_seat is not None
    team = 0 if collected[0] > collected[1] else 1
    found = outcome(state, team)
    points = (_POINTS[found], 0) if team == 0 else (0, _POINTS[found])
    totals = (match.totals[0] + points[0], match.totals[1] + points[1])
    game_over = max(totals) >= state.options.winning_points
    return RoundEnded(
        round=match.round,
        outcome=found,
        winners=TEAMS[team],
        points=points,
        totals=totals,
        collected=collected,
        next_caller=next_caller(match.caller, team, collected),
        game_over=game_over,
        deal=record,
        trump=SUITS[deal.trump],
        trump_seat=deal.trump_seat,
        face_down=texts_of(state.play.face_down),
        places=ranking(_by_seat(totals), TEAMS) if game_over else (),
    )


def outcome(state: State, team: int) -> Outcome:
    """What the winning team's round is called; of several names the one worth most (CP-29, CP-30, CP-32)."""
    if state.middle.collected[team] < TRICKS_IN_ROUND:
        return "win"
    finish = _finish(state)
    if finish is not None:
        return finish
    assert state.deal.trump_seat is not None
    own_trump = state.deal.trump_seat % 2 == team
    return "court" if own_trump or state.options.kaat_sweep_always_two else "goon_court"


def partners(options: CourtPieceOptions, seats: int) -> tuple[tuple[int, ...], ...]:
    """The two teams, whatever the options are."""
    return TEAMS


def next_caller(caller: int, winning_team: int, collected: tuple[int, int]) -> int:
    """Who calls (with Kaat: leads) in the next round (CP-24)."""
    if caller % 2 != winning_team:
        return (caller + 1) % SEATS
    return (caller + 2) % SEATS if collected[winning_team] == TRICKS_IN_ROUND else caller


def result(state: State) -> RoundResult | None:
    """The round that has just ended, in the terms of coins and scores."""
    ended = state.match.ended
    if ended is None:
        return None
    return RoundResult(
        round=ended.round,
        points=_by_seat(ended.points),
        totals=_by_seat(ended.totals),
        winners=ended.winners,
        losers_pay_again=max(ended.collected) == TRICKS_IN_ROUND,
        game_over=ended.game_over,
        places=ended.places,
    )


def _finish(state: State) -> Outcome | None:
    """The 4- or 6-point win of a team that has collected everything, hence won trick 13 too."""
    trick = state.middle.tricks[-1]
    winning_card = _card_of(trick, trick.winner)
    if not _is_chosen(state.options, winning_card):
        return None
    partner = (trick.winner + 2) % SEATS
    card = _card_of(trick, partner)
    # The partner's card follows the winner's in rank; one deck holds that rank in another suit only.
    if state.options.six_point_finish and TEXTS[card][0] == TEXTS[winning_card][0] and _unbeaten(state, trick, partner):
        return "six_points"
    return "four_points"


def _is_chosen(options: CourtPieceOptions, card: int) -> bool:
    chosen, text = options.four_point_card, TEXTS[card]
    return chosen == text or (chosen in tuple(RANKS) and chosen == text[0])


def _unbeaten(state: State, trick: Trick, seat: int) -> bool:
    """Whether neither opponent's card of this trick would beat the seat's card if that had been led."""
    card = _card_of(trick, seat)
    return not any(_would_beat(state, trick, opponent, card) for opponent in ((seat + 1) % SEATS, (seat + 3) % SEATS))


def _would_beat(state: State, trick: Trick, opponent: int, card: int) -> bool:
    other = _card_of(trick, opponent)
    if SUIT_OF[other] == SUIT_OF[card]:
        return other > card
    has_trump_power = (opponent - trick.leader) % SEATS >= trick.trump_from
    return has_trump_power and SUIT_OF[other] == state.deal.trump


def _card_of(trick: Trick, seat: int) -> int:
    return trick.cards[(seat - trick.leader) % SEATS]


def _by_seat(by_team: tuple[int, int]) -> tuple[int, ...]:
    return tuple(by_team[seat % 2] for seat in range(SEATS))
