"""What HTTP answers: values as JSON, and failures in one form. Open this when an answer has the wrong form."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import msgspec
import structlog
from aiohttp import web

from darbar_kit.errors import Refused, Unavailable
from darbar_kit.limits import TooManyRequests

# Of every answer: browsers don't guess what it is, and versions of what serves it are nobody's business.
HEADERS: Mapping[str, str] = {"Server": "Darbar", "X-Content-Type-Options": "nosniff"}
_log = structlog.get_logger()


def answer(value: object, status: int = 200) -> web.Response:
    """The value as JSON."""
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")


def problem(code: str, message: str, details: Mapping[str, object], *, status: int) -> web.Response:
    """A failure: `{"code", "message", "details"}`. It may be right in a moment, so nobody keeps it."""
    answered = answer({"code": code, "message": message, "details": details}, status)
    answered.headers["Cache-Control"] = "no-store"
    return answered


async def streamed(request: web.Request, content_type: str, parts: AsyncIterator[bytes]) -> web.StreamResponse:
    """Part after part. What refuses before the first one is answered as always; what fails later cuts the connection:
    half an answer must not look like a whole one."""
    first = await anext(parts, b"")
    response = web.StreamResponse(headers={**HEADERS, "Content-Type": content_type, "Cache-Control": "no-store"})
    await response.prepare(request)
    await response.write(first)
    try:
        async for part in parts:
            await response.write(part)
    except (Refused, Unavailable) as error:
        _log.warning("stream_cut_off", path=request.path, code=error.code)
        if request.transport is not None:
            request.transport.abort()
    return response


def refusal(refused: Refused) -> web.Response:
    """A refusal with its own status; Retry-After says when a limit lets the caller in again."""
    answered = problem(refused.code, refused.message, refused.details, status=refused.status)
    if isinstance(refused, TooManyRequests):
        answered.headers["Retry-After"] = str(refused.seconds)
    return answered


def outage(unavailable: Unavailable) -> web.Response:
    """503 with Retry-After, unless nobody knows when."""
    answered = problem(unavailable.code, unavailable.message, {}, status=503)
    if unavailable.retry > 0:
        answered.headers["Retry-After"] = str(max(1, round(unavailable.retry)))
    return answered
