"""What reaches a seat does not depend on what it may not know: number, order, versions and bytes of its frames."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from table_scripts import COURT_PIECE, Script
from test_court_piece_hidden_information import VIEWERS, twin_step

from darbar_rules.games.court_piece.events import CardPlayed, RoundEnded, TrumpChosen
from darbar_rules.games.court_piece.options import CourtPieceOptions
from darbar_rules.testing import Step, random_game
from darbar_table import events
from darbar_table.evolve import evolve
from darbar_table.projection import SeatFrames, seat_frames, snapshot
from darbar_table.state import Phase, Table

ROUNDS_A_MODE = 168  # 504 rounds in all
REMAINING_MS = 9000

Redact = Callable[[Table, events.Event, Table, int | None], list[SeatFrames]]


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


def faults(mode: Any, rounds: int, redact: Redact = one_frame) -> Iterator[str]:
    """One entry for each difference or gap that a seat could notice in random rounds."""
    dice = random.Random(f"table {mode}")
    script = Script(trump=mode).dealt()
    table = replace(script.table, phase=Phase.PLAYING)
    for seed in range(rounds):
        for step in random_game(COURT_PIECE, CourtPieceOptions(trump=mode), seed, rounds_max=1):
            for seat in dice.sample(VIEWERS, 2):
                yield from _faults_of_step(table, step, seat, dice=dice, redact=redact)


def _faults_of_step(
    table: Table, step: Step, seat: int | None, *, dice: random.Random, redact: Redact
) -> Iterator[str]:
    found = twin_step(step, seat, dice)
    if found is None:
        return
    twin_before, twin_events = found
    # What ends a round shows everything, and so cannot look the same.
    kept = tuple(event for event in step.events if not isinstance(event, RoundEnded))
    here = sent(replace(table, state=step.before), kept, actor=step.seat, seat=seat, redact=redact)
    there = sent(replace(table, state=twin_before), twin_events[: len(kept)], actor=step.seat, seat=seat, redact=redact)
    kind = COURT_PIECE.kind_of(step.events[0])
    if here != there:
        yield f"{kind}: seat {seat} could tell two tables apart"
    versions = versions_of(here[:-1])
    if versions != list(range(table.version + 1, table.version + 1 + len(kept))):
        yield f"{kind}: seat {seat} got the versions {versions}"


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("mode", ["hidden", "open", "kaat"])
def test_gen_7_tables_that_look_the_same_to_a_seat_send_it_the_same_bytes(mode: str) -> None:
    assert list(faults(mode, ROUNDS_A_MODE)) == []


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
    assert list(faults("hidden", 40, leak))


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
        assert before is not None
        for seat in VIEWERS:
            frame = seat_frames(before, event, after, None).for_seat(seat) + snapshot(after, seat, None)
            assert not [seed for seed in seeds if seed.encode() in frame]
