"""Stored kinds and bodies of events, both ways. Open this when a row can't be read."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from darbar_rules.game import AnyGame
from darbar_rules.games import BY_NAME
from darbar_table.domain.events import KIND_OF, Played, TableEvent


class EventCodec:
    """Stored kinds and bodies of one game's tables, both ways."""

    def __init__(self, game: AnyGame) -> None:
        self._game = game
        self._encoder = msgspec.json.Encoder()
        self._decoders: dict[str, msgspec.json.Decoder[Any]] = {
            kind: msgspec.json.Decoder(event) for event, kind in KIND_OF.items()
        }
        played: Any = Played  # of the game's own kinds, which only the game knows
        for kind, event in game.events.items():
            if kind in self._decoders:
                raise ValueError(f"{game.name}: {kind} is a kind of the table's own")
            self._decoders[kind] = msgspec.json.Decoder(played[event])

    def kind_of(self, event: TableEvent) -> str:
        """The kind under which an event is stored."""
        return self._game.kind_of(event.event) if isinstance(event, Played) else KIND_OF[type(event)]

    def encode(self, event: TableEvent) -> bytes:
        """The body as stored; fields that are None or 0 stay, so that a log reads the same everywhere."""
        return self._encoder.encode(event)

    def decode(self, kind: str, body: str | bytes) -> TableEvent:
        """A stored row as an event; KindUnknown when this version of the code can't read it."""
        decoder = self._decoders.get(kind)
        if decoder is None:
            raise KindUnknown(kind)
        event: TableEvent = decoder.decode(body)
        return event


class KindUnknown(Exception):
    """A newer process wrote this: the table is frozen, nothing is guessed."""


class LogBroken(Exception):
    """Stored events that can't be replayed: the table is frozen, nothing is guessed."""


_codec = cache(EventCodec)


class Codecs:
    """One codec a game, made once in a process."""

    def __init__(self) -> None:
        self._codecs = {name: _codec(game) for name, game in BY_NAME.items()}

    def of(self, game: str) -> tuple[AnyGame, EventCodec]:
        """Raises LogBroken for a game that this version does not know."""
        if game not in self._codecs:
            raise LogBroken(f"unknown game {game}")
        return BY_NAME[game], self._codecs[game]
