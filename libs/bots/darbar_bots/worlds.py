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
NOWHERE: Final = -1


class Worlds:
    """Draws worlds for one position: as many unseen cards as `counts` says lie in each place, none that it `cannot`."""

    def __init__(self, unseen: int, counts: Sequence[int], cannot: Sequence[int]) -> None:
        """Raises ViewInvalid when the cards are not as many as there is room."""
        if unseen.bit_count() != sum(counts) or min(counts) < 0:
            raise ViewInvalid("its cards do not add up")
        self._counts = tuple(counts)
        self._places = tuple(place for place, count in enumerate(counts) if count)
        self._can = {card: tuple(place for place in self._places if not cannot[place] & card) for card in _each(unseen)}
        # Cards that few places can hold are laid first: seldom does one then find no room.
        tight = [card for card, holders in self._can.items() if len(holders) < len(self._places)]
        self._tight = sorted(tight, key=lambda card: len(self._can[card]))
        self._free = unseen & ~sum(tight)

    def draw(self, dice: Random, *, favoured: int = 0, place: int = 0, weight: float = 1.0) -> list[int]:
        """The cards in each place, as masks: each with whoever can hold it, by the room that is left there.

        A card of the mask `favoured` is `weight` times as likely as another one to lie in that `place`.
        Raises ViewInvalid when the places can't take these cards.
        """
        room = list(self._counts)
        drawn = [0] * len(room)
        lot: i64 = dice.getrandbits(LOT_BITS) or 1
        heavy: i64 = round(weight * WHOLE)
        for card in self._tight:
            lot = next_lot(lot)
            holder = self._holder(card, room, lot, place=place, share=heavy if favoured & card else WHOLE)
            if holder == NOWHERE:
                self._make_room(card, drawn, room)
            else:
                drawn[holder] |= card
                room[holder] -= 1
        cards: i64 = self._free
        left: i64 = sum(room)
        for holder in (place, *self._places):
            count: i64 = room[holder]
            heavier = favoured if holder == place else 0
            chosen, lot = _some_of(cards, left, count, favoured=heavier, share=heavy, lot=lot)
            drawn[holder] |= chosen
            room[holder] = 0
            cards ^= chosen
            left -= count
        return drawn

    def _holder(self, card: int, room: list[int], lot: i64, *, place: i64, share: i64) -> int:
        """Who gets this card: each who can hold it, by the room that is left there; `place` has this share for each."""
        total: i64 = 0
        for holder in self._can[card]:
            total += room[holder] * (share if holder == place else WHOLE)
        left = lot * total >> LOT_BITS
        for holder in self._can[card]:
            left -= room[holder] * (share if holder == place else WHOLE)
            if left < 0:
                return holder
        return NOWHERE

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


def _some_of(cards: i64, left: i64, count: i64, *, favoured: i64, share: i64, lot: i64) -> tuple[i64, i64]:
    """`count` of the `left` cards, and the last lot used. A favoured card has this share, any other one WHOLE."""
    chosen: i64 = 0
    while 0 < count < left:
        card = cards & -cards
        cards ^= card
        lot = next_lot(lot)
        own = count * (share if favoured & card else WHOLE)
        if lot * (own + (left - count) * WHOLE) >> LOT_BITS < own:
            chosen |= card
            count -= 1
        left -= 1
    return chosen | cards if count else chosen, lot
