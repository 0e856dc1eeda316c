"""What moderators do, asked as the lobby asks: queue, listening, judging, bans; and what is deleted when."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TypeVar
from uuid import uuid4

import msgspec
import pytest
import pytest_asyncio
from media_fixtures import Media

from darbar_contracts import subjects
from darbar_contracts.voice import (
    BanVoice,
    JudgeNote,
    LiftVoiceBan,
    NoteJudged,
    NoteLink,
    NoteLinkRequest,
    ReportedNote,
    ReportedNotes,
    ReportedNotesRequest,
    VoiceRights,
    VoiceRightsRequest,
)
from darbar_kit.errors import Refused
from darbar_media.domain import KEPT, Note

_Answer = TypeVar("_Answer", bound=msgspec.Struct)
NOBODYS = "00000000-0000-4000-8000-000000000000"
MOMENT = timedelta(minutes=1)


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def empty(media: Media) -> AsyncIterator[None]:
    """Each test begins with nothing reported, at the time of day."""
    media.clock.ahead = timedelta()
    for note in (await queue(media)).notes:
        await judge(media, note.note_id, "deleted")
    yield


async def ask(media: Media, subject: str, request: msgspec.Struct, answer: type[_Answer]) -> _Answer:
    return await media.bus.request(subject, request, answer, timeout_seconds=5)


async def queue(media: Media, limit: int = 100, after: str | None = None) -> ReportedNotes:
    request = ReportedNotesRequest(limit=limit, after=after)
    return await ask(media, subjects.MEDIA_REPORTED_NOTES, request, ReportedNotes)


async def judge(media: Media, note_id: object, judgement: str) -> NoteJudged:
    request = msgspec.convert({"note_id": str(note_id), "judgement": judgement}, JudgeNote)
    return await ask(media, subjects.MEDIA_JUDGE_NOTE, request, NoteJudged)


async def reported_note(media: Media, *reporters: str) -> Note:
    note = await media.stored_note("ann", "bob", "cid", "dora")
    await media.sounds.keep(note.note_id)
    for reporter in reporters:
        await media.notes.report(note.note_id, reporter, at=media.clock())
        media.clock.ahead += timedelta(milliseconds=1)
    return note


async def test_the_most_reported_note_is_first_and_of_these_the_oldest(media: Media) -> None:
    old, much, new = [await reported_note(media, *who) for who in (("bob",), ("bob", "cid"), ("bob",))]
    await media.stored_note("ann", "bob")
    pages = [await queue(media, limit=1)]
    while pages[-1].next is not None:
        pages.append(await queue(media, limit=1, after=pages[-1].next))
    found: list[ReportedNote] = [note for page in pages for note in page.notes]
    assert [note.note_id for note in found] == [str(note.note_id) for note in (much, old, new)]
    assert [note.reports for note in found] == [2, 1, 1]
    assert found[0].account_id == "ann"


async def test_a_place_in_the_queue_that_is_none_of_ours_is_refused(media: Media) -> None:
    for after in ("", "1", "a_b_c", "1_2026-11-30_x"):
        with pytest.raises(Refused, match="query_invalid"):
            await queue(media, after=after)


@pytest.mark.ruling("TL-50")
async def test_a_listener_reports_once_and_nobody_is_told_who_it_was_tl_50(media: Media) -> None:
    await reported_note(media, "bob", "bob", "cid")
    [note] = (await queue(media)).notes
    assert note.reports == 2
    assert "bob" not in str(msgspec.to_builtins(note))


async def test_a_judged_note_is_out_of_the_queue_and_judging_again_is_answered_alike(media: Media) -> None:
    note = await reported_note(media, "bob")
    expected = NoteJudged(str(note.note_id), "ann", "dismissed")
    assert [await judge(media, note.note_id, "dismissed") for _ in range(2)] == [expected] * 2
    assert (await queue(media)).notes == ()


async def test_a_deleted_note_stays_deleted(media: Media) -> None:
    note = await reported_note(media, "bob")
    await judge(media, note.note_id, "deleted")
    assert (await judge(media, note.note_id, "dismissed")).judgement == "deleted"


@pytest.mark.ruling("TL-51")
async def test_a_deleted_note_is_silent_at_once_and_forgotten_after_its_week_tl_51(media: Media) -> None:
    note = await reported_note(media, "bob")
    await judge(media, note.note_id, "deleted")
    with pytest.raises(Refused, match="note_unknown"):
        await link(media, note.note_id)
    await media.delete_what_is_over()
    assert await heard(media, note) == [None, None]
    assert await media.notes.find(note.note_id) is not None
    media.clock.ahead = KEPT + MOMENT
    await media.delete_what_is_over()
    assert await media.notes.find(note.note_id) is None


@pytest.mark.ruling("TL-51")
async def test_a_note_is_kept_for_a_week_and_a_reported_one_until_it_is_judged_tl_51(media: Media) -> None:
    silent, reported, dismissed = (
        await media.stored_note("ann", "bob"),
        *[await reported_note(media, "bob") for _ in "12"],
    )
    await judge(media, dismissed.note_id, "dismissed")
    media.clock.ahead = KEPT - MOMENT
    await media.delete_what_is_over()
    for note in (silent, reported, dismissed):
        assert None not in await heard(media, note)
    media.clock.ahead = KEPT + MOMENT
    await media.delete_what_is_over()
    assert [None in await heard(media, note) for note in (silent, reported, dismissed)] == [True, False, True]
    await judge(media, reported.note_id, "dismissed")
    await media.delete_what_is_over()
    assert await heard(media, reported) == [None, None]
    assert await media.notes.find(reported.note_id) is None


async def test_nothing_is_left_of_a_deleted_note_in_the_stores(media: Media) -> None:
    await media.delete_what_is_over()
    before = await kept_subjects(media)
    note = await reported_note(media, "bob")
    assert len(await kept_subjects(media)) == len(before) + 8  # Two buckets, two forms, a chunk and its name for each.
    await judge(media, note.note_id, "deleted")
    await media.delete_what_is_over()
    assert await kept_subjects(media) == before


async def kept_subjects(media: Media) -> set[str]:
    operator = await media.bus.connect(media.nats.url("operator"), name="operator")
    found: set[str] = set()
    for bucket in (subjects.SOUND_BUCKET, subjects.SOUND_BUCKET_REPORTED):
        info = await operator.jetstream.stream_info(subjects.sound_stream(bucket), subjects_filter=">")
        found |= set(info.state.subjects or {})
    await operator.close()
    return found


async def test_a_moderator_gets_a_link_for_a_while(media: Media) -> None:
    note = await reported_note(media, "bob")
    found = await link(media, note.note_id)
    assert found.path.startswith(f"/v1/voice-notes/{note.note_id}?link=")
    assert found.seconds > 60


async def link(media: Media, note_id: object) -> NoteLink:
    return await ask(media, subjects.MEDIA_NOTE_LINK, NoteLinkRequest(str(note_id)), NoteLink)


async def heard(media: Media, note: Note) -> list[bytes | None]:
    return [await media.sounds.get(note.note_id, "ogg"), await media.sounds.get(note.note_id, "m4a")]


@pytest.mark.parametrize("note_id", [NOBODYS, "no id", ""])
async def test_a_note_that_is_not_there_is_refused(media: Media, note_id: str) -> None:
    with pytest.raises(Refused, match="note_unknown"):
        await link(media, note_id)
    with pytest.raises(Refused, match="note_unknown"):
        await judge(media, note_id, "deleted")


async def rights(media: Media, account_id: str) -> VoiceRights:
    return await ask(media, subjects.MEDIA_VOICE_RIGHTS, VoiceRightsRequest(account_id), VoiceRights)


@pytest.mark.ruling("TL-52")
@pytest.mark.parametrize("hours", [1, None])
async def test_a_ban_lasts_for_its_time_or_until_it_is_lifted_tl_52(media: Media, hours: int | None) -> None:
    account = str(uuid4())
    assert (await rights(media, account)).ban is None
    made = await ask(media, subjects.MEDIA_BAN_VOICE, BanVoice(account, "shouting", hours), VoiceRights)
    assert await rights(media, account) == made
    assert made.ban is not None
    assert made.ban.reason == "shouting"
    media.clock.ahead = timedelta(hours=2)
    assert ((await rights(media, account)).ban is None) == (hours is not None)
    await ask(media, subjects.MEDIA_LIFT_VOICE_BAN, LiftVoiceBan(account), VoiceRights)
    assert (await rights(media, account)).ban is None


async def test_a_new_ban_takes_the_place_of_the_one_before(media: Media) -> None:
    account = str(uuid4())
    for reason in ("first", "second"):
        await ask(media, subjects.MEDIA_BAN_VOICE, BanVoice(account, reason), VoiceRights)
    found = (await rights(media, account)).ban
    assert found is not None
    assert found.reason == "second"
