"""Nobody is shown what they may not know: from two positions that differ only there, a seat sees the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from darbar_rules.game import RuleRefused, Shown
from darbar_rules.games.kings_and_rebels.events import (
    BidMade,
    BidPassed,
    CardPlayed,
    ConvertsNamed,
    Event,
    PlayCard,
    RoundDealt,
    RoundEnded,
)
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.pack import texts_of
from darbar_rules.games.kings_and_rebels.play import is_rebel
from darbar_rules.games.kings_and_rebels.state import State
from darbar_rules.games.kings_and_rebels.testing import lively_game
from darbar_rules.games.kings_and_rebels.twins import twin, twin_deal, twin_naming
from darbar_rules.testing import Step

GAMES_EACH = 24
GAMES_TWO_DECKS = 6  # with many more cards each
TWIN_TRIES = 4

TABLES = {
    "four": KingsAndRebelsOptions(seats=4),
    "five, passed out": KingsAndRebelsOptions(last_seat_must_bid=False),
    "two decks": KingsAndRebelsOptions(seats=6, decks=2),
    "top trump": KingsAndRebelsOptions(seats=7, three_of_spades_top_trump=True, later_equal_card_wins=True),
    "public": KingsAndRebelsOptions(seats=4, convert_cards="public"),
}


@dataclass(frozen=True)
class Eyes:
    """How the game lets itself be seen."""

    show: Callable[[State, Event], Shown] = KINGS_AND_REBELS.show
    view: Callable[[State, int | None], Any] = KINGS_AND_REBELS.view


def looks_of(before: State, event: Event, seat: int | None) -> object:
    """What a person on this seat would see happen at a real card table, in words that `show` has no part in."""
    leads = seat is not None and seat == before.deal.leader
    told = leads or before.terms.options.convert_cards == "public"
    match event:
        case RoundDealt():
            return event.round, event.dealer, None if seat is None else event.hands[seat]
        case BidMade():
            return event.seat, event.points, event.leader
        case BidPassed():
            return event.seat, event.leader
        case ConvertsNamed():
            return event.seat, event.trump, event.converts if told else None
        case CardPlayed():
            return event.seat, event.card, event.converted, event.spent if told else None
        case RoundEnded():
            return "everything"


def frames(eyes: Eyes, before: State, events: tuple[Event, ...], seat: int | None) -> list[object]:
    """All that reaches a seat: a frame for each event, and what a view after it would say."""
    sent: list[object] = []
    for event in events:
        shown = eyes.show(before, event)
        secret = None if seat is None else shown.secret.get(seat)
        before = KINGS_AND_REBELS.evolve(before, event)
        sent.append((KINGS_AND_REBELS.kind_of(event), shown.public, secret, eyes.view(before, seat)))
        if seat is not None:
            sent.append(KINGS_AND_REBELS.legal(before, seat))
    return sent


def twin_step(step: Step, seat: int | None, dice: random.Random) -> tuple[State, tuple[Event, ...]] | None:
    """The step as it could have gone elsewhere without this seat seeing a difference; None when none was found."""
    first = step.events[0]
    if not isinstance(first, CardPlayed):
        other = twin(step.before, seat, dice)
        return other, tuple(_twin_event(step.before, event, seat, dice) for event in step.events)
    looks = [looks_of(step.before, event, seat) for event in step.events]
    for _ in range(TWIN_TRIES):
        other = twin(step.before, seat, dice, card=first.card, convert=first.converted)
        try:
            events = KINGS_AND_REBELS.decide(other, step.seat or 0, step.decision, step.chance)
        except RuleRefused:
            continue  # There the seat had to play another card.
        if [looks_of(other, event, seat) for event in events] == looks:
            return other, events
    return None


def _twin_event(before: State, event: Event, seat: int | None, dice: random.Random) -> Event:
    if isinstance(event, RoundDealt):
        return twin_deal(event, seat, dice)
    if isinstance(event, ConvertsNamed):
        return twin_naming(event, before.terms, seat, dice)
    return event


def compared(eyes: Eyes, table: str, games: int) -> Iterator[tuple[str, bool]]:
    """For each step of random rounds, and each kind of viewer, whether the twin's frames were the same."""
    options = TABLES[table]
    dice = random.Random(f"{table} {games}")
    viewers: tuple[int | None, ...] = (*range(options.seats), None)
    for seed in range(games):
        for step in lively_game(options, seed):
            for seat in {*dice.sample(viewers, 2), step.before.deal.leader}:
                found = twin_step(step, seat, dice)
                if found is not None:
                    before, events = found
                    # What ends a round shows everything, and so cannot look the same.
                    kept = [event for event in step.events if not isinstance(event, RoundEnded)]
                    here = frames(eyes, step.before, tuple(kept), seat)
                    there = frames(eyes, before, events[: len(kept)], seat)
                    yield _kind(step, seat), here == there


