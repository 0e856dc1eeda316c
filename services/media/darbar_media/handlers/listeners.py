"""Who hears a note and who reports it (TL-50, TL-53). Open this when somebody is refused who was there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from darbar_contracts.refusals import Reason
from darbar_contracts.voice import REPORT_SECONDS, Form
from darbar_kit.errors import Refused
from darbar_media.domain import Note, refuse_deleted
from darbar_media.handlers.links import Links
from darbar_media.store.notes import NoteStore
from darbar_media.store.sounds import Sounds


class Listeners:
    """Raises Refused and Unavailable."""

    def __init__(self, notes: NoteStore, sounds: Sounds, links: Links, *, now: Callable[[], datetime]) -> None:
        self._notes = notes
        self._sounds = sounds
        self._links = links
        self._now = now

    async def sound_by_link(self, note_id: UUID, link: str, form: Form) -> bytes:
        """Of whoever has an address that was given out."""
        permit = self._links.read(link, note_id)
        note = refuse_deleted(await self._notes.find(note_id), now=self._now())
        if not permit.for_moderator and self._now() >= note.kept_until:
            raise Refused(Reason.NOTE_UNKNOWN)
        return await self._sound(note_id, form)

    async def sound(self, note_id: UUID, account_id: str, form: Form) -> bytes:
        """Of who was seated when it was sent."""
        await self._heard_by(note_id, account_id)
        return await self._sound(note_id, form)

    async def report(self, note_id: UUID, account_id: str) -> None:
        """Once a listener: reporting again changes nothing. What was reported is kept until somebody has judged it."""
        note = await self._heard_by(note_id, account_id)
        if note.account_id == account_id:
            raise Refused(Reason.NOTE_OWN)
        if self._now() > note.plays_at + timedelta(seconds=REPORT_SECONDS):
            raise Refused(Reason.REPORT_LATE)
        await self._sounds.keep(note_id)
        await self._notes.report(note_id, account_id, at=self._now())

    async def _heard_by(self, note_id: UUID, account_id: str) -> Note:
        note = refuse_deleted(await self._notes.find(note_id), now=self._now())
        if account_id not in note.listeners:
            raise Refused(Reason.NOTE_NOT_FOR_YOU)
        if self._now() >= note.kept_until:
            raise Refused(Reason.NOTE_UNKNOWN)
        return note

    async def _sound(self, note_id: UUID, form: Form) -> bytes:
        sound = await self._sounds.get(note_id, form)
        if sound is None:
            raise Refused(Reason.NOTE_UNKNOWN)
        return sound
