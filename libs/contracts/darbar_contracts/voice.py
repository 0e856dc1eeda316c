"""Voice notes between services: what is asked of media about reports and bans. Open this to moderate them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

REPORTED_NOTES_MAX = 100
REASON_CHARACTERS_MAX = 200
BAN_HOURS_MAX = 24 * 365

BanReason = Annotated[str, Meta(min_length=1, max_length=REASON_CHARACTERS_MAX)]
Judgement = Literal["dismissed", "deleted"]
# What a note is kept as: Ogg/Opus and MP4/AAC, by the end of the file's name.
Form = Literal["ogg", "m4a"]
FORMS: tuple[Form, ...] = ("ogg", "m4a")


def note_path(note_id: str) -> str:
    """Where a note is fetched."""
    return f"/v1/voice-notes/{note_id}"


class ReportedNotesRequest(msgspec.Struct, frozen=True):
    """The notes that somebody has reported and nobody has dealt with: the most reports first, then the oldest report.

    `after` is the `next` of the page before.
    """

    limit: Annotated[int, Meta(ge=1, le=REPORTED_NOTES_MAX)] = REPORTED_NOTES_MAX
    after: Annotated[str, Meta(max_length=80)] | None = None


class ReportedNote(msgspec.Struct, frozen=True):
    """A note in the queue. Who has reported it nobody is told (TL-50)."""

    note_id: str
    table_id: str
    game_number: int
    round: int
    account_id: str
    milliseconds: int
    sent_at: datetime
    reports: int
    reported_at: datetime


class ReportedNotes(msgspec.Struct, frozen=True):
    """One page of the queue. `next` None: that was all."""

    notes: tuple[ReportedNote, ...]
    next: str | None = None


class NoteLinkRequest(msgspec.Struct, frozen=True):
    """A moderator listens to a note. Refused with `note_unknown` when it is deleted."""

    note_id: str


class NoteLink(msgspec.Struct, frozen=True):
    """Whoever has this path can fetch the note for so many seconds, without a token."""

    path: str
    seconds: int


class JudgeNote(msgspec.Struct, frozen=True):
    """A moderator has dealt with a note: a dismissed one is kept for what is left of its 7 days, a deleted one goes at
    once (TL-51). Repeating it gets the same answer; a deleted note stays deleted."""

    note_id: str
    judgement: Judgement


class NoteJudged(msgspec.Struct, frozen=True):
    """It is stored. `account_id`: whose note it is."""

    note_id: str
    account_id: str
    judgement: Judgement


class BanVoice(msgspec.Struct, frozen=True):
    """An account sends no notes any more, for `hours` or (None) for good (TL-52). The reason is shown to the player. A
    new ban takes the place of the one before."""

    account_id: str
    reason: BanReason
    hours: Annotated[int, Meta(ge=1, le=BAN_HOURS_MAX)] | None = None


class LiftVoiceBan(msgspec.Struct, frozen=True):
    """An account may send notes again; one that may already is no fault."""

    account_id: str


class VoiceRightsRequest(msgspec.Struct, frozen=True):
    """May this account send notes?"""

    account_id: str


class VoiceBan(msgspec.Struct, frozen=True):
    """Since when and until when (None: for good) somebody sends no notes, and why."""

    since: datetime
    until: datetime | None
    reason: str


class VoiceRights(msgspec.Struct, frozen=True):
    """`ban` None: the account may send notes."""

    account_id: str
    ban: VoiceBan | None = None
