"""Nobody is shown what they may not know: from two positions that differ only there, a seat sees the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from darbar_rules.game import RuleRefused, Shown
from darbar_rules.games.court_piece.events import (
    CardPlayed,
    Decision,
    Event,
    PlayCard,
    RoundDealt,
    RoundEnded,
    TrumpChosen,
    TrumpShown,
)
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.options import CourtPieceOptions, TrumpMode
from darbar_rules.games.court_piece.state import State
from darbar_rules.games.court_piece.twins import twin, twin_choice, twin_deal
from darbar_rules.testing import Step, random_game

ROUNDS_A_MODE = 168  # 504 rounds in all
TWIN_TRIES = 4
VIEWERS: tuple[int | None, ...] = (0, 1, 2, 3, None)


@dataclass(frozen=True)
class Eyes:
    """How a game lets itself be seen."""

    show: Callable[[State, Event], Shown] = COURT_PIECE.show
    view: Callable[[State, int | None], Any] = COURT_PIECE.view


def looks_of(event: Event, seat: int | None) -> object:
    """What a person on this seat would see happen at a real card table, in words that `show` has no part in."""
    match event:
        case RoundDealt():
            sees = seat is not None and (seat == event.caller or not any(event.rest))
            return event.round, event.caller, event.hands[seat] if sees and seat is not None else None
        case TrumpChosen():
            own = None if seat is None else event.hands[seat]
            named = event.suit if event.card is None or seat == event.seat else None
            return event.seat, own, named, event.card if seat == event.seat else None
        case TrumpShown():
            return event.seat, event.card
        case CardPlayed():
            return event.seat, event.card if not event.face_down or event.seat == seat else "face down"
        case RoundEnded():
            return "everything"


def frames(eyes: Eyes, before: State, events: tuple[Event, ...], seat: int | None) -> list[object]:
    """All that reaches a seat: a frame for each event, and what a view after it would say."""
    sent: list[object] = []
    for event in events:
        shown = eyes.show(before, event)
        secret = None if seat is None else shown.secret.get(seat)
        before = COURT_PIECE.evolve(before, event)
        sent.append((COURT_PIECE.kind_of(event), shown.public, secret, eyes.view(before, seat)))
        if seat is not None:
            sent.append(COURT_PIECE.legal(before, seat))
    return sent


def twin_step(step: Step, seat: int | None, dice: random.Random) -> tuple[State, tuple[Event, ...]] | None:
    """The step as it could have gone elsewhere without this seat seeing a difference; None when none was found."""
    first = step.events[0]
    if isinstance(first, RoundDealt):
        return twin(step.before, seat, dice), (twin_deal(first, seat, dice),)
    if isinstance(first, TrumpChosen):
        return twin(step.before, seat, dice), (twin_choice(first, seat, dice),)
    keep = first.card if isinstance(first, CardPlayed) and not first.face_down else None
    keep = first.card if isinstance(first, TrumpShown) else keep
    for _ in range(TWIN_TRIES):
        other = twin(step.before, seat, dice, keep=keep)
        decision = _same_decision(step, other, dice)
        try:
            events = COURT_PIECE.decide(other, step.seat or 0, decision, step.chance)
        except RuleRefused:
            continue  # There the seat could follow suit.
        if [looks_of(event, seat) for event in events] == [looks_of(event, seat) for event in step.events]:
            return other, events
    return None


def _same_decision(step: Step, other: State, dice: random.Random) -> Decision:
    """The decision itself, or another card where it is thrown away face down."""
    first = step.events[0]
    if isinstance(first, CardPlayed) and first.face_down:
        return PlayCard(dice.choice(COURT_PIECE.legal(other, first.seat).play))
    decision: Decision = step.decision
    return decision


def compared(eyes: Eyes, mode: TrumpMode, rounds: int) -> Iterator[tuple[str, bool]]:
    """For each step of random rounds, and each kind of viewer, whether the twin's frames were the same."""
    dice = random.Random(f"{mode} {rounds}")
    options = CourtPieceOptions(trump=mode)
    for seed in range(rounds):
        for step in random_game(COURT_PIECE, options, seed, rounds_max=1):
            for seat in dice.sample(VIEWERS, 2):
                found = twin_step(step, seat, dice)
                if found is not None:
                    before, events = found
                    kind = COURT_PIECE.kind_of(step.events[0])
                    # What ends a round shows everything, and so cannot look the same.
                    kept = [event for event in step.events if not isinstance(event, RoundEnded)]
                    here = frames(eyes, step.before, tuple(kept), seat)
                    yield kind, here == frames(eyes, before, events[: len(kept)], seat)


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("mode", ["hidden", "open", "kaat"])
def test_gen_7_positions_that_look_the_same_to_a_seat_give_it_the_same_frames(mode: TrumpMode) -> None:
    checks: Counter[str] = Counter()
    for kind, same in compared(Eyes(), mode, ROUNDS_A_MODE):
        checks[kind] += 1
        assert same, f"a {kind} of a {mode} round shows more than it may"
    kinds = {"round_dealt", "card_played"} | ({"trump_chosen"} if mode != "kaat" else set())
    assert set(checks) >= kinds
    assert checks["card_played"] > ROUNDS_A_MODE * 40
    assert checks["trump_shown"] > (ROUNDS_A_MODE / 4 if mode == "hidden" else -1)


