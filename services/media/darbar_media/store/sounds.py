"""The sound of notes, in object stores of JetStream. Open this when a note is there and can't be heard."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol
from uuid import UUID

from nats.js import JetStreamContext
from nats.js.api import ObjectStoreConfig
from nats.js.errors import BadRequestError, BucketNotFoundError, NotFoundError
from nats.js.object_store import OBJ_DIGEST_TYPE, ObjectStore

from darbar_contracts.subjects import SOUND_BUCKET, SOUND_BUCKET_REPORTED, sound_stream
from darbar_contracts.voice import FORMS, Form
from darbar_kit.bus.streams import bus_errors

# Only a net under notes that nobody has reported: what is kept how long is decided by retention.
SECONDS_KEPT = 9 * 24 * 3600
# One chunk of an object store, so that one message has all of it.
SOUND_BYTES_MAX = 128 * 1024


class SoundTooLarge(Exception):
    """A bug of the pipeline: seven seconds are a third of that."""


class Sounds(Protocol):
    """Where the sound of notes is kept. Every method raises Unavailable when nobody answers, and may be repeated."""

    async def put(self, note_id: UUID, form: Form, sound: bytes) -> None:
        """Kept when this returns."""

    async def get(self, note_id: UUID, form: Form) -> bytes | None:
        """None when it is not there."""

    async def keep(self, note_id: UUID) -> None:
        """A reported note: from now on nothing but `delete` ends it."""

    async def delete(self, note_id: UUID) -> None:
        """Gone when this returns, in every form."""


class JetStreamSounds:
    """Two buckets: sound in the first one ends by itself, what was reported is copied to the second."""

    def __init__(self, jetstream: JetStreamContext) -> None:
        self._jetstream = jetstream

    async def make(self) -> None:
        """Both buckets are there when this returns."""
        with bus_errors("making object stores"):
            for bucket in (SOUND_BUCKET, SOUND_BUCKET_REPORTED):
                await self._store(bucket)

    async def put(self, note_id: UUID, form: Form, sound: bytes) -> None:
        await self._put(SOUND_BUCKET, sound_name(note_id, form), sound)

    async def get(self, note_id: UUID, form: Form) -> bytes | None:
        name = sound_name(note_id, form)
        sound = await self._get(SOUND_BUCKET, name)
        return await self._get(SOUND_BUCKET_REPORTED, name) if sound is None else sound

    async def keep(self, note_id: UUID) -> None:
        for form in FORMS:
            sound = await self._get(SOUND_BUCKET, sound_name(note_id, form))
            if sound is not None:
                await self._put(SOUND_BUCKET_REPORTED, sound_name(note_id, form), sound)

    async def delete(self, note_id: UUID) -> None:
        for bucket in (SOUND_BUCKET, SOUND_BUCKET_REPORTED):
            for form in FORMS:
                await self._delete(bucket, sound_name(note_id, form))

    async def _put(self, bucket: str, name: str, sound: bytes) -> None:
        with bus_errors("storing sound"):
            store = await self._store(bucket)
            await store.put(name, within_size(name, sound))

    async def _get(self, bucket: str, name: str) -> bytes | None:
        """Its one chunk is asked for directly: the library's own reading waits for ever for a chunk that has ended."""
        with bus_errors("reading sound"):
            try:
                info = await ObjectStore(bucket, sound_stream(bucket), self._jetstream).get_info(name)
                chunk = await self._jetstream.get_last_msg(sound_stream(bucket), f"$O.{bucket}.C.{info.nuid}")
            except NotFoundError:
                return None
        sound = chunk.data or b""
        return sound if info.digest == _digest(sound) else None

    async def _delete(self, bucket: str, name: str) -> None:
        """All that was ever said under this name, the mark of its deletion too: nothing is left of a voice."""
        with bus_errors("deleting sound"), _missing_is_fine():
            store = ObjectStore(bucket, sound_stream(bucket), self._jetstream)
            info = await store.get_info(name, show_deleted=True)
            if not info.deleted:
                await store.delete(name)
            await self._jetstream.purge_stream(sound_stream(bucket), subject=_meta(bucket, name))

    async def _store(self, bucket: str) -> ObjectStore:
        try:
            return await self._jetstream.object_store(bucket)
        except BucketNotFoundError:
            config = ObjectStoreConfig(bucket=bucket, ttl=SECONDS_KEPT if bucket == SOUND_BUCKET else None)
            try:
                return await self._jetstream.create_object_store(bucket, config)
            except BadRequestError:
                # Somebody was faster.
                return await self._jetstream.object_store(bucket)


@contextmanager
def _missing_is_fine() -> Iterator[None]:
    try:
        yield
    except NotFoundError:
        return


def within_size(name: str, sound: bytes) -> bytes:
    """Raises SoundTooLarge."""
    if len(sound) > SOUND_BYTES_MAX:
        raise SoundTooLarge(name)
    return sound


def sound_name(note_id: UUID, form: Form) -> str:
    """Under which it is kept."""
    return f"{note_id}.{form}"


def _meta(bucket: str, name: str) -> str:
    return f"$O.{bucket}.M.{urlsafe_b64encode(name.encode()).decode()}"


def _digest(sound: bytes) -> str:
    return OBJ_DIGEST_TYPE + urlsafe_b64encode(hashlib.sha256(sound).digest()).decode()
