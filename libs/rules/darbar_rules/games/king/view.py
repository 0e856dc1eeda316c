"""What one seat may know of a position, and of each event. Open this when something leaks (GEN-7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NotRequired, TypedDict, TypeVar, assert_never

from darbar_rules.cards import texts_of, unpacked
from darbar_rules.game import Legal, OwnHand, Shown, ShownTypes, told
from darbar_rules.games.king.declaring import remaining
from darbar_rules.games.king.events import CardPlayed, Declared, Event, RoundDealt, RoundEnded, TrickTaken
from darbar_rules.games.king.forms import Form20, FormLong, FormShort, declared_by_seat
from darbar_rules.games.king.options import SEATS, King20Options, KingLongOptions, KingShortOptions
from darbar_rules.games.king.play import NOTHING, hearts_are_banned, legal
from darbar_rules.games.king.state import KingState, Phase, SheetLine, State, contract_of
from darbar_rules.tricks import SeenCard, SeenTrick, seen_cards, seen_tricks
from darbar_rules.values import made_quickly


@dataclass(frozen=True, slots=True)
class KingView:
    """All that a seat (None: a spectator) may know; each game's own view adds its options."""

    seat: int | None
    phase: Phase
    round: int
    rounds: int  # deals of a whole game
    turn: int
    to_act: int | None
    declarer: int | None
    contract: str | None  # none before it is declared
    trump: str | None
    totals: tuple[int, ...]
    counts: tuple[int, ...]  # tricks or cards that each seat took in this deal, whatever the contract counts
    points: tuple[int, ...]  # of each seat in this deal
    hand: tuple[str, ...]
    hand_counts: tuple[int, ...]
    hearts_banned: bool  # only a hand of hearts alone may lead one now
    leader: int
    winning: int | None
    trick: tuple[SeenCard, ...]
    tricks: tuple[SeenTrick, ...]
    sheet: tuple[SheetLine, ...]  # the rounds that are finished
    last_finished: int | None  # the round on the sheet to be marked
    remaining: tuple[tuple[str, ...], ...]  # by seat: what it could still declare as the game stands
    legal: Legal
    ended: RoundEnded | None  # the round that has just ended, all of it


@made_quickly
@dataclass(frozen=True, slots=True)
class King20View(KingView):
    options: King20Options
    trumps_declared: tuple[int, ...]  # by seat, at most two
    negatives_declared: tuple[int, ...]  # by seat, at most three


@made_quickly
@dataclass(frozen=True, slots=True)
class KingShortView(KingView):
    options: KingShortOptions


@made_quickly
@dataclass(frozen=True, slots=True)
class KingLongView(KingView):
    options: KingLongOptions


ViewMade = TypeVar("ViewMade", bound=KingView)


class RoundDealtPublic(TypedDict):
    round: int
    leader: int
    declarer: int | None
    contract: str | None
    blind: bool
    to_act: int | None
    turn: int
    hand_counts: Sequence[int]


class TrickTakenPublic(TypedDict):
    winner: int
    counts: tuple[int, ...]
    points: tuple[int, ...]
    hearts_broken: NotRequired[bool]


class CardPlayedPublic(TypedDict):
    seat: int
    card: str
    winning: int
    to_act: int | None
    turn: int
    trick: NotRequired[TrickTakenPublic]


SHOWN_SHORT: Final[Mapping[str, ShownTypes]] = {
    "round_dealt": ShownTypes(RoundDealtPublic, OwnHand),
    "card_played": ShownTypes(CardPlayedPublic),
    "round_ended": ShownTypes(RoundEnded),
}
SHOWN_20: Final[Mapping[str, ShownTypes]] = {**SHOWN_SHORT, "declared": ShownTypes(Declared)}
# A blind declaration is followed by the cards.
SHOWN_LONG: Final[Mapping[str, ShownTypes]] = {**SHOWN_SHORT, "declared": ShownTypes(Declared, OwnHand)}


