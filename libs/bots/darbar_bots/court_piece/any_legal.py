"""Decides by lot among what is legal: what every bot must beat. Open this to measure one."""

from __future__ import annotations

from random import Random

from darbar_rules.games.court_piece.events import AskTrump, ChooseTrump, Decision, PlayCard, ShowTrump
from darbar_rules.games.court_piece.view import CourtPieceView


class AnyLegal:
    """Not a bot: it has dice."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def decide(self, view: CourtPieceView) -> Decision:
        return self._dice.choice(legal_decisions(view))


def legal_decisions(view: CourtPieceView) -> list[Decision]:
    """Everything that the seat of this view may decide now."""
    decisions: list[Decision] = [PlayCard(card) for card in view.legal.play]
    if view.options.trump == "hidden":
        decisions += [ChooseTrump(card=card) for card in view.legal.name]
    else:
        decisions += [ChooseTrump(suit=suit) for suit in view.legal.name]
    if "ask_trump" in view.legal.also:
        decisions.append(AskTrump())
    if "show_trump" in view.legal.also:
        decisions.append(ShowTrump())
    return decisions
