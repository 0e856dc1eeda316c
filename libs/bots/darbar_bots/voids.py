"""Which suits others lack, and how likely it is that a card is not with them. Open this about what voids tell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from darbar_rules.cards import IDS_TWO_DECKS, SUITS


class Seen(Protocol):
    """A card that lies open."""

    @property
    def seat(self) -> int: ...

    @property
    def card(self) -> str: ...


def voids_shown(played: Iterable[Sequence[Seen]], suits: Sequence[int], seats: int) -> tuple[int, ...]:
    """By seat, a bit for each suit that it is known not to hold: who did not follow a suit has no more of it.

    `played` are tricks, `suits` says of each card to which suit it belongs.
    """
    voids = [0] * seats
    for trick in played:
        if trick:
            led = suits[IDS_TWO_DECKS[trick[0].card]]
            for seen in trick:
                if suits[IDS_TWO_DECKS[seen.card]] != led:
                    voids[seen.seat] |= 1 << led
    return tuple(voids)


def misses(others: Collection[int], counts: Sequence[int], voids: Sequence[int]) -> Mapping[int, tuple[float, ...]]:
    """By other seat, then suit: how likely one unseen card of the suit is not with that seat.

    Each is with each seat that can hold it, by its number of cards.
    """
    missed: dict[int, list[float]] = {seat: [] for seat in others}
    for suit in range(len(SUITS)):
        holders = sum(counts[other] for other in others if not voids[other] >> suit & 1)
        for seat, by_suit in missed.items():
            by_suit.append(1.0 if voids[seat] >> suit & 1 or not holders else 1 - counts[seat] / holders)
    return {seat: tuple(by_suit) for seat, by_suit in missed.items()}
