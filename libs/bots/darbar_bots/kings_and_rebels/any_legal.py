"""Decides by lot among what is legal: what every bot must beat. Open this to measure one."""

from __future__ import annotations

from random import Random

from darbar_rules.games.kings_and_rebels.events import Decision
from darbar_rules.games.kings_and_rebels.play import choices
from darbar_rules.games.kings_and_rebels.view import KingsAndRebelsView


class AnyLegal:
    """Not a bot: it has dice."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def decide(self, view: KingsAndRebelsView) -> Decision:
        return self._dice.choice(choices(view.legal))
