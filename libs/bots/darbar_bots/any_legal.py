"""Decides by lot among what is legal: what every bot must beat. Open this to measure one."""

from __future__ import annotations

from random import Random
from typing import Any

from darbar_rules.game import AnyGame


class AnyLegal:
    """Not a bot: it has dice."""

    def __init__(self, game: AnyGame, dice: Random) -> None:
        self._game = game
        self._dice = dice

    def decide(self, view: Any) -> Any:
        return self._dice.choice(self._game.choices(view.legal))
