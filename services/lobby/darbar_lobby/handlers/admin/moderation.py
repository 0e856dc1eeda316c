"""Voice notes that somebody has reported, as moderators deal with them. Media keeps them. Open this about the queue."""

from __future__ import annotations

from darbar_contracts.admin.api import NewJudgement, NotesQuery
from darbar_contracts.subjects import MEDIA_JUDGE_NOTE, MEDIA_NOTE_LINK, MEDIA_REPORTED_NOTES
from darbar_contracts.voice import (
    JudgeNote,
    NoteJudged,
    NoteLink,
    NoteLinkRequest,
    ReportedNotes,
    ReportedNotesRequest,
)
from darbar_kit.bus import Bus
from darbar_lobby.handlers.admin.acts import Acts
from darbar_lobby.store.administrators import SignedIn

ASK_SECONDS_MAX = 5.0


class Moderation:
    """Asks media. Listening is noted too: what somebody said to their table is nobody else's otherwise."""

    def __init__(self, bus: Bus, acts: Acts) -> None:
        self._bus = bus
        self._acts = acts

    async def reported(self, query: NotesQuery) -> ReportedNotes:
        """The most reports first, then the oldest report."""
        request = ReportedNotesRequest(query.limit, query.after)
        return await self._bus.request(MEDIA_REPORTED_NOTES, request, ReportedNotes, timeout_seconds=ASK_SECONDS_MAX)

    async def link(self, who: SignedIn, note_id: str) -> NoteLink:
        """Raises Refused note_unknown."""
        async with self._acts.noted(who, "listen", f"note:{note_id}", reason="a reported note"):
            request = NoteLinkRequest(note_id)
            return await self._bus.request(MEDIA_NOTE_LINK, request, NoteLink, timeout_seconds=ASK_SECONDS_MAX)

    async def judge(self, who: SignedIn, note_id: str, body: NewJudgement) -> NoteJudged:
        """Raises Refused note_unknown."""
        async with self._acts.noted(who, f"note_{body.judgement}", f"note:{note_id}", reason=body.reason):
            request = JudgeNote(note_id, body.judgement)
            return await self._bus.request(MEDIA_JUDGE_NOTE, request, NoteJudged, timeout_seconds=ASK_SECONDS_MAX)
