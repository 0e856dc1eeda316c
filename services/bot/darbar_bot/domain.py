"""One request decided: the JSON of a view in, a decision out. Open this when a bot's answer is wrong on the wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from darbar_bots import policies
from darbar_bots.policy import ViewInvalid
from darbar_contracts.bots import BotAnswer, BotRequest
from darbar_contracts.refusals import Reason
from darbar_rules.game import AnyGame
from darbar_rules.games import BY_NAME


class CannotDecide(Exception):
    """The request is at fault: asking again gives the same."""

    def __init__(self, code: Reason, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Decider:
    """What deciding needs, made once in each child: how each game's views are read and its decisions written."""

    def __init__(self) -> None:
        self._codecs: Mapping[str, _Codec] = {name: _Codec(game) for name, game in BY_NAME.items()}

    def decide(self, request: BotRequest) -> BotAnswer:
        """Raises CannotDecide for a game or level that no policy knows, and for a view that is none of this seat."""
        codec = self._codecs.get(request.game)
        if codec is None:
            raise CannotDecide(Reason.GAME_UNKNOWN, f"there is no game {request.game}")
        view = codec.read(request.view, seat=request.seat)
        try:
            return codec.write(policies.decide(request.game, request.level, view))
        except policies.NoPolicy as missing:
            raise CannotDecide(Reason.LEVEL_UNKNOWN, str(missing)) from missing
        except ViewInvalid as invalid:
            raise CannotDecide(Reason.VIEW_INVALID, str(invalid)) from invalid


class _View(Protocol):
    @property
    def seat(self) -> int | None: ...


class _Codec:
    """One game's views and decisions as they cross a process."""

    def __init__(self, game: AnyGame) -> None:
        self._decode: Callable[[msgspec.Raw], _View] = msgspec.json.Decoder(game.view_type).decode
        self._types = {decision: name for name, decision in game.decisions.items()}

    def read(self, view: msgspec.Raw, *, seat: int) -> _View:
        try:
            seen = self._decode(view)
        except (msgspec.DecodeError, UnicodeDecodeError) as invalid:
            raise CannotDecide(Reason.VIEW_INVALID, str(invalid)) from invalid
        if seen.seat != seat:
            raise CannotDecide(Reason.VIEW_INVALID, "this is the view of another seat")
        return seen

    def write(self, decision: object) -> BotAnswer:
        return BotAnswer(self._types[type(decision)], msgspec.Raw(msgspec.json.encode(decision)))
