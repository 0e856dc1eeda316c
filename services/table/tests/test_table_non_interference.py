"""What reaches a seat does not depend on what it may not know: number, order, versions and bytes of its frames."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import msgspec
import pytest
import test_court_piece_hidden_information as court_piece
import test_king_hidden_information as king
import test_kings_and_rebels_hidden_information as rebels
from msgspec.structs import replace
from table_scripts import COURT_PIECE, Script

from darbar_contracts.tables import Person
from darbar_rules.game import AnyGame
from darbar_rules.games.court_piece.events import CardPlayed, TrumpChosen
from darbar_rules.games.court_piece.options import CourtPieceOptions
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.options import King20Options, KingLongOptions, KingShortOptions
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.testing import Step, random_game
from darbar_table.domain import events
from darbar_table.domain.evolve import evolve
from darbar_table.domain.seat_view import SeatFrames, seat_frames, snapshot
from darbar_table.domain.state import Phase, Table

REMAINING_MS = 9000

Redact = Callable[[Table, events.Event, Table, int | None], list[SeatFrames]]


def one_round(rules: AnyGame, options: Any, seed: int) -> Iterator[Step]:
    return iter(random_game(rules, options, seed, rounds_max=1))


def one_frame(before: Table, event: events.Event, after: Table, remaining_ms: int | None) -> list[SeatFrames]:
    """What the owner sends for one version."""
    return [seat_frames(before, event, after, remaining_ms)]


def sent(
    table: Table, produced: tuple[Any, ...], *, actor: int | None, seat: int | None, redact: Redact
) -> list[bytes]:
    """Every frame that reaches a seat for these events of the game, then a snapshot asked for by it."""
    reached: list[bytes] = []
    for number, event in enumerate(produced):
        mine = number == 0
        played = events.Played(
            seat=actor if mine else None,
            by="player" if mine else "table",
            event=event,
            id="an-id-of-its-actor" if mine and actor is not None else None,
        )
        after = evolve(table, played)
        for frames in redact(table, played, after, REMAINING_MS):
            reached.append(frames.for_seat(seat))
        table = after
    return [*reached, snapshot(table, seat, REMAINING_MS)]


def versions_of(frames: list[bytes]) -> list[int]:
    """The version that each frame says."""
    return [int(frame.split(b'"version":')[1].split(b",")[0]) for frame in frames]


class Case(NamedTuple):
    """One kind of table: how its random rounds come about, and how a step gets a twin."""

    rules: AnyGame
    options: Any
    twin_step: Callable[[Step, int | None, random.Random], tuple[Any, tuple[Any, ...]] | None]
    rounds: int
    games: Callable[[AnyGame, Any, int], Iterator[Step]] = one_round


CASES = {
    "hidden": Case(COURT_PIECE, CourtPieceOptions(trump="hidden"), court_piece.twin_step, 168),
    "open": Case(COURT_PIECE, CourtPieceOptions(trump="open"), court_piece.twin_step, 168),
    "kaat": Case(COURT_PIECE, CourtPieceOptions(trump="kaat"), court_piece.twin_step, 168),
    "king 20": Case(KING_20, King20Options(), partial(king.twin_step, KING_20), 40),
    "king short": Case(KING_SHORT, KingShortOptions(), partial(king.twin_step, KING_SHORT), 40),
    "king long": Case(KING_LONG, KingLongOptions(blind_choice=True), partial(king.twin_step, KING_LONG), 40),
    "rebels": Case(KINGS_AND_REBELS, KingsAndRebelsOptions(seats=5), rebels.twin_step, 40),
    "rebels of two decks": Case(KINGS_AND_REBELS, KingsAndRebelsOptions(seats=7, decks=2), rebels.twin_step, 20),
    "rebels, public": Case(
        KINGS_AND_REBELS, KingsAndRebelsOptions(seats=4, convert_cards="public"), rebels.twin_step, 30
    ),
}


def faults(name: str, *, rounds: int | None = None, redact: Redact = one_frame) -> Iterator[str]:
    """One live for each difference or gap that a seat could notice in random rounds."""
    case = CASES[name]
    dice = random.Random(f"table {name}")
    table = dealt_table(case)
    viewers: tuple[int | None, ...] = (*range(len(table.seats)), None)
    for seed in range(case.rounds if rounds is None else rounds):
        for step in case.games(case.rules, case.options, seed):
            for seat in dice.sample(viewers, 2):
                yield from _faults_of_step(table, step, seat, case=case, dice=dice, redact=redact)


def dealt_table(case: Case) -> Table:
    """A table of this kind with people in every seat, while a round is played; steps bring their own game state."""
    script = Script(rules=case.rules, **msgspec.to_builtins(case.options))
    while not script.table.full:
        number = len(script.table.people)
        script.sit(Person(f"account-{number}", f"Player {number}", "fox"))
    return replace(script.zero().wallet().table, phase=Phase.PLAYING)


def _faults_of_step(
    table: Table, step: Step, seat: int | None, *, case: Case, dice: random.Random, redact: Redact
) -> Iterator[str]:
    found = case.twin_step(step, seat, dice)
    if found is None:
        return
    twin_before, twin_events = found
    # What ends a round shows everything, and so cannot look the same.
    kept = tuple(event for event in step.events if case.rules.kind_of(event) != "round_ended")
    here = sent(replace(table, state=step.before), kept, actor=step.seat, seat=seat, redact=redact)
    there = sent(replace(table, state=twin_before), twin_events[: len(kept)], actor=step.seat, seat=seat, redact=redact)
    kind = case.rules.kind_of(step.events[0])
    if here != there:
        yield f"{kind}: seat {seat} could tell two tables apart"
    versions = versions_of(here[:-1])
    if versions != list(range(table.version + 1, table.version + 1 + len(kept))):
        yield f"{kind}: seat {seat} got the versions {versions}"


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("name", CASES)
def test_gen_7_tables_that_look_the_same_to_a_seat_send_it_the_same_bytes(name: str) -> None:
    assert list(faults(name)) == []


def a_hidden_trump(before: Table, event: events.Event, after: Table, remaining_ms: int | None) -> list[SeatFrames]:
    [frames] = one_frame(before, event, after, remaining_ms)
    if isinstance(event, events.Played) and isinstance(event.event, TrumpChosen):
        return [replace(frames, head=frames.head + b',"trump":"%b"' % event.event.suit.encode())]
    return [frames]


def an_extra_frame(before: Table, event: events.Event, after: Table, remaining_ms: int | None) -> list[SeatFrames]:
    frames = one_frame(before, event, after, remaining_ms)
    thrown_away = isinstance(event, events.Played) and isinstance(event.event, CardPlayed) and event.event.face_down
    return frames * 2 if thrown_away else frames


def a_version_gap(before: Table, event: events.Event, after: Table, remaining_ms: int | None) -> list[SeatFrames]:
    thrown_away = isinstance(event, events.Played) and isinstance(event.event, CardPlayed) and event.event.face_down
    return [] if thrown_away else one_frame(before, event, after, remaining_ms)


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("leak", [a_hidden_trump, an_extra_frame, a_version_gap])
def test_gen_7_a_planted_leak_is_found(leak: Redact) -> None:
    assert list(faults("hidden", rounds=40, redact=leak))


def test_an_event_that_nobody_thought_of_is_shown_to_nobody() -> None:
    class Whispered(events.Event, frozen=True):
        seed: str

    script = Script()
    with pytest.raises(KeyError):
        seat_frames(script.table, Whispered(seed="secret"), script.table, None)


def test_the_seeds_of_a_running_round_are_in_no_frame_and_no_snapshot() -> None:
    script = Script().dealt().play_round()
    seeds = [e.server_seed for _, e, _ in script.log if isinstance(e, events.CountInStarted)]
    seeds += [e.seed for _, e, _ in script.log if isinstance(e, events.BagOpened)]
    shown_at = next(i for i, (_, e, _) in enumerate(script.log) if isinstance(e, events.SeedsShown))
    for before, event, after in script.log[1:shown_at]:
        for seat in (0, 1, 2, 3, None):
            frame = seat_frames(before, event, after, None).for_seat(seat) + snapshot(after, seat, None)
            assert not [seed for seed in seeds if seed.encode() in frame]
