"""Does a game tell somebody what they may not know? Open this about leaks, and to bring a new game the means.

Two positions that differ only in what a seat may not know must look the same to it (GEN-7). Which these are a game
knows best: beside its rules it has a module `indistinguishable` with its `MEANS` by the game's name. A seat of None is
a spectator.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple

from darbar_rules.game import AnyGame, Shown
from darbar_rules.testing import Step, random_game

Hands = tuple[tuple[str, ...], ...]
Events = tuple[Any, ...]


def one_round(game: AnyGame, options: Any, seed: int) -> Iterator[Step]:
    return random_game(game, options, seed, rounds_max=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """How to look for leaks of one game.

    `elsewhere` tells a step as it could have gone in another position without the seat seeing a difference, as the
    state before and the events; None when it finds no such position. `tables` are kinds of table by a name, of which
    `rounds` random games each are looked at; `play` plays one.
    """

    tables: Mapping[str, Any]
    elsewhere: Callable[[AnyGame, Step, int | None, random.Random], tuple[Any, Events] | None]
    play: Callable[[AnyGame, Any, int], Iterator[Step]] = one_round
    rounds: int = 24


class Comparison(NamedTuple):
    """What one seat was sent for one step and in its place elsewhere."""

    kinds: tuple[str, ...]  # of the events
    seat: int | None
    is_same: bool
    is_elsewhere: bool  # the other position is another one indeed,
    is_seen: bool  # and one of the other seats could tell


def means_of(game: AnyGame) -> Means:
    """What a game brings. Raises ModuleNotFoundError or LookupError when that is nothing."""
    package = game.decide.__module__.rpartition(".")[0]
    means: Mapping[str, Means] = import_module(f"{package}.indistinguishable").MEANS
    return means[game.name]


def compared(game: AnyGame, table: str, *, rounds: int | None = None) -> Iterator[Comparison]:
    """Two seats for each step of random games at this kind of table."""
    means = means_of(game)
    options = means.tables[table]
    viewers = (*range(game.seat_counts(options)[0]), None)
    dice = random.Random(f"{game.name} {table}")
    for seed in range(means.rounds if rounds is None else rounds):
        for step in means.play(game, options, seed):
            for seat in dice.sample(viewers, 2):
                found = means.elsewhere(game, step, seat, dice)
                if found is not None:
                    other = dice.choice([one for one in viewers if one not in (seat, None)])
                    yield _comparison(game, step, found, seat=seat, other=other)


def _comparison(
    game: AnyGame, step: Step, found: tuple[Any, Events], *, seat: int | None, other: int | None
) -> Comparison:
    before, events = found
    kept = until_round_ends(game, step.before, step.events)
    here, here_after = frames(game, step.before, kept, seat)
    there, there_after = frames(game, before, events[: len(kept)], seat)
    return Comparison(
        kinds=tuple(game.kind_of(event) for event in kept),
        seat=seat,
        is_same=here == there,
        is_elsewhere=found != (step.before, step.events),
        is_seen=game.view(here_after, other) != game.view(there_after, other),
    )


def until_round_ends(game: AnyGame, state: Any, events: Events) -> Events:
    """The events without the one that ends the round: it shows everything, and so cannot look the same."""
    for number, event in enumerate(events):
        state = game.evolve(state, event)
        if game.result(state) is not None:
            return events[:number]
    return events


def frames(game: AnyGame, state: Any, events: Events, seat: int | None) -> tuple[list[object], Any]:
    """All that reaches a seat, a frame for each event and what it could see after it; and the state at the end."""
    sent: list[object] = []
    for event in events:
        shown = game.show(state, event)
        secret = None if seat is None else shown.secret.get(seat)
        state = game.evolve(state, event)
        legal = None if seat is None else game.legal(state, seat)
        sent.append((game.kind_of(event), shown.public, secret, game.view(state, seat), legal))
    return sent, state


def showing(game: AnyGame, kind: str, more: Callable[[Any, Any], Mapping[str, Any]]) -> AnyGame:
    """The game with a leak: everybody is told `more` about events of a kind, from the state before and the event."""

    def show(before: Any, event: Any) -> Shown:
        shown = game.show(before, event)
        more_public = {**shown.public, **more(before, event)} if game.kind_of(event) == kind else shown.public
        return Shown(more_public, shown.secret)

    return replace(game, show=show)


def seeing(game: AnyGame, more: Callable[[Any, int | None], Mapping[str, Any]]) -> AnyGame:
    """The game with a leak: who looks at the table sees `more`, from the state and the seat."""
    return replace(game, view=lambda state, seat: replace(game.view(state, seat), **more(state, seat)))


def telling_secrets(game: AnyGame) -> AnyGame:
    """The game with a leak: what one seat is told, every seat is told."""

    def show(before: Any, event: Any) -> Shown:
        shown = game.show(before, event)
        seats = range(len(game.view(before, None).hand_counts))
        return Shown(shown.public, {seat: {"all": dict(shown.secret)} for seat in seats})

    return replace(game, show=show)


def exchange(hands: Hands, known: Collection[str], dice: random.Random) -> dict[str, str]:
    """Which card lies in the place of which when all but the known ones are dealt anew, by text."""
    cards = [card for hand in hands for card in hand]
    unknown = [card for card in cards if card not in known]
    return dict(zip(cards, cards, strict=True)) | dict(zip(unknown, dice.sample(unknown, len(unknown)), strict=True))


def exchanged(hands: Hands, other: Mapping[str, str]) -> Hands:
    return tuple(tuple(other[card] for card in hand) for hand in hands)
