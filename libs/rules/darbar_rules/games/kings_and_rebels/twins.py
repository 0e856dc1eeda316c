"""Other positions and events that look the same to one seat. Open this to test that nothing hidden gets out (GEN-7).

A twin differs in everything that the seat may not know, whether or not it could have come about in play: what a seat is
shown must not depend on it. A seat of None is a spectator, who knows no hand at all.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from darbar_rules.cards import BITS, IDS, IDS_TWO_DECKS, TEXTS, mask_of
from darbar_rules.games.kings_and_rebels.events import Convert, ConvertsNamed, Fate, Hands, RoundDealt
from darbar_rules.games.kings_and_rebels.pack import FACES, mask_of_hand
from darbar_rules.games.kings_and_rebels.state import Deal, State
from darbar_rules.games.kings_and_rebels.terms import Terms
from darbar_rules.games.kings_and_rebels.view import knows_converts

PLAYING: Final = ("bidding", "naming", "playing")


class Played(NamedTuple):
    """A play that lies open: whose it was, and whether everybody then knew that seat for a Rebel."""

    convert: Convert
    seat: int
    rebel: bool


def twin(
    state: State, seat: int | None, dice: random.Random, *, card: str | None = None, convert: Convert | None = None
) -> State:
    """The same state to this seat; the card that is to be played stays where it is, and what it converts."""
    if state.match.phase not in PLAYING:
        return state  # Between rounds everything is public.
    known = mask_of(one for trick in state.middle.tricks for one in trick.cards) | mask_of(state.play.trick)
    known |= 0 if seat is None else state.play.hands[seat]
    fixed = {TEXTS[one] for one in range(len(TEXTS)) if known & BITS[one]} | ({card} if card is not None else set())
    other = _exchange(state.deal.hands, fixed, dice)
    deal = state.deal._replace(hands=_exchanged(state.deal.hands, other))
    if state.match.phase == "playing" and not knows_converts(state, seat):
        deal = _other_converts(state, deal, dice, kept=convert)
    return state._replace(
        deal=deal,
        play=state.play._replace(
            hands=tuple(
                mask_of_hand(tuple(other[one] for one in hand if held & BITS[IDS_TWO_DECKS[one]]))
                for hand, held in zip(state.deal.hands, state.play.hands, strict=True)
            )
        ),
    )


def twin_deal(event: RoundDealt, seat: int | None, dice: random.Random) -> RoundDealt:
    """Another deal that looks the same to this seat."""
    known = () if seat is None else event.hands[seat]
    return replace(event, hands=_exchanged(event.hands, _exchange(event.hands, known, dice)))


def twin_naming(event: ConvertsNamed, terms: Terms, seat: int | None, dice: random.Random) -> ConvertsNamed:
    """Other convert cards, for a seat that is not told them."""
    if seat == event.seat or terms.options.convert_cards == "public":
        return event
    return replace(event, converts=_drawn(terms, dice, free=_every(terms), kept=()))


def _other_converts(state: State, deal: Deal, dice: random.Random, *, kept: Convert | None) -> Deal:
    """Other convert cards that would have led to the same Rebels: spent ones may lie anywhere in Rebels' tricks."""
    played = list(_history(state))
    shown = {Convert(fate.card, fate.ordinal) for fate in deal.fates if fate.joined}
    kept_all = (*shown, kept) if kept is not None and kept not in shown else tuple(shown)
    by_kings = {play.convert for play in played if not play.rebel}
    free = [one for one in _every(state.terms) if one not in by_kings and one not in kept_all]
    converts = _drawn(state.terms, dice, free=free, kept=kept_all)
    fates = tuple(
        Fate(play.convert.card, play.convert.ordinal, play.seat, joined=play.convert in shown)
        for play in played
        if play.convert in converts
    )
    return deal._replace(converts=converts, watched=mask_of({IDS[convert.card] for convert in converts}), fates=fates)


def _history(state: State) -> Iterator[Played]:
    deal, seats = state.deal, state.terms.seats
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


def _every(terms: Terms) -> list[Convert]:
    return [Convert(text, ordinal) for text, face in IDS.items() for ordinal in range(1, terms.copies[face] + 1)]


def _drawn(terms: Terms, dice: random.Random, *, free: list[Convert], kept: tuple[Convert, ...]) -> tuple[Convert, ...]:
    count = dice.randint(max(1, len(kept)), terms.converts_max)
    drawn = [*kept, *dice.sample(free, min(count - len(kept), len(free)))]
    return tuple(dice.sample(drawn, len(drawn)))


def _exchange(hands: Hands, fixed: Collection[str], dice: random.Random) -> dict[str, str]:
    cards = [card for hand in hands for card in hand]
    unknown = [card for card in cards if card not in fixed]
    return dict(zip(cards, cards, strict=True)) | dict(zip(unknown, dice.sample(unknown, len(unknown)), strict=True))


def _exchanged(hands: Hands, other: dict[str, str]) -> Hands:
    return tuple(tuple(other[card] for card in hand) for hand in hands)
