"""A table's log read through the rules, event by event. Open this to know what a position was at a version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import msgspec

from darbar_contracts.api import Replay, ReplayEvent
from darbar_rules.game import AnyGame
from darbar_rules.games import BY_NAME

# What reading raises when it meets events that no table can have stored. (Wrong JSON and wrong types are ValueErrors.)
READING_FAILS = (AssertionError, LookupError, TypeError, ValueError, AttributeError)

_Body = TypeVar("_Body")


class LogUnreadable(Exception):
    """This is no log that this version of the rules can follow; the message says where it fails."""


class Step(NamedTuple):
    """One event of a log. `by` decided, where it was a game's own `event`; `before` and `state` are the game's states
    around it. All three are None for what happens around the cards, and the states between games."""

    logged: ReplayEvent
    by: str | None
    event: object
    before: object
    state: object

    @property
    def version(self) -> int:
        return self.logged.version

    @property
    def kind(self) -> str:
        return self.logged.kind

    def body(self, type: type[_Body]) -> _Body:
        """The stored fields as a value of this type; raises ValueError for others, and while they hold a secret."""
        if self.logged.body is None:
            raise ValueError("the body is withheld")
        return msgspec.json.decode(self.logged.body, type=type)


def rules_of(replay: Replay) -> AnyGame:
    """Raises LogUnreadable for a game that these rules do not know."""
    try:
        return BY_NAME[replay.terms.game]
    except KeyError:
        raise LogUnreadable(f"unknown game {replay.terms.game}") from None


def options_of(replay: Replay) -> object:
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


class _Decided(msgspec.Struct, frozen=True):
    """A game's own event as it is stored."""

    by: str
    event: msgspec.Raw


class _Reader:
    """Where the game stands while its log is read."""

    def __init__(self, rules: AnyGame, options: object, seats: int) -> None:
        self._rules = rules
        self._options = options
        self._seats = seats
        self._state: object = None

    def step(self, logged: ReplayEvent) -> Step:
        """Raises one of READING_FAILS."""
        before, event, by = self._state, None, None
        if logged.kind in self._rules.events:
            decided = msgspec.json.decode(logged.body or "", type=_Decided)
            event, by = msgspec.json.decode(decided.event, type=self._rules.events[logged.kind]), decided.by
            self._state = self._rules.evolve(before, event)
        elif logged.kind == "game_started":
            self._state = self._rules.new(self._options, self._seats)
        elif logged.kind == "game_ended":
            self._state = None
        return Step(logged, by, event, before, self._state)
