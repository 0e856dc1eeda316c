"""Who may bid and pass, what follows, and when the auction is over. Open this about the auction (KR-6 to KR-10)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from darbar_rules.cards import BITS
from darbar_rules.deal import Chance
from darbar_rules.game import Legal, Refusal, RuleRefused
from darbar_rules.games.kings_and_rebels.deals import deal_again
from darbar_rules.games.kings_and_rebels.events import BidMade, BidPassed, Event
from darbar_rules.games.kings_and_rebels.options import BID_STEP
from darbar_rules.games.kings_and_rebels.state import Auction, State

NOTHING: Final = Legal()
PASS: Final = ("pass_bid",)
MAY_PASS: Final = Legal(also=PASS)


def legal_bids(state: State, seat: int) -> Legal:
    """What a seat may say: bids in steps of 5 for whoever is on turn, a pass for almost everyone (KR-7, KR-8)."""
    may_pass = _may_not_pass(state, seat) is None
    if seat != state.play.to_act:
        return MAY_PASS if may_pass else NOTHING
    return Legal(name=_bids_offered(lowest_bid(state), state.setup.total), also=PASS if may_pass else ())


def lowest_bid(state: State) -> int:
    """The least that may be bid now."""
    high = state.auction.high
    return state.setup.minimum if high is None else high + BID_STEP


def bid(state: State, seat: int, points: Any) -> tuple[Event, ...]:
    """A higher bid; it ends the auction when nobody is left who could raise it, or when nobody may (KR-7)."""
    _check_bidding(state)
    if seat != state.play.to_act:
        raise RuleRefused(Refusal.NOT_YOUR_TURN)
    setup, lowest = state.setup, lowest_bid(state)
    if type(points) is not int or points < lowest:
        raise RuleRefused(Refusal.BID_TOO_LOW, lowest=lowest)
    if points > setup.total:
        raise RuleRefused(Refusal.BID_TOO_HIGH, highest=setup.total)
    if setup.options.bid_multiples_of_5 and points % BID_STEP:
        raise RuleRefused(Refusal.BID_NOT_MULTIPLE_OF_5)
    return (_bid_made(state, seat, points),)


def pass_bid(state: State, seat: int, chance: Chance) -> tuple[Event, ...]:
    """A pass is final, and counts at once, whoever is on turn (KR-8)."""
    _check_bidding(state)
    refusal = _may_not_pass(state, seat)
    if refusal is not None:
        raise RuleRefused(refusal)
    auction, play = state.auction, state.play
    left = _left(state, auction.passed | BITS[seat])
    if not left:
        return _nobody_left(state, seat, chance)
    if left == (auction.bidder,):
        return (BidPassed(seat, play.turn + 1, auction.bidder, leader=auction.bidder),)
    if seat != play.to_act:
        return (BidPassed(seat, play.turn, play.to_act),)
    return (BidPassed(seat, play.turn + 1, _next(state, auction, left, seat)),)


def _nobody_left(state: State, seat: int, chance: Chance) -> tuple[Event, ...]:
    """The last seat names no bid: it leads at the minimum, or everybody has passed (KR-9, KR-10)."""
    if state.setup.options.last_seat_must_bid:
        return (_bid_made(state, seat, state.setup.minimum, forced=True),)
    turn = state.play.turn + 1
    return BidPassed(seat, turn), deal_again(state, chance, turn=turn)


def _bid_made(state: State, seat: int, points: int, *, forced: bool = False) -> BidMade:
    turn = state.play.turn + 1
    left = _left(state, state.auction.passed)
    if left == (seat,) or points > state.setup.total - BID_STEP:
        return BidMade(seat, points, turn, to_act=seat, leader=seat, forced=forced)
    return BidMade(seat, points, turn, to_act=_next(state, Auction(bidder=seat), left, seat))


def _left(state: State, passed: int) -> tuple[int, ...]:
    """The seats that have not passed."""
    return tuple(seat for seat in range(state.setup.seats) if not passed & BITS[seat])


def _next(state: State, auction: Auction, left: tuple[int, ...], seat: int) -> int:
    """Who is asked after this seat; nobody is asked to raise his own bid."""
    asked = (other for other in left if other != auction.bidder)
    return min(asked, key=lambda other: (other - seat - 1) % state.setup.seats)


def _may_not_pass(state: State, seat: int) -> Refusal | None:
    auction = state.auction
    if auction.passed & BITS[seat]:
        return Refusal.ALREADY_PASSED
    if seat == auction.bidder or (seat == auction.must_bid and auction.bidder is None):
        return Refusal.MAY_NOT_PASS
    return None


def _check_bidding(state: State) -> None:
    if state.match.phase != "bidding":
        raise RuleRefused(Refusal.NOT_NOW)


@lru_cache(maxsize=1024)
def _bids_offered(lowest: int, total: int) -> tuple[str, ...]:
    first = -(-lowest // BID_STEP) * BID_STEP
    return tuple(str(points) for points in range(first, total + 1, BID_STEP))
