"""Who may send a note, and what becomes of it, over HTTP and a real NATS server; the table is a double."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio
from media_fixtures import Media
from recordings import recorded, recording, voice

from darbar_contracts import subjects
from darbar_contracts.refusals import Reason
from darbar_contracts.voice import (
    UPLOAD_BYTES_MAX,
    BanVoice,
    LiftVoiceBan,
    NoteStored,
    UploadBegan,
    UploadEnded,
    UploadRefused,
    VoiceRights,
)
from darbar_kit.seals import Seal

VOICE = recording(0.3, "webm")
SILENCE = recorded(voice(0.3, loudest=0.0), "webm")


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def fresh(media: Media) -> AsyncIterator[None]:
    media.clock.ahead = timedelta()
    media.table.seated = ("ann", "bob", "cid")
    media.table.told.clear()
    yield


def granted(media: Media, account_id: str = "ann", **more: float) -> dict[str, str]:
    ticket = media.table.grant(account_id, now=media.clock(), **more)  # type: ignore[arg-type]
    return {**media.bearer(account_id), **media.table.sealed(ticket)}


async def test_a_note_is_stored_in_both_forms_and_everybody_is_told(media: Media) -> None:
    sent = await media.sent_by("ann", VOICE)
    assert sent.milliseconds == 300
    stored = media.table.stored
    assert (stored.note_id, stored.plays_at, stored.listeners) == (sent.note_id, sent.plays_at, ("ann", "bob", "cid"))
    assert [type(step.step) for step in media.table.told] == [UploadBegan, UploadEnded, NoteStored]
    for form, start in (("ogg", b"OggS"), ("m4a", b"\x00\x00\x00")):
        async with media.http.get(f"{stored.path}&form={form}") as response:
            assert response.status == 200
            assert (await response.read()).startswith(start)


@pytest.mark.ruling("TL-49")
async def test_a_note_plays_a_second_after_its_last_byte_tl_49(media: Media) -> None:
    before = media.clock()
    sent = await media.sent_by("ann", VOICE)
    assert timedelta(seconds=1) <= sent.plays_at - before <= timedelta(seconds=1) + (media.clock() - before)


@pytest.mark.parametrize(
    ("file", "content_type", "code"),
    [
        (SILENCE, "audio/webm", Reason.NOTE_SILENT),
        (b"no sound at all", "audio/ogg", Reason.NOTE_TYPE_UNKNOWN),
        (VOICE[:40] + bytes(500), "audio/webm", Reason.NOTE_UNREADABLE),
        (recording(7.2, "webm"), "audio/webm", Reason.NOTE_TOO_LONG),
    ],
    ids=["silence", "no sound", "broken", "too long"],
)
async def test_what_is_no_note_is_refused_and_the_microphone_is_free(
    media: Media, file: bytes, content_type: str, code: Reason
) -> None:
    status, body = await media.send(file, granted(media), content_type)
    assert (status, body["code"]) == (code.status, code)
    assert len(media.table.steps(UploadRefused)) == 1
    assert not media.table.steps(NoteStored)


@pytest.mark.parametrize(
    ("headers", "content_type", "code"),
    [
        ({}, "text/plain", Reason.NOTE_TYPE_UNKNOWN),
        ({"Content-Length": str(UPLOAD_BYTES_MAX + 1)}, "audio/webm", Reason.BODY_TOO_LARGE),
        ({"Upload-Ticket": ""}, "audio/webm", Reason.UPLOAD_TICKET_MISSING),
        ({"Authorization": ""}, "audio/webm", Reason.TOKEN_MISSING),
    ],
)
async def test_what_can_be_seen_from_outside_is_refused_before_the_table_is_asked(
    media: Media, headers: dict[str, str], content_type: str, code: Reason
) -> None:
    file = bytes(UPLOAD_BYTES_MAX + 1) if code is Reason.BODY_TOO_LARGE else VOICE
    status, body = await media.send(file, {**granted(media), **headers}, content_type)
    assert (status, body["code"]) == (code.status, code)
    assert media.table.told == []


async def test_a_body_without_a_length_is_refused_where_it_becomes_too_large(media: Media) -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(UPLOAD_BYTES_MAX // 1024 + 1):
            yield bytes(1024)

    status, answered = await media.send(body(), granted(media))
    assert (status, answered["code"]) == (413, Reason.BODY_TOO_LARGE)
    assert len(media.table.steps(UploadRefused)) == 1


async def test_a_ticket_is_good_once(media: Media) -> None:
    headers = granted(media)
    assert (await media.send(VOICE, headers))[0] == 201
    status, body = await media.send(VOICE, headers)
    assert (status, body["code"]) == (409, Reason.NOTE_USED)


async def test_a_ticket_that_became_no_note_is_not_good_again(media: Media) -> None:
    headers = granted(media)
    assert (await media.send(SILENCE, headers))[0] == 422
    status, body = await media.send(VOICE, headers)
    assert (status, body["code"]) == (409, Reason.MICROPHONE_NOT_HELD)


@pytest.mark.ruling("TL-46")
async def test_a_round_has_one_note_of_a_player_whatever_the_table_has_forgotten_tl_46(media: Media) -> None:
    ticket = media.table.grant("ann", now=media.clock())
    headers = {**media.bearer("ann"), **media.table.sealed(ticket)}
    assert (await media.send(VOICE, headers))[0] == 201
    media.table.held.add(ticket.grant_id)
    assert (await media.send(VOICE, headers))[1]["code"] == Reason.NOTE_USED


async def test_an_expired_ticket_is_refused(media: Media) -> None:
    headers = granted(media)
    media.clock.ahead = timedelta(seconds=11)
    status, body = await media.send(VOICE, headers)
    assert (status, body["code"]) == (403, Reason.UPLOAD_TICKET_EXPIRED)


async def test_another_players_ticket_is_refused(media: Media) -> None:
    status, body = await media.send(VOICE, {**granted(media, "ann"), **media.bearer("bob")})
    assert (status, body["code"]) == (403, Reason.UPLOAD_TICKET_INVALID)


async def test_a_ticket_that_somebody_made_is_refused(media: Media) -> None:
    ticket = media.table.grant("ann", now=media.clock())
    forged = Seal("a key that somebody guessed").write(ticket)
    status, body = await media.send(VOICE, {**media.bearer("ann"), "Upload-Ticket": forged})
    assert (status, body["code"]) == (403, Reason.UPLOAD_TICKET_INVALID)


async def test_a_ticket_of_a_table_that_does_not_hold_the_microphone_for_it_is_refused(media: Media) -> None:
    ticket = media.table.grant("ann", now=media.clock())
    media.table.held.clear()
    status, body = await media.send(VOICE, {**media.bearer("ann"), **media.table.sealed(ticket)})
    assert (status, body["code"]) == (409, Reason.MICROPHONE_NOT_HELD)


@pytest.mark.ruling("TL-52")
async def test_who_is_banned_is_told_why_and_may_send_again_when_it_is_lifted_tl_52(media: Media) -> None:
    await media.bus.request(subjects.MEDIA_BAN_VOICE, BanVoice("ann", "shouting"), VoiceRights, timeout_seconds=5)
    status, body = await media.send(VOICE, granted(media))
    assert (status, body["code"]) == (403, Reason.VOICE_BANNED)
    async with media.http.get("/v1/me/voice", headers=media.bearer("ann")) as response:
        assert (await response.json())["ban"]["reason"] == "shouting"
    await media.bus.request(subjects.MEDIA_LIFT_VOICE_BAN, LiftVoiceBan("ann"), VoiceRights, timeout_seconds=5)
    assert (await media.send(VOICE, granted(media)))[0] == 201


async def test_a_nats_server_that_restarts_in_mid_upload_loses_nothing(media: Media) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield VOICE[:100]
        await media.nats.stop()
        await media.nats.start()
        yield VOICE[100:]

    status, answered = await media.send(body(), granted(media))
    assert status == 201, answered
    headers = media.bearer("bob")
    async with media.http.get(f"/v1/voice-notes/{answered['note_id']}", headers=headers) as response:
        kept = await response.read()
    await media.nats.stop()
    await media.nats.start()
    async with media.http.get(f"/v1/voice-notes/{answered['note_id']}", headers=headers) as response:
        assert hashlib.sha256(await response.read()).digest() == hashlib.sha256(kept).digest()
    assert media.table.stored.note_id == answered["note_id"]
