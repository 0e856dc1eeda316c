"""What holds for every Kings and Rebels bot in every round. Open this when a bot decides something illegal."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from darbar_bots.duels import play_round
from darbar_bots.kings_and_rebels import NOVICE, REGULAR
from darbar_bots.kings_and_rebels.any_legal import AnyLegal
from darbar_bots.policy import Policy, ViewInvalid
from darbar_rules.cards import IDS
from darbar_rules.game import RuleRefused
from darbar_rules.games.kings_and_rebels.events import Bid, NameConverts, PassBid, PlayCard
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.naming import name_converts
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.pack import COPIES, mask_of_hand
from darbar_rules.games.kings_and_rebels.terms import terms_of
from darbar_rules.games.kings_and_rebels.testing import naming
from darbar_rules.testing import pairwise_options, tables

ROUNDS_OF_EACH_TABLE = 2
BOTS = (REGULAR, NOVICE)


def must_be_legal(view: Any, decision: Any) -> None:
    """Cards, bids and passes are among the choices; what a leader names is more than those can list."""
    if isinstance(decision, NameConverts):
        terms = terms_of(view.options)
        table = naming(view.options, hand="", leader=view.seat, bid=view.bid)
        assert name_converts(table.state, view.seat, decision)
        assert len(decision.converts) <= terms.converts_max
    else:
        assert decision in KINGS_AND_REBELS.choices(view.legal), f"{decision} in {view}"


def company(options: KingsAndRebelsOptions, seed: int) -> list[Policy]:
    dice = Random(seed)
    return [dice.choice([*BOTS, AnyLegal(dice)]) for _ in range(options.seats)]


@pytest.mark.parametrize("options", pairwise_options(KINGS_AND_REBELS), ids=str)
def test_a_bot_at_every_kind_of_table_decides_only_what_is_legal(options: KingsAndRebelsOptions) -> None:
    for seed in range(ROUNDS_OF_EACH_TABLE):
        play_round(KINGS_AND_REBELS, options, company(options, seed), seed=seed, look=must_be_legal)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(options=tables(KINGS_AND_REBELS), seed=st.integers(0, 2**64))
def test_a_bot_in_any_company_decides_only_what_is_legal(options: KingsAndRebelsOptions, seed: int) -> None:
    play_round(KINGS_AND_REBELS, options, company(options, seed), seed=seed, look=must_be_legal)


def test_the_same_view_gives_the_same_decision() -> None:
    seen: list[tuple[Any, Any]] = []
    options = KingsAndRebelsOptions()
    play_round(KINGS_AND_REBELS, options, [REGULAR] * 5, seed=3, look=lambda view, said: seen.append((view, said)))
    assert len(seen) > 50
    assert [REGULAR.decide(view) for view, _ in seen] == [decision for _, decision in seen]
    assert {type(decision) for _, decision in seen} == {Bid, PassBid, NameConverts, PlayCard}


def test_a_leader_names_cards_that_others_hold() -> None:
    for seed in range(10):
        views: list[tuple[Any, Any]] = []
        options = KingsAndRebelsOptions(seats=6, decks=1 + seed % 2)
        keep = partial(_keep, views)
        play_round(KINGS_AND_REBELS, options, [REGULAR] * 6, seed=seed, look=keep)
        ((view, named),) = [(view, said) for view, said in views if isinstance(said, NameConverts)]
        hand = mask_of_hand(view.hand)
        assert not any(hand & COPIES[IDS[one.card]] for one in named.converts)


def _keep(views: list[tuple[Any, Any]], view: Any, decision: Any) -> None:
    views.append((view, decision))


def test_a_seat_that_may_not_decide_is_refused() -> None:
    views: list[Any] = []
    options = KingsAndRebelsOptions(seats=4)
    anybody = AnyLegal(Random(1))
    play_round(KINGS_AND_REBELS, options, [anybody] * 4, seed=1, look=lambda view, _: views.append(view))
    before = KINGS_AND_REBELS.new(options, 4)
    for seat in (None, 1):
        with pytest.raises(ViewInvalid):
            REGULAR.decide(KINGS_AND_REBELS.view(before, seat))
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
            REGULAR.decide(broken)


def test_legality_is_checked_for_real() -> None:
    table = naming(KingsAndRebelsOptions(seats=4))
    with pytest.raises(RuleRefused):
        name_converts(table.state, 0, NameConverts("S", ()))
