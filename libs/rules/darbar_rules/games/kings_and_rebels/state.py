"""What is remembered between two decisions, and how each event changes it. Open this about replay.

The state is split by how often its parts change, because every card played makes a new one: the match once a round, the
auction with each bid, the deal when cards are dealt, named or convert a King, the middle once a trick, only `play` with
each card.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, assert_never

from darbar_rules.cards import BITS, IDS, IDS_TWO_DECKS, PACKED, SUITS, PackedHands, packed, shared
from darbar_rules.game import Turn, turn_of_one
from darbar_rules.games.kings_and_rebels.events import (
    BidMade,
    BidPassed,
    CardPlayed,
    Convert,
    ConvertsNamed,
    Event,
    Fate,
    RoundDealt,
    RoundEnded,
)
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions, Setup, setup_of
from darbar_rules.games.kings_and_rebels.pack import mask_of_hand
from darbar_rules.tricks import Trick

Phase = Literal["waiting", "bidding", "naming", "playing", "over"]


@dataclass(frozen=True, slots=True)
class Call:
    """One word of the auction; no points: a pass."""

    seat: int
    points: int | None = None


class Match(NamedTuple):
    """Changes once a round, and with its phases."""

    phase: Phase = "waiting"
    round: int = 0
    dealer: int | None = None  # of this round, or of the last one; none before the first
    totals: tuple[int, ...] = ()
    ended: RoundEnded | None = None  # the last round, until the next one is dealt


class Auction(NamedTuple):
    """Changes with each bid and pass."""

    high: int | None = None
    bidder: int | None = None  # who made the highest bid
    passed: int = 0  # a bit for each seat that is out
    calls: tuple[Call, ...] = ()
    must_bid: int | None = None  # the seat that may not pass before there is a bid
    dealt: int = 0  # the turn at which it began: a pass that names an earlier one was said in another auction


class Deal(NamedTuple):
    """Changes when cards are dealt, when the leader is known and has named, when a convert card is played."""

    hands: PackedHands = ()  # as dealt
    attempt: int = 0
    leader: int | None = None  # of the Rebels
    bid: int | None = None
    trump: int | None = None
    converts: tuple[Convert, ...] = ()
    watched: int = 0  # a bit for each face among them
    rebels: tuple[int, ...] = ()  # whom everybody knows, the leader first
    fates: tuple[Fate, ...] = ()  # of the convert cards that were played


class Middle(NamedTuple):
    """Changes once a trick."""

    captured: tuple[int, ...] = ()
    tricks: tuple[Trick, ...] = ()


class Play(NamedTuple):
    """Changes with each card."""

    hands: tuple[int, ...] = ()
    leader: int = 0  # of the trick
    trick: bytes = b""
    winning: int = 0  # whose card is the best one lying, once one lies
    to_act: int | None = None
    turn: int = 0


class State(NamedTuple):
    setup: Setup
    match: Match = Match()
    auction: Auction = Auction()
    deal: Deal = Deal()
    middle: Middle = Middle()
    play: Play = Play()


def first_state(options: KingsAndRebelsOptions, seats: int) -> State:
    """Before the first deal."""
    assert seats == options.seats
    nothing = (0,) * seats
    return State(setup_of(options), Match(totals=nothing), middle=Middle(nothing), play=Play(nothing))


def turn(state: State) -> Turn:
    """Whose decision is due."""
    return turn_of_one(
        state.match.round, state.play.turn, state.play.to_act, state.match.phase == "over", dealt=state.auction.dealt
    )


def evolve(state: State, event: Event) -> State:
    """The state after an event. It copies outcomes: nothing here knows a rule, so old logs replay for ever."""
    match event:
        case CardPlayed():
            return _card_played(state, event)
        case BidMade():
            return _bid_made(state, event)
        case BidPassed():
            return _bid_passed(state, event)
        case RoundDealt():
            return _round_dealt(state, event)
        case ConvertsNamed():
            return _converts_named(state, event)
        case RoundEnded():
            return _round_ended(state, event)
        case _:
            assert_never(event)


def _round_dealt(state: State, event: RoundDealt) -> State:
    return State(
        state.setup,
        Match("bidding", event.round, event.dealer, state.match.totals),
        Auction(must_bid=event.to_act if event.must_bid else None, dealt=event.turn),
        Deal(packed(event.hands), event.attempt),
        Middle((0,) * state.setup.seats),
        Play(tuple(mask_of_hand(hand) for hand in event.hands), to_act=event.to_act, turn=event.turn),
    )


def _bid_made(state: State, event: BidMade) -> State:
    auction = state.auction._replace(
        high=event.points, bidder=event.seat, calls=(*state.auction.calls, Call(event.seat, event.points))
    )
    return _auction_went_on(state, auction, event)


def _bid_passed(state: State, event: BidPassed) -> State:
    auction = state.auction._replace(
        passed=state.auction.passed | BITS[event.seat], calls=(*state.auction.calls, Call(event.seat))
    )
    return _auction_went_on(state, auction, event)


def _auction_went_on(state: State, auction: Auction, event: BidMade | BidPassed) -> State:
    play = state.play._replace(to_act=event.to_act, turn=event.turn)
    if event.leader is None:
        return state._replace(auction=auction, play=play)
    return state._replace(
        match=state.match._replace(phase="naming"),
        auction=auction,
        deal=state.deal._replace(leader=event.leader, bid=auction.high, rebels=(event.leader,)),
        play=play,
    )


def _converts_named(state: State, event: ConvertsNamed) -> State:
    watched = 0
    for convert in event.converts:
        watched |= BITS[IDS[convert.card]]
    return state._replace(
        match=state.match._replace(phase="playing"),
        deal=state.deal._replace(trump=SUITS.index(event.trump), converts=event.converts, watched=watched),
        play=state.play._replace(leader=event.to_act, to_act=event.to_act, turn=event.turn),
    )


def _card_played(state: State, event: CardPlayed) -> State:
    setup, match, auction, deal, middle, play = state
    hands, leader, trick, _, _, _ = play
    card = IDS_TWO_DECKS[event.card]
    seat = event.seat
    hands = (*hands[:seat], hands[seat] ^ BITS[card], *hands[seat + 1 :])
    trick += PACKED[card]
    if event.converted is not None or event.spent is not None:
        deal = _convert_played(deal, event)
    taken = event.trick
    if taken is not None:
        middle = Middle(taken.captured, (*middle.tricks, Trick(leader, trick, taken.winner)))
        leader, trick = taken.winner, b""
    play = Play(hands, leader, trick, event.winning, event.to_act, event.turn)  # by position: the hot path
    return State(setup, match, auction, deal, middle, play)


def _convert_played(deal: Deal, event: CardPlayed) -> Deal:
    seat = event.seat
    if event.converted is not None:
        fate = Fate(event.converted.card, event.converted.ordinal, seat, joined=True)
        return deal._replace(rebels=(*deal.rebels, seat), fates=(*deal.fates, fate))
    assert event.spent is not None
    fate = Fate(event.spent.card, event.spent.ordinal, seat, joined=False)
    return deal._replace(fates=(*deal.fates, fate))


def _round_ended(state: State, event: RoundEnded) -> State:
    phase: Phase = "over" if event.game_over else "waiting"
    ended = replace(event, deal=replace(event.deal, hands=shared(event.deal.hands)))
    return state._replace(match=state.match._replace(phase=phase, totals=event.totals, ended=ended))
