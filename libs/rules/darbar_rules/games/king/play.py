"""Which cards may be played, and what follows from one. Open this about legality (K20-9 to K20-14, K32-5 to K32-8)."""

from __future__ import annotations

from typing import Final

from darbar_rules.cards import BITS, IDS, PACKED, SUIT_MASKS, SUIT_OF, TEXTS, beats, texts_of
from darbar_rules.deal import Chance
from darbar_rules.game import Legal, Refusal, RuleRefused, check_turn
from darbar_rules.games.king.contracts import HEARTS, KING_OF_HEARTS, Contract
from darbar_rules.games.king.declaring import declaration_of, declare, names_left
from darbar_rules.games.king.events import CardPlayed, Decision, Declare, Event, PlayCard
from darbar_rules.games.king.options import SEATS
from darbar_rules.games.king.scoring import ends_deal, round_ended, trick_taken
from darbar_rules.games.king.state import Play, State, contract_of, evolve

NOTHING: Final = Legal()


def decide(state: State, seat: int, decision: Decision, chance: Chance) -> tuple[Event, ...]:
    """What follows from a decision; none of them needs chance."""
    match decision:
        case PlayCard():
            check_turn(state.play.to_act, seat)
            return play_card(state, seat, decision.card)
        case Declare():
            check_turn(state.play.to_act, seat)
            return declare(state, seat, decision)
        case _:
            raise RuleRefused(Refusal.DECISION_UNKNOWN)


def legal(state: State, seat: int) -> Legal:
    """Everything that this seat may decide now."""
    if seat != state.play.to_act:
        return NOTHING
    if state.match.phase == "declaring":
        return Legal(name=names_left(state, seat))
    return Legal(texts_of(legal_cards(state)))


def choices(legal: Legal) -> tuple[Decision, ...]:
    """Everything that `legal` stands for."""
    return (*(PlayCard(card) for card in legal.play), *(declaration_of(name) for name in legal.name))


def legal_cards(state: State) -> int:
    """The cards that the seat on turn may play, as a mask: never empty while it holds a card (GEN-2)."""
    play, contract = state.play, contract_of(state)
    assert play.to_act is not None
    hand = play.hands[play.to_act]
    if not play.trick:
        cards = hand & ~HEARTS or hand if hearts_are_banned(state, contract) else hand
    else:
        cards = hand & SUIT_MASKS[SUIT_OF[play.trick[0]]]
        if not cards:
            cards = _discards(contract, play, hand)
        elif contract.due_under_best:
            cards = cards & contract.due_under_best & (BITS[_best(play)] - 1) or cards
    if contract.king_of_hearts_first and cards & KING_OF_HEARTS:
        return KING_OF_HEARTS
    return cards


def hearts_are_banned(state: State, contract: Contract) -> bool:
    """Whether a heart may be led by a hand of hearts alone (K20-13, K32-5)."""
    return contract.hearts_led != "free" and not state.middle.hearts_broken


def play_card(state: State, seat: int, text: str) -> tuple[Event, ...]:
    """A card, and what follows from it without a further decision: the end of the deal."""
    if state.match.phase == "declaring":
        raise RuleRefused(Refusal.CONTRACT_NOT_DECLARED)
    card = IDS.get(text)
    if card is None:
        raise RuleRefused(Refusal.CARD_UNKNOWN, card=text)
    if not state.play.hands[seat] & BITS[card]:
        raise RuleRefused(Refusal.CARD_NOT_HELD, card=text)
    allowed = legal_cards(state)
    if not allowed & BITS[card]:
        raise RuleRefused(_reason(state, card, allowed), legal=texts_of(allowed))
    event = _card_played(state, seat, card)
    if event.to_act is None:
        return event, round_ended(evolve(state, event))
    return (event,)


def _discards(contract: Contract, play: Play, hand: int) -> int:
    """What a seat that cannot follow suit may play (K20-10, K20-11; K32-7 has no duty)."""
    if play.trump is None:
        return hand & contract.due_when_void or hand
    trumps = hand & SUIT_MASKS[play.trump]
    best = _best(play)
    if contract.overtrump and SUIT_OF[best] == play.trump:
        return trumps & -BITS[best] or trumps or hand
    return trumps or hand


def _best(play: Play) -> int:
    """The card to which the trick goes as it lies now."""
    return play.trick[(play.winning - play.leader) % SEATS]


def _card_played(state: State, seat: int, card: int) -> CardPlayed:
    play = state.play
    trick, turn = play.trick, play.turn + 1
    if not trick:
        return CardPlayed(seat, TEXTS[card], seat, turn, (seat + 1) % SEATS)
    winning = seat if beats(card, _best(play), play.trump) else play.winning
    if len(trick) + 1 < SEATS:
        return CardPlayed(seat, TEXTS[card], winning, turn, (seat + 1) % SEATS)
    contract = contract_of(state)
    taken = trick_taken(contract, state.middle, trick + PACKED[card], winning, led=SUIT_OF[trick[0]])
    over = ends_deal(contract, taken, len(state.middle.tricks) + 1)
    return CardPlayed(seat, TEXTS[card], winning, turn, None if over else winning, taken)


def _reason(state: State, card: int, allowed: int) -> Refusal:
    """Why a card that is held may not be played."""
    play = state.play
    if play.trick:
        led = SUIT_OF[play.trick[0]]
        if SUIT_OF[card] != led and allowed & SUIT_MASKS[led]:
            return Refusal.MUST_FOLLOW_SUIT
    if allowed == KING_OF_HEARTS:
        return Refusal.MUST_PLAY_KING_OF_HEARTS
    if not play.trick:
        return Refusal.MAY_NOT_LEAD_HEARTS
    if SUIT_OF[card] == led:
        return Refusal.MUST_UNDERPLAY
    if play.trump is None:
        return Refusal.MUST_PLAY_PENALTY_CARD
    return Refusal.MUST_OVERTRUMP if SUIT_OF[card] == play.trump else Refusal.MUST_PLAY_TRUMP
