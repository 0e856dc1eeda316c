"""Tricks in which every card lies open: as a state keeps them and as everybody sees them. Open this about views."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from darbar_rules.cards import TEXTS

SEATS_MAX: Final = 12
# Of a thousand tables at once, in all their seats.
TRICKS_KEPT_MAX: Final = 16_384


class Trick(NamedTuple):
    """A finished trick; its cards in the order of play, a byte each."""

    leader: int
    cards: bytes
    winner: int


@dataclass(frozen=True, slots=True)
class SeenCard:
    seat: int
    card: str


@dataclass(frozen=True, slots=True)
class SeenTrick:
    leader: int
    cards: tuple[SeenCard, ...]
    winner: int


# By seat and card: views of long deals are mostly such cards, and there are few different ones.
_SEEN_CARDS: Final = tuple(tuple(SeenCard(seat, text) for text in TEXTS) for seat in range(SEATS_MAX))
# The same by number of seats and by leader: his cards come first, then the next seat's.
_IN_ORDER: Final = tuple(
    tuple(_SEEN_CARDS[leader:seats] + _SEEN_CARDS[:leader] for leader in range(seats)) for seats in range(SEATS_MAX + 1)
)


def seen_cards(leader: int, cards: bytes, seats: int) -> tuple[SeenCard, ...]:
    """Each card with the seat that played it; `seats` is how many there are at the table."""
    return tuple([of_seat[card] for of_seat, card in zip(_IN_ORDER[seats][leader], cards, strict=False)])


# Finished tricks are looked at by everybody, with each card: those before the last one are known by then.
@lru_cache(maxsize=TRICKS_KEPT_MAX)
def seen_tricks(tricks: tuple[Trick, ...], seats: int) -> tuple[SeenTrick, ...]:
    """Each trick as everybody sees it."""
    if not tricks:
        return ()
    leader, cards, winner = tricks[-1]
    return (*seen_tricks(tricks[:-1], seats), SeenTrick(leader, seen_cards(leader, cards, seats), winner))
