"""Who hears a note and who may report it: everybody who was seated then, and nobody else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio
from documented_answers import documented
from media_fixtures import Media

from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import MEDIA_BAN_VOICE, MEDIA_LIFT_VOICE_BAN, MEDIA_NOTE_LINK, MEDIA_REPORTED_NOTES
from darbar_contracts.voice import (
    REPORT_SECONDS,
    BanVoice,
    LiftVoiceBan,
    NoteLink,
    NoteLinkRequest,
    ReportedNotes,
    ReportedNotesRequest,
    VoiceRights,
)
from darbar_media.domain import Note
from darbar_media.handlers.links import LINK_SECONDS

# As the rule has it, not as the code does (TL-51).
KEPT = timedelta(days=7)
SOUND = bytes(range(100))
NOBODYS = "00000000-0000-4000-8000-000000000000"


@pytest_asyncio.fixture(loop_scope="session")
async def note(media: Media) -> AsyncIterator[Note]:
    media.clock.ahead = timedelta()
    yield await media.stored_note("ann", "bob", "cid", sound=SOUND)


async def fetched(media: Media, path: str, **headers: str) -> tuple[int, bytes, str]:
    """Status, body, and the code of a refusal."""
    async with media.http.get(path, headers=headers) as response:
        body = await response.read()
        is_json = response.content_type == "application/json"
        code = (await response.json())["code"] if is_json else ""
        documented("GET", path, response.status, await response.json() if is_json else None)
        return response.status, body, code


def path_of(note: Note) -> str:
    return f"/v1/voice-notes/{note.note_id}"


@pytest.mark.ruling("TL-53")
@pytest.mark.parametrize(
    ("who", "status"),
    [
        ("ann", 200),  # who sent it
        ("bob", 200),  # seated then, wherever he is now
        ("spectator", 403),
        ("later joiner", 403),
        ("stranger", 403),
    ],
)
async def test_only_who_was_seated_then_hears_a_note_tl_53(media: Media, note: Note, who: str, status: int) -> None:
    assert (await fetched(media, path_of(note), **media.bearer(who)))[0] == status


@pytest.mark.ruling("TL-52")
async def test_who_may_send_none_hears_and_reports_as_before_tl_52(media: Media, note: Note) -> None:
    await media.bus.request(MEDIA_BAN_VOICE, BanVoice("bob", "shouting"), VoiceRights, timeout_seconds=5)
    assert (await fetched(media, path_of(note), **media.bearer("bob")))[0] == 200
    assert await reported(media, note, "bob") == (204, "")
    await media.bus.request(MEDIA_LIFT_VOICE_BAN, LiftVoiceBan("bob"), VoiceRights, timeout_seconds=5)


@pytest.mark.ruling("TL-53")
async def test_a_moderator_hears_it_by_a_link_and_no_role_alone_opens_it_tl_53(media: Media, note: Note) -> None:
    assert (await fetched(media, path_of(note), **media.bearer("eve", role="admin")))[2] == Reason.NOTE_NOT_FOR_YOU
    made = await media.bus.request(MEDIA_NOTE_LINK, NoteLinkRequest(str(note.note_id)), NoteLink, timeout_seconds=5)
    assert await fetched(media, made.path) == (200, SOUND, "")


async def test_a_link_is_of_one_note_and_ends(media: Media, note: Note) -> None:
    made = await media.bus.request(MEDIA_NOTE_LINK, NoteLinkRequest(str(note.note_id)), NoteLink, timeout_seconds=5)
    other = await media.stored_note("ann", "bob")
    for path in (made.path.replace(str(note.note_id), str(other.note_id)), made.path[:-2], f"{path_of(note)}?link="):
        assert (await fetched(media, path))[2] == Reason.LINK_INVALID
    media.clock.ahead = timedelta(seconds=LINK_SECONDS + 1)
    assert (await fetched(media, made.path))[2] == Reason.LINK_INVALID


@pytest.mark.parametrize("path", [f"/v1/voice-notes/{NOBODYS}", "/v1/voice-notes/nothing"])
async def test_a_note_that_is_not_there_is_unknown(media: Media, path: str) -> None:
    assert (await fetched(media, path, **media.bearer("ann")))[2] == Reason.NOTE_UNKNOWN


async def test_without_a_token_and_with_an_old_one_nothing_is_heard(media: Media, note: Note) -> None:
    assert (await fetched(media, path_of(note)))[2] == Reason.TOKEN_MISSING
    old = media.bearer("bob", access_seconds=1)
    media.clock.ahead = timedelta(seconds=10)
    assert (await fetched(media, path_of(note), **old))[2] == Reason.TOKEN_EXPIRED


@pytest.mark.ruling("TL-51")
async def test_after_a_week_nobody_hears_it_whether_it_is_deleted_yet_or_not_tl_51(media: Media, note: Note) -> None:
    await media.notes.report(note.note_id, "bob", at=media.clock())
    media.clock.ahead = KEPT
    assert (await fetched(media, path_of(note), **media.bearer("bob")))[2] == Reason.NOTE_UNKNOWN


@pytest.mark.parametrize(
    ("headers", "query", "content_type"),
    [
        ({}, "", "audio/ogg"),
        ({"Accept": "*/*"}, "", "audio/ogg"),
        ({"Accept": "audio/mp4, audio/ogg;q=0.5"}, "", "audio/mp4"),
        ({"Accept": "audio/ogg"}, "?form=m4a", "audio/mp4"),
    ],
)
async def test_both_forms_are_served_as_asked(
    media: Media, note: Note, headers: dict[str, str], query: str, content_type: str
) -> None:
    async with media.http.get(path_of(note) + query, headers={**headers, **media.bearer("bob")}) as response:
        assert response.content_type == content_type
        assert await response.read() == (SOUND if content_type == "audio/ogg" else SOUND[::-1])
        assert "private" in response.headers["Cache-Control"]


@pytest.mark.parametrize(
    ("asked", "part", "told"),
    [
        ("bytes=0-", SOUND, "bytes 0-99/100"),
        ("bytes=0-1", SOUND[:2], "bytes 0-1/100"),
        ("bytes=90-200", SOUND[90:], "bytes 90-99/100"),
        ("bytes=-5", SOUND[-5:], "bytes 95-99/100"),
        ("bytes=100-", SOUND, None),
        ("bytes=5-4", SOUND, None),
        ("bytes=-0", SOUND, None),
        ("bytes=0-1,4-5", SOUND, None),
        ("bytes=-", SOUND, None),
        ("bytes=99999999999-", SOUND, None),
        ("lines=1-2", SOUND, None),
    ],
)
async def test_one_range_is_served_and_what_is_none_is_not_heeded(
    media: Media, note: Note, asked: str, part: bytes, told: str | None
) -> None:
    async with media.http.get(path_of(note), headers={"Range": asked, **media.bearer("bob")}) as response:
        assert response.status == (200 if told is None else 206)
        assert response.headers.get("Content-Range") == told
        assert await response.read() == part


async def reported(media: Media, note: Note, who: str) -> tuple[int, str]:
    path = f"{path_of(note)}/report"
    async with media.http.post(path, headers=media.bearer(who)) as response:
        body = await response.json() if response.status != 204 else {}
        documented("POST", path, response.status, body)
        return response.status, body.get("code", "")


async def reports_of(media: Media, note: Note) -> int:
    request = ReportedNotesRequest()
    queue = await media.bus.request(MEDIA_REPORTED_NOTES, request, ReportedNotes, timeout_seconds=5)
    return next((one.reports for one in queue.notes if one.note_id == str(note.note_id)), 0)


@pytest.mark.ruling("TL-50")
async def test_each_listener_can_report_it_once_and_it_is_kept_tl_50(media: Media, note: Note) -> None:
    media.clock.ahead = timedelta(seconds=REPORT_SECONDS)
    for who in ("bob", "bob", "cid"):
        assert await reported(media, note, who) == (204, "")
    assert await reports_of(media, note) == 2
    media.clock.ahead = KEPT + timedelta(days=3)
    await media.delete_what_is_over()
    assert await media.sounds.get(note.note_id, "ogg") == SOUND


@pytest.mark.ruling("TL-50")
async def test_after_its_time_nobody_reports_it_nor_the_sender_nor_who_was_not_there_tl_50(
    media: Media, note: Note
) -> None:
    assert await reported(media, note, "ann") == (409, Reason.NOTE_OWN)
    assert await reported(media, note, "eve") == (403, Reason.NOTE_NOT_FOR_YOU)
    media.clock.ahead = timedelta(seconds=REPORT_SECONDS + 2)
    assert await reported(media, note, "bob") == (409, Reason.REPORT_LATE)
    assert await reports_of(media, note) == 0
