"""The sound of notes in a bucket of an S3-compatible store. Open this when SOUNDS_URL is set and nothing is heard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from obstore.exceptions import BaseError
from obstore.store import S3Store

from darbar_contracts.voice import FORMS, Form
from darbar_kit.errors import KitReason, Unavailable
from darbar_media.settings import Bucket
from darbar_media.store.sounds import sound_name, within_size

if TYPE_CHECKING:
    from obstore.store import S3Config

# The store itself may delete what is older under the first one, as a net; nothing of that kind under the second.
SENT, REPORTED = "sent", "reported"
ATTEMPT_SECONDS_MAX = 3.0
# The connection may have ended while it was idle. Whoever has a recording in hand tries for longer.
ATTEMPTS_AGAIN_MAX = 2


class S3Sounds:
    """What was reported is copied to a folder of its own."""

    def __init__(self, bucket: Bucket) -> None:
        self._store = _store_of(bucket)

    async def put(self, note_id: UUID, form: Form, sound: bytes) -> None:
        name = sound_name(note_id, form)
        with _errors("storing sound"):
            await self._store.put_async(f"{SENT}/{name}", within_size(name, sound))

    async def get(self, note_id: UUID, form: Form) -> bytes | None:
        for folder in (SENT, REPORTED):
            with _errors("reading sound"), suppress(FileNotFoundError):
                found = await self._store.get_async(f"{folder}/{sound_name(note_id, form)}")
                return bytes(await found.bytes_async())
        return None

    async def keep(self, note_id: UUID) -> None:
        for form in FORMS:
            name = sound_name(note_id, form)
            with _errors("keeping sound"), suppress(FileNotFoundError):
                await self._store.copy_async(f"{SENT}/{name}", f"{REPORTED}/{name}")

    async def delete(self, note_id: UUID) -> None:
        for folder in (SENT, REPORTED):
            for form in FORMS:
                with _errors("deleting sound"), suppress(FileNotFoundError):
                    await self._store.delete_async(f"{folder}/{sound_name(note_id, form)}")


def _store_of(bucket: Bucket) -> S3Store:
    # Without a key in the address those of the machine, or of the pod's account, are found by the library.
    credentials: S3Config = {}
    if bucket.key_id:
        credentials = {"access_key_id": bucket.key_id, "secret_access_key": bucket.secret}
    return S3Store(
        bucket.name,
        endpoint=bucket.endpoint,
        region=bucket.region,
        virtual_hosted_style_request=False,
        config=credentials,
        client_options={
            "allow_http": bucket.endpoint.startswith("http:"),
            "timeout": timedelta(seconds=ATTEMPT_SECONDS_MAX),
        },
        retry_config={"max_retries": ATTEMPTS_AGAIN_MAX, "retry_timeout": timedelta(seconds=ATTEMPT_SECONDS_MAX)},
    )


@contextmanager
def _errors(what: str) -> Iterator[None]:
    """Also of a bucket that is not there and a key that is not taken: an operator mends that, and nothing is lost."""
    try:
        yield
    except (BaseError, FileNotFoundError) as error:
        first_line = str(error).partition("\n")[0]
        raise Unavailable(KitReason.STORAGE_UNAVAILABLE, f"{what}: {first_line}") from error
