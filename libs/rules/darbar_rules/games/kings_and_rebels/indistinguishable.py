"""Other positions and events that look the same to one seat. Open this to test that nothing hidden gets out (GEN-7).

They differ in everything that the seat may not know, whether or not they could have come about in play: what a seat is
shown must not depend on it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from darbar_rules.cards import BITS, IDS, IDS_TWO_DECKS, TEXTS, mask_of, packed, unpacked
from darbar_rules.game import AnyGame, RuleRefused
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
)
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions, Setup
from darbar_rules.games.kings_and_rebels.pack import FACES, mask_of_hand
from darbar_rules.games.kings_and_rebels.state import Deal, State
from darbar_rules.games.kings_and_rebels.testing import lively_game
from darbar_rules.games.kings_and_rebels.view import knows_converts
from darbar_rules.indistinguishable import Means, exchange, exchanged
from darbar_rules.testing import Step

TRIES_MAX: Final = 4
PLAYING: Final = ("bidding", "naming", "playing")


class Played(NamedTuple):
    """A play that lies open: whose it was, and whether everybody then knew that seat for a Rebel."""

    convert: Convert
    seat: int
    rebel: bool


def elsewhere(
    game: AnyGame, step: Step, seat: int | None, dice: random.Random
) -> tuple[State, tuple[Event, ...]] | None:
    """The step as it could have gone in another position without this seat seeing a difference."""
    first = step.events[0]
    if not isinstance(first, CardPlayed):
        other = other_position(step.before, seat, dice)
        return other, tuple(_other_event(step.before, event, seat, dice) for event in step.events)
    looks = [look_of(step.before, event, seat) for event in step.events]
    for _ in range(TRIES_MAX):
        other = other_position(step.before, seat, dice, card=first.card, convert=first.converted)
        try:
            events = game.decide(other, step.seat or 0, step.decision, step.chance)
        except RuleRefused:
            continue  # There the seat had to play another card.
        if [look_of(other, event, seat) for event in events] == looks:
            return other, events
    return None


def look_of(before: State, event: Event, seat: int | None) -> object:
    """What a person on this seat would see happen at a real card table, in words that `show` has no part in."""
    match event:
        case CardPlayed():
            leads = seat is not None and seat == before.deal.leader
            told = leads or before.setup.options.convert_cards == "public"
            return event.seat, event.card, event.converted, event.spent if told else None
        case RoundEnded():
            return "everything"
        case RoundDealt() | BidMade() | BidPassed() | ConvertsNamed():
            raise AssertionError("what happens before the first trick is made, not tried")


def _other_event(before: State, event: Event, seat: int | None, dice: random.Random) -> Event:
    if isinstance(event, RoundDealt):
        return other_deal(event, seat, dice)
    if isinstance(event, ConvertsNamed):
        return other_naming(event, before.setup, seat, dice)
    return event


def other_position(
    state: State, seat: int | None, dice: random.Random, *, card: str | None = None, convert: Convert | None = None
) -> State:
    """The same state to this seat; the card that is to be played stays where it is, and what it converts."""
    if state.match.phase not in PLAYING:
        return state  # Between rounds everything is public.
    known = mask_of(one for trick in state.middle.tricks for one in trick.cards) | mask_of(state.play.trick)
    known |= 0 if seat is None else state.play.hands[seat]
    fixed = {TEXTS[one] for one in range(len(TEXTS)) if known & BITS[one]} | ({card} if card is not None else set())
    dealt = unpacked(state.deal.hands)
    other = exchange(dealt, fixed, dice)
    deal = state.deal._replace(hands=packed(exchanged(dealt, other)))
    if state.match.phase == "playing" and not knows_converts(state, seat):
        deal = _other_converts(state, deal, dice, kept=convert)
    return state._replace(
        deal=deal,
        play=state.play._replace(
            hands=tuple(
                mask_of_hand(tuple(other[one] for one in hand if held & BITS[IDS_TWO_DECKS[one]]))
                for hand, held in zip(dealt, state.play.hands, strict=True)
            )
        ),
    )


def other_deal(event: RoundDealt, seat: int | None, dice: random.Random) -> RoundDealt:
    """Another deal that looks the same to this seat."""
    known = () if seat is None else event.hands[seat]
    return replace(event, hands=exchanged(event.hands, exchange(event.hands, known, dice)))


def other_naming(event: ConvertsNamed, setup: Setup, seat: int | None, dice: random.Random) -> ConvertsNamed:
    """Other convert cards, for a seat that is not told them."""
    if seat == event.seat or setup.options.convert_cards == "public":
        return event
    return replace(event, converts=_drawn(setup, dice, free=_every(setup), kept=()))


def _other_converts(state: State, deal: Deal, dice: random.Random, *, kept: Convert | None) -> Deal:
    """Other convert cards that would have led to the same Rebels: spent ones may lie anywhere in Rebels' tricks."""
    played = list(_history(state))
    shown = {Convert(fate.card, fate.ordinal) for fate in deal.fates if fate.joined}
    kept_all = (*shown, kept) if kept is not None and kept not in shown else tuple(shown)
    by_kings = {play.convert for play in played if not play.rebel}
    free = [one for one in _every(state.setup) if one not in by_kings and one not in kept_all]
    converts = _drawn(state.setup, dice, free=free, kept=kept_all)
    fates = tuple(
        Fate(play.convert.card, play.convert.ordinal, play.seat, joined=play.convert in shown)
        for play in played
        if play.convert in converts
    )
    return deal._replace(converts=converts, watched=mask_of({IDS[convert.card] for convert in converts}), fates=fates)


def _history(state: State) -> Iterator[Played]:
    deal, seats = state.deal, state.setup.seats
    joined = {Convert(fate.card, fate.ordinal) for fate in deal.fates if fate.joined}
    rebels = {deal.leader}
    counts: dict[int, int] = {}
    tricks = [(trick.leader, trick.cards) for trick in state.middle.tricks]
    for leader, cards in (*tricks, (state.play.leader, state.play.trick)):
        for place, card in enumerate(cards):
            seat, face = (leader + place) % seats, FACES[card]
            counts[face] = counts.get(face, 0) + 1
            convert = Convert(TEXTS[face], counts[face])
            yield Played(convert, seat, seat in rebels)
            if convert in joined:
                rebels.add(seat)


def _every(setup: Setup) -> list[Convert]:
    return [Convert(text, ordinal) for text, face in IDS.items() for ordinal in range(1, setup.copies[face] + 1)]


def _drawn(setup: Setup, dice: random.Random, *, free: list[Convert], kept: tuple[Convert, ...]) -> tuple[Convert, ...]:
    count = dice.randint(max(1, len(kept)), setup.converts_max)
    drawn = [*kept, *dice.sample(free, min(count - len(kept), len(free)))]
    return tuple(dice.sample(drawn, len(drawn)))


MEANS: Final = {
    "kings_and_rebels": Means(
        tables={
            "four": KingsAndRebelsOptions(seats=4),
            "five, passed out": KingsAndRebelsOptions(last_seat_must_bid=False),
            "two decks": KingsAndRebelsOptions(seats=6, decks=2),
            "top trump": KingsAndRebelsOptions(seats=7, three_of_spades_top_trump=True, later_equal_card_wins=True),
            "public": KingsAndRebelsOptions(seats=4, convert_cards="public"),
        },
        elsewhere=elsewhere,
        play=lambda _, options, seed: lively_game(options, seed),
        rounds=20,
    )
}
