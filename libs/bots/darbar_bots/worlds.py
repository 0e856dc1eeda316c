"""Worlds: where the unseen cards may be, drawn so that nothing known is contradicted. Open this about what is likely.

Sets of cards are bit masks, whichever bit a card has: those of `darbar_rules.cards`, or of `playouts.py`. A place is a
hand, or wherever else cards lie. This is written so that it can be compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Final

from darbar_bots.playouts import LOT_BITS, next_lot
from darbar_bots.policy import ViewInvalid

if TYPE_CHECKING:
    from mypy_extensions import i64

# Weights are counted in thousandths.
WHOLE: Final = 1_000


class Worlds:
    """Draws worlds for one position: as many unseen cards as `counts` says lie in each place, none that it `cannot`."""

    def __init__(self, unseen: int, counts: Sequence[int], cannot: Sequence[int]) -> None:
        """Raises ViewInvalid when the cards are not as many as there is room."""
        if unseen.bit_count() != sum(counts) or min(counts) < 0:
            raise ViewInvalid("its cards do not add up")
        self._counts = tuple(counts)
        places = [place for place, count in enumerate(counts) if count]
        holders = [(card, tuple(place for place in places if not cannot[place] & card)) for card in _each(unseen)]
        # Cards that few places can hold are laid first: seldom does one then find no room.
        self._holders = sorted(holders, key=_how_many)
        self._can = dict(self._holders)
        self._everywhere = len(places)

    def draw(self, dice: Random, *, favoured: int = 0, place: int = 0, weight: float = 1.0) -> list[int]:
        """The cards in each place, as masks: each with whoever can hold it, by the room that is left there.

        A card of the mask `favoured` is `weight` times as likely as another one to lie in that `place`.
        Raises ViewInvalid when the places can't take these cards.
        """
        room = list(self._counts)
        drawn = [0] * len(room)
        lot: i64 = dice.getrandbits(LOT_BITS) or 1
        heavy: i64 = round(weight * WHOLE)
        everywhere: i64 = self._everywhere
        cards_left: i64 = len(self._holders)
        for card, holders in self._holders:
            share: i64 = heavy if favoured & card else WHOLE
            total: i64 = 0
            if len(holders) == everywhere:
                total = cards_left * WHOLE + room[place] * (share - WHOLE)
            else:
                for holder in holders:
                    total += room[holder] * (share if holder == place else WHOLE)
            cards_left -= 1
            if total == 0:
                self._make_room(card, drawn, room)
                continue
            lot = next_lot(lot)
            left = lot * total >> LOT_BITS
            for holder in holders:
                left -= room[holder] * (share if holder == place else WHOLE)
                if left < 0:
                    drawn[holder] |= card
                    room[holder] -= 1
                    break
        return drawn

    def _make_room(self, card: int, drawn: list[int], room: list[int]) -> None:
        """Lay a card whose places are full: others move on until one has found room."""
        came = dict.fromkeys(self._can[card], (card, -1))
        reached = list(came)
        for place in reached:
            if room[place]:
                room[place] -= 1
                self._move_on(place, came, drawn)
                return
            for other in _each(drawn[place]):
                for holder in self._can[other]:
                    if holder not in came:
                        came[holder] = (other, place)
                        reached.append(holder)
        raise ViewInvalid("its parts contradict each other")

    def _move_on(self, place: int, came: dict[int, tuple[int, int]], drawn: list[int]) -> None:
        """Each card on the way to this place takes the place of the one before it."""
        while place >= 0:
            moved, before = came[place]
            drawn[place] |= moved
            if before >= 0:
                drawn[before] &= ~moved
            place = before


def _each(cards: int) -> Iterator[int]:
    """Each of these cards as a mask of its own."""
    while cards:
        low = cards & -cards
        yield low
        cards ^= low


def _how_many(each: tuple[int, tuple[int, ...]]) -> int:
    return len(each[1])
