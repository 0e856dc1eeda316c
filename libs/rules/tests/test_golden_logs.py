"""Stored games replay to the same positions for ever."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import MISSING, asdict, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from plain_tricks.game import PLAIN_TRICKS

from darbar_rules.game import AnyGame
from darbar_rules.games import ALL, BY_NAME
from darbar_rules.testing import at_least, facts_of, options_with, pairwise_options, random_game

FOLDER = Path(__file__).parent / "golden"
LOGS = sorted(FOLDER.glob("*.ndjson"))

GAMES = pytest.mark.parametrize("game", [*ALL, PLAIN_TRICKS], ids=lambda game: game.name)

Line = dict[str, Any]


@pytest.fixture(autouse=True)
def plain_tricks_is_registered() -> Iterator[None]:
    with BY_NAME.registered(PLAIN_TRICKS):
        yield


def read(log: Path) -> Iterator[Line]:
    with log.open() as lines:
        yield from (json.loads(line) for line in lines)


def read_as(kind: Any, value: Any) -> Any:
    """A JSON value as the type that an event names; a field that is not there has its default."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: read_as(hints[name], part) for name, part in value.items()})  # type: ignore[operator]
    if get_origin(kind) is tuple:
        part, *more = get_args(kind)
        kinds = [part] * len(value) if more == [...] else [part, *more]
        return tuple(read_as(one, item) for one, item in zip(kinds, value, strict=True))
    if get_origin(kind) is UnionType:
        (inner,) = (one for one in get_args(kind) if one is not NoneType)
        return None if value is None else read_as(inner, value)
    if get_origin(kind) is Literal:
        assert value in get_args(kind)
        return value
    assert type(value) is kind
    return value


@GAMES
def test_a_game_has_a_golden_log_with_every_kind_of_event(game: AnyGame) -> None:
    own = [log for log in LOGS if log.stem.startswith(game.name)]
    kinds = {line["kind"] for log in own for line in read(log) if "kind" in line}
    assert kinds == set(game.events)


@pytest.mark.parametrize("log", LOGS, ids=[log.stem for log in LOGS])
def test_a_golden_log_replays_to_the_same_positions(log: Path) -> None:
    game, state, checked = BY_NAME["court_piece"], None, 0
    for line in read(log):
        if "game" in line:
            game = BY_NAME[line["game"]]
            state = game.new(options_with(game, line["options"]), line["seats"])
            continue
        state = game.evolve(state, read_as(game.events[line["kind"]], line["event"]))
        after = line["after"]
        found = facts_of(game, state, seen=after["view"])
        # A result may learn to say more than it did when the log was written.
        if found["result"] is not None:
            found["result"] = {name: found["result"][name] for name in after["result"]}
        assert found == after
        checked += 1
    assert checked > 100


@GAMES
def test_every_event_is_read_back_as_it_was(game: AnyGame) -> None:
    for seed, options in enumerate(pairwise_options(game)[:12]):
        for step in random_game(game, options, seed, rounds_max=2):
            for event in step.events:
                assert read_as(type(event), json.loads(json.dumps(asdict(event)))) == event


@GAMES
def test_a_field_that_may_be_none_has_a_default(game: AnyGame) -> None:
    hints = [(event, name, kind) for event in game.events.values() for name, kind in get_type_hints(event).items()]
    for event, name, _ in at_least(1, (one for one in hints if NoneType in get_args(one[2]))):
        (field,) = (one for one in fields(event) if one.name == name)
        assert field.default is not MISSING, f"{event.__name__}.{name}"
