"""Where a request comes in and a failure becomes HTTP. Open this when something is a 500 that is a caller's fault."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from darbar_kit.errors import KitReason, Refused, Unavailable
from darbar_kit.http.answers import HEADERS, outage, problem, refusal

# Seen by nobody but ourselves: the client has hung up.
CLIENT_GONE_STATUS = 499

_REASON_OF_STATUS = {
    404: KitReason.NOT_FOUND,
    405: KitReason.METHOD_NOT_ALLOWED,
    413: KitReason.BODY_TOO_LARGE,
}
_log = structlog.get_logger()


@web.middleware
async def errors_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """The one place where failures become HTTP. No handler sees a path or query that is not clean text."""
    response = await _answered(request, handler)
    if not response.prepared:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
    return response


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        if not is_clean(request.raw_path):
            raise Refused(KitReason.BAD_REQUEST, "the address is not valid UTF-8, or holds U+0000")
        return await handler(request)
    except Refused as refused:
        return refusal(refused)
    except Unavailable as unavailable:
        return outage(unavailable)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        return _of_http(error)
    except Exception as error:  # noqa: BLE001  # The outermost loop of a request: whatever else happened is a bug of ours.
        if isinstance(error, ConnectionError) and has_hung_up(request):
            return web.Response(status=CLIENT_GONE_STATUS)
        _log.exception("request_failed", method=request.method, path=request.path)
        return problem(KitReason.INTERNAL, KitReason.INTERNAL.sentence, {}, status=500)


def is_clean(raw_path: str) -> bool:
    """Whether a path with its query, as it came, is valid UTF-8 without U+0000."""
    if raw_path.isascii() and "%" not in raw_path and "\0" not in raw_path:
        return True
    try:
        # What came as bytes that are no UTF-8 is kept by the server in this form.
        return "\0" not in unquote_to_bytes(raw_path.encode("utf-8", "surrogateescape")).decode("utf-8")
    except UnicodeError:
        return False


def has_hung_up(request: web.Request) -> bool:
    """Whether nobody is there any more to be answered."""
    return request.transport is None or request.transport.is_closing()


def _of_http(error: web.HTTPException) -> web.Response:
    code = _REASON_OF_STATUS.get(error.status, KitReason.BAD_REQUEST if error.status < 500 else KitReason.INTERNAL)
    answered = problem(code, error.reason.lower(), {}, status=error.status)
    if isinstance(error, web.HTTPMethodNotAllowed):
        answered.headers["Allow"] = ", ".join(sorted(error.allowed_methods))
    return answered
