"""Decides by lot among what is legal: what every bot must beat. Open this to measure one."""

from __future__ import annotations

from random import Random

from darbar_rules.games.king.events import Decision
from darbar_rules.games.king.play import choices
from darbar_rules.games.king.view import KingView


class AnyLegal:
    """Not a bot: it has dice."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def decide(self, view: KingView) -> Decision:
        return self._dice.choice(choices(view.legal))
