"""What goes over the bus: JSON of a known type, or a failure in its place. Open this when an answer can't be read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
import structlog
from nats.aio.msg import Msg

from darbar_kit.errors import KitReason, Refused, Unavailable

# The server's own limit is 1 MiB with headers.
MESSAGE_BYTES_MAX = 512 * 1024
ERROR_HEADER = "Darbar-Error"

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_Message = TypeVar("_Message", bound=msgspec.Struct)
_Answer = TypeVar("_Answer", bound=msgspec.Struct)
Handler = Callable[[_Message], Awaitable[msgspec.Struct | None]]
_log = structlog.get_logger()


class MessageTooLarge(Exception):
    """A message is larger than the bus carries: a bug of the sender."""


class ErrorBody(msgspec.Struct, frozen=True):
    """A failure on its way back. `kind`: refused, unavailable."""

    kind: str
    code: str
    message: str = ""
    details: dict[str, object] = {}
    status: int = 409
    retry: float = 1.0


class ErrorAnswer(msgspec.Struct, frozen=True):
    """What comes back in place of an answer, marked by the header Darbar-Error."""

    error: ErrorBody


async def outcome(received: Msg, request_type: type[_Message], handler: Handler[_Message]) -> msgspec.Struct | None:
    """What is sent back for a message: the answer of its handler, or the failure in its place."""
    try:
        request = msgspec.json.decode(received.data, type=request_type)
    except _UNREADABLE as error:
        return ErrorAnswer(ErrorBody("refused", KitReason.MESSAGE_INVALID, str(error), status=400))
    try:
        return await handler(request)
    except Refused as refused:
        body = ErrorBody("refused", refused.code, refused.message, refused.details, refused.status)
    except Unavailable as unavailable:
        body = ErrorBody("unavailable", unavailable.code, unavailable.message, retry=unavailable.retry)
    except Exception:  # noqa: BLE001  # The outermost loop of a message: a bug of ours, and the sender must not wait.
        _log.exception("message_failed", subject=received.subject)
        body = ErrorBody("unavailable", KitReason.SERVICE_FAILED, "something went wrong on the other side")
    return ErrorAnswer(body)


def answer_of(received: Msg, answer_type: type[_Answer]) -> _Answer:
    """Raises what the other side raised, and Unavailable when nobody can read what it says."""
    try:
        if not (received.headers and ERROR_HEADER in received.headers):
            return msgspec.json.decode(received.data, type=answer_type)
        error = msgspec.json.decode(received.data, type=ErrorAnswer).error
    except _UNREADABLE as unreadable:
        raise Unavailable(KitReason.SERVICE_FAILED, f"an answer can't be read: {unreadable}") from unreadable
    raise _raised(error)


def _raised(error: ErrorBody) -> Refused | Unavailable:
    if error.kind == "refused":
        return Refused(error.code, error.message, error.details, error.status)
    return Unavailable(error.code, error.message, error.retry)


def encoded(message: msgspec.Struct) -> bytes:
    """Raises MessageTooLarge."""
    body = msgspec.json.encode(message)
    if len(body) > MESSAGE_BYTES_MAX:
        raise MessageTooLarge(f"{type(message).__name__} has {len(body)} bytes, {MESSAGE_BYTES_MAX} may be sent")
    return body
