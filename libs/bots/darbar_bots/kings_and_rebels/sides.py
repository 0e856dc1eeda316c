"""Who is likely on whose side. Open this when a bot helps an enemy (KR-12, KR-15)."""

from __future__ import annotations

from typing import Final

from darbar_bots.kings_and_rebels.known import Known
from darbar_rules.cards import IDS
from darbar_rules.games.kings_and_rebels.pack import COPIES

# Of the convert cards that a leader whose list is secret may name, so many make a Rebel.
LIKELY_PARTNERS: Final = 0.6


def sides(known: Known) -> tuple[float, ...]:
    """By seat: 1 for a sure partner of this one, -1 for a sure enemy, in between for who could be either."""
    chances = _rebels(known)
    mine = 2 * chances[known.seat] - 1
    return tuple(1.0 if seat == known.seat else mine * (2 * chance - 1) for seat, chance in enumerate(chances))


def _rebels(known: Known) -> tuple[float, ...]:
    """How likely each seat is a Rebel or will be one. A King who knows nothing of it takes himself for a King."""
    if known.converts:
        return tuple(_by_cards(known, seat) for seat in range(known.setup.seats))
    others = known.setup.seats - len(known.rebels)
    left = LIKELY_PARTNERS * known.setup.converts_max - (len(known.rebels) - 1)
    unknown = min(max(left / others, 0.0), 0.5) if others and not _knows_all(known) else 0.0
    return tuple(
        1.0 if seat in known.rebels else 0.0 if seat == known.seat else unknown for seat in range(known.setup.seats)
    )


def _knows_all(known: Known) -> bool:
    """No convert card is left, to somebody who would see it."""
    return known.seat == known.leader or known.setup.options.convert_cards == "public"


def _by_cards(known: Known, seat: int) -> float:
    """From the list of convert cards, for those who see it: each is in a hand, or anywhere that is not seen."""
    if seat in known.rebels:
        return 1.0
    miss = 1.0
    hidden = sum(count for other, count in enumerate(known.counts) if other != known.seat)
    for convert in known.converts:
        copies = COPIES[IDS[convert.card]]
        if seat == known.seat:
            miss *= 0.0 if known.hand & copies else 1.0
        elif known.unseen & copies and hidden:
            miss *= 1 - known.counts[seat] / hidden
    return 1 - miss
