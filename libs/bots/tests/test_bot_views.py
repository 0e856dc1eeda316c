"""Views that no table sends are refused, not guessed at. Open this when a bot fails on a view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from darbar_bots.any_legal import AnyLegal
from darbar_bots.duels import play
from darbar_bots.king import NOVICE, REGULAR
from darbar_bots.kings_and_rebels import REGULAR as REBEL
from darbar_bots.policy import Policy, ViewInvalid
from darbar_rules.game import AnyGame
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions


def views_of(game: AnyGame, options: Any) -> list[Any]:
    """What seats saw in a round that chance played, whenever they had to decide."""
    views: list[Any] = []
    anybody = AnyLegal(game, Random(1))
    seats = game.seat_counts(options)[0]
    play(game, options, [anybody] * seats, seed=1, look=lambda view, _: views.append(view))
    return views


@pytest.mark.parametrize("bot", [REGULAR, NOVICE], ids=["regular", "novice"])
@pytest.mark.parametrize("game", [KING_20, KING_SHORT, KING_LONG], ids=lambda game: game.name)
def test_a_king_view_with_what_there_is_not_is_refused(game: AnyGame, bot: Policy) -> None:
    refused = 0
    for view in views_of(game, game.options_type()):
        for broken in broken_king_views(view):
            with pytest.raises(ViewInvalid):
                bot.decide(broken)
            refused += 1
    assert refused >= 4 * 8 * 3


def broken_king_views(view: Any) -> Iterator[Any]:
    yield replace(view, hand=("1X", *view.hand))
    if view.phase == "playing":
        yield replace(view, contract="no_jokers")
        yield replace(view, hand_counts=(1, 2))
        yield replace(view, legal=replace(view.legal, play=("AS", "KS", "QS", "JS", "TS", "9S")))


def test_a_kings_and_rebels_view_with_what_there_is_not_is_refused() -> None:
    options = KingsAndRebelsOptions(seats=4)
    views = views_of(KINGS_AND_REBELS, options)
    bidding, playing = views[0], views[-1]
    for broken in (
        replace(bidding, to_act=None),
        replace(bidding, legal=replace(bidding.legal, name=())),
        replace(bidding, legal=replace(bidding.legal, name=("many",))),
        replace(bidding, hand=("XX",)),
        replace(bidding, options=replace(options, seats=40)),
        replace(playing, hand=()),
        replace(playing, trump=None),
        replace(playing, trump="X"),
        replace(playing, hand_counts=(1, 2)),
        replace(playing, hand=("XX",), legal=replace(playing.legal, play=("XX",))),
    ):
        with pytest.raises(ViewInvalid):
            REBEL.decide(broken)
