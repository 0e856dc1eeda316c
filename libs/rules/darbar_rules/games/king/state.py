"""What is remembered between two decisions, and how each event changes it. Open this about replay.

The state is split by how often its parts change, because every card played makes a new one: the match once a round, the
deal once or twice, the middle once a trick, only `play` with each card.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar, assert_never

from darbar_rules.cards import BITS, IDS, PACKED, SUITS, PackedHands, mask_of_texts, packed, shared
from darbar_rules.game import Turn, turn_of_one
from darbar_rules.games.king.contracts import Contract
from darbar_rules.games.king.events import CardPlayed, Declared, Event, RoundDealt, RoundEnded
from darbar_rules.games.king.forms import Declaration, Form
from darbar_rules.games.king.options import SEATS
from darbar_rules.tricks import Trick

Phase = Literal["waiting", "declaring", "playing", "over"]

NOTHING_YET = (0, 0, 0, 0)

FormMade = TypeVar("FormMade", bound=Form)
FormPlayed = TypeVar("FormPlayed", bound=Form, covariant=True)


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A finished round on the score sheet: who declared what, and what each seat took and scored in it."""

    round: int
    declarer: int | None
    contract: str
    suit: str | None
    counts: tuple[int, ...]
    points: tuple[int, ...]


class Match(NamedTuple):
    """Changes once a round."""

    phase: Phase = "waiting"
    round: int = 0
    first: int | None = None  # who declared this round, or led it where nobody declares; none before the first
    totals: tuple[int, ...] = NOTHING_YET
    declared: tuple[Declaration, ...] = ()
    sheet: tuple[SheetLine, ...] = ()
    ended: RoundEnded | None = None  # the last round, until the next one is dealt


class Deal(NamedTuple):
    """Changes when cards are dealt and when the contract is declared."""

    hands: PackedHands = ()  # as dealt
    leader: int = 0  # of the first trick
    declarer: int | None = None
    contract: str | None = None
    suit: str | None = None
    blind: bool = False


class Middle(NamedTuple):
    """Changes once a trick."""

    tricks: tuple[Trick, ...] = ()
    counts: tuple[int, ...] = NOTHING_YET
    points: tuple[int, ...] = NOTHING_YET
    hearts_broken: bool = False


class Play(NamedTuple):
    """Changes with each card."""

    hands: tuple[int, ...] = (0, 0, 0, 0)
    leader: int = 0
    trick: bytes = b""
    winning: int = 0  # whose card is the best one lying, once one lies
    to_act: int | None = None
    turn: int = 0
    trump: int | None = None


class KingState(NamedTuple, Generic[FormPlayed]):
    form: FormPlayed
    match: Match = Match()
    deal: Deal = Deal()
    middle: Middle = Middle()
    play: Play = Play()


State: TypeAlias = KingState[Form]  # of whichever of the three games


def first_state(form: FormMade, seats: int) -> KingState[FormMade]:
    """Before the first deal."""
    assert seats == SEATS
    return KingState(form)


def turn(state: State) -> Turn:
    """Whose decision is due."""
    return turn_of_one(state.match.round, state.play.turn, state.play.to_act, state.match.phase == "over")


def contract_of(state: State) -> Contract:
    """What is being played, once that is declared."""
    contract = state.deal.contract
    assert contract is not None
    return state.form.contracts[contract]


def evolve(state: KingState[FormPlayed], event: Event) -> KingState[FormPlayed]:
    """The state after an event. It copies outcomes: nothing here knows a rule, so old logs replay for ever."""
    match event:
        case CardPlayed():
            return _card_played(state, event)
        case RoundDealt():
            return _round_dealt(state, event)
        case Declared():
            return _declared(state, event)
        case RoundEnded():
            return _round_ended(state, event)
        case _:
            assert_never(event)


def _round_dealt(state: KingState[FormPlayed], event: RoundDealt) -> KingState[FormPlayed]:
    match = state.match
    return KingState(
        state.form,
        Match(
            "playing" if event.declarer is None else "declaring",
            event.round,
            event.leader if event.declarer is None else event.declarer,
            match.totals,
            match.declared,
            match.sheet,
        ),
        Deal(packed(event.hands), event.leader, event.declarer, event.contract, None, event.blind),
        Middle(),
        Play(
            tuple(mask_of_texts(hand) for hand in event.hands),
            leader=event.leader,
            to_act=event.to_act,
            turn=event.turn,
        ),
    )


def _declared(state: KingState[FormPlayed], event: Declared) -> KingState[FormPlayed]:
    match, play = state.match, state.play
    declaration = Declaration(event.seat, event.contract)
    return state._replace(
        match=match._replace(phase="playing", declared=(*match.declared, declaration)),
        deal=state.deal._replace(contract=event.contract, suit=event.suit),
        play=play._replace(
            to_act=event.to_act,
            turn=event.turn,
            trump=None if event.suit is None else SUITS.index(event.suit),
        ),
    )


def _card_played(state: KingState[FormPlayed], event: CardPlayed) -> KingState[FormPlayed]:
    form, match, deal, middle, play = state
    hands, leader, trick, _, _, _, trump = play
    card = IDS[event.card]
    seat = event.seat
    hands = (*hands[:seat], hands[seat] ^ BITS[card], *hands[seat + 1 :])
    trick += PACKED[card]
    taken = event.trick
    if taken is not None:
        finished = Trick(leader, trick, taken.winner)
        middle = Middle((*middle.tricks, finished), taken.counts, taken.points, taken.hearts_broken)
        leader, trick = taken.winner, b""
    play = Play(hands, leader, trick, event.winning, event.to_act, event.turn, trump)  # by position: the hot path
    return KingState(form, match, deal, middle, play)


def _round_ended(state: KingState[FormPlayed], event: RoundEnded) -> KingState[FormPlayed]:
    match = state.match
    line = SheetLine(event.round, event.deal.declarer, event.contract, event.suit, event.counts, event.points)
    phase: Phase = "over" if event.game_over else "waiting"
    ended = replace(event, deal=replace(event.deal, hands=shared(event.deal.hands)))
    return state._replace(
        match=match._replace(phase=phase, totals=event.totals, sheet=(*match.sheet, line), ended=ended)
    )
