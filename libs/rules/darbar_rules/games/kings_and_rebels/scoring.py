"""What a round brings, who wins it, and how a game ends. Open this about scores and places (KR-21 to KR-25)."""

from __future__ import annotations

from darbar_rules.cards import SUITS
from darbar_rules.game import RoundResult
from darbar_rules.games.kings_and_rebels.deals import deal_record
from darbar_rules.games.kings_and_rebels.events import RoundEnded
from darbar_rules.games.kings_and_rebels.state import State
from darbar_rules.ranking import ranking


def rebel_points(state: State) -> int:
    """What the seats have that everybody knows to be Rebels, with all their tricks (KR-21, KR-23)."""
    captured = state.middle.captured
    return sum([captured[seat] for seat in state.deal.rebels])


def round_ended(state: State) -> RoundEnded:
    """The result of a round whose last card has just been played, and everything that was hidden in it."""
    match, deal, setup = state.match, state.deal, state.setup
    record = deal_record(state)
    assert record is not None
    assert deal.leader is not None
    assert deal.bid is not None
    assert deal.trump is not None
    red_points = rebel_points(state)
    success = red_points >= deal.bid
    winners = tuple(seat for seat in range(setup.seats) if (seat in deal.rebels) == success)
    points = tuple(deal.bid if seat in winners else 0 for seat in range(setup.seats))
    totals = tuple(total + scored for total, scored in zip(match.totals, points, strict=True))
    game_over = match.round == setup.rounds
    return RoundEnded(
        round=match.round,
        leader=deal.leader,
        bid=deal.bid,
        trump=SUITS[deal.trump],
        rebels=deal.rebels,
        converts=deal.fates,
        captured=state.middle.captured,
        red_points=red_points,
        success=success,
        winners=winners,
        points=points,
        totals=totals,
        game_over=game_over,
        deal=record,
        places=ranking(totals) if game_over else (),
    )


def result(state: State) -> RoundResult | None:
    """The round that has just ended, in the terms of coins and scores: the winning side shares the pot (TL-21)."""
    ended = state.match.ended
    if ended is None:
        return None
    return RoundResult(
        round=ended.round,
        points=ended.points,
        totals=ended.totals,
        winners=ended.winners,
        losers_pay_again=False,
        game_over=ended.game_over,
        places=ended.places,
    )
