"""Requests that no honest client sends. Open this when one of them is a 500, or fills the log."""

from __future__ import annotations

import asyncio
import gzip
import logging
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec
import pytest
import structlog
from aiohttp import web
from prometheus_client import CollectorRegistry
from structlog.typing import EventDict

from darbar_kit.http import answer, bearer, errors_middleware, health_routes, metrics_route, read_body
from darbar_kit.metrics import REGISTRY
from darbar_kit.service import is_our_fault, listen, reserve
from darbar_kit.supervisor import Supervisor
from darbar_kit.testing import eventually
from darbar_kit.tokens import TokenReader, new_private_key_pem, public_key_pem

MUTATED_REQUESTS = 2_000
# How many of them end without an answer, as they are not complete: more would mean that little was tried.
UNANSWERED_MAX = 50
ANSWER_SECONDS_MAX = 0.5


class Thing(msgspec.Struct, frozen=True):
    name: str
    count: int = 0
    tags: list[str] = []
    price: float = 0.0


def stored(text: str) -> str:
    """As a database takes it: UTF-8 without U+0000."""
    assert "\0" not in text.encode().decode()
    return text


async def read_thing(request: web.Request) -> web.Response:
    found = [stored(request.match_info["name"]), *(stored(part) for pair in request.query.items() for part in pair)]
    return answer(found)


async def make_thing(request: web.Request) -> web.Response:
    thing = await read_body(request, Thing)
    return answer([stored(text) for text in (thing.name, *thing.tags)], 201)


async def socket(request: web.Request) -> web.WebSocketResponse:
    opened = web.WebSocketResponse(heartbeat=0.02)
    await opened.prepare(request)
    async for message in opened:
        await opened.send_str(str(message.data))
    return opened


async def fail(request: web.Request) -> web.Response:
    if request.match_info["how"] == "reset":
        raise ConnectionResetError("another service")
    await eventually(lambda: request.transport is None)
    raise ZeroDivisionError


def build_app() -> web.Application:
    tokens = TokenReader(public_key_pem(new_private_key_pem()))
    registry = CollectorRegistry()
    supervisor = Supervisor("shop", registry)

    async def whoami(request: web.Request) -> web.Response:
        return answer(bearer(request, tokens))

    async def ready() -> list[str]:
        return []

    app = web.Application(middlewares=[errors_middleware])
    app[REGISTRY] = registry
    app.cleanup_ctx.append(supervisor.context)
    app.add_routes([web.get("/things/{name}", read_thing), web.patch("/things/{name}", make_thing)])
    app.add_routes(
        [
            web.post("/things", make_thing),
            web.get("/me", whoami),
            web.get("/socket", socket),
            web.get("/fail/{how}", fail),
        ]
    )
    app.add_routes([*health_routes(ready, supervisor), metrics_route(registry)])
    return app


