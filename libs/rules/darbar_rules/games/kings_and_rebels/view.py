"""What one seat may know of a position, and of each event. Open this when something leaks (GEN-7, KR-12, KR-23)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NotRequired, TypedDict, assert_never

from darbar_rules.cards import DECKS_MAX, SUITS
from darbar_rules.game import Legal, OwnHand, Shown, ShownTypes, told
from darbar_rules.games.kings_and_rebels.auction import NOTHING
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
    TrickTaken,
)
from darbar_rules.games.kings_and_rebels.options import SEATS_MAX, KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.pack import texts_of
from darbar_rules.games.kings_and_rebels.play import legal
from darbar_rules.games.kings_and_rebels.scoring import rebel_points
from darbar_rules.games.kings_and_rebels.state import Call, Phase, State
from darbar_rules.tricks import SeenCard, SeenTrick, seen_cards, seen_tricks
from darbar_rules.values import made_quickly


@made_quickly
@dataclass(frozen=True, slots=True)
class KingsAndRebelsView:
    """All that a seat (None: a spectator) may know."""

    seat: int | None
    options: KingsAndRebelsOptions
    phase: Phase
    round: int
    rounds: int  # of a whole game
    attempt: int  # deals of this round that were passed out
    turn: int
    to_act: int | None
    dealer: int | None
    removed: tuple[str, ...]  # cards that are not in the pack
    points_in_pack: int
    minimum_bid: int
    converts_max: int
    totals: tuple[int, ...]
    calls: tuple[Call, ...]  # the auction
    passed: tuple[int, ...]
    high_bid: int | None
    high_bidder: int | None
    rebel_leader: int | None
    bid: int | None  # that the Rebels have to reach
    trump: str | None
    converts: tuple[Convert, ...]  # as named, for those who may know them: the leader, or everyone
    fates: tuple[Fate, ...]  # of the convert cards that were played, as far as this seat may know
    rebels: tuple[int, ...]  # whom everybody knows, in the order in which they joined
    captured: tuple[int, ...]  # points of each seat's tricks
    rebel_points: int  # of the known Rebels together: there may be others
    hand: tuple[str, ...]
    hand_counts: tuple[int, ...]
    leader: int  # of the trick
    winning: int | None
    trick: tuple[SeenCard, ...]
    tricks: tuple[SeenTrick, ...]
    legal: Legal
    ended: RoundEnded | None  # the round that has just ended, all of it


class RoundDealtPublic(TypedDict):
    round: int
    attempt: int
    dealer: int
    must_bid: bool
    to_act: int
    turn: int
    removed: tuple[str, ...]
    hand_counts: Sequence[int]


class ConvertsNamedPublic(TypedDict):
    seat: int
    trump: str
    to_act: int
    turn: int
    converts: NotRequired[tuple[Convert, ...]]  # with public convert cards


class ConvertsNamedSecret(TypedDict):
    converts: tuple[Convert, ...]


class CardPlayedPublic(TypedDict):
    seat: int
    card: str
    winning: int
    to_act: int | None
    turn: int
    trick: NotRequired[TrickTaken]
    converted: NotRequired[Convert]
    spent: NotRequired[Convert]  # with public convert cards


class CardPlayedSecret(TypedDict):
    spent: Convert


SHOWN: Final[Mapping[str, ShownTypes]] = {
    "round_dealt": ShownTypes(RoundDealtPublic, OwnHand),
    "bid_made": ShownTypes(BidMade),
    "bid_passed": ShownTypes(BidPassed),
    "converts_named": ShownTypes(ConvertsNamedPublic, ConvertsNamedSecret),
    "card_played": ShownTypes(CardPlayedPublic, CardPlayedSecret),
    "round_ended": ShownTypes(RoundEnded),
}


def view(state: State, seat: int | None) -> KingsAndRebelsView:
    setup, match, auction, deal, middle, play = state
    knows = knows_converts(state, seat)
    return KingsAndRebelsView(
        seat=seat,
        options=setup.options,
        phase=match.phase,
        round=match.round,
        rounds=setup.rounds,
        attempt=deal.attempt,
        turn=play.turn,
        to_act=play.to_act,
        dealer=match.dealer,
        removed=setup.removed,
        points_in_pack=setup.total,
        minimum_bid=setup.minimum,
        converts_max=setup.converts_max,
        totals=match.totals,
        calls=auction.calls,
        passed=_seats_of(auction.passed),
        high_bid=auction.high,
        high_bidder=auction.bidder,
        rebel_leader=deal.leader,
        bid=deal.bid,
        trump=None if deal.trump is None else SUITS[deal.trump],
        converts=deal.converts if knows else (),
        fates=deal.fates if knows else tuple([fate for fate in deal.fates if fate.joined]),
        rebels=deal.rebels,
        captured=middle.captured,
        rebel_points=rebel_points(state),
        hand=() if seat is None else texts_of(play.hands[seat]),
        hand_counts=tuple(map(int.bit_count, play.hands)),
        leader=play.leader,
        winning=play.winning if play.trick else None,
        trick=seen_cards(play.leader, play.trick, setup.seats),
        tricks=seen_tricks(middle.tricks, setup.seats),
        legal=NOTHING if seat is None else legal(state, seat),
        ended=match.ended,
    )


def knows_converts(state: State, seat: int | None) -> bool:
    """Whether this seat sees the list of convert cards, and which were spent: everyone when the round is over."""
    if state.setup.options.convert_cards == "public" or state.match.ended is not None:
        return True
    return seat is not None and seat == state.deal.leader


def show(before: State, event: Event) -> Shown:
    """What an event lets be seen. Each field is named here or seen by nobody; an unknown event is a bug."""
    match event:
        case CardPlayed():
            return _show_card(before, event)
        case BidMade():
            return Shown(told(event, "seat", "points", "forced", "leader", "to_act", "turn"))
        case BidPassed():
            return Shown(told(event, "seat", "leader", "to_act", "turn"))
        case RoundDealt():
            return _show_deal(before, event)
        case ConvertsNamed():
            return _show_naming(before, event)
        case RoundEnded():
            return _show_result(event)
        case _:
            assert_never(event)


@lru_cache(maxsize=1 << SEATS_MAX[DECKS_MAX])
def _seats_of(bits: int) -> tuple[int, ...]:
    """The seats that have a bit."""
    return tuple(seat for seat in range(bits.bit_length()) if bits >> seat & 1)


def _show_card(before: State, event: CardPlayed) -> Shown:
    public: CardPlayedPublic = {
        "seat": event.seat,
        "card": event.card,
        "winning": event.winning,
        "to_act": event.to_act,
        "turn": event.turn,
    }
    if event.trick is not None:
        public["trick"] = event.trick
    if event.converted is not None:
        public["converted"] = event.converted
    if event.spent is None:
        return Shown(public)
    if before.setup.options.convert_cards == "public":
        public["spent"] = event.spent
        return Shown(public)
    assert before.deal.leader is not None
    return Shown(public, {before.deal.leader: {"spent": event.spent}})


def _show_deal(before: State, event: RoundDealt) -> Shown:
    public = told(event, "round", "attempt", "dealer", "must_bid", "to_act", "turn")
    public |= {"removed": before.setup.removed, "hand_counts": [len(hand) for hand in event.hands]}
    return Shown(public, {seat: {"hand": hand} for seat, hand in enumerate(event.hands)})


def _show_naming(before: State, event: ConvertsNamed) -> Shown:
    public, converts = told(event, "seat", "trump", "to_act", "turn"), told(event, "converts")
    if before.setup.options.convert_cards == "public":
        return Shown(public | converts)
    return Shown(public, {event.seat: converts})


def _show_result(event: RoundEnded) -> Shown:
    public = told(event, "round", "leader", "bid", "trump", "rebels", "converts", "captured", "red_points", "success")
    return Shown(public | told(event, "winners", "points", "totals", "game_over", "places", "deal"))
