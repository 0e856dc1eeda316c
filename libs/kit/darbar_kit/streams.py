"""Streams that NATS keeps. Open this when two services want the same one with different limits."""

from nats.js import JetStreamContext
from nats.js.api import StorageType, StreamConfig
from nats.js.errors import BadRequestError, NotFoundError


async def ensure_stream(
    jetstream: JetStreamContext, name: str, *, subjects: tuple[str, ...], seconds_kept: int, duplicates_seconds: int
) -> None:
    """Whoever comes first makes it; the others take it as it is."""
    try:
        await jetstream.stream_info(name)
    except NotFoundError:
        config = StreamConfig(
            name=name,
            subjects=list(subjects),
            storage=StorageType.FILE,
            max_age=seconds_kept,
            duplicate_window=duplicates_seconds,
        )
        try:
            await jetstream.add_stream(config)
        except BadRequestError:
            # Somebody was faster, with limits of their own.
            await jetstream.stream_info(name)
