"""Plain tricks: four seats, thirteen tricks a round, no trump. Open this to see the least that a game is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypedDict

from darbar_rules.cards import BITS, IDS, SUIT_MASKS, SUIT_OF, TEXTS, beats, lowest, mask_of_texts, texts_of
from darbar_rules.deal import Chance
from darbar_rules.decisions import PlayCard
from darbar_rules.game import Game, Legal, OwnHand, Refusal, RoundResult, RuleRefused, Shown, ShownTypes, Turn
from darbar_rules.options import option
from darbar_rules.ranking import ranking

SEATS: Final = 4
HELD: Final = 13
Hands = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class PlainOptions:
    rounds: int = option(2, "How many rounds make a game.", minimum=1, maximum=20)
    wins: Literal["most", "fewest"] = option("most", "Whether most tricks win a round, or fewest.")


@dataclass(frozen=True, slots=True)
class Dealt:
    round: int
    leader: int
    hands: Hands


@dataclass(frozen=True, slots=True)
class Played:
    """A card; `winner` and `tricks` of each seat when it was the last one of its trick."""

    seat: int
    card: str
    to_act: int | None = None
    winner: int | None = None
    tricks: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    result: RoundResult
    hands: Hands


Event = Dealt | Played | Ended


class State(NamedTuple):
    options: PlainOptions
    round: int = 0
    turn: int = 0
    to_act: int | None = None
    leader: int = 0
    dealt: Hands = ()
    hands: tuple[int, ...] = (0,) * SEATS
    trick: tuple[int, ...] = ()
    tricks: tuple[int, ...] = (0,) * SEATS
    totals: tuple[int, ...] = (0,) * SEATS
    result: RoundResult | None = None


@dataclass(frozen=True, slots=True)
class View:
    seat: int | None
    options: PlainOptions
    round: int
    turn: int
    to_act: int | None
    leader: int
    hand: tuple[str, ...]
    hand_counts: tuple[int, ...]
    trick: tuple[str, ...]
    tricks: tuple[int, ...]
    totals: tuple[int, ...]
    legal: Legal


def hands_of(chance: Chance) -> Hands:
    cards = [TEXTS[card] for card in chance.order("deal", 0, SEATS * HELD)]
    return tuple(tuple(cards[seat * HELD : (seat + 1) * HELD]) for seat in range(SEATS))


def deal(state: State, chance: Chance) -> tuple[Event, ...]:
    return (Dealt(state.round + 1, state.round % SEATS, hands_of(chance)),)


def decide(state: State, seat: int, decision: PlayCard, chance: Chance) -> tuple[Event, ...]:
    if not isinstance(decision, PlayCard):
        raise RuleRefused(Refusal.DECISION_UNKNOWN)
    if seat != state.to_act:
        raise RuleRefused(Refusal.NOT_NOW if state.to_act is None else Refusal.NOT_YOUR_TURN)
    card = IDS.get(decision.card)
    if card is None:
        raise RuleRefused(Refusal.CARD_UNKNOWN)
    if not state.hands[seat] & BITS[card]:
        raise RuleRefused(Refusal.CARD_NOT_HELD)
    if not legal_cards(state, seat) & BITS[card]:
        raise RuleRefused(Refusal.MUST_FOLLOW_SUIT)
    if len(state.trick) + 1 < SEATS:
        return (Played(seat, decision.card, (seat + 1) % SEATS),)
    return trick_ended(state, seat, (*state.trick, card))


def trick_ended(state: State, seat: int, trick: tuple[int, ...]) -> tuple[Event, ...]:
    best = 0
    for place, card in enumerate(trick):
        best = place if beats(card, trick[best], None) else best
    winner = (state.leader + best) % SEATS
    tricks = tuple(won + (other == winner) for other, won in enumerate(state.tricks))
    played = Played(seat, TEXTS[trick[-1]], winner, winner, tricks)
    if sum(tricks) < HELD:
        return (played,)
    best_count = max(tricks) if state.options.wins == "most" else min(tricks)
    points = tuple(int(won == best_count) for won in tricks)
    totals = tuple(total + point for total, point in zip(state.totals, points, strict=True))
    over = state.round == state.options.rounds
    result = RoundResult(
        round=state.round,
        points=points,
        totals=totals,
        winners=tuple(other for other, point in enumerate(points) if point),
        losers_pay_again=False,
        game_over=over,
        places=ranking(totals) if over else (),
    )
    return Played(seat, played.card, None, winner, tricks), Ended(result, state.dealt)


def evolve(state: State, event: Event) -> State:
    match event:
        case Dealt():
            hands = tuple(mask_of_texts(hand) for hand in event.hands)
            return State(
                state.options,
                event.round,
                to_act=event.leader,
                leader=event.leader,
                dealt=event.hands,
                hands=hands,
                totals=state.totals,
            )
        case Played():
            card = IDS[event.card]
            hands = tuple(hand & ~BITS[card] for hand in state.hands)
            after = state._replace(turn=state.turn + 1, to_act=event.to_act, hands=hands, trick=(*state.trick, card))
            if event.winner is None or event.tricks is None:
                return after
            return after._replace(leader=event.winner, trick=(), tricks=event.tricks)
        case Ended():
            return state._replace(totals=event.result.totals, result=event.result)


def turn(state: State) -> Turn:
    seats = () if state.to_act is None else (state.to_act,)
    return Turn(state.round, state.turn, seats, state.result is not None and state.result.game_over)


def legal_cards(state: State, seat: int) -> int:
    hand = state.hands[seat]
    return hand & SUIT_MASKS[SUIT_OF[state.trick[0]]] or hand if state.trick else hand


def legal(state: State, seat: int) -> Legal:
    return Legal(texts_of(legal_cards(state, seat))) if seat == state.to_act else Legal()


def view(state: State, seat: int | None) -> View:
    return View(
        seat=seat,
        options=state.options,
        round=state.round,
        turn=state.turn,
        to_act=state.to_act,
        leader=state.leader,
        hand=() if seat is None else texts_of(state.hands[seat]),
        hand_counts=tuple(hand.bit_count() for hand in state.hands),
        trick=tuple(TEXTS[card] for card in state.trick),
        tricks=state.tricks,
        totals=state.totals,
        legal=Legal() if seat is None else legal(state, seat),
    )


class DealtPublic(TypedDict):
    round: int
    leader: int
    to_act: int
    turn: int


class PlayedPublic(TypedDict):
    seat: int
    card: str
    winner: int | None
    to_act: int | None
    turn: int


class EndedPublic(TypedDict):
    totals: tuple[int, ...]
    game_over: bool
    hands: Hands


def show(before: State, event: Event) -> Shown:
    match event:
        case Dealt():
            public = {"round": event.round, "leader": event.leader, "to_act": event.leader, "turn": 0}
            return Shown(public, {seat: {"hand": hand} for seat, hand in enumerate(event.hands)})
        case Played():
            return Shown(
                {
                    "seat": event.seat,
                    "card": event.card,
                    "winner": event.winner,
                    "to_act": event.to_act,
                    "turn": before.turn + 1,
                }
            )
        case Ended():
            return Shown({"totals": event.result.totals, "game_over": event.result.game_over, "hands": event.hands})


def verify_deal(options: PlainOptions, record: Hands, chance: Chance, round: int) -> tuple[str, ...]:
    return () if record == hands_of(chance) else ("hands: others were due",)


PLAIN_TRICKS: Final[Game[PlainOptions, State, Event, PlayCard, View, Hands]] = Game(
    name="plain_tricks",
    title="Plain tricks",
    rules_version=1,
    direction="clockwise",
    stake_unit="round",
    options_type=PlainOptions,
    state_type=State,
    state_version=1,
    view_type=View,
    events={"plain_dealt": Dealt, "plain_played": Played, "plain_ended": Ended},
    shown={
        "plain_dealt": ShownTypes(DealtPublic, OwnHand),
        "plain_played": ShownTypes(PlayedPublic),
        "plain_ended": ShownTypes(EndedPublic),
    },
    decisions={"play_card": PlayCard},
    seat_counts=lambda _: (SEATS,),
    new=lambda options, _: State(options),
    deal=deal,
    decide=decide,
    evolve=evolve,
    turn=turn,
    legal=legal,
    choices=lambda legal: tuple(PlayCard(card) for card in legal.play),
    view=view,
    show=show,
    fallback=lambda view: PlayCard(TEXTS[lowest(mask_of_texts(view.legal.play))]),
    result=lambda state: state.result,
    deal_record=lambda state: state.dealt or None,
    verify_deal=verify_deal,
)
