"""What is known of notes, reports and bans. Open this when one is lost or kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import msgspec

from darbar_contracts.voice import Judgement, ReportedNote, VoiceBan
from darbar_kit.database import Database
from darbar_media.domain import Note


class NoteOver(msgspec.Struct, frozen=True):
    """A note whose sound is to be deleted. `forgotten`: and its row; else the row waits for its time."""

    note_id: UUID
    forgotten: bool


class Place(msgspec.Struct, frozen=True, array_like=True):
    """Where a page of the queue begins."""

    reports: int
    reported_at: datetime
    note_id: UUID


class NoteStore:
    """Every method raises DatabaseAway while the database is away."""

    def __init__(self, database: Database, queries: Mapping[str, str]) -> None:
        self._database = database
        self._queries = queries

    async def add(self, note: Note) -> bool:
        """False: this account has a note of this round already."""
        values = (note.note_id, note.table_id, note.game_number, note.round, note.account_id, note.seat)
        times = (list(note.listeners), note.milliseconds, note.sent_at, note.plays_at, note.kept_until)
        return bool(await self._database.write(self._queries["add_note"], *values, *times))

    async def find(self, note_id: UUID) -> Note | None:
        row = await self._database.read_row(self._queries["find_note"], note_id)
        return None if row is None else Note(**{**dict(row), "listeners": tuple(row["listeners"])})

    async def has_note(self, table_id: UUID, game_number: int, round: int, *, account_id: str) -> bool:
        """Whether the note of a round has been sent."""
        return bool(await self._database.read(self._queries["has_note"], table_id, game_number, round, account_id))

    async def report(self, note_id: UUID, account_id: str, *, at: datetime) -> None:
        await self._database.write(self._queries["report_note"], note_id, account_id, at)

    async def reported(self, after: Place, limit: int) -> list[ReportedNote]:
        rows = await self._database.read(
            self._queries["reported_notes"], after.reports, after.reported_at, after.note_id, limit
        )
        return [
            ReportedNote(**{**dict(row), "note_id": str(row["note_id"]), "table_id": str(row["table_id"])})
            for row in rows
        ]

    async def judge(self, note_id: UUID, judgement: Judgement) -> tuple[str, Judgement] | None:
        """Whose note it is and how it stands now; None when there is no such note."""
        rows = await self._database.write(self._queries["judge_note"], note_id, judgement)
        return (rows[0]["account_id"], rows[0]["judgement"]) if rows else None

    async def over(self, now: datetime, limit: int) -> list[NoteOver]:
        """Notes whose sound is to be deleted, some of them."""
        rows = await self._database.read(self._queries["notes_over"], now, limit)
        return [NoteOver(row["note_id"], row["forgotten"]) for row in rows]

    async def silence(self, note_id: UUID) -> None:
        """Its sound is deleted; the row stays."""
        await self._database.write(self._queries["silence_note"], note_id)

    async def forget(self, note_id: UUID, now: datetime) -> None:
        """Nothing is left of it."""
        await self._database.write(self._queries["forget_note"], note_id, now)

    async def reports_waiting(self) -> tuple[int, datetime | None]:
        """How many reported notes nobody has dealt with, and since when the oldest waits."""
        [row] = await self._database.read(self._queries["reports_waiting"])
        return row["waiting"], row["oldest"]

    async def ban_of(self, account_id: str) -> VoiceBan | None:
        """The last one, its time may be over."""
        row = await self._database.read_row(self._queries["ban_of"], account_id)
        return None if row is None else VoiceBan(**dict(row))

    async def ban(self, account_id: str, ban: VoiceBan) -> None:
        await self._database.write(self._queries["ban"], account_id, ban.since, ban.until, ban.reason)

    async def lift_ban(self, account_id: str) -> None:
        await self._database.write(self._queries["lift_ban"], account_id)