def with_public(kind: type[Event], leak: Callable[[Any], dict[str, Any]]) -> Eyes:
    """Eyes that see something more in the public part of one kind of event."""

    def show(before: State, event: Event) -> Shown:
        shown = COURT_PIECE.show(before, event)
        return replace(shown, public={**shown.public, **leak(event)}) if isinstance(event, kind) else shown

    return Eyes(show=show)


def with_view(leak: Callable[[State], dict[str, Any]]) -> Eyes:
    """Eyes whose view says more than it may."""
    return Eyes(view=lambda state, seat: replace(COURT_PIECE.view(state, seat), **leak(state)))


def secrets_to_everyone(before: State, event: Event) -> Shown:
    shown = COURT_PIECE.show(before, event)
    everything = {"all": dict(shown.secret)}
    return Shown(shown.public, dict.fromkeys(range(4), everything))


LEAKS: dict[str, Eyes] = {
    "the hidden suit": with_public(TrumpChosen, lambda event: {"suit": event.suit}),
    "the face-down card": with_public(TrumpChosen, lambda event: {"card": event.card}),
    "how often it was dealt again": with_public(TrumpChosen, lambda event: {"tries": len(event.tries)}),
    "whether the deal was filtered": with_public(RoundDealt, lambda event: {"filtered": event.filtered}),
    "cards that are not dealt yet": with_public(RoundDealt, lambda event: {"next": event.rest[0][:1]}),
    "what the caller threw away": with_public(CardPlayed, lambda event: {"card": event.card}),
    "somebody else's secret part": Eyes(show=secrets_to_everyone),
    "the hidden suit, when one looks": with_view(lambda state: {"trump": state.deal.trump}),
    "somebody's hand, when one looks": with_view(lambda state: {"hand": state.play.hands[1]}),
    "what another seat could play": with_view(lambda state: {"legal": COURT_PIECE.legal(state, 2)}),
}


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("leak", LEAKS)
def test_gen_7_a_planted_leak_is_found(leak: str) -> None:
    assert not all(same for _, same in compared(LEAKS[leak], "hidden", rounds=12))


@pytest.mark.ruling("GEN-7")
def test_gen_7_an_event_that_nobody_thought_of_is_shown_to_nobody() -> None:
    unknown: Any = PlayCard("AS")
    state = COURT_PIECE.new(CourtPieceOptions(), 4)
    for take in (COURT_PIECE.show, COURT_PIECE.evolve):
        with pytest.raises(AssertionError):
            take(state, unknown)
