"""The way of a recording: ticket, microphone, bytes, sound, store, everybody told. Open this when one gets lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID, uuid4

import structlog

from darbar_contracts.refusals import Reason
from darbar_contracts.voice import (
    PLAYS_AFTER_SECONDS,
    NoteSent,
    NoteStep,
    NoteStepTaken,
    NoteStored,
    UploadBegan,
    UploadEnded,
    UploadRefused,
    UploadTicket,
)
from darbar_kit.backoff import Backoff
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.seals import Seal, SealBroken
from darbar_media.domain import Note, ban_now
from darbar_media.engine.pipeline import Pipeline
from darbar_media.engine.work import NoteSound
from darbar_media.handlers.links import Links
from darbar_media.handlers.table_client import TableClient
from darbar_media.metrics import Metrics
from darbar_media.store.notes import NoteStore
from darbar_media.store.sounds import Sounds

# The player waits for the microphone; a table whose owner changes is waited for longer once the note is there.
BEGAN_SECONDS_MAX = 2.0
STORING_SECONDS_MAX = 15.0
TOLD_SECONDS_MAX = 10.0
PAUSE_SECONDS_MIN = 0.05
PAUSE_SECONDS_MAX = 1.0

log = structlog.get_logger()
_Answer = TypeVar("_Answer")


class Uploads:
    """Raises Refused and Unavailable; then the table has been told that the microphone is free."""

    def __init__(
        self,
        *,
        seal: Seal,
        notes: NoteStore,
        sounds: Sounds,
        pipeline: Pipeline,
        table_client: TableClient,
        links: Links,
        metrics: Metrics,
        now: Callable[[], datetime],
    ) -> None:
        self._seal = seal
        self._notes = notes
        self._sounds = sounds
        self._pipeline = pipeline
        self._table_client = table_client
        self._links = links
        self._metrics = metrics
        self._now = now

    async def take(self, account_id: str, ticket_text: str, receive: Callable[[], Awaitable[bytes]]) -> NoteSent:
        """`receive` reads the recording; it is called when the table holds the microphone for it, and not before."""
        ticket = self._ticket(account_id, ticket_text)
        await self._refuse_banned(account_id)
        if await self._notes.has_note(UUID(ticket.table_id), ticket.game_number, ticket.round, account_id=account_id):
            raise Refused(Reason.NOTE_USED)
        await self._table_client.tell(NoteStep(ticket, UploadBegan()), seconds_max=BEGAN_SECONDS_MAX)
        is_stored = False
        try:
            recording = await receive()
            ended = await self._table_client.tell(NoteStep(ticket, UploadEnded()), seconds_max=TOLD_SECONDS_MAX)
            note = await self._store(ticket, ended, await self._pipeline.run(recording))
            is_stored = True
        finally:
            if not is_stored:
                await self._give_back(ticket)
        await self._announce(ticket, note)
        self._metrics.notes.inc()
        return NoteSent(str(note.note_id), note.milliseconds, note.plays_at)

    def _ticket(self, account_id: str, text: str) -> UploadTicket:
        try:
            ticket = self._seal.read(text, UploadTicket)
        except SealBroken as error:
            raise Refused(Reason.UPLOAD_TICKET_INVALID) from error
        if ticket.account_id != account_id:
            raise Refused(Reason.UPLOAD_TICKET_INVALID)
        if ticket.expires_at <= self._now():
            raise Refused(Reason.UPLOAD_TICKET_EXPIRED)
        return ticket

    async def _refuse_banned(self, account_id: str) -> None:
        ban = ban_now(await self._notes.ban_of(account_id), now=self._now())
        if ban is not None:
            raise Refused(Reason.VOICE_BANNED, details={"until": ban.until, "reason": ban.reason})

    async def _store(self, ticket: UploadTicket, ended: NoteStepTaken, sound: NoteSound) -> Note:
        """The sound first, then the row: a note that is known can be heard."""
        sent_at = self._now() if ended.sent_at is None else ended.sent_at
        note = Note(
            note_id=uuid4(),
            table_id=UUID(ticket.table_id),
            game_number=ticket.game_number,
            round=ticket.round,
            account_id=ticket.account_id,
            seat=ticket.seat,
            listeners=ended.listeners,
            milliseconds=sound.milliseconds,
            sent_at=sent_at,
            plays_at=sent_at + timedelta(seconds=PLAYS_AFTER_SECONDS),
        )
        await _until_done(lambda: self._sounds.put(note.note_id, "ogg", sound.ogg))
        await _until_done(lambda: self._sounds.put(note.note_id, "m4a", sound.m4a))
        # Asked again it may find its own row.
        if not await _until_done(lambda: self._notes.add(note)) and await self._notes.find(note.note_id) is None:
            raise Refused(Reason.NOTE_USED)
        return note

    async def _announce(self, ticket: UploadTicket, note: Note) -> None:
        link = self._links.make(note.note_id)
        step = NoteStored(str(note.note_id), note.milliseconds, note.listeners, note.plays_at, link.path)
        try:
            await self._table_client.tell(NoteStep(ticket, step), seconds_max=TOLD_SECONDS_MAX)
        except (Refused, Unavailable) as error:
            # The note is there and nobody heard it: its table has closed, or nobody has owned it for a while.
            self._metrics.unheard.inc()
            log.warning("note_unheard", note_id=str(note.note_id), reason=error.code)

    async def _give_back(self, ticket: UploadTicket) -> None:
        # A table that does not hear this frees the microphone by its own clock.
        with suppress(Refused, Unavailable):
            await self._table_client.tell(NoteStep(ticket, UploadRefused()), seconds_max=BEGAN_SECONDS_MAX)


async def _until_done(act: Callable[[], Awaitable[_Answer]]) -> _Answer:
    """Once more while a server is away, for a while: the player has spoken, and waits."""
    clock = asyncio.get_running_loop().time
    end = clock() + STORING_SECONDS_MAX
    backoff = Backoff(seconds_min=PAUSE_SECONDS_MIN, seconds_max=PAUSE_SECONDS_MAX)
    while True:
        try:
            return await act()
        except Unavailable:
            if clock() >= end:
                raise
        await backoff.pause()
