"""Frames of a table's socket against the AsyncAPI document: each is a message that it tells, to the last field.

Whoever reads frames in a test shows them to a `Documented`. Open this when a frame is called undocumented.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import jsonschema_rs

from darbar_contracts.documents import document

Frame = Mapping[str, Any]


class Documented:
    """The frames of one connection. A game that the document does not know, as only tests have it, is let pass."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self._game: str | None = None

    def sent(self, frame: Frame) -> None:
        """By the client, meant to be a good one."""
        self._check(frame, [frame["type"]])

    def told(self, frame: Frame) -> None:
        """By the table."""
        if frame["type"] == "snapshot":
            self._game = frame["table"]["terms"]["game"]
        self._check(frame, self._messages_of(frame))

    def _messages_of(self, frame: Frame) -> list[str]:
        """Which messages a frame could be: a kind may be told by several games, and before a snapshot none is known."""
        if frame["type"] not in ("event", "snapshot"):
            return [frame["type"]]
        name = frame["kind"] if frame["type"] == "event" else "snapshot"
        games = games_known() if self._game is None else {self._game}
        if not games <= games_known():
            return [f"table.{name}"] if f"table.{name}" in validators() else []
        return [f"{scope}.{name}" for scope in ("table", *sorted(games)) if f"{scope}.{name}" in validators()]

    def _check(self, frame: Frame, messages: Iterable[str]) -> None:
        tried = [message for message in messages if message in validators()]
        found = [message for message in tried if validators()[message].is_valid(frame)]
        if not found and (self._game is None or self._game in games_known()):
            faults = [f"{message}: {error}" for message in tried for error in validators()[message].iter_errors(frame)]
            raise AssertionError(f"{json.dumps(frame)} is not in the AsyncAPI document: {faults}")
        self.seen.update(found)


@cache
def games_known() -> frozenset[str]:
    return frozenset(name.removesuffix(".snapshot") for name in validators() if name.endswith(".snapshot"))


@cache
def validators() -> Mapping[str, jsonschema_rs.Draft202012Validator]:
    """For each message. Clients let fields pass that they don't know; here each must have been told."""
    components = closed(json.loads(document("asyncapi.json"))["components"])
    return {
        name: jsonschema_rs.Draft202012Validator({**message["payload"], "components": components})
        for name, message in components["messages"].items()
    }


def closed(schema: Any) -> Any:
    """The same, with no field but those that are named."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: closed(part) for name, part in schema.items()}
    return {"additionalProperties": False, **made} if made.get("type") == "object" and "properties" in made else made
