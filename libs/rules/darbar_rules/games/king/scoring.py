"""What a trick brings, when a deal is over, and how a game ends. Open this about points and places (K20-1, K32-3)."""

from __future__ import annotations

from darbar_rules.cards import mask_of
from darbar_rules.game import RoundResult
from darbar_rules.games.king.contracts import HEART_SUIT, HEARTS, Contract
from darbar_rules.games.king.deals import deal_record
from darbar_rules.games.king.events import RoundEnded, TrickTaken
from darbar_rules.games.king.state import Middle, State, contract_of
from darbar_rules.ranking import ranking


def trick_taken(contract: Contract, middle: Middle, cards: bytes, winner: int, *, led: int) -> TrickTaken:
    """What comes of a trick of the suit `led`."""
    number = len(middle.tricks)
    taken = mask_of(cards)
    points = contract.trick_points[number]
    for scored, each in contract.card_points:
        points += (taken & scored).bit_count() * each
    if contract.counted_cards:
        count = (taken & contract.counted_cards).bit_count()
    else:
        count = int(number >= contract.counted_from)
    return TrickTaken(
        winner,
        _added(middle.counts, winner, count),
        _added(middle.points, winner, points),
        middle.hearts_broken or _breaks_hearts(contract, taken, led),
    )


def ends_deal(contract: Contract, taken: TrickTaken, tricks: int) -> bool:
    """Whether no card is played after this trick, `tricks` being the number of those taken (K20-16, K32-9)."""
    return tricks == len(contract.trick_points) or 0 < contract.stops_after == sum(taken.counts)


def round_ended(state: State) -> RoundEnded:
    """The result of a deal whose last card has just been played, and everything that was hidden in it."""
    match, deal, middle, contract = state.match, state.deal, state.middle, contract_of(state)
    record = deal_record(state)
    assert record is not None
    totals = tuple(total + points for total, points in zip(match.totals, middle.points, strict=True))
    game_over = match.round == state.form.deals
    return RoundEnded(
        round=match.round,
        contract=contract.name,
        counts=middle.counts,
        points=middle.points,
        totals=totals,
        game_over=game_over,
        deal=record,
        suit=deal.suit,
        stopped_early=any(state.play.hands),
        places=ranking(totals) if game_over else (),
        positive=tuple(total > 0 for total in totals) if game_over else (),
    )


def result(state: State) -> RoundResult | None:
    """The round that has just ended, in the terms of coins and scores: a pot is shared when the game is over."""
    ended = state.match.ended
    if ended is None:
        return None
    return RoundResult(
        round=ended.round,
        points=ended.points,
        totals=ended.totals,
        winners=tuple(seat for seat, place in enumerate(ended.places) if place == 1),
        losers_pay_again=False,
        game_over=ended.game_over,
        places=ended.places,
    )


def _breaks_hearts(contract: Contract, taken: int, led: int) -> bool:
    """A heart that did not follow suit lifts the ban; by the option, any heart that was played (K20-13)."""
    if contract.hearts_led == "after_discard":
        return led != HEART_SUIT and bool(taken & HEARTS)
    return contract.hearts_led == "after_played" and bool(taken & HEARTS)


def _added(numbers: tuple[int, ...], seat: int, number: int) -> tuple[int, ...]:
    return (*numbers[:seat], numbers[seat] + number, *numbers[seat + 1 :]) if number else numbers
