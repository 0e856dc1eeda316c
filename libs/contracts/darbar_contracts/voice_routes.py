"""Media's public HTTP routes."""

from __future__ import annotations

from darbar_contracts.refusals import Reason
from darbar_contracts.route import AUDIO, Route
from darbar_contracts.voice import UPLOAD_TYPES, NoteQuery, NoteSent, VoiceRights, note_path

MEDIA: tuple[Route, ...] = (
    Route(
        name="send_note",
        method="POST",
        path="/v1/voice-notes",
        does="Sends a voice note, with the ticket of who has the table's microphone.",
        recording=UPLOAD_TYPES,
        answers={201: NoteSent},
        reasons=(
            Reason.MICROPHONE_NOT_HELD,
            Reason.NOTE_SILENT,
            Reason.NOTE_TOO_LONG,
            Reason.NOTE_TYPE_UNKNOWN,
            Reason.NOTE_UNREADABLE,
            Reason.NOTE_USED,
            Reason.TABLE_CLOSED,
            Reason.TABLE_FROZEN,
            Reason.TABLE_UNKNOWN,
            Reason.UPLOAD_TICKET_EXPIRED,
            Reason.UPLOAD_TICKET_INVALID,
            Reason.UPLOAD_TICKET_MISSING,
            Reason.VOICE_BANNED,
        ),
    ),
    Route(
        name="note",
        method="GET",
        path=note_path("{note_id}"),
        does="A voice note's sound, for who was seated when it was sent.",
        token="optional",
        query=NoteQuery,
        answers={200: AUDIO, 206: AUDIO},
        reasons=(Reason.LINK_INVALID, Reason.NOTE_NOT_FOR_YOU, Reason.NOTE_UNKNOWN, Reason.TOKEN_MISSING),
    ),
    Route(
        name="report_note",
        method="POST",
        path=note_path("{note_id}") + "/report",
        does="Reports a voice note soon after it was heard. Nobody is told who has.",
        answers={204: None},
        reasons=(Reason.NOTE_NOT_FOR_YOU, Reason.NOTE_OWN, Reason.NOTE_UNKNOWN, Reason.REPORT_LATE),
    ),
    Route(
        name="my_voice",
        method="GET",
        path="/v1/me/voice",
        does="Whether one may send voice notes, and if not, why and until when.",
        answers={200: VoiceRights},
    ),
)
