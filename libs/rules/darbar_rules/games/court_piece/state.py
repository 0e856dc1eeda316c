"""What is remembered between two decisions, and how each event changes it. Open this about replay.

The state is split by how often its parts change, because every card played makes a new one: the match once a round,
the deal once or twice, the middle once a trick, only `play` with each card. Named tuples, because they are as
immutable as frozen dataclasses and several times faster to make.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final, Literal, NamedTuple, assert_never

from darbar_rules.cards import BITS, CARDS_IN_SUIT, IDS, PACKED, SUITS, PackedHands, mask_of_texts, packed, shared
from darbar_rules.game import Turn, turn_of_one
from darbar_rules.games.court_piece.events import (
    CardPlayed,
    DealTry,
    Event,
    RoundDealt,
    RoundEnded,
    TrumpChosen,
    TrumpShown,
)
from darbar_rules.games.court_piece.options import SEATS, CourtPieceOptions

Phase = Literal["waiting", "choosing", "playing", "over"]

TRICKS_IN_ROUND: Final = CARDS_IN_SUIT
TRIES_KEPT_MAX: Final = 1_024


class Match(NamedTuple):
    """Changes once a round."""

    phase: Phase = "waiting"
    round: int = 0
    caller: int | None = None  # of this round, or of the next one while the table waits; none before the first
    totals: tuple[int, int] = (0, 0)
    ended: RoundEnded | None = None  # the last round, until the next one is dealt


class Deal(NamedTuple):
    """Changes when cards are dealt and when the trump is fixed."""

    hands: PackedHands = ()  # as dealt, thirteen each
    filtered: bool = False
    tries: tuple[DealTry, ...] = ()
    trump: int | None = None  # the round's suit, also while only the caller knows it
    trump_seat: int | None = None  # who fixed it
    indicator: int | None = None  # the face-down card, also after it was shown


class Trick(NamedTuple):
    """A finished trick."""

    leader: int
    cards: bytes
    winner: int
    picked_up: int
    trump_from: int  # from this card on, trumps had power; 4: none had


def packed_trick(trick: Trick) -> bytes:
    """A trick as `Middle` keeps it: what it holds beside its cards, how many they are, and the cards."""
    leader, cards, winner, picked_up, trump_from = trick
    return bytes((leader, winner, picked_up, trump_from, len(cards))) + cards


class Middle(NamedTuple):
    """Changes once a trick. As tuples, the finished ones would be half of a state: they are kept as bytes."""

    pile: int = 0  # tricks lying
    streak: int | None = None  # the seat whose last win counts as the first of two
    collected: tuple[int, int] = (0, 0)
    tricks_finished: int = 0
    packed_tricks: bytes = b""  # each as `packed_trick` made it

    @property
    def tricks(self) -> tuple[Trick, ...]:
        """The finished ones, in their order."""
        packed, tricks, start = self.packed_tricks, [], 0
        for _ in range(self.tricks_finished):
            leader, winner, picked_up, trump_from, count = packed[start : start + 5]
            tricks.append(Trick(leader, packed[start + 5 : start + 5 + count], winner, picked_up, trump_from))
            start += 5 + count
        return tuple(tricks)


class Play(NamedTuple):
    """Changes with each card."""

    hands: tuple[int, ...] = (0, 0, 0, 0)
    leader: int = 0
    trick: bytes = b""
    winning: int = 0  # whose card is the best one lying, once one lies
    to_act: int | None = None
    turn: int = 0
    trump: int | None = None  # the suit that has trump power now
    trump_from: int = 0  # from this card of the trick on
    must_trump: bool = False
    face_down: int = 0  # what the caller threw away unseen


class State(NamedTuple):
    options: CourtPieceOptions
    match: Match = Match()
    deal: Deal = Deal()
    middle: Middle = Middle()
    play: Play = Play()


def first_state(options: CourtPieceOptions, seats: int) -> State:
    """Before the first deal."""
    assert seats == SEATS
    return State(options)


def turn(state: State) -> Turn:
    """Whose decision is due."""
    return turn_of_one(state.match.round, state.play.turn, state.play.to_act, state.match.phase == "over")


def trump_is_hidden(state: State) -> bool:
    """Whether a card lies face down whose suit is not yet everybody's knowledge."""
    return state.deal.indicator is not None and state.play.trump is None


