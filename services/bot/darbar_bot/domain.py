"""One request decided: bytes of a view in, a decision out. Open this when a bot's answer is wrong on the wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from darbar_bots import policies
from darbar_contracts.bots import BotAnswer, BotRequest
from darbar_kit.errors import Refused
from darbar_rules.games import GAMES
from darbar_rules.game import Game


class BotReason(StrEnum):
    """Why there is no decision. Sent to the table: add one, never rename one."""

    BUSY = "busy"
    GAME_UNKNOWN = "game_unknown"
    LEVEL_UNKNOWN = "level_unknown"
    VIEW_INVALID = "view_invalid"
    DECISION_TOO_SLOW = "decision_too_slow"
    DECISION_FAILED = "decision_failed"


class Decider:
    """Everything needed to decide, made once in each child: decoders of the views, names of the decisions."""

    def __init__(self) -> None:
        self._games: Mapping[str, _GameWire] = {name: _GameWire(game) for name, game in GAMES.items()}

    def decide(self, request: BotRequest) -> BotAnswer:
        """Raises Refused for a game or level that no policy knows and for a view that is none."""
        game = self._games.get(request.game)
        if game is None:
            raise Refused(BotReason.GAME_UNKNOWN, "no such game", {"game": request.game})
        view = game.read_view(request.view)
        try:
            policy = policies.find(request.game, request.level)
        except policies.NoPolicy as missing:
            raise Refused(BotReason.LEVEL_UNKNOWN, str(missing)) from missing
        return game.write(policy.decide(view))


class _GameWire:
    """One game's views and decisions as they cross a process."""

    def __init__(self, game: Game) -> None:
        self._decode: Callable[[msgspec.Raw], Any] = msgspec.json.Decoder(game.view_type).decode
        self._types = {decision: name for name, decision in game.decisions.items()}

    def read_view(self, view: msgspec.Raw) -> Any:
        try:
            return self._decode(view)
        except msgspec.MsgspecError as invalid:
            raise Refused(BotReason.VIEW_INVALID, str(invalid)) from invalid

    def write(self, decision: Any) -> BotAnswer:
        return BotAnswer(type=self._types[type(decision)], decision=msgspec.Raw(msgspec.json.encode(decision)))
