"""How much a searching bot thinks. Open this to change what a decision of the strong level costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

WORLDS_MAX: Final = 400


@dataclass(frozen=True, slots=True)
class Effort:
    """The bound of one decision: so many worlds, or fewer, so that not more cards are played in playouts."""

    cards_max: int
    worlds_max: int = WORLDS_MAX

    def worlds(self, candidates: int, cards_left: int) -> int:
        """How many to draw, at least one, when each candidate is played out in each."""
        return max(1, min(self.worlds_max, self.cards_max // max(1, candidates * cards_left)))


# Plain Python plays half a million cards a second. Twice as many worlds were no better (decision 0021).
FULL: Final = Effort(cards_max=30_000, worlds_max=100)
