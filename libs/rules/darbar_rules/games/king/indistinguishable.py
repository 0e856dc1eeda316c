"""Other positions and events that look the same to one seat. Open this to test that nothing hidden gets out (GEN-7).

They differ in everything that the seat may not know, whether or not they could have come about in play: what a seat is
shown must not depend on it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from darbar_rules.cards import BITS, IDS, TEXTS, mask_of, mask_of_texts, packed, unpacked
from darbar_rules.game import AnyGame, RuleRefused
from darbar_rules.games.king.events import CardPlayed, Declared, Event, RoundDealt, RoundEnded
from darbar_rules.games.king.forms import FIRST_DECLARER_CARD
from darbar_rules.games.king.options import King20Options, KingLongOptions, KingOptions, KingShortOptions
from darbar_rules.games.king.state import State
from darbar_rules.indistinguishable import Means, exchange, exchanged
from darbar_rules.testing import Step, random_game

FIRST_ROUND: Final = 1
TRIES_MAX: Final = 4


def elsewhere(
    game: AnyGame, step: Step, seat: int | None, dice: random.Random
) -> tuple[State, tuple[Event, ...]] | None:
    """The step as it could have gone in another position without this seat seeing a difference."""
    first = step.events[0]
    if isinstance(first, RoundDealt):
        # A contract that is declared by itself follows at once, and shows what was dealt blind.
        sees = not first.blind or len(step.events) > 1
        return step.before, (other_deal(first, seat, dice, sees=sees), *step.events[1:])
    for _ in range(TRIES_MAX):
        other = other_position(step.before, seat, dice, keep=first.card if isinstance(first, CardPlayed) else None)
        try:
            events = game.decide(other, step.seat or 0, step.decision, step.chance)
        except RuleRefused:
            continue  # There the seat had to play another card.
        if [look_of(event) for event in events] == [look_of(event) for event in step.events]:
            return other, events
    return None


def look_of(event: Event) -> object:
    """What a person at a real card table would see happen once the cards are dealt: nothing is done in secret."""
    match event:
        case RoundDealt():
            raise AssertionError("a deal looks different to each seat")
        case Declared():
            return event.seat, event.contract, event.suit
        case CardPlayed():
            return event.seat, event.card
        case RoundEnded():
            return "everything"


def other_position(state: State, seat: int | None, dice: random.Random, *, keep: str | None = None) -> State:
    """The same state to this seat, with the other hands dealt differently; the card `keep` stays where it is."""
    if state.match.phase not in ("declaring", "playing"):
        return state  # Between rounds everything is public.
    known = mask_of(card for trick in state.middle.tricks for card in trick.cards) | mask_of(state.play.trick)
    known |= 0 if seat is None else state.play.hands[seat]
    fixed = {TEXTS[card] for card in range(len(BITS)) if known & BITS[card]} | _known_to_all(state.match.round)
    dealt = unpacked(state.deal.hands)
    other = exchange(dealt, fixed if keep is None else fixed | {keep}, dice)
    return state._replace(
        deal=state.deal._replace(hands=packed(exchanged(dealt, other))),
        play=state.play._replace(
            hands=tuple(
                mask_of_texts(other[card] for card in hand if held & BITS[IDS[card]])
                for hand, held in zip(dealt, state.play.hands, strict=True)
            )
        ),
    )


def other_deal(event: RoundDealt, seat: int | None, dice: random.Random, *, sees: bool) -> RoundDealt:
    """Another deal that looks the same to this seat, which `sees` its own cards or does not yet."""
    known = set(event.hands[seat]) if sees and seat is not None else set()
    other = exchange(event.hands, known | _known_to_all(event.round), dice)
    return replace(event, hands=exchanged(event.hands, other))


def _known_to_all(round: int) -> set[str]:
    """Whoever declares the first of twenty hands holds the two of diamonds (K20-3); other decks do not have it."""
    return {FIRST_DECLARER_CARD} if round == FIRST_ROUND else set()


def _two_rounds(game: AnyGame, options: KingOptions, seed: int) -> Iterator[Step]:
    """The first of a game, which everybody knows the first declarer's card of, and another one."""
    return random_game(game, options, seed, rounds_max=2)


def _means(tables: Mapping[str, KingOptions]) -> Means:
    return Means(tables=tables, elsewhere=elsewhere, play=_two_rounds, rounds=32)


MEANS: Final = {
    "king_20": _means({"plain": King20Options(), "with duties": King20Options("played", True, True, True, False)}),
    "king_short": _means({"plain": KingShortOptions()}),
    "king_long": _means(
        {"next leads": KingLongOptions(first_leader="next"), "blind": KingLongOptions(blind_choice=True)}
    ),
}
