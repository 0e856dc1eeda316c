"""Which trump a leader names, and whom he wants with him. Open this about trump suits and convert cards (KR-11..14)."""

from __future__ import annotations

from typing import Final

from darbar_rules.cards import CARDS_IN_DECK, RANK_OF, SUITS, TEXTS, cards_of
from darbar_rules.games.kings_and_rebels.events import Convert
from darbar_rules.games.kings_and_rebels.options import Setup
from darbar_rules.games.kings_and_rebels.pack import COPIES, POINTS

RANK_WEIGHTS: Final = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.5, 0.9, 1.5, 2.2, 3.0)
LENGTH_WEIGHT: Final = 1.6
TRUMP_POINTS_WEIGHT: Final = 0.01
# A trump is wanted before a card of another suit that is one rank higher.
TRUMP_WANTED: Final = 1.5


def trump_strength(setup: Setup, hand: int, suit: int) -> float:
    """How good this hand is with this trump suit, in no unit."""
    held = hand & setup.masks[suit][suit]
    ranks = sum(RANK_WEIGHTS[RANK_OF[card]] for card in cards_of(held))
    return LENGTH_WEIGHT * held.bit_count() + ranks + TRUMP_POINTS_WEIGHT * sum(POINTS[card] for card in cards_of(held))


def best_trump(setup: Setup, hand: int) -> int:
    """Of equally good suits the first of C, D, H, S."""
    return max(range(len(SUITS)), key=lambda suit: (trump_strength(setup, hand, suit), -suit))


def best_converts(setup: Setup, hand: int, trump: int, count: int) -> tuple[Convert, ...]:
    """The strongest cards that others are sure to play first; whoever holds one should be strong himself."""
    wanted = sorted(
        (face for face in range(CARDS_IN_DECK) if setup.copies[face] and not hand & COPIES[face]),
        key=lambda face: (-_wanted(setup, face, trump), face),
    )
    return tuple(Convert(TEXTS[face], 1) for face in wanted[:count])


def _wanted(setup: Setup, face: int, trump: int) -> float:
    """Trumps from the top, and aces."""
    return setup.ranks[face] + (TRUMP_WANTED if setup.suits[trump][face] == trump else 0.0)
