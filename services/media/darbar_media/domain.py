"""What may be heard, and for how long: no database, no clock. Open this when a note is kept too long."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from darbar_contracts.refusals import Reason
from darbar_contracts.voice import Judgement, VoiceBan
from darbar_kit.errors import Refused

KEPT = timedelta(days=7)


class Note(msgspec.Struct, frozen=True):
    """A note that was sent. `listeners`: who was seated then, the sender too. `reports`: how many have reported it."""

    note_id: UUID
    table_id: UUID
    game_number: int
    round: int
    account_id: str
    seat: int
    listeners: tuple[str, ...]
    milliseconds: int
    sent_at: datetime
    plays_at: datetime
    reports: int = 0
    reported_at: datetime | None = None
    judgement: Judgement | None = None

    @property
    def kept_until(self) -> datetime:
        """A reported one longer, until somebody has dealt with it (TL-51)."""
        return self.sent_at + KEPT

    @property
    def waits_for_judgement(self) -> bool:
        return self.reports > 0 and self.judgement is None


def refuse_deleted(note: Note | None, *, now: datetime) -> Note:
    """The note, while there is something to hear for a moderator. Raises Refused `note_unknown`."""
    if note is None or note.judgement == "deleted":
        raise Refused(Reason.NOTE_UNKNOWN)
    if now >= note.kept_until and not note.waits_for_judgement:
        raise Refused(Reason.NOTE_UNKNOWN)
    return note


def ban_now(ban: VoiceBan | None, *, now: datetime) -> VoiceBan | None:
    """None when its time is over."""
    return None if ban is None or (ban.until is not None and ban.until <= now) else ban
