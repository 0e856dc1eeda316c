"""Where the sound of notes may lie: what holds of one store holds of the other, each a real server."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID, uuid4

import msgspec
import pytest
import pytest_asyncio
from media_fixtures import USERS, Media
from recordings import recording
from s3_server import BUCKET, S3Server, s3_running

from darbar_contracts.subjects import SOUND_BUCKET, sound_stream
from darbar_contracts.voice import FORMS
from darbar_kit.bus import Bus
from darbar_kit.errors import Unavailable
from darbar_kit.testing import MakeNats, Tunnel, eventually
from darbar_media.settings import Settings, bucket_of
from darbar_media.store.s3_sounds import S3Sounds
from darbar_media.store.sounds import SOUND_BYTES_MAX, JetStreamSounds, Sounds, SoundTooLarge
from darbar_media.testing import running

SOUND = bytes(range(256)) * 40
OUTAGE_SECONDS = 1.0
BACK_SECONDS_MAX = 30.0


@dataclass(frozen=True)
class Place:
    """A store, and the same by somebody who does not wait for long; `expire` does what its server does with what nobody
    has reported when 9 days are over."""

    sounds: Sounds
    impatient: Sounds
    expire: Callable[[UUID], Awaitable[None]]
    tunnel: Tunnel


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def s3_server() -> AsyncIterator[S3Server]:
    async with s3_running() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def in_jetstream(make_nats: MakeNats) -> AsyncIterator[Place]:
    nats = await make_nats(USERS)
    operator = await Bus.connect(nats.url("operator"), name="operator")
    async with Tunnel.to(nats.url("media")) as tunnel:
        bus = await Bus.connect(tunnel.url, name="media")

        async def expire(_note_id: UUID) -> None:
            await operator.jetstream.purge_stream(sound_stream(SOUND_BUCKET))

        impatient = JetStreamSounds(bus.client.jetstream(timeout=OUTAGE_SECONDS))
        yield Place(JetStreamSounds(bus.jetstream), impatient, expire, tunnel)
        await bus.close()
    await operator.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def in_s3(s3_server: S3Server) -> AsyncIterator[Place]:
    async with Tunnel.to(s3_server.url) as tunnel:
        address = tunnel.url.replace("://", f"://key:{quote('se/cret+', safe='')}@")

        async def expire(note_id: UUID) -> None:
            for form in FORMS:
                await s3_server.bucket.delete_async(f"sent/{note_id}.{form}")

        sounds = S3Sounds(bucket_of(f"{address}/{BUCKET}?region=eu-central-1"))
        yield Place(sounds, sounds, expire, tunnel)


@pytest.fixture(params=["in_jetstream", "in_s3"])
def place(request: pytest.FixtureRequest, in_jetstream: Place, in_s3: Place) -> Place:
    return {"in_jetstream": in_jetstream, "in_s3": in_s3}[request.param]


async def heard(place: Place, note_id: UUID) -> list[bytes | None]:
    return [await place.sounds.get(note_id, form) for form in FORMS]


async def put(place: Place, note_id: UUID) -> list[bytes]:
    """In every form; what is heard then."""
    sounds = [SOUND + form.encode() for form in FORMS]
    for form, sound in zip(FORMS, sounds, strict=True):
        await place.sounds.put(note_id, form, sound)
    return sounds


async def test_what_is_put_is_heard_in_its_form_and_nothing_else_is(place: Place) -> None:
    note_id = uuid4()
    sounds = await put(place, note_id)
    assert await heard(place, note_id) == sounds
    assert await heard(place, uuid4()) == [None, None]
    # As a caller does whose first answer was lost.
    await place.sounds.put(note_id, "ogg", SOUND)
    assert await place.sounds.get(note_id, "ogg") == SOUND


async def test_what_is_deleted_is_gone_in_every_form_reported_or_not_and_may_be_deleted_again(place: Place) -> None:
    sent, reported, other = uuid4(), uuid4(), uuid4()
    for note_id in (sent, reported, other):
        sounds = await put(place, note_id)
    await place.sounds.keep(reported)
    for note_id in (sent, reported, reported, uuid4()):
        await place.sounds.delete(note_id)
    assert [await heard(place, note_id) for note_id in (sent, reported)] == [[None, None]] * 2
    assert await heard(place, other) == sounds


async def test_a_reported_note_outlives_the_stores_own_expiry_and_another_one_does_not(place: Place) -> None:
    sent, reported = uuid4(), uuid4()
    await put(place, sent)
    sounds = await put(place, reported)
    for _ in range(2):
        await place.sounds.keep(reported)
    await place.sounds.keep(uuid4())
    for note_id in (sent, reported):
        await place.expire(note_id)
    assert await heard(place, sent) == [None, None]
    assert await heard(place, reported) == sounds


async def test_a_sound_that_no_pipeline_makes_is_not_taken(place: Place) -> None:
    with pytest.raises(SoundTooLarge):
        await place.sounds.put(uuid4(), "ogg", bytes(SOUND_BYTES_MAX + 1))


async def test_a_store_that_is_away_is_an_outage_and_comes_back(place: Place) -> None:
    note_id = uuid4()
    sounds = await put(place, note_id)
    await place.tunnel.close()
    try:
        failures = await asyncio.gather(
            place.impatient.put(note_id, "ogg", SOUND),
            place.impatient.get(note_id, "ogg"),
            place.impatient.keep(note_id),
            place.impatient.delete(note_id),
            return_exceptions=True,
        )
        assert [type(failure) for failure in failures] == [Unavailable] * 4
    finally:
        await place.tunnel.open()

    async def is_heard() -> bool:
        with suppress(Unavailable):
            return await heard(place, note_id) == sounds
        return False

    await eventually(is_heard, seconds=BACK_SECONDS_MAX)


async def test_a_service_with_an_address_of_a_bucket_keeps_its_sound_there(media: Media, s3_server: S3Server) -> None:
    address = f"{s3_server.url.replace('://', '://key:secret@')}/{BUCKET}"
    settings = msgspec.structs.replace(media.settings, sounds_url=address)
    async with running(settings, media.clock) as http:
        sent = await dataclasses.replace(media, http=http).sent_by("ann", recording(0.3, "webm"))
        async with http.get(f"/v1/voice-notes/{sent.note_id}", headers=media.bearer("bob")) as response:
            assert (await response.read()).startswith(b"OggS")
    assert await media.sounds.get(UUID(sent.note_id), "ogg") is None
    assert (await s3_server.bucket.head_async(f"sent/{sent.note_id}.ogg"))["size"] > 0


async def test_a_bucket_that_is_not_there_is_an_outage_for_who_stores(s3_server: S3Server) -> None:
    sounds = S3Sounds(bucket_of(s3_server.url.replace("://", "://key:secret@") + "/no-such-bucket"))
    with pytest.raises(Unavailable, match="storing sound"):
        await sounds.put(uuid4(), "ogg", SOUND)


@pytest.mark.parametrize(
    "url",
    [
        "s3://key:hidden@host/bucket",
        "https://key:hidden@host",
        "https://key:hidden@host/",
        "https://key:hidden@host/bucket/folder",
        "https://key:hidden@host/bucket?zone=1",
        "https:///bucket",
        "bucket",
    ],
)
def test_an_address_of_no_bucket_stops_the_start_and_is_not_repeated(url: str) -> None:
    with pytest.raises(ValueError, match="sounds_url must be like") as error:
        Settings(database_url="x", nats_url="x", token_public_key="x", ticket_key="x" * 16, sounds_url=url)
    assert "hidden" not in str(error.value)
