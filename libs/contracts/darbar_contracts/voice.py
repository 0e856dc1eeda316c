"""Voice notes between services: what is asked of media about reports and bans. Open this to moderate them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

UPLOAD_BYTES_MAX = 256 * 1024
# What browsers record; the bytes themselves decide.
UPLOAD_TYPES = ("audio/webm", "audio/ogg", "audio/mp4", "video/webm", "video/mp4", "application/ogg")
UPLOAD_TICKET_HEADER = "Upload-Ticket"
# From when a note plays; the table says so to the second, and a listener's line may be slow (TL-50).
REPORT_SECONDS = 15
# A note plays so long after it was sent (TL-49).
PLAYS_AFTER_SECONDS = 1
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


class UploadTicket(msgspec.Struct, frozen=True):
    """Who may send one recording, of which round of which table, and until when its first byte has to come. Sealed by
    the table, which hands it to the player who has the microphone."""

    table_id: str
    game_number: int
    round: int
    account_id: str
    seat: int
    grant_id: str
    expires_at: datetime


class UploadBegan(msgspec.Struct, frozen=True, tag="upload_began"):
    """The first byte of a recording is here: the microphone is held for it."""


class UploadEnded(msgspec.Struct, frozen=True, tag="upload_ended"):
    """Its last byte is here: the note is sent, and the microphone is free."""


class UploadRefused(msgspec.Struct, frozen=True, tag="upload_refused"):
    """It becomes no note: the microphone is free, and the player may try again."""


class NoteStored(msgspec.Struct, frozen=True, tag="note_stored"):
    """Everybody who was seated when it was sent is told where to hear it."""

    note_id: str
    milliseconds: int
    listeners: tuple[str, ...]
    plays_at: datetime
    path: str


class NoteStep(msgspec.Struct, frozen=True):
    """What media tells a table of a recording. Repeating it gets the same answer."""

    ticket: UploadTicket
    step: UploadBegan | UploadEnded | UploadRefused | NoteStored


class NoteStepTaken(msgspec.Struct, frozen=True):
    """`listeners`: at `upload_ended`, who is seated now, the sender too; `sent_at` that moment on the table's clock."""

    listeners: tuple[str, ...] = ()
    sent_at: datetime | None = None


class NoteSent(msgspec.Struct, frozen=True):
    """POST /v1/voice-notes: it is stored, and plays for everybody seated at this time."""

    note_id: str
    milliseconds: int
    plays_at: datetime


class NoteQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/voice-notes/{note_id}. `form` left out: as Accept prefers. `link`: out of an address that the table or a
    moderator's page gave; then no token is needed."""

    form: Form | None = None
    link: Annotated[str, Meta(max_length=1024)] | None = None


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
