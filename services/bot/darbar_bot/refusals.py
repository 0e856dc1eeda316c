"""Why there is no decision. Open this to add a code."""

from __future__ import annotations

from enum import StrEnum


class BotReason(StrEnum):
    """Sent to the table: add one, never rename one. The last three are outages, the others refusals."""

    GAME_UNKNOWN = "game_unknown"
    LEVEL_UNKNOWN = "level_unknown"
    VIEW_INVALID = "view_invalid"
    BUSY = "busy"
    DECISION_TOO_SLOW = "decision_too_slow"
    DECISION_FAILED = "decision_failed"
