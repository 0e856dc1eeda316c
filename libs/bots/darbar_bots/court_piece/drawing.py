"""Worlds of Court Piece: who may hold the unseen cards, and which of them lies face down. Open this about guessing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from darbar_bots.court_piece.known import Known
from darbar_bots.playouts import BIT_OF, SUIT_BITS, bits_of
from darbar_bots.worlds import Worlds
from darbar_rules.cards import IDS, SUIT_OF
from darbar_rules.games.court_piece.options import SEATS
from darbar_rules.games.court_piece.view import CourtPieceView

# The caller named the suit that he had most of: a trump is so many times as likely to be his.
CALLERS_TRUMP: Final = 1.6
# Of two suits that he may have hidden the one with twice as many cards is two to this power times as likely.
LONG_IS_HIDDEN: Final = 3
# The one that is lowest of so many: he hid a low card.
HIDDEN_OF: Final = 2


@dataclass(frozen=True, slots=True)
class World:
    """The hands as playouts have them, and the suit of the face-down card and this card, 0 for none."""

    hands: Sequence[int]
    hidden: int = 0
    indicator: int = 0


def drawn_worlds(view: CourtPieceView, known: Known, dice: Random, count: int) -> list[World]:
    """So many worlds. Raises ViewInvalid for a view that contradicts itself."""
    if view.options.trump == "hidden" and not view.trump_shown and known.hidden_card is None:
        return _with_unknown_trump(view, known, dice, count)
    suit = known.trump if known.hidden_trump is None else known.hidden_trump
    favours = suit is not None and known.mode != "kaat"
    favoured = SUIT_BITS[suit] if suit is not None and favours else 0
    hidden = 0 if known.hidden_trump is None else SUIT_BITS[known.hidden_trump]
    indicator = 0 if known.hidden_card is None else BIT_OF[known.hidden_card]
    places = Worlds(bits_of(known.unseen), _counts(view, known), _cannot(known))
    caller = known.caller or 0
    own = bits_of(known.hand)
    worlds = []
    for _ in range(count):
        drawn = places.draw(dice, favoured=favoured, place=caller, weight=CALLERS_TRUMP)
        worlds.append(World(_hands(known, own, drawn), hidden, indicator))
    return worlds


def _with_unknown_trump(view: CourtPieceView, known: Known, dice: Random, count: int) -> list[World]:
    """As somebody who doesn't know it: the caller hid a low card of a suit that he had many cards of."""
    caller = known.caller or 0
    cannot = _cannot(known)
    places = Worlds(bits_of(known.unseen), (*_counts(view, known), 1), (*cannot, 0))
    played = _played_by(view, caller)
    own = bits_of(known.hand)
    worlds = []
    for _ in range(count):
        drawn = places.draw(dice)
        if not cannot[caller] & drawn[-1]:
            held = drawn[caller] | drawn[-1]
            drawn[-1] = _hidden_of(held, played, dice)
            drawn[caller] = held ^ drawn[-1]
        hidden = next(suit for suit in SUIT_BITS if suit & drawn[-1])
        worlds.append(World(_hands(known, own, drawn), hidden, drawn[-1]))
    return worlds


def _hidden_of(held: int, played: Sequence[int], dice: Random) -> int:
    """Which of the caller's cards lies face down, when these are his and he has played so many of each suit."""
    suits = [held & suit for suit in SUIT_BITS]
    weights = [
        (suit.bit_count() + more) ** LONG_IS_HIDDEN if suit else 0 for suit, more in zip(suits, played, strict=True)
    ]
    (suit,) = dice.choices(suits, weights)
    above = min(dice.randrange(suit.bit_count()) for _ in range(HIDDEN_OF))
    for _ in range(above):
        suit &= suit - 1
    return suit & -suit


def _played_by(view: CourtPieceView, caller: int) -> list[int]:
    """How many cards of each suit he has laid openly."""
    played = [0] * len(SUIT_BITS)
    for trick in (*(trick.cards for trick in view.tricks), view.trick):
        for seen in trick:
            if seen.seat == caller and seen.card is not None:
                played[SUIT_OF[IDS[seen.card]]] += 1
    return played


def _hands(known: Known, own: int, drawn: Sequence[int]) -> list[int]:
    hands = list(drawn[:SEATS])
    hands[known.seat] = own
    return hands


def _counts(view: CourtPieceView, known: Known) -> tuple[int, ...]:
    """Of each hand but the own one, and of what the caller threw away unseen."""
    counts = [0 if seat == known.seat else count for seat, count in enumerate(known.counts)]
    thrown = sum(seen.card is None for trick in view.tricks for seen in trick.cards)
    return (*counts, thrown + sum(seen.card is None for seen in view.trick))


def _cannot(known: Known) -> tuple[int, ...]:
    """The cards that no seat's hand has, by its voids; anything may have been thrown away."""
    return (*(sum(SUIT_BITS[suit] for suit in range(len(SUIT_BITS)) if void >> suit & 1) for void in known.voids), 0)
