"""What media answers on NATS: subjects to questions, nothing else."""

from __future__ import annotations

from darbar_contracts import subjects
from darbar_contracts.voice import (
    BanVoice,
    JudgeNote,
    LiftVoiceBan,
    NoteLinkRequest,
    ReportedNotesRequest,
    VoiceRightsRequest,
)
from darbar_kit.bus import Bus
from darbar_media.handlers.moderation import Moderation


async def serve(bus: Bus, moderation: Moderation) -> None:
    """Until the bus is closed; any number of processes share the questions."""
    queue = subjects.MEDIA_QUEUE
    await bus.serve(subjects.MEDIA_REPORTED_NOTES, ReportedNotesRequest, moderation.reported_notes, queue=queue)
    await bus.serve(subjects.MEDIA_NOTE_LINK, NoteLinkRequest, moderation.note_link, queue=queue)
    await bus.serve(subjects.MEDIA_JUDGE_NOTE, JudgeNote, moderation.judge_note, queue=queue)
    await bus.serve(subjects.MEDIA_BAN_VOICE, BanVoice, moderation.ban_voice, queue=queue)
    await bus.serve(subjects.MEDIA_LIFT_VOICE_BAN, LiftVoiceBan, moderation.lift_voice_ban, queue=queue)
    await bus.serve(subjects.MEDIA_VOICE_RIGHTS, VoiceRightsRequest, moderation.voice_rights, queue=queue)
