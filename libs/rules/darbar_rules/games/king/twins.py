"""Other positions and deals that look the same to one seat. Open this to test that nothing hidden gets out (GEN-7).

A twin differs in everything that the seat may not know, whether or not it could have come about in play: what a seat is
shown must not depend on it. A seat of None is a spectator, who knows no hand at all.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from darbar_rules.cards import BITS, IDS, TEXTS, mask_of, mask_of_texts
from darbar_rules.games.king.events import Hands, RoundDealt
from darbar_rules.games.king.forms import FIRST_DECLARER_CARD
from darbar_rules.games.king.state import State

FIRST_ROUND: Final = 1


def twin(state: State, seat: int | None, dice: random.Random, *, keep: str | None = None) -> State:
    """The same state to this seat, with the other hands dealt differently; the card `keep` stays where it is."""
    if state.match.phase not in ("declaring", "playing"):
        return state  # Between rounds everything is public.
    known = mask_of(card for trick in state.middle.tricks for card in trick.cards) | mask_of(state.play.trick)
    known |= 0 if seat is None else state.play.hands[seat]
    fixed = {TEXTS[card] for card in range(len(BITS)) if known & BITS[card]} | _known_to_all(state.match.round)
    other = _exchange(state.deal.hands, fixed if keep is None else fixed | {keep}, dice)
    return state._replace(
        deal=state.deal._replace(hands=_exchanged(state.deal.hands, other)),
        play=state.play._replace(
            hands=tuple(
                mask_of_texts(other[card] for card in hand if held & BITS[IDS[card]])
                for hand, held in zip(state.deal.hands, state.play.hands, strict=True)
            )
        ),
    )


def twin_deal(event: RoundDealt, seat: int | None, dice: random.Random, *, sees: bool) -> RoundDealt:
    """Another deal that looks the same to this seat, which `sees` its own cards or does not yet."""
    known = set(event.hands[seat]) if sees and seat is not None else set()
    other = _exchange(event.hands, known | _known_to_all(event.round), dice)
    return replace(event, hands=_exchanged(event.hands, other))


def _known_to_all(round: int) -> set[str]:
    """Whoever declares the first of twenty hands holds the two of diamonds (K20-3); other decks do not have it."""
    return {FIRST_DECLARER_CARD} if round == FIRST_ROUND else set()


def _exchange(hands: Hands, fixed: Collection[str], dice: random.Random) -> dict[str, str]:
    cards = [card for hand in hands for card in hand]
    unknown = [card for card in cards if card not in fixed]
    return dict(zip(cards, cards, strict=True)) | dict(zip(unknown, dice.sample(unknown, len(unknown)), strict=True))


def _exchanged(hands: Hands, other: dict[str, str]) -> Hands:
    return tuple(tuple(other[card] for card in hand) for hand in hands)