def evolve(state: State, event: Event) -> State:
    """The state after an event. It copies outcomes: nothing here knows a rule, so old logs replay for ever."""
    match event:
        case CardPlayed():
            return _card_played(state, event)
        case RoundDealt():
            return _round_dealt(state, event)
        case TrumpChosen():
            return _trump_chosen(state, event)
        case TrumpShown():
            return _trump_shown(state, event)
        case RoundEnded():
            return _round_ended(state, event)
        case _:
            assert_never(event)


def _round_dealt(state: State, event: RoundDealt) -> State:
    whole = tuple(hand + rest for hand, rest in zip(event.hands, event.rest, strict=True))
    return State(
        state.options,
        Match("choosing" if any(event.rest) else "playing", event.round, event.caller, state.match.totals),
        Deal(packed(whole), event.filtered, _shared_tries(event.tries)),
        Middle(),
        Play(
            tuple(mask_of_texts(hand) for hand in event.hands),
            leader=event.to_act,
            to_act=event.to_act,
            turn=event.turn,
        ),
    )


def _trump_chosen(state: State, event: TrumpChosen) -> State:
    suit = SUITS.index(event.suit)
    indicator = None if event.card is None else IDS[event.card]
    hands = tuple(mask_of_texts(hand) for hand in event.hands)
    if indicator is not None:
        hands = _exchanged(hands, event.seat, indicator)
    return State(
        state.options,
        state.match._replace(phase="playing"),
        Deal(
            packed(event.hands),
            state.deal.filtered,
            _shared_tries(state.deal.tries + event.tries),
            suit,
            event.seat,
            indicator,
        ),
        Middle(),
        Play(
            hands,
            leader=event.to_act,
            to_act=event.to_act,
            turn=event.turn,
            trump=suit if indicator is None else None,
        ),
    )


def _trump_shown(state: State, event: TrumpShown) -> State:
    assert state.match.caller is not None
    play = state.play._replace(
        hands=_exchanged(state.play.hands, state.match.caller, IDS[event.card]),
        to_act=event.to_act,
        turn=event.turn,
        trump=SUITS.index(event.suit),
        trump_from=len(state.play.trick),
        must_trump=event.must_play_trump,
    )
    return state._replace(play=play)


def _card_played(state: State, event: CardPlayed) -> State:
    options, match, deal, middle, play = state
    hands, leader, trick, _, _, _, trump, trump_from, _, face_down = play
    card = IDS[event.card]
    hands = _exchanged(hands, event.seat, card)
    trick += PACKED[card]
    if event.face_down:
        face_down |= BITS[card]
    if event.trump is not None:
        trump = SUITS.index(event.trump)
        deal = deal._replace(trump=trump, trump_seat=event.seat)
    if event.trick is not None:
        taken = event.trick
        finished = Trick(leader, trick, taken.winner, taken.picked_up, SEATS if trump is None else trump_from)
        tricks = middle.packed_tricks + packed_trick(finished)
        middle = Middle(taken.pile, taken.streak, taken.collected, middle.tricks_finished + 1, tricks)
        leader, trick, trump_from = taken.winner, b"", 0
    play = Play(
        hands, leader, trick, event.winning, event.to_act, event.turn, trump, trump_from, False, face_down
    )  # by position: the hot path
    return State(options, match, deal, middle, play)


def _round_ended(state: State, event: RoundEnded) -> State:
    phase: Phase = "over" if event.game_over else "waiting"
    ended = replace(event, deal=replace(event.deal, hands=shared(event.deal.hands)))
    return state._replace(match=Match(phase, event.round, event.next_caller, event.totals, ended))


# Nearly all deals had the same: one shuffle a stage, and nothing one-sided.
@lru_cache(maxsize=TRIES_KEPT_MAX)
def _shared_tries(tries: tuple[DealTry, ...]) -> tuple[DealTry, ...]:
    """The same tries, in memory once for all tables."""
    return tries


def _exchanged(hands: tuple[int, ...], seat: int, card: int) -> tuple[int, ...]:
    """The hands after a seat got this card, or gave it away."""
    return (*hands[:seat], hands[seat] ^ BITS[card], *hands[seat + 1 :])
