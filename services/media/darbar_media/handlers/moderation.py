"""What moderators ask: the queue, listening, judging, bans. Open this about reported notes and about who may speak."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec

from darbar_contracts.refusals import Reason
from darbar_contracts.voice import (
    BanVoice,
    JudgeNote,
    LiftVoiceBan,
    NoteJudged,
    NoteLink,
    NoteLinkRequest,
    ReportedNotes,
    ReportedNotesRequest,
    VoiceBan,
    VoiceRights,
    VoiceRightsRequest,
)
from darbar_kit.errors import Refused
from darbar_media.domain import ban_now, refuse_deleted
from darbar_media.handlers.links import Links
from darbar_media.store.notes import NoteStore, Place

_FIRST = Place(2**31 - 1, datetime.min.replace(tzinfo=UTC), UUID(int=0))


class Moderation:
    """Raises Refused and Unavailable only. Whoever asks keeps the log of who did what, and why."""

    def __init__(self, notes: NoteStore, links: Links, *, now: Callable[[], datetime]) -> None:
        self._notes = notes
        self._links = links
        self._now = now

    async def reported_notes(self, request: ReportedNotesRequest) -> ReportedNotes:
        """Raises Refused query_invalid for an `after` that is none of ours."""
        notes = await self._notes.reported(_place(request.after), request.limit + 1)
        page = tuple(notes[: request.limit])
        more = len(notes) > request.limit
        return ReportedNotes(page, _next(page[-1].reports, page[-1].reported_at, page[-1].note_id) if more else None)

    async def note_link(self, request: NoteLinkRequest) -> NoteLink:
        """Raises Refused note_unknown."""
        note = refuse_deleted(await self._notes.find(note_id_of(request.note_id)), now=self._now())
        return self._links.make(note.note_id, for_moderator=True)

    async def judge_note(self, request: JudgeNote) -> NoteJudged:
        """Raises Refused note_unknown. The sound is deleted by retention, soon; nobody hears it from now on."""
        judged = await self._notes.judge(note_id_of(request.note_id), request.judgement)
        if judged is None:
            raise Refused(Reason.NOTE_UNKNOWN)
        account_id, judgement = judged
        return NoteJudged(request.note_id, account_id, judgement)

    async def ban_voice(self, request: BanVoice) -> VoiceRights:
        now = self._now()
        until = None if request.hours is None else now + timedelta(hours=request.hours)
        ban = VoiceBan(since=now, until=until, reason=request.reason)
        await self._notes.ban(request.account_id, ban)
        return VoiceRights(request.account_id, ban)

    async def lift_voice_ban(self, request: LiftVoiceBan) -> VoiceRights:
        await self._notes.lift_ban(request.account_id)
        return VoiceRights(request.account_id)

    async def voice_rights(self, request: VoiceRightsRequest) -> VoiceRights:
        """A ban whose time is over is none."""
        ban = ban_now(await self._notes.ban_of(request.account_id), now=self._now())
        return VoiceRights(request.account_id, ban)


def note_id_of(text: str) -> UUID:
    """What is no id is no note."""
    try:
        return UUID(text)
    except ValueError as error:
        raise Refused(Reason.NOTE_UNKNOWN) from error


def _next(reports: int, reported_at: datetime, note_id: str) -> str:
    return f"{reports}_{reported_at.isoformat().replace('+00:00', 'Z')}_{note_id}"


def _place(text: str | None) -> Place:
    if text is None:
        return _FIRST
    try:
        reports, reported_at, note_id = text.split("_")
        return msgspec.convert((reports, reported_at, note_id), Place, strict=False)
    except (ValueError, msgspec.ValidationError) as error:
        raise Refused(Reason.QUERY_INVALID, details={"field": "after", "path": "$.after"}) from error
