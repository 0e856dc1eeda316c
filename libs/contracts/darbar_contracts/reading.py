"""What a client sends, read: the union of its frames, and the decisions of every game as frames."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache, reduce
from operator import or_
from typing import Any, get_type_hints

import msgspec

from darbar_contracts.frames import TABLE_FRAMES, CommandId, CommandIdText, Frame
from darbar_rules.games import ALL


class _Identified(msgspec.Struct, frozen=True):
    id: CommandIdText | None = None


_encode = msgspec.json.Encoder(order="deterministic").encode
_decode_identified = msgspec.json.Decoder(_Identified).decode


def _decision_frame(kind: str, decision: type[Any]) -> type[Frame]:
    """A decision of the rules as a frame: `id`, `round`, `turn` and `game`, then the decision's own fields.

    `game` is the table's number of the game, so that after an early end a decision that was on its way never counts for
    the next game (TL-39); without it any game is meant.
    """
    types = get_type_hints(decision)
    head: list[Any] = [("id", CommandId), ("round", int), ("turn", int), ("game", int | None, None)]
    body = [
        (item.name, types[item.name]) if item.default is MISSING else (item.name, types[item.name], item.default)
        for item in fields(decision)
    ]
    made: type[Any] = msgspec.defstruct(
        decision.__name__, head + body, bases=(Frame,), tag=kind, frozen=True, kw_only=True
    )
    return made


@cache
def _decision_frames() -> Mapping[str, type[Frame]]:
    """By kind, made once in a process: to make a class takes long."""
    decisions = {kind: decision for game in ALL for kind, decision in game.decisions.items()}
    return {kind: _decision_frame(kind, decision) for kind, decision in decisions.items()}


class DecisionFrames:
    """The frames of every decision of every game, made from the registry: a new game needs no line here."""

    def __init__(self) -> None:
        decisions = {kind: decision for game in ALL for kind, decision in game.decisions.items()}
        self.by_kind = _decision_frames()
        self._names = {decision: tuple(item.name for item in fields(decision)) for decision in decisions.values()}
        self._frame_types = {decision: self.by_kind[kind] for kind, decision in decisions.items()}
        self._decisions = {frame: decision for decision, frame in self._frame_types.items()}

    def decision_of(self, frame: Frame) -> object | None:
        """The rules' decision that a frame carries; None when it is another kind of command."""
        decision = self._decisions.get(type(frame))
        if decision is None:
            return None
        carried: object = decision(*[getattr(frame, name) for name in self._names[decision]])
        return carried

    def frame_of(self, decision: object, *, id: CommandId, game: int, round: int, turn: int) -> Frame:
        """The frame that carries a decision of a game. Raises KeyError for anything else."""
        values = {name: getattr(decision, name) for name in self._names[type(decision)]}
        return self._frame_types[type(decision)](**{"id": id, "round": round, "turn": turn, "game": game, **values})


def client_frame_type(decisions: DecisionFrames) -> Any:
    """The union of everything that a client may send, for a decoder."""
    return reduce(or_, (*TABLE_FRAMES, *decisions.by_kind.values()))


def command_digest(command: Frame) -> int:
    """32 bits that are the same for what means the same, whatever the order of its keys and the space between them."""
    return zlib.crc32(_encode(command))


# What reading a stranger's message can raise. The last one: nested too deeply.
UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)


def command_id_in(message: bytes) -> str | None:
    """The id of a message that is no command, so that its refusal can name it; None when none can be read."""
    try:
        return _decode_identified(message).id
    except UNREADABLE:
        return None
