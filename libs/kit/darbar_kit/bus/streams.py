"""Streams that NATS keeps, and its errors as ours. Open this when two services want one with other limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import nats.errors
from nats.js import JetStreamContext
from nats.js.api import StorageType, StreamConfig
from nats.js.errors import BadRequestError, NotFoundError

from darbar_kit.cancelling import stop_if_cancelled
from darbar_kit.errors import KitReason, Unavailable

# Asking again in the same way would never help.
_MISTAKES = (
    BadRequestError,
    nats.errors.BadSubjectError,
    nats.errors.BadTimeoutError,
    nats.errors.InvalidCallbackTypeError,
    nats.errors.MaxPayloadError,
    nats.errors.MsgAlreadyAckdError,
    nats.errors.NotJSMessageError,
)


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """A stream on disk: which subjects it keeps, how long, and for how long it knows a message's id again."""

    name: str
    subjects: tuple[str, ...]
    seconds_kept: int
    duplicates_seconds: int


async def ensure_stream(jetstream: JetStreamContext, stream: Stream) -> None:
    """Whoever comes first makes it; the others take it as it is."""
    try:
        await jetstream.stream_info(stream.name)
    except NotFoundError:
        config = StreamConfig(
            name=stream.name,
            subjects=list(stream.subjects),
            storage=StorageType.FILE,
            max_age=stream.seconds_kept,
            duplicate_window=stream.duplicates_seconds,
        )
        try:
            await jetstream.add_stream(config)
        except BadRequestError:
            # Somebody was faster, with limits of their own.
            await jetstream.stream_info(stream.name)


@contextmanager
def bus_errors(what: str) -> Iterator[None]:
    """The border to the client of NATS: what passes by itself is raised as Unavailable, a mistake as it is.

    Nothing but calls of that client belongs inside.
    """
    try:
        yield
    except _MISTAKES:
        raise
    except (nats.errors.Error, TimeoutError, OSError) as error:
        stop_if_cancelled()
        raise Unavailable(KitReason.BUS_UNREACHABLE, f"{what}: {type(error).__name__} {error}".rstrip()) from error
