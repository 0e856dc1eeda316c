"""Which cards may be played, who takes a trick, whom a card converts. Open this about legality (KR-15 to KR-20)."""

from __future__ import annotations

from darbar_rules.cards import BITS, TEXTS
from darbar_rules.deal import Chance
from darbar_rules.game import Legal, Refusal, RuleRefused, check_turn
from darbar_rules.games.kings_and_rebels.auction import NOTHING, bid, legal_bids, pass_bid
from darbar_rules.games.kings_and_rebels.events import (
    Bid,
    CardPlayed,
    Convert,
    Decision,
    Event,
    NameConverts,
    PassBid,
    PlayCard,
    TrickTaken,
)
from darbar_rules.games.kings_and_rebels.naming import TRUMP_MARK, legal_names, name_converts, namings
from darbar_rules.games.kings_and_rebels.options import Setup
from darbar_rules.games.kings_and_rebels.pack import COPIES, FACES, POINTS, SECOND_COPY, held_as, texts_of
from darbar_rules.games.kings_and_rebels.scoring import round_ended
from darbar_rules.games.kings_and_rebels.state import Deal, State, evolve


def decide(state: State, seat: int, decision: Decision, chance: Chance) -> tuple[Event, ...]:
    """What follows from a decision."""
    match decision:
        case PlayCard():
            return play_card(state, seat, decision.card)
        case Bid():
            return bid(state, seat, decision.points)
        case PassBid():
            return pass_bid(state, seat, chance)
        case NameConverts():
            return name_converts(state, seat, decision)
        case _:
            raise RuleRefused(Refusal.DECISION_UNKNOWN)


def legal(state: State, seat: int) -> Legal:
    """Everything that this seat may decide now; while others bid, that can be a pass (KR-8)."""
    if state.match.phase == "bidding":
        return legal_bids(state, seat)
    if seat != state.play.to_act:
        return NOTHING
    if state.match.phase == "naming":
        return legal_names(state.setup)
    return Legal(texts_of(legal_cards(state)))


def choices(legal: Legal) -> tuple[Decision, ...]:
    """Cards and bids, all that are offered, and some of the many ways to name convert cards; a pass comes last."""
    plays = [PlayCard(card) for card in legal.play]
    for text in legal.play:
        either = text.removesuffix(SECOND_COPY)
        if either not in legal.play:
            plays.append(PlayCard(either))  # Without its "#2" it means whichever copy is held (KR-16).
    powers = (PassBid(),) if legal.also else ()
    if legal.name and legal.name[0].startswith(TRUMP_MARK):
        return (*plays, *namings(legal.name), *powers)
    return (*plays, *(Bid(int(points)) for points in legal.name), *powers)


def legal_cards(state: State) -> int:
    """The cards that the seat on turn may play, as a mask: whoever cannot follow plays anything (KR-19)."""
    setup, play, trump = state.setup, state.play, state.deal.trump
    assert play.to_act is not None
    assert trump is not None
    hand = play.hands[play.to_act]
    if play.trick:
        return hand & setup.masks[trump][setup.suits[trump][play.trick[0]]] or hand
    return hand


def play_card(state: State, seat: int, text: str) -> tuple[Event, ...]:
    """A card, and what follows from it without a further decision: a Rebel more, the end of the round."""
    phase = state.match.phase
    if phase == "bidding":
        raise RuleRefused(Refusal.NOT_NOW)
    check_turn(state.play.to_act, seat)
    if phase != "playing":
        raise RuleRefused(Refusal.TRUMP_NOT_CHOSEN)
    if text not in state.setup.ids:
        raise RuleRefused(Refusal.CARD_UNKNOWN, card=text)
    card = held_as(state.play.hands[seat], text)
    if card is None:
        raise RuleRefused(Refusal.CARD_NOT_HELD, card=text)
    allowed = legal_cards(state)
    if not allowed & BITS[card]:
        raise RuleRefused(Refusal.MUST_FOLLOW_SUIT, legal=texts_of(allowed))
    event = _card_played(state, seat, card)
    if event.to_act is None:
        return event, round_ended(evolve(state, event))
    return (event,)


def beats(setup: Setup, trump: int, card: int, best: int) -> bool:
    """Whether a card takes the trick from its best card so far; of equal ones the first stays (KR-16, KR-17)."""
    suits, ranks = setup.suits[trump], setup.ranks
    suit = suits[card]
    if suit != suits[best]:
        return suit == trump
    if ranks[card] == ranks[best]:
        return setup.options.later_equal_card_wins
    return ranks[card] > ranks[best]


def _card_played(state: State, seat: int, card: int) -> CardPlayed:
    setup, _, _, deal, middle, play = state
    trick, turn = play.trick, play.turn + 1
    assert deal.trump is not None
    converted, spent = _converts(state, seat, card) if deal.watched >> FACES[card] & 1 else (None, None)
    winning = play.winning
    if not trick or beats(setup, deal.trump, card, trick[(winning - play.leader) % setup.seats]):
        winning = seat
    if len(trick) + 1 < setup.seats:
        to_act = (seat + 1) % setup.seats
        return CardPlayed(seat, TEXTS[card], winning, turn, to_act, None, converted, spent)
    points = POINTS[card] + sum([POINTS[one] for one in trick])
    captured = middle.captured
    captured = (*captured[:winning], captured[winning] + points, *captured[winning + 1 :])
    over = len(middle.tricks) + 1 == setup.held
    taken = TrickTaken(winning, captured)
    return CardPlayed(seat, TEXTS[card], winning, turn, None if over else winning, taken, converted, spent)


def _converts(state: State, seat: int, card: int) -> tuple[Convert | None, Convert | None]:
    """The convert card that this play is, if it is one: of a King it makes a Rebel, of a Rebel nothing (KR-15)."""
    face, deal = FACES[card], state.deal
    left = sum((hand & COPIES[face]).bit_count() for hand in state.play.hands)
    convert = Convert(TEXTS[face], state.setup.copies[face] - left + 1)
    if convert not in deal.converts:
        return None, None
    return (None, convert) if is_rebel(deal, seat) else (convert, None)


def is_rebel(deal: Deal, seat: int) -> bool:
    return seat in deal.rebels