def view_20(state: KingState[Form20], seat: int | None) -> King20View:
    trumps, negatives = declared_by_seat(state.match.declared)
    return _view(
        King20View,
        state,
        seat,
        options=state.form.options,
        trumps_declared=trumps,
        negatives_declared=negatives,
    )


def view_short(state: KingState[FormShort], seat: int | None) -> KingShortView:
    return _view(KingShortView, state, seat, options=state.form.options)


def view_long(state: KingState[FormLong], seat: int | None) -> KingLongView:
    return _view(KingLongView, state, seat, options=state.form.options)


def show(before: State, event: Event) -> Shown:
    """What an event lets be seen. Each field is named here or seen by nobody; an unknown event is a bug."""
    match event:
        case CardPlayed():
            return Shown(_card(event))
        case RoundDealt():
            return _show_deal(event)
        case Declared():
            return _show_declaration(before, event)
        case RoundEnded():
            return _show_result(event)
        case _:
            assert_never(event)


def _view(view_type: type[ViewMade], state: State, seat: int | None, **own: Any) -> ViewMade:
    """What all three games show, and what is this game's own."""
    match, deal, middle, play = state.match, state.deal, state.middle, state.play
    return view_type(
        seat=seat,
        phase=match.phase,
        round=match.round,
        rounds=state.form.deals,
        turn=play.turn,
        to_act=play.to_act,
        declarer=deal.declarer,
        contract=deal.contract,
        trump=deal.suit,
        totals=match.totals,
        counts=middle.counts,
        points=middle.points,
        hand=_hand(state, seat),
        hand_counts=tuple(map(int.bit_count, play.hands)),
        hearts_banned=deal.contract is not None and hearts_are_banned(state, contract_of(state)),
        leader=play.leader,
        winning=play.winning if play.trick else None,
        trick=seen_cards(play.leader, play.trick, SEATS),
        tricks=seen_tricks(middle.tricks, SEATS),
        sheet=match.sheet,
        last_finished=match.sheet[-1].round if match.sheet else None,
        remaining=remaining(state),
        legal=NOTHING if seat is None else legal(state, seat),
        ended=match.ended,
        **own,
    )


def _hand(state: State, seat: int | None) -> tuple[str, ...]:
    if seat is None or (state.deal.blind and state.match.phase == "declaring"):
        return ()
    return texts_of(state.play.hands[seat])


def _show_deal(event: RoundDealt) -> Shown:
    sees = () if event.blind else range(SEATS)  # Blind: nobody looks before the contract is declared (K32-15).
    public = told(event, "round", "leader", "declarer", "contract", "blind", "to_act", "turn")
    public["hand_counts"] = [len(hand) for hand in event.hands]
    return Shown(public, {seat: {"hand": event.hands[seat]} for seat in sees})


def _show_declaration(before: State, event: Declared) -> Shown:
    sees = enumerate(unpacked(before.deal.hands)) if before.deal.blind else ()
    public = told(event, "seat", "contract", "suit", "forced", "to_act", "turn")
    return Shown(public, {seat: {"hand": hand} for seat, hand in sees})


def _card(event: CardPlayed) -> CardPlayedPublic:
    public: CardPlayedPublic = {
        "seat": event.seat,
        "card": event.card,
        "winning": event.winning,
        "to_act": event.to_act,
        "turn": event.turn,
    }
    if event.trick is not None:
        public["trick"] = _trick(event.trick)
    return public


def _trick(taken: TrickTaken) -> TrickTakenPublic:
    shown: TrickTakenPublic = {"winner": taken.winner, "counts": taken.counts, "points": taken.points}
    # Sent to every seat again and again: what is not so is left out.
    if taken.hearts_broken:
        shown["hearts_broken"] = True
    return shown


def _show_result(event: RoundEnded) -> Shown:
    public = told(event, "round", "contract", "suit", "counts", "points", "totals", "stopped_early", "game_over")
    return Shown(public | told(event, "places", "positive", "deal"))
