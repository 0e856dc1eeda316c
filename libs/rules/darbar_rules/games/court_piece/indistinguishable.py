"""Other positions and events that look the same to one seat. Open this to test that nothing hidden gets out (GEN-7).

They differ in everything that the seat may not know, whether or not they could have come about in play: what a seat is
shown must not depend on it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from darbar_rules.cards import BITS, IDS, SUIT_OF, cards_of, mask_of, packed, texts_of, unpacked
from darbar_rules.game import AnyGame, RuleRefused
from darbar_rules.games.court_piece.deals import CARDS_BEFORE_CALL
from darbar_rules.games.court_piece.events import (
    CardPlayed,
    DealTry,
    Event,
    Hands,
    PlayCard,
    RoundDealt,
    RoundEnded,
    TrumpChosen,
    TrumpShown,
)
from darbar_rules.games.court_piece.options import SEATS, CourtPieceOptions, TrumpMode
from darbar_rules.games.court_piece.state import Deal, State, packed_trick, trump_is_hidden
from darbar_rules.indistinguishable import Means
from darbar_rules.testing import Step

TRIES_MAX: Final = 4
TRIES_SHOWN_MAX: Final = 4


def elsewhere(
    game: AnyGame, step: Step, seat: int | None, dice: random.Random
) -> tuple[State, tuple[Event, ...]] | None:
    """The step as it could have gone in another position without this seat seeing a difference."""
    first = step.events[0]
    if isinstance(first, RoundDealt):
        return other_position(step.before, seat, dice), (other_deal(first, seat, dice),)
    if isinstance(first, TrumpChosen):
        return other_position(step.before, seat, dice), (other_choice(first, seat, dice),)
    keep = first.card if isinstance(first, CardPlayed) and not first.face_down else None
    keep = first.card if isinstance(first, TrumpShown) else keep
    for _ in range(TRIES_MAX):
        other = other_position(step.before, seat, dice, keep=keep)
        decision = step.decision
        if isinstance(first, CardPlayed) and first.face_down:
            decision = PlayCard(dice.choice(game.legal(other, first.seat).play))
        try:
            events = game.decide(other, step.seat or 0, decision, step.chance)
        except RuleRefused:
            continue  # There the seat could follow suit.
        if [look_of(event, seat) for event in events] == [look_of(event, seat) for event in step.events]:
            return other, events
    return None


def look_of(event: Event, seat: int | None) -> object:
    """What a person on this seat would see happen at a real card table, in words that `show` has no part in."""
    match event:
        case RoundDealt() | TrumpChosen():
            raise AssertionError("dealing and choosing look different to each seat")
        case TrumpShown():
            return event.seat, event.card
        case CardPlayed():
            return event.seat, event.card if not event.face_down or event.seat == seat else "face down"
        case RoundEnded():
            return "everything"


def other_position(state: State, seat: int | None, dice: random.Random, *, keep: str | None = None) -> State:
    """The same state to this seat, with all else dealt differently; the card `keep` stays where it is."""
    if state.match.phase == "choosing":
        return _other_before_call(state, seat, dice)
    if state.match.phase != "playing":
        return state  # Between rounds everything is public.
    fixed = _known(state, seat) | (0 if keep is None else BITS[IDS[keep]])
    unknown = [card for card in _everywhere(state) if not fixed & BITS[card]]
    shuffled = dict(zip(unknown, dice.sample(unknown, len(unknown)), strict=True))
    return _exchanged(state, shuffled, dice)


def other_deal(event: RoundDealt, seat: int | None, dice: random.Random) -> RoundDealt:
    """Another deal that looks the same to this seat: before the call only the caller sees cards, his own."""
    calls = any(event.rest)
    keeps = seat if not calls or seat == event.caller else None
    known = () if keeps is None else event.hands[keeps]
    hands, rest = _dealt_again((*event.hands, *event.rest), known, dice)
    return replace(event, hands=hands, rest=rest, filtered=not event.filtered, tries=_other_tries(dice))


def other_choice(event: TrumpChosen, seat: int | None, dice: random.Random) -> TrumpChosen:
    """The same choice to this seat: of a hidden trump only the caller knows the card and the suit."""
    known = () if seat is None else event.hands[seat]
    hands, _ = _dealt_again(event.hands, known, dice)
    card, suit = event.card, event.suit
    if card is not None and seat != event.seat:
        card = dice.choice(hands[event.seat][:CARDS_BEFORE_CALL])
        suit = card[1]
    return replace(event, hands=hands, card=card, suit=suit, tries=_other_tries(dice))


def _other_before_call(state: State, seat: int | None, dice: random.Random) -> State:
    held = tuple(texts_of(hand) for hand in state.play.hands)
    rest = tuple(
        tuple(card for card in whole if card not in hand)
        for whole, hand in zip(unpacked(state.deal.hands), held, strict=True)
    )
    known = held[seat] if seat is not None and seat == state.match.caller else ()
    hands, others = _dealt_again((*held, *rest), known, dice)
    whole = tuple(hand + other for hand, other in zip(hands, others, strict=True))
    deal = Deal(packed(whole), not state.deal.filtered, _other_tries(dice))
    return state._replace(deal=deal, play=state.play._replace(hands=_masks(hands)))


def _known(state: State, seat: int | None) -> int:
    """Every card whose place this seat knows: its own, what lies open, and a face-down card that was shown."""
    play, caller, indicator = state.play, state.match.caller, state.deal.indicator
    known = mask_of(_played(state)) & ~play.face_down
    if seat is not None:
        known |= play.hands[seat]
    if seat == caller:
        known |= play.face_down
    if indicator is not None and (seat == caller or not trump_is_hidden(state)):
        known |= BITS[indicator]
    return known


def _everywhere(state: State) -> list[int]:
    cards = [IDS[text] for hand in state.play.hands for text in texts_of(hand)] + _played(state)
    if trump_is_hidden(state) and state.deal.indicator is not None:
        cards.append(state.deal.indicator)
    return cards


def _played(state: State) -> list[int]:
    return [card for trick in state.middle.tricks for card in trick.cards] + list(state.play.trick)


def _exchanged(state: State, other: dict[int, int], dice: random.Random) -> State:
    """The state with each card replaced by another one."""

    def cards(before: Iterable[int]) -> bytes:
        return bytes(other.get(card, card) for card in before)

    def mask(before: int) -> int:
        return mask_of(cards(cards_of(before)))

    play, deal = state.play, state.deal
    indicator = None if deal.indicator is None else other.get(deal.indicator, deal.indicator)
    return state._replace(
        deal=Deal(
            tuple(cards(hand) for hand in deal.hands),
            not deal.filtered,
            _other_tries(dice),
            deal.trump if indicator is None else SUIT_OF[indicator],
            deal.trump_seat,
            indicator,
        ),
        middle=state.middle._replace(
            packed_tricks=b"".join(
                packed_trick(trick._replace(cards=cards(trick.cards))) for trick in state.middle.tricks
            )
        ),
        play=play._replace(
            hands=tuple(mask(hand) for hand in play.hands),
            trick=cards(play.trick),
            face_down=mask(play.face_down),
        ),
    )


def _dealt_again(packets: Hands, known: tuple[str, ...], dice: random.Random) -> tuple[Hands, Hands]:
    """Packets of the same sizes from the same cards, the known ones where they were; the first four and the others."""
    cards = [card for packet in packets for card in packet if card not in known]
    dice.shuffle(cards)
    again = tuple(tuple(card if card in known else cards.pop() for card in packet) for packet in packets)
    return again[:SEATS], again[SEATS:]


def _other_tries(dice: random.Random) -> tuple[DealTry, ...]:
    return tuple(DealTry(1, number, ("honours",)) for number in range(dice.randint(1, TRIES_SHOWN_MAX)))


def _masks(hands: Hands) -> tuple[int, ...]:
    return tuple(mask_of(IDS[card] for card in hand) for hand in hands)


TRUMP_MODES: Final[tuple[TrumpMode, ...]] = ("hidden", "open", "kaat")
MEANS: Final = {
    "court_piece": Means(
        tables={mode: CourtPieceOptions(trump=mode) for mode in TRUMP_MODES}, elsewhere=elsewhere, rounds=168
    )
}
