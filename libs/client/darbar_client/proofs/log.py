"""A table's log read through the rules, event by event. Open this to know what a position was at a version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from darbar_contracts.api import Replay, ReplayEvent
from darbar_rules.game import AnyGame
from darbar_rules.games import BY_NAME

# What reading raises when it meets events that no table can have stored. (Wrong JSON and wrong types are ValueErrors.)
READING_FAILS = (AssertionError, LookupError, TypeError, ValueError, AttributeError)


class LogUnreadable(Exception):
    """This is no log that this version of the rules can follow; the message says where it fails."""


class Step(NamedTuple):
    """One event of a log. `body` is None while it holds a secret. `event` is the game's own, `before` and `state` are
    the game's states around it; None for what happens around the cards, and between games."""

    version: int
    kind: str
    body: dict[str, Any] | None
    event: Any
    before: Any
    state: Any


def rules_of(replay: Replay) -> AnyGame:
    """Raises LogUnreadable for a game that these rules do not know."""
    try:
        return BY_NAME[replay.terms.game]
    except KeyError:
        raise LogUnreadable(f"unknown game {replay.terms.game}") from None


def options_of(replay: Replay) -> Any:
    """The options of the table as its rules take them."""
    try:
        return msgspec.convert(replay.terms.options, rules_of(replay).options_type)
    except msgspec.ValidationError as error:
        raise LogUnreadable(f"options: {error}") from error


def steps(replay: Replay) -> Iterator[Step]:
    """The whole log from its first event on. Raises LogUnreadable where it can't be followed."""
    reader = _Reader(rules_of(replay), options_of(replay), replay.terms.seats)
    for logged in replay.events:
        try:
            step = reader.step(logged)
        except READING_FAILS as error:
            raise LogUnreadable(f"version {logged.version}: {logged.kind}: {error!r}") from error
        yield step


class _Reader:
    """Where the game stands while its log is read."""

    def __init__(self, rules: AnyGame, options: Any, seats: int) -> None:
        self._rules = rules
        self._options = options
        self._seats = seats
        self._state: Any = None

    def step(self, logged: ReplayEvent) -> Step:
        """Raises one of READING_FAILS."""
        before, event = self._state, None
        body = None if logged.body is None else msgspec.json.decode(logged.body, type=dict[str, Any])
        if logged.kind in self._rules.events:
            event = msgspec.convert((body or {})["event"], self._rules.events[logged.kind])
            self._state = self._rules.evolve(before, event)
        elif logged.kind == "game_started":
            self._state = self._rules.new(self._options, self._seats)
        elif logged.kind == "game_ended":
            self._state = None
        return Step(logged.version, logged.kind, body, event, before, self._state)
