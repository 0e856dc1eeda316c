"""What reaches a seat does not depend on what it may not know: number, order, versions and bytes of its frames."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace
from plain_tricks.game import PLAIN_TRICKS
from table_scripts import Script

from darbar_contracts.tables import Person
from darbar_rules.game import AnyGame
from darbar_rules.games import ALL, BY_NAME
from darbar_rules.games.court_piece.events import CardPlayed, TrumpChosen
from darbar_rules.indistinguishable import means_of, until_round_ends
from darbar_rules.testing import Step
from darbar_table.domain import events
from darbar_table.domain.evolve import evolve
from darbar_table.domain.seat_view import SeatFrames, seat_frames, snapshot
from darbar_table.domain.state import Phase, Table

REMAINING_MS = 9000

Redact = Callable[[Table, events.TableEvent, Table, int | None], list[SeatFrames]]


def one_frame(before: Table, event: events.TableEvent, after: Table, remaining_ms: int | None) -> list[SeatFrames]:
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


def faults(rules: AnyGame, kind: str, *, rounds: int, redact: Redact = one_frame) -> Iterator[str]:
    """One entry for each difference or gap that a seat could notice in random rounds of this kind of table."""
    means = means_of(rules)
    options = means.tables[kind]
    dice = random.Random(f"table {rules.name} {kind}")
    table = dealt_table(rules, options)
    viewers: tuple[int | None, ...] = (*range(len(table.seats)), None)
    for seed in range(rounds):
        for step in means.play(rules, options, seed):
            for seat in dice.sample(viewers, 2):
                found = means.elsewhere(rules, step, seat, dice)
                if found is not None:
                    yield from _faults_of_step(table, step, found, seat=seat, redact=redact)


def dealt_table(rules: AnyGame, options: Any) -> Table:
    """A table of this kind with people in every seat, while a round is played; steps bring their own game state."""
    script = Script(rules=rules, **msgspec.to_builtins(options))
    while not script.table.full:
        number = len(script.table.people)
        script.sit(Person(f"account-{number}", f"Player {number}", "fox"))
    return replace(script.zero().wallet().table, phase=Phase.PLAYING)


def _faults_of_step(
    table: Table, step: Step, found: tuple[Any, tuple[Any, ...]], *, seat: int | None, redact: Redact
) -> Iterator[str]:
    before, events_elsewhere = found
    kept = until_round_ends(table.rules, step.before, step.events)
    here = sent(replace(table, state=step.before), kept, actor=step.seat, seat=seat, redact=redact)
    there = sent(replace(table, state=before), events_elsewhere[: len(kept)], actor=step.seat, seat=seat, redact=redact)
    kind = table.rules.kind_of(step.events[0])
    if here != there:
        yield f"{kind}: seat {seat} could tell two tables apart"
    versions = versions_of(here[:-1])
    if versions != list(range(table.version + 1, table.version + 1 + len(kept))):
        yield f"{kind}: seat {seat} got the versions {versions}"


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("rules", [*ALL, PLAIN_TRICKS], ids=lambda rules: rules.name)
def test_gen_7_tables_that_look_the_same_to_a_seat_send_it_the_same_bytes(rules: AnyGame) -> None:
    means = means_of(rules)
    for kind in means.tables:
        assert list(faults(rules, kind, rounds=means.rounds)) == [], kind


def a_hidden_trump(before: Table, event: events.TableEvent, after: Table, remaining_ms: int | None) -> list[SeatFrames]:
    [frames] = one_frame(before, event, after, remaining_ms)
    if isinstance(event, events.Played) and isinstance(event.event, TrumpChosen):
        return [replace(frames, head=frames.head + b',"trump":"%b"' % event.event.suit.encode())]
    return [frames]


def an_extra_frame(before: Table, event: events.TableEvent, after: Table, remaining_ms: int | None) -> list[SeatFrames]:
    frames = one_frame(before, event, after, remaining_ms)
    thrown_away = isinstance(event, events.Played) and isinstance(event.event, CardPlayed) and event.event.face_down
    return frames * 2 if thrown_away else frames


def a_version_gap(before: Table, event: events.TableEvent, after: Table, remaining_ms: int | None) -> list[SeatFrames]:
    thrown_away = isinstance(event, events.Played) and isinstance(event.event, CardPlayed) and event.event.face_down
    return [] if thrown_away else one_frame(before, event, after, remaining_ms)


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize("leak", [a_hidden_trump, an_extra_frame, a_version_gap])
def test_gen_7_a_planted_leak_is_found(leak: Redact) -> None:
    assert list(faults(BY_NAME["court_piece"], "hidden", rounds=40, redact=leak))


def test_an_event_that_nobody_thought_of_is_shown_to_nobody() -> None:
    class Whispered(events.Event, frozen=True):
        seed: str

    script, whispered = Script(), cast(events.TableEvent, Whispered(seed="secret"))
    with pytest.raises(KeyError):
        seat_frames(script.table, whispered, script.table, None)
