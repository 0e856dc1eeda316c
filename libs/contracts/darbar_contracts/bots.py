"""What a bot is asked: a seat's view and nothing else. Open this when bots decide."""

from __future__ import annotations

import msgspec

# Offices at a court, which no player may be called: a person named as a bot would pass for one, and a bot's name should
# cost no person their own.
BOT_NAMES = (
    "Wazir",
    "Diwan",
    "Qasid",
    "Katib",
    "Naqib",
    "Tabib",
    "Subedar",
    "Faujdar",
    "Kotwal",
    "Darogha",
    "Jagirdar",
    "Mansabdar",
)


class BotRequest(msgspec.Struct, frozen=True):
    """Decide for a seat. `view` is the JSON of the game's view of that seat, the only thing a bot may know."""

    game: str
    level: str
    seat: int
    view: msgspec.Raw


class BotAnswer(msgspec.Struct, frozen=True):
    """`type` is the decision's name on the wire (`"play_card"`), `decision` its fields."""

    type: str
    decision: msgspec.Raw
