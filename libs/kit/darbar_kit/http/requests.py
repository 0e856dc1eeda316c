"""What is read from a request: body, query, token. Open this when a good one is refused, or a bad one is not."""

from __future__ import annotations

import asyncio
import re
from datetime import datetime
from typing import TypeVar

import msgspec
from aiohttp import web

from darbar_kit.errors import KitReason, Refused
from darbar_kit.tokens import Claims, TokenReader

BODY_BYTES_MAX = 16 * 1024
# A body of this size needs no more, however slow the line; who sends a byte now and then must not keep us waiting.
BODY_SECONDS_MAX = 10.0

# U+0000 inside a JSON string; before it an even number of backslashes, which stand for themselves.
_NUL_ESCAPED = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")

_Body = TypeVar("_Body")
_Query = TypeVar("_Query", bound=msgspec.Struct)


async def read_bytes(request: web.Request, *, bytes_max: int, seconds_max: float) -> bytes:
    """The body as it came. Raises Refused for what is too large (at once, where its length is told) or too slow."""
    if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise Refused(KitReason.BODY_ENCODED)
    try:
        async with asyncio.timeout(seconds_max):
            return await _received(request, bytes_max)
    except TimeoutError as error:
        raise Refused(KitReason.BODY_TOO_SLOW, details={"seconds_max": seconds_max}) from error
    except web.RequestPayloadError as error:
        raise Refused(KitReason.BAD_REQUEST, "the body is not sent as its headers say") from error


async def read_body(request: web.Request, type: type[_Body]) -> _Body:
    """The JSON body as a value of this type. Raises Refused for what is too large, too slow, or no such value."""
    body = await read_bytes(request, bytes_max=BODY_BYTES_MAX, seconds_max=BODY_SECONDS_MAX)
    if _NUL_ESCAPED.search(body):
        raise Refused(KitReason.TEXT_INVALID, details={"problem": "control_characters"})
    try:
        return msgspec.json.decode(body, type=type)
    except msgspec.ValidationError as error:
        raise Refused(KitReason.BODY_INVALID, str(error), field_of(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refused(KitReason.BODY_NOT_JSON) from error
    except RecursionError as error:
        raise Refused(KitReason.BODY_INVALID, "the body is nested too deeply", {"field": "", "path": "$"}) from error


def read_query(request: web.Request, type: type[_Query]) -> _Query:
    """The parameters of the query as a value of this type. Raises Refused with the name of the one that is wrong."""
    for name, text in request.query.items():
        # Which of two is meant nobody knows; and what is not wanted is left out, not called null.
        if len(request.query.getall(name)) > 1 or text.lower() == "null":
            raise Refused(KitReason.QUERY_INVALID, "given once or not at all", {"field": name, "path": f"$.{name}"})
    try:
        found = msgspec.convert(dict(request.query), type, strict=False)
    except msgspec.ValidationError as error:
        raise Refused(KitReason.QUERY_INVALID, str(error), field_of(error)) from error
    for name, text in request.query.items():
        # The library takes a number of seconds for a moment as well.
        if isinstance(getattr(found, name, None), datetime) and ":" not in text:
            raise Refused(KitReason.QUERY_INVALID, "not a date and time", {"field": name, "path": f"$.{name}"})
    return found


async def _received(request: web.Request, bytes_max: int) -> bytes:
    if request.content_length is not None and request.content_length > bytes_max:
        raise _too_large(bytes_max)
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > bytes_max:
            raise _too_large(bytes_max)
    return bytes(body)


def bearer(request: web.Request, reader: TokenReader) -> Claims:
    """Whose token came with the request. Raises Refused (401) when there is none or it is not good."""
    return reader.read(bearer_token(request))


def bearer_token(request: web.Request) -> str:
    """The token that came with the request, whatever it is worth. Raises Refused (401) when there is none."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Refused(KitReason.TOKEN_MISSING)
    return token.strip()


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


def _too_large(bytes_max: int) -> Refused:
    return Refused(KitReason.BODY_TOO_LARGE, details={"bytes_max": bytes_max})
