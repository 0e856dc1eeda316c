"""How HTTP answers, refuses and reads bodies. Open this when an answer has the wrong form or status."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
import structlog
from aiohttp import web
from aiohttp.typedefs import Handler
from prometheus_client import CollectorRegistry, generate_latest

from darbar_kit.errors import KitReason, Refused, Unavailable
from darbar_kit.limits import TooManyRequests
from darbar_kit.metrics import CONTENT_TYPE
from darbar_kit.supervisor import Supervisor
from darbar_kit.tokens import Claims, TokenReader

BODY_BYTES_MAX = 16 * 1024
# Whoever probes gives up about then.
READY_SECONDS_MAX = 2.0

_Body = TypeVar("_Body")
_log = structlog.get_logger()


_REASON_OF_STATUS = {
    404: KitReason.NOT_FOUND,
    405: KitReason.METHOD_NOT_ALLOWED,
    413: KitReason.BODY_TOO_LARGE,
}


@web.middleware
async def errors_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """The one place where failures become HTTP."""
    try:
        return await handler(request)
    except Refused as refused:
        answered = _problem(refused.code, refused.message, refused.details, status=refused.status)
        if isinstance(refused, TooManyRequests):
            answered.headers["Retry-After"] = str(refused.seconds)
        return answered
    except Unavailable as unavailable:
        answered = _problem(unavailable.code, unavailable.message, {}, status=503)
        if unavailable.retry > 0:
            answered.headers["Retry-After"] = str(max(1, round(unavailable.retry)))
        return answered
    except msgspec.ValidationError as error:
        return _problem(KitReason.BODY_INVALID, str(error), field_of(error), status=400)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        return _of_http(error)
    except Exception:  # noqa: BLE001  # The outermost loop of a request: whatever else happened is a bug of ours.
        _log.exception("request_failed", method=request.method, path=request.path)
        return _problem(KitReason.INTERNAL, "something went wrong on our side", {}, status=500)


async def read_body(request: web.Request, type: type[_Body]) -> _Body:
    """The JSON body as a value of this type. Raises Refused for what is no JSON or too large."""
    if request.content_length is not None and request.content_length > BODY_BYTES_MAX:
        raise _too_large()
    chunks = bytearray()
    async for chunk in request.content.iter_any():
        chunks += chunk
        if len(chunks) > BODY_BYTES_MAX:
            raise _too_large()
    try:
        return msgspec.json.decode(chunks, type=type)
    except msgspec.ValidationError as error:
        raise Refused(KitReason.BODY_INVALID, str(error), field_of(error), 400) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refused(KitReason.BODY_NOT_JSON, "the body is not JSON", status=400) from error


def answer(value: object, status: int = 200) -> web.Response:
    """The value as JSON."""
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")


def health_routes(
    ready: Callable[[], Awaitable[list[str]]], supervisor: Supervisor | None = None
) -> list[web.RouteDef]:
    """/readyz tells what `ready` and the supervisor miss; /healthz which task only a new process can bring back."""

    async def healthz(_request: web.Request) -> web.Response:
        dead = supervisor.not_healthy() if supervisor is not None else []
        return answer({"status": "failing", "missing": dead}, 503) if dead else answer({"status": "alive"})

    async def readyz(_request: web.Request) -> web.Response:
        missing = await _missing(ready)
        if supervisor is not None:
            missing = [*missing, *supervisor.not_ready()]
        return answer({"status": "waiting" if missing else "ready", "missing": missing}, 503 if missing else 200)

    return [web.get("/healthz", healthz), web.get("/readyz", readyz)]


async def _missing(ready: Callable[[], Awaitable[list[str]]]) -> list[str]:
    """What `ready` says; who asks for readiness is never kept waiting by what is not ready."""
    try:
        return await asyncio.wait_for(ready(), READY_SECONDS_MAX)
    except TimeoutError:
        return ["an answer in time"]


def metrics_route(registry: CollectorRegistry) -> web.RouteDef:
    """Serves what this registry has counted."""

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE})

    return web.get("/metrics", metrics)


def bearer(request: web.Request, reader: TokenReader) -> Claims:
    """Whose token came with the request. Raises Refused (401) when there is none or it is not good."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Refused(KitReason.TOKEN_MISSING, "an access token is needed", status=401)
    return reader.read(token.strip())


def field_of(error: msgspec.ValidationError) -> dict[str, object]:
    """Which field of a body is wrong, out of the message: "Expected `int`, got `str` - at `$.bet.amount`"."""
    message, found, path = str(error).rpartition(" - at `")
    if not found:
        # "Object missing required field `name`" has no path when the field is at the top.
        parts = str(error).split("`")
        return {"field": parts[1] if len(parts) > 2 and "field" in parts[0] else "", "path": "$"}
    path = path.removesuffix("`")
    parts = message.split("`")
    field = parts[1] if "field" in parts[0] and len(parts) > 2 else path.rpartition(".")[2]
    return {"field": field.removeprefix("$"), "path": path}


def _problem(code: str, message: str, details: dict[str, object], *, status: int) -> web.Response:
    answered = answer({"code": code, "message": message, "details": details}, status)
    answered.headers["Cache-Control"] = "no-store"  # What is refused now may be right in a moment.
    return answered


def _of_http(error: web.HTTPException) -> web.Response:
    code = _REASON_OF_STATUS.get(error.status, KitReason.BAD_REQUEST if error.status < 500 else KitReason.INTERNAL)
    details: dict[str, object] = {}
    answered = _problem(code, error.reason.lower(), details, status=error.status)
    if isinstance(error, web.HTTPMethodNotAllowed):
        answered.headers["Allow"] = ", ".join(sorted(error.allowed_methods))
    return answered


def _too_large() -> Refused:
    return Refused(KitReason.BODY_TOO_LARGE, "the body is too large", {"bytes_max": BODY_BYTES_MAX}, 413)
