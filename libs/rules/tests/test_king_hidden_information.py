"""Nobody is shown what they may not know: from two positions that differ only there, a seat sees the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from darbar_rules.cards import texts_of
from darbar_rules.game import AnyGame, RuleRefused, Shown
from darbar_rules.games.king.events import CardPlayed, Declared, Event, PlayCard, RoundDealt, RoundEnded
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.options import King20Options, KingLongOptions, KingShortOptions
from darbar_rules.games.king.state import State
from darbar_rules.games.king.twins import twin, twin_deal
from darbar_rules.testing import Step, random_game

GAMES_EACH = 32
ROUNDS = 2  # the first of a game, which everybody knows the first declarer's card of, and another one
TWIN_TRIES = 4
VIEWERS: tuple[int | None, ...] = (0, 1, 2, 3, None)

BLIND = KingLongOptions(blind_choice=True)
TABLES: dict[str, tuple[AnyGame, Any]] = {
    "20": (KING_20, King20Options()),
    "20 with duties": (KING_20, King20Options("played", True, True, True, False)),
    "short": (KING_SHORT, KingShortOptions()),
    "long": (KING_LONG, KingLongOptions(first_leader="next")),
    "long, blind": (KING_LONG, BLIND),
}


@dataclass(frozen=True)
class Eyes:
    """How a game lets itself be seen."""

    show: Callable[[State, Event], Shown] = KING_20.show
    view: Callable[[AnyGame, State, int | None], Any] = lambda game, state, seat: game.view(state, seat)


def looks_of(event: Event, seat: int | None) -> object:
    """What a person on this seat would see happen at a real card table, in words that `show` has no part in."""
    match event:
        case RoundDealt():
            own = None if seat is None or event.blind else event.hands[seat]
            return event.round, event.declarer, event.leader, event.contract, own
        case Declared():
            return event.seat, event.contract, event.suit
        case CardPlayed():
            return event.seat, event.card
        case RoundEnded():
            return "everything"


def frames(game: AnyGame, eyes: Eyes, before: State, events: tuple[Event, ...], seat: int | None) -> list[object]:
    """All that reaches a seat: a frame for each event, and what a view after it would say."""
    sent: list[object] = []
    for event in events:
        shown = eyes.show(before, event)
        secret = None if seat is None else shown.secret.get(seat)
        before = game.evolve(before, event)
        sent.append((game.kind_of(event), shown.public, secret, eyes.view(game, before, seat)))
        if seat is not None:
            sent.append(game.legal(before, seat))
    return sent


def twin_step(
    game: AnyGame, step: Step, seat: int | None, dice: random.Random
) -> tuple[State, tuple[Event, ...]] | None:
    """The step as it could have gone elsewhere without this seat seeing a difference; None when none was found."""
    first = step.events[0]
    if isinstance(first, RoundDealt):
        # A contract that is declared by itself follows at once, and shows what was dealt blind.
        sees = not first.blind or len(step.events) > 1
        return step.before, (twin_deal(first, seat, dice, sees=sees), *step.events[1:])
    for _ in range(TWIN_TRIES):
        other = twin(step.before, seat, dice, keep=first.card if isinstance(first, CardPlayed) else None)
        try:
            events = game.decide(other, step.seat or 0, step.decision, step.chance)
        except RuleRefused:
            continue  # There the seat had to play another card.
        if [looks_of(event, seat) for event in events] == [looks_of(event, seat) for event in step.events]:
            return other, events
    return None


def compared(eyes: Eyes, table: str, games: int) -> Iterator[tuple[str, bool]]:
    """For each step of random rounds, and each kind of viewer, whether the twin's frames were the same."""
    game, options = TABLES[table]
    dice = random.Random(f"{table} {games}")
    for seed in range(games):
        for step in random_game(game, options, seed, rounds_max=ROUNDS):
            for seat in dice.sample(VIEWERS, 2):
                found = twin_step(game, step, seat, dice)
                if found is not None:
                    before, events = found
                    # What ends a round shows everything, and so cannot look the same.
                    kept = [event for event in step.events if not isinstance(event, RoundEnded)]
                    here = frames(game, eyes, step.before, tuple(kept), seat)
                    there = frames(game, eyes, before, events[: len(kept)], seat)
                    yield game.kind_of(step.events[0]), here == there


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("table", TABLES)
def test_gen_7_king_positions_that_look_the_same_to_a_seat_give_it_the_same_frames(table: str) -> None:
    checks: Counter[str] = Counter()
    for kind, same in compared(Eyes(), table, GAMES_EACH):
        checks[kind] += 1
        assert same, f"a {kind} of {table} shows more than it may"
    assert checks["round_dealt"] == GAMES_EACH * ROUNDS * 2
    assert checks["declared"] == (0 if table == "short" else GAMES_EACH * ROUNDS * 2)
    assert checks["card_played"] > GAMES_EACH * ROUNDS * 20


def with_public(kind: type[Event], leak: Callable[[State, Any], dict[str, Any]]) -> Eyes:
    """Eyes that see something more in the public part of one kind of event."""

    def show(before: State, event: Event) -> Shown:
        shown = KING_20.show(before, event)
        return replace(shown, public={**shown.public, **leak(before, event)}) if isinstance(event, kind) else shown

    return Eyes(show=show)


def with_view(leak: Callable[[AnyGame, State, int | None], dict[str, Any]]) -> Eyes:
    """Eyes whose view says more than it may."""
    return Eyes(view=lambda game, state, seat: replace(game.view(state, seat), **leak(game, state, seat)))


def secrets_to_everyone(before: State, event: Event) -> Shown:
    shown = KING_20.show(before, event)
    everything = {"all": dict(shown.secret)}
    return Shown(shown.public, dict.fromkeys(range(4), everything))


LEAKS: dict[str, tuple[str, Eyes]] = {
    "a card of somebody": ("20", with_public(RoundDealt, lambda _, event: {"one": event.hands[0][:1]})),
    "how many hearts the declarer has": (
        "20",
        with_public(Declared, lambda before, event: {"hearts": str(before.deal.hands[event.seat]).count("H")}),
    ),
    "what is left to who played": (
        "short",
        with_public(CardPlayed, lambda before, event: {"left": texts_of(before.play.hands[event.seat])}),
    ),
    "somebody else's secret part": ("long", Eyes(show=secrets_to_everyone)),
    "somebody's hand, when one looks": ("short", with_view(lambda game, state, seat: {"hand": state.play.hands[1]})),
    "what another seat could play": ("20", with_view(lambda game, state, seat: {"legal": game.legal(state, 2)})),
    "the cards, before a blind choice": (
        "long, blind",
        with_view(lambda game, state, seat: {"hand": state.play.hands[seat or 0]}),
    ),
    "the deal, while it is played": ("long", with_view(lambda game, state, seat: {"ended": game.deal_record(state)})),
}


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("leak", LEAKS)
def test_gen_7_a_planted_leak_of_king_is_found(leak: str) -> None:
    table, eyes = LEAKS[leak]
    assert not all(same for _, same in compared(eyes, table, games=4))


@pytest.mark.ruling("GEN-7")
def test_gen_7_an_event_of_king_that_nobody_thought_of_is_shown_to_nobody() -> None:
    unknown: Any = PlayCard("AS")
    state = KING_20.new(King20Options(), 4)
    for take in (KING_20.show, KING_20.evolve):
        with pytest.raises(AssertionError):
            take(state, unknown)
