"""The table's refusals, with the sentence a person reads. Open this to word one better; codes never change."""

from __future__ import annotations

from darbar_contracts.frames import TableReason
from darbar_kit.errors import Refused

_SENTENCES: dict[TableReason, str] = {
    TableReason.FRAME_INVALID: "This message could not be read.",
    TableReason.FRAME_TOO_LARGE: "This message is too long.",
    TableReason.FRAMES_TOO_MANY: "Too many messages in a second.",
    TableReason.FRAME_NOT_TEXT: "Only text messages are read here.",
    TableReason.HELLO_EXPECTED: "The first message must be hello.",
    TableReason.PROTOCOL_UNKNOWN: "This version of the protocol is not spoken here.",
    TableReason.TOKEN_INVALID: "The token is not valid.",
    TableReason.TOKEN_EXPIRED: "The token has expired.",
    TableReason.TABLE_UNKNOWN: "There is no such table.",
    TableReason.TABLE_CLOSED: "This table is closed.",
    TableReason.TABLE_FROZEN: "This table has been stopped because of a fault of ours.",
    TableReason.TABLE_PRIVATE: "This table is private.",
    TableReason.NOT_OWNER: "Another process serves this table.",
    TableReason.BUSY: "Too much is waiting at this table. Try again.",
    TableReason.UNAVAILABLE: "This can't be stored just now. Try again.",
    TableReason.COMMAND_ID_INVALID: "A command needs an id of 16 to 32 letters, digits, - or _.",
    TableReason.COMMAND_ID_REUSED: "This id was used for another command.",
    TableReason.STALE_TURN: "The table has moved on.",
    TableReason.NOT_SEATED: "You have no seat at this table.",
    TableReason.ALREADY_SEATED: "You already have a seat at this table.",
    TableReason.SEATED_ELSEWHERE: "You have a seat at another table.",
    TableReason.NOT_HOST: "Only the host can do this.",
    TableReason.SEAT_TAKEN: "This seat is taken.",
    TableReason.SEAT_UNKNOWN: "There is no such seat.",
    TableReason.TABLE_FULL: "No seat is free.",
    TableReason.SHORT_OF_COINS: "This table needs double the bet.",
    TableReason.NOT_NOW: "Not now.",
    TableReason.ROUND_RUNNING: "Not while a round is played.",
    TableReason.NOT_A_BOT: "There is no bot in this seat.",
    TableReason.SEED_LATE: "The time for this string is over.",
    TableReason.SEED_MISMATCH: "This string is not the one that was committed.",
}


def refused(reason: TableReason, *, status: int = 409, **details: object) -> Refused:
    """The exception for a refusal of the table; `status` is for what is asked over HTTP."""
    return Refused(reason, _SENTENCES[reason], details=details, status=status)
