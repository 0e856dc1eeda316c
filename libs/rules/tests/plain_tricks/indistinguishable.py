"""Other positions of plain tricks that look the same to one seat: every card that it can't see may lie elsewhere."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, Final

from darbar_rules.cards import TEXTS, mask_of_texts, texts_of
from darbar_rules.game import AnyGame, RuleRefused
from darbar_rules.indistinguishable import Means, exchange, exchanged
from darbar_rules.testing import Step
from plain_tricks.game import Dealt, PlainOptions, Played

TRIES_MAX: Final = 4


def elsewhere(game: AnyGame, step: Step, seat: int | None, dice: random.Random) -> tuple[Any, tuple[Any, ...]] | None:
    """The step as it could have gone with other cards in the hands that this seat does not see."""
    first, before = step.events[0], step.before
    own = () if seat is None else texts_of(before.hands[seat])
    if isinstance(first, Dealt):
        own = () if seat is None else first.hands[seat]
        return before, (replace(first, hands=exchanged(first.hands, exchange(first.hands, own, dice))),)
    assert isinstance(first, Played)
    held = tuple(texts_of(hand) for hand in before.hands)
    for _ in range(TRIES_MAX):
        other = exchange(held, {*own, first.card}, dice)
        gone = {card: card for card in TEXTS if card not in other}
        dealt = exchanged(before.dealt, other | gone)
        hands = tuple(mask_of_texts(hand) for hand in exchanged(held, other))
        state = before._replace(dealt=dealt, hands=hands)
        try:
            return state, game.decide(state, first.seat, step.decision, step.chance)
        except RuleRefused:
            continue  # There the seat could follow suit.
    return None


MEANS: Final = {"plain_tricks": Means(tables={"plain": PlainOptions()}, elsewhere=elsewhere)}