@pytest.fixture
async def port(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    monkeypatch.setattr("darbar_kit.http.requests.BODY_SECONDS_MAX", 0.05)
    reserved = reserve("127.0.0.1", 0)
    number = reserved.getsockname()[1]
    runner = await listen(build_app(), reserved)
    yield number
    await runner.cleanup()


async def send(port: int, request: bytes) -> tuple[int, str]:
    """The status and the code of the answer; 0 when none came in time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        return await received(reader)
    except (TimeoutError, ConnectionError, asyncio.IncompleteReadError):
        return 0, ""
    finally:
        writer.transport.abort()


async def received(reader: asyncio.StreamReader) -> tuple[int, str]:
    async with asyncio.timeout(ANSWER_SECONDS_MAX):
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
    code = re.match(rb'{"code":"(\w+)"', body)
    return int(head.split(b" ", 2)[1]), code[1].decode() if code else ""


def post(body: bytes, *headers: bytes) -> bytes:
    return request(b"POST", b"/things", [b"Content-Length: %d" % len(body), *headers], body)


def get(path: bytes, *headers: bytes) -> bytes:
    return request(b"GET", path, list(headers), b"")


def request(method: bytes, path: bytes, headers: list[bytes], body: bytes, version: bytes = b"HTTP/1.1") -> bytes:
    lines = [b"%s %s %s" % (method, path, version), b"Host: here", b"Connection: close", *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


CHUNKED = b"Transfer-Encoding: chunked"


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (get(b"/things/lamp%00"), 400, "bad_request"),
        (get(b"/things/lamp?a=%00"), 400, "bad_request"),
        (get(b"/things/lamp?%00=a"), 400, "bad_request"),
        (get(b"/things/%ff"), 400, "bad_request"),
        (get(b"/things/lamp?a=%c0%80"), 400, "bad_request"),
        (get(b"/things/lamp?a=%ed%a0%80"), 400, "bad_request"),
        (get(b"/nowhere%00"), 400, "bad_request"),
        (get(b"/things/%2500"), 200, ""),
        (get(b"/things/%DA%86%D8%B1?a=%D8%A7"), 200, ""),
        (post(b'{"name": "\\u0000"}'), 400, "text_invalid"),
        (post(b'{"name": "\\\\\\u0000"}'), 400, "text_invalid"),
        (post(b'{"name": "x", "other": {"\\u0000": 1}}'), 400, "text_invalid"),
        (post(b'{"name": "\\\\u0000"}'), 201, ""),
        (post(b'{"name": "\x00"}'), 400, "body_not_json"),
        (post(b'{"name": "\\ud800"}'), 400, "body_not_json"),
        (post(b'{"name": "\xed\xa0\x80"}'), 400, "body_not_json"),
        (post(b'{"name": ' + b"[" * 5000 + b"]" * 5000 + b"}"), 400, "body_invalid"),
        (post(b'{"name": "x", "other": ' + b"[" * 5000 + b"]" * 5000 + b"}"), 400, "body_invalid"),
        (post(b'{"a":' * 2000), 400, "body_invalid"),
        (post(b'{"name": "x", "count": ' + b"9" * 5000 + b"}"), 400, "body_invalid"),
        (post(gzip.compress(b'{"name": "x"}'), b"Content-Encoding: gzip"), 415, "body_encoded"),
        (post(b'{"name": "x"}', b"Content-Encoding: gzip"), 415, "body_encoded"),
        (post(b'{"name": "x"}', b"Content-Encoding: zstd"), 415, "body_encoded"),
        (post(b'{"name": "x"}', b"Content-Encoding: Identity"), 201, ""),
        (request(b"POST", b"/things", [b"Content-Length: 90"], b'{"name"'), 408, "body_too_slow"),
        (request(b"POST", b"/things", [CHUNKED], b'4\r\n{"na'), 408, "body_too_slow"),
        (request(b"POST", b"/things", [CHUNKED], b'd\r\n{"name": "x"}\r\n0\r\n\r\n'), 201, ""),
        (get(b"/me", b"Authorization: Bearer \xff\xfe"), 401, "token_invalid"),
        (get(b"/socket"), 400, "bad_request"),
    ],
)
async def test_what_a_client_does_wrong_has_a_code(port: int, sent: bytes, status: int, code: str) -> None:
    assert await send(port, sent) == (status, code)


async def test_a_body_that_breaks_off_into_nonsense_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("darbar_kit.http.requests.BODY_SECONDS_MAX", 0.05)
    started = asyncio.Event()

    async def make(request: web.Request) -> web.Response:
        started.set()
        return await make_thing(request)

    app = web.Application(middlewares=[errors_middleware])
    app.add_routes([web.post("/things", make)])
    reserved = reserve("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*reserved.getsockname())
    runner = await listen(app, reserved)
    writer.write(request(b"POST", b"/things", [CHUNKED], b"1\r\n{\r\n"))
    await started.wait()
    writer.write(b"zz\r\n{}\r\n")

    assert await received(reader) == (408, "body_too_slow")
    writer.transport.abort()
    await runner.cleanup()


ODD = (
    *(b"%00", b"%ff", b"%c0%af", b"%", b"%zz", b"//", b"/../", b"?", b"#", b"%0d%0a", b"%ed%a0%80", b"a" * 3000),
    *(b"&&==", b"%2500", b"%DB%81", b";", b"+", b"~"),
)
# What no HTTP parser takes: refused before any code of ours is reached.
BROKEN = [b"\x00", b"\xff", b" ", b"\r", b"\xed\xa0\x80", "ہ".encode(), b"a" * 9000, b"[::1", b"http://x:y@[::1]:9/"]
METHODS = [b"GET", b"POST", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS", b"TRACE", b"CONNECT", b"get", b"G\x00T", b""]
ROUTES = (
    *[(b"POST", b"/things")] * 4,
    *[(b"PATCH", b"/things/lamp")] * 2,
    *[(b"GET", b"/things/lamp")] * 3,
    *((b"GET", path) for path in (b"/me", b"/socket", b"/healthz", b"/readyz", b"/metrics", b"/nowhere")),
)
HEADERS = [
    *(b"Content-Encoding: " + name for name in (b"gzip", b"deflate", b"br", b"zstd", b"identity, gzip", b"\xff")),
    *(b"Content-Length: " + text for text in (b"-1", b"1e9", b"99999999999999999999", b"0", b"7", b"7, 7", b"\xb2")),
    *(CHUNKED, b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: \x00", b"Expect: 100-continue", b"Expect: x"),
    *(b"Upgrade: websocket\r\nConnection: Upgrade", b"Upgrade: h2c", b"Sec-WebSocket-Version: 13"),
    *(b"Sec-WebSocket-Key: x", b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", b"Sec-WebSocket-Protocol: \xff,,"),
    *(b"Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99", b"Cookie: a=\x01; $; =;;\xff"),
    *(b"Authorization: Bearer a.b.c", b"Authorization: \xff", b"Authorization: Bearer " + b"x" * 3000),
    *(b"Content-Type: text/plain; charset=klingon", b"Content-Type: ;;;", b"Host: \x00", b"Host:", b":", b"no colon"),
    *(b"Range: bytes=5-1", b"If-Modified-Since: never", b'If-None-Match: "\x7f', b"X-Forwarded-For: \xff, ::, 1.1.1"),
    *(b"X: " + b"y" * 9000, b"\r\n folded: x", b"Accept-Encoding: gzip;q=x", b"Keep-Alive: \x00"),
]
BODIES = [
    *(b"", b"{}", b'{"name": "x", "count": 3, "tags": ["a"], "price": 1e3}', b"[" * 8000, b'{"a":' * 1500, b"null"),
    *(b'{"name": "\\u0000"}', b'{"name": "\x00"}', b'{"name": "\\ud800"}', b'{"name": "\xff"}', b'{"name": 1e99999}'),
    *(
        b'{"name": "x", "count": 1e999}',
        b'{"name": "x", "price": -0.0e-999}',
        b'{"name": "x", "tags": {}}',
        b"\xef\xbb",
    ),
    *(gzip.compress(b'{"name": "x"}'), b"5\r\nhello\r\n0\r\n\r\n", b"ffffffffffffffffff\r\n", b" " * 20_000, b"0\r\n"),
]
VERSIONS = [b"HTTP/1.0", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/9999.1", b"ICY", b""]


def mutated(chance: random.Random) -> bytes:
    """A request in which one thing is odd, or several; one in ten is no HTTP at all."""
    is_broken = chance.random() < 0.1
    method, path = chance.choice(ROUTES)
    method = chance.choice(METHODS) if chance.random() < 0.1 else method
    for _ in range(chance.choice([0, 0, 0, 1, 2])):
        at = chance.randint(1, len(path))
        path = path[:at] + chance.choice(BROKEN if is_broken else ODD) + path[at:]
    if chance.random() < 0.2:
        path += b"?" + chance.choice(ODD) + b"=" + chance.choice(ODD)
    body = chance.choice(BODIES)
    headers = chance.sample(HEADERS, chance.choice([0, 0, 0, 1, 1, 2]))
    if not any(header.startswith((b"Content-Length", b"Transfer-Encoding")) for header in headers):
        headers.append(b"Content-Length: %d" % (len(body) + chance.choice([0, 0, 0, 0, 0, 0, 3])))
    sent = bytearray(request(method, path, headers, body, chance.choice(VERSIONS) if is_broken else b"HTTP/1.1"))
    for _ in range(chance.choice([1, 3]) if is_broken else 0):
        sent[chance.randrange(len(sent))] = chance.randrange(256)
    return bytes(sent)


async def test_no_request_whatever_makes_the_server_fail(port: int, caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(20260101)
    seen: Counter[int] = Counter()
    codes: Counter[str] = Counter()
    failed: list[tuple[int, bytes]] = []
    with structlog.testing.capture_logs() as logs:
        for _ in range(MUTATED_REQUESTS):
            sent = mutated(chance)
            status, code = await send(port, sent)
            seen[status] += 1
            codes[code] += 1
            if status >= 500:
                failed.append((status, sent))

    assert failed == []
    assert [log for log in logs if log["log_level"] in ("error", "critical")] == []
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert sum(seen.values()) == MUTATED_REQUESTS
    assert seen[0] <= UNANSWERED_MAX, seen
    assert {200, 201, 400, 401, 404, 405, 408, 413, 415} <= seen.keys(), seen
    assert {"bad_request", "body_not_json", "body_invalid", "body_encoded", "body_too_slow"} <= codes.keys(), codes


UPGRADE = get(
    b"/socket",
    b"Connection: Upgrade",
    b"Upgrade: websocket",
    b"Sec-WebSocket-Version: 13",
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
).replace(b"Connection: close\r\n", b"")


async def hang_up_before_the_handshake(port: int) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(UPGRADE)
    writer.transport.abort()


async def hang_up_during_a_ping(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(UPGRADE)
    await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(2)  # A ping, which is never answered.
    writer.write(b"\x89\x80\x00\x00\x00\x00")  # A ping of ours, whose pong meets a closed connection.
    writer.transport.abort()


async def hang_up_in_the_middle_of_a_body(port: int) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request(b"POST", b"/things", [b"Content-Length: 90"], b'{"name"'))
    await writer.drain()
    writer.transport.abort()


HANG_UPS: list[Callable[[int], Awaitable[None]]] = [
    hang_up_before_the_handshake,
    hang_up_during_a_ping,
    hang_up_in_the_middle_of_a_body,
]


@pytest.mark.parametrize("hang_up", HANG_UPS, ids=lambda hang_up: hang_up.__name__)
async def test_a_client_that_hangs_up_is_no_fault_of_ours(
    port: int, hang_up: Callable[[int], Awaitable[None]], caplog: pytest.LogCaptureFixture
) -> None:
    logs: list[EventDict]
    with structlog.testing.capture_logs() as logs:
        for _ in range(20):
            await hang_up(port)
        # Whatever was left behind has been handled by the time that others are answered.
        for _ in range(20):
            assert (await send(port, get(b"/things/lamp")))[0] == 200

    assert [log for log in logs if log["log_level"] in ("error", "critical")] == []
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_a_reset_of_another_connection_is_a_fault_of_ours(port: int) -> None:
    with structlog.testing.capture_logs() as logs:
        assert await send(port, get(b"/fail/reset")) == (500, "internal")

    assert [log["event"] for log in logs] == ["request_failed"]


async def test_a_bug_is_told_even_when_the_client_is_gone(port: int) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(get(b"/fail/later"))
    await writer.drain()
    writer.transport.abort()

    with structlog.testing.capture_logs() as logs:
        await eventually(lambda: logs)

    assert [log["event"] for log in logs] == ["request_failed"]


def test_a_line_about_a_bug_of_the_server_is_kept() -> None:
    def record(error: Exception | None) -> logging.LogRecord:
        info = (type(error), error, None) if error is not None else None
        return logging.LogRecord("aiohttp.server", logging.ERROR, "", 0, "x", (), info)

    assert is_our_fault(record(None))
    assert is_our_fault(record(ZeroDivisionError()))
    assert not is_our_fault(record(web.RequestPayloadError()))
