"""What one seat may know of a position, and of each event. Open this when something leaks (GEN-7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NotRequired, TypedDict, assert_never

from darbar_rules.cards import BITS, CARDS_IN_DECK, SUIT_OF, SUITS, TEXTS, texts_of
from darbar_rules.game import Legal, OwnHand, Shown, ShownTypes, told
from darbar_rules.games.court_piece.events import (
    CardPlayed,
    Event,
    RoundDealt,
    RoundEnded,
    TrickTaken,
    TrumpChosen,
    TrumpShown,
)
from darbar_rules.games.court_piece.options import SEATS, CourtPieceOptions
from darbar_rules.games.court_piece.piles import pile_needed
from darbar_rules.games.court_piece.play import NOTHING, legal
from darbar_rules.games.court_piece.state import Middle, Phase, State, Trick, trump_is_hidden
from darbar_rules.tricks import TRICKS_KEPT_MAX
from darbar_rules.values import made_quickly

MIDDLES_KEPT_MAX: Final = 4_096


@dataclass(frozen=True, slots=True)
class SeenCard:
    """A card on the table; `card` is None for who may not know it: it lies face down."""

    seat: int
    card: str | None
    trump: bool = False  # it has trump power
    face_down: bool = False


Seen = tuple[SeenCard, ...]


@dataclass(frozen=True, slots=True)
class SeenTrick:
    leader: int
    cards: Seen
    winner: int
    picked_up: int


@made_quickly
@dataclass(frozen=True, slots=True)
class CourtPieceView:
    """All that a seat (None: a spectator) may know."""

    seat: int | None
    options: CourtPieceOptions
    phase: Phase
    round: int
    turn: int
    to_act: int | None
    caller: int | None
    totals: tuple[int, int]
    collected: tuple[int, int]
    hand: tuple[str, ...]  # without the face-down card
    hand_counts: tuple[int, ...]
    trump: str | None  # as far as this seat knows it
    trump_shown: bool  # everybody knows it: it has trump power
    indicator: str | None  # the caller's face-down card, while it lies there, for the caller
    must_play_trump: bool
    leader: int
    winning: int | None
    trick: Seen
    trump_from: int  # from this card of the trick on, trumps have power; 4: none has
    pile: int
    pile_needed: int
    streak: int | None
    tricks: tuple[SeenTrick, ...]
    legal: Legal
    ended: RoundEnded | None  # the round that has just ended, all of it


class RoundDealtPublic(TypedDict):
    round: int
    caller: int
    to_act: int
    turn: int
    hand_counts: Sequence[int]


class TrumpChosenPublic(TypedDict):
    seat: int
    to_act: int
    turn: int
    hand_counts: Sequence[int]
    suit: NotRequired[str]  # with open trump


class TrumpChosenSecret(OwnHand):
    """A hand without the face-down card, which the caller alone is told."""

    card: NotRequired[str]
    suit: NotRequired[str]


class TrickTakenPublic(TypedDict):
    winner: int
    pile: int
    collected: tuple[int, int]
    picked_up: NotRequired[int]
    streak: NotRequired[int]


class CardPlayedPublic(TypedDict):
    """`card` is None for one that is thrown away face down."""

    seat: int
    card: str | None
    winning: int
    to_act: int | None
    turn: int
    face_down: NotRequired[bool]
    trump: NotRequired[str]
    trick: NotRequired[TrickTakenPublic]


class CardPlayedSecret(TypedDict):
    card: str


SHOWN: Final[Mapping[str, ShownTypes]] = {
    "round_dealt": ShownTypes(RoundDealtPublic, OwnHand),
    "trump_chosen": ShownTypes(TrumpChosenPublic, TrumpChosenSecret),
    "trump_shown": ShownTypes(TrumpShown),
    "card_played": ShownTypes(CardPlayedPublic, CardPlayedSecret),
    "round_ended": ShownTypes(RoundEnded),
}


def view(state: State, seat: int | None) -> CourtPieceView:
    match, middle, play = state.match, state.middle, state.play
    hidden = trump_is_hidden(state)
    trump_from = SEATS if play.trump is None else play.trump_from
    calls = seat is not None and seat == match.caller
    suit = state.deal.trump
    looker = seat if play.face_down else None
    return CourtPieceView(
        seat=seat,
        options=state.options,
        phase=match.phase,
        round=match.round,
        turn=play.turn,
        to_act=play.to_act,
        caller=match.caller,
        totals=match.totals,
        collected=middle.collected,
        hand=_hand(state, seat),
        hand_counts=tuple(map(int.bit_count, play.hands)),
        trump=_trump(state) if calls or not hidden else None,
        trump_shown=play.trump is not None,
        indicator=TEXTS[state.deal.indicator] if calls and hidden and state.deal.indicator is not None else None,
        must_play_trump=play.must_trump,
        leader=play.leader,
        winning=play.winning if play.trick else None,
        trick=_seen(play.leader, play.trick, suit, trump_from, face_down=play.face_down, seat=seat),
        trump_from=trump_from,
        pile=middle.pile,
        pile_needed=pile_needed(state.options, middle.collected),
        streak=middle.streak,
        tricks=_seen_tricks(middle, suit, play.face_down, looker),
        legal=NOTHING if seat is None else legal(state, seat),
        ended=match.ended,
    )


def show(before: State, event: Event) -> Shown:
    """What an event lets be seen. Each field is named here or seen by nobody; an unknown event is a bug."""
    match event:
        case CardPlayed():
            return _show_card(event)
        case TrumpShown():
            return Shown(told(event, "seat", "how", "card", "suit", "must_play_trump", "to_act", "turn"))
        case RoundDealt():
            return _show_deal(before, event)
        case TrumpChosen():
            return _show_choice(before, event)
        case RoundEnded():
            return _show_result(event)
        case _:
            assert_never(event)


def _show_deal(before: State, event: RoundDealt) -> Shown:
    # Before the call only the caller sees cards: the others' may yet be dealt again (CP-3).
    sees = range(SEATS) if before.options.trump == "kaat" else (event.caller,)
    public = told(event, "round", "caller", "to_act", "turn")
    public["hand_counts"] = [len(hand) for hand in event.hands]
    return Shown(public, {seat: {"hand": event.hands[seat]} for seat in sees})


def _show_choice(before: State, event: TrumpChosen) -> Shown:
    secret: dict[int, TrumpChosenSecret] = {
        seat: {"hand": [card for card in hand if card != event.card]} for seat, hand in enumerate(event.hands)
    }
    public = told(event, "seat", "to_act", "turn")
    public["hand_counts"] = [len(hand["hand"]) for hand in secret.values()]
    if before.options.trump == "hidden":
        assert event.card is not None
        secret[event.seat] |= {"card": event.card, "suit": event.suit}
    else:
        public["suit"] = event.suit
    return Shown(public, secret)


def _show_card(event: CardPlayed) -> Shown:
    public: CardPlayedPublic = {
        "seat": event.seat,
        "card": None if event.face_down else event.card,
        "winning": event.winning,
        "to_act": event.to_act,
        "turn": event.turn,
    }
    # Sent with every card to every seat: what is not so is left out.
    if event.face_down:
        public["face_down"] = True
    if event.trump is not None:
        public["trump"] = event.trump
    if event.trick is not None:
        public["trick"] = _trick(event.trick)
    return Shown(public, {event.seat: {"card": event.card}} if event.face_down else {})


def _trick(taken: TrickTaken) -> TrickTakenPublic:
    shown: TrickTakenPublic = {"winner": taken.winner, "pile": taken.pile, "collected": taken.collected}
    if taken.picked_up:
        shown["picked_up"] = taken.picked_up
    if taken.streak is not None:
        shown["streak"] = taken.streak
    return shown


def _show_result(event: RoundEnded) -> Shown:
    public = told(event, "round", "outcome", "winners", "points", "totals", "collected", "next_caller", "game_over")
    return Shown(public | told(event, "places", "trump", "trump_seat", "face_down", "deal"))


def _hand(state: State, seat: int | None) -> tuple[str, ...]:
    if seat is None or (state.match.phase == "choosing" and seat != state.match.caller):
        return ()
    return texts_of(state.play.hands[seat])


def _trump(state: State) -> str | None:
    return None if state.deal.trump is None else SUITS[state.deal.trump]


# Finished tricks are looked at by everybody, with each card. With nothing face down all see the same.
@lru_cache(maxsize=MIDDLES_KEPT_MAX)
def _seen_tricks(middle: Middle, trump: int | None, face_down: int, seat: int | None) -> tuple[SeenTrick, ...]:
    return tuple([_seen_trick(trick, trump, face_down, seat) for trick in middle.tricks])


@lru_cache(maxsize=TRICKS_KEPT_MAX)
def _seen_trick(trick: Trick, trump: int | None, face_down: int, seat: int | None) -> SeenTrick:
    leader, cards, winner, picked_up, trump_from = trick
    seen = _seen(leader, cards, trump, trump_from, face_down=face_down, seat=seat)
    return SeenTrick(leader, seen, winner, picked_up)


def _seen(leader: int, cards: bytes, trump: int | None, trump_from: int, *, face_down: int, seat: int | None) -> Seen:
    """The cards of a trick; from `trump_from` on, those of the trump suit have trump power."""
    seen: list[SeenCard] = []
    for place, card in enumerate(cards):
        player = (leader + place) % SEATS
        is_down = bool(face_down & BITS[card])
        is_trump = place >= trump_from and SUIT_OF[card] == trump and not is_down
        seen.append(_seen_card(player, None if is_down and player != seat else TEXTS[card], is_trump, is_down))
    return tuple(seen)


# Views of long rounds are mostly such cards, and there are few different ones.
@lru_cache(maxsize=SEATS * (CARDS_IN_DECK + 1) * 3)
def _seen_card(seat: int, card: str | None, trump: bool, face_down: bool) -> SeenCard:
    return SeenCard(seat, card, trump, face_down)