def _kind(step: Step, seat: int | None) -> str:
    first = step.events[0]
    kind = KINGS_AND_REBELS.kind_of(first)
    if isinstance(first, CardPlayed) and (first.converted or first.spent):
        kind = "converted" if first.converted else "spent"
    return f"{kind} by leader" if kind == "converts_named" and seat == step.seat else kind


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("table", TABLES)
def test_gen_7_positions_of_kings_and_rebels_that_look_the_same_to_a_seat_give_it_the_same_frames(table: str) -> None:
    checks: Counter[str] = Counter()
    games = GAMES_EACH if TABLES[table].decks == 1 else GAMES_TWO_DECKS
    for kind, same in compared(Eyes(), table, games):
        checks[kind] += 1
        assert same, f"a {kind} of {table} shows more than it may"
    assert checks["round_dealt"] >= games * 2
    assert checks["bid_passed"] > games
    assert checks["converts_named"] >= games
    assert checks["card_played"] > games * 40
    assert checks["converted"] > 5
    assert checks["spent"] > 5


def test_twins_differ_in_what_is_hidden() -> None:
    """Or the comparison would prove nothing: hands, convert cards, spent ones and Rebels that nobody knows."""
    options = TABLES["two decks"]
    dice = random.Random(5)
    hands = converts = spent = rebels = 0
    for seed in range(8):
        for step in lively_game(options, seed):
            leader = step.before.deal.leader
            if step.before.match.phase == "playing":
                assert leader is not None
                other = twin(step.before, (leader + 1) % 6, dice)
                hands += other.play.hands != step.before.play.hands
                converts += set(other.deal.converts) != set(step.before.deal.converts)
                spent += [one for one in other.deal.fates if not one.joined] != [
                    one for one in step.before.deal.fates if not one.joined
                ]
                rebels += _rebels_to_be(other) != _rebels_to_be(step.before)
                mine = twin(step.before, leader, dice)
                assert (mine.deal.converts, mine.deal.fates) == (step.before.deal.converts, step.before.deal.fates)
    assert min(hands, converts, spent, rebels) > 50


def _rebels_to_be(state: State) -> set[int]:
    """Seats that hold a convert card and have not shown it."""
    named = {convert.card for convert in state.deal.converts}
    return {
        seat
        for seat, hand in enumerate(state.play.hands)
        if not is_rebel(state.deal, seat) and named & {text.removesuffix("#2") for text in texts_of(hand)}
    }


def with_public(kind: type[Event], leak: Callable[[State, Any], dict[str, Any]]) -> Eyes:
    """Eyes that see something more in the public part of one kind of event."""

    def show(before: State, event: Event) -> Shown:
        shown = KINGS_AND_REBELS.show(before, event)
        return replace(shown, public={**shown.public, **leak(before, event)}) if isinstance(event, kind) else shown

    return Eyes(show=show)


def with_view(leak: Callable[[State, int | None], dict[str, Any]]) -> Eyes:
    """Eyes whose view says more than it may."""
    return Eyes(view=lambda state, seat: replace(KINGS_AND_REBELS.view(state, seat), **leak(state, seat)))


def secrets_to_everyone(before: State, event: Event) -> Shown:
    shown = KINGS_AND_REBELS.show(before, event)
    return Shown(shown.public, {seat: {"all": dict(shown.secret)} for seat in range(before.terms.seats)})


def points_of_all_rebels(state: State, seat: int | None) -> dict[str, Any]:
    red = {*state.deal.rebels, *_rebels_to_be(state)}
    return {"rebel_points": sum(state.middle.captured[one] for one in red)}


LEAKS: dict[str, tuple[str, Eyes]] = {
    "a card of somebody": ("four", with_public(RoundDealt, lambda _, event: {"one": event.hands[0][:1]})),
    "how many convert cards were named": (
        "four",
        with_public(ConvertsNamed, lambda _, event: {"count": len(event.converts)}),
    ),
    "that a convert card was spent": ("four", with_public(CardPlayed, lambda _, event: {"spent": bool(event.spent)})),
    "what is left to who played": (
        "public",
        with_public(CardPlayed, lambda before, event: {"left": texts_of(before.play.hands[event.seat])}),
    ),
    "somebody else's secret part": ("two decks", Eyes(show=secrets_to_everyone)),
    "somebody's hand, when one looks": ("public", with_view(lambda state, _: {"hand": texts_of(state.play.hands[1])})),
    "the convert cards, when one looks": ("four", with_view(lambda state, _: {"converts": state.deal.converts})),
    "the spent ones, when one looks": ("two decks", with_view(lambda state, _: {"fates": state.deal.fates})),
    "Rebels who have not shown themselves": (
        "five, passed out",
        with_view(lambda state, _: {"rebels": (*state.deal.rebels, *sorted(_rebels_to_be(state)))}),
    ),
    "what all Rebels have": ("two decks", with_view(points_of_all_rebels)),
    "what another seat could play": (
        "four",
        with_view(lambda state, _: {"legal": KINGS_AND_REBELS.legal(state, state.play.to_act or 0)}),
    ),
    "the deal, while it is played": (
        "top trump",
        with_view(lambda state, _: {"ended": KINGS_AND_REBELS.deal_record(state)}),
    ),
}


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("leak", LEAKS)
def test_gen_7_a_planted_leak_of_kings_and_rebels_is_found(leak: str) -> None:
    table, eyes = LEAKS[leak]
    assert not all(same for _, same in compared(eyes, table, games=4))


@pytest.mark.ruling("GEN-7")
def test_gen_7_an_event_of_kings_and_rebels_that_nobody_thought_of_is_shown_to_nobody() -> None:
    unknown: Any = PlayCard("AS")
    with pytest.raises(AssertionError):
        KINGS_AND_REBELS.show(KINGS_AND_REBELS.new(KingsAndRebelsOptions(), 5), unknown)
