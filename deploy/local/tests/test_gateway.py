"""The gateway before service processes. Open this when a header, a body or a frame gets lost on its way."""

import asyncio
from collections.abc import AsyncIterator
from io import BytesIO

import aiohttp
import pytest
from aiohttp import WSMsgType, web
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

from darbar_kit.http import BODY_BYTES_MAX, answer, errors_middleware, read_body
from darbar_kit.testing import eventually
from darbar_local.gateway.many_processes import build_gateway
from darbar_local.restarts import Restarts

CLOSED: web.AppKey[list[int | None]] = web.AppKey("closed", list)
HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}
Client = TestClient[web.Request, web.Application]


async def echo(request: web.Request) -> web.Response:
    headers = {name: value for name, value in request.headers.items() if name != "User-Agent"}
    body = (await request.read()).decode()
    return answer({"method": request.method, "path": request.raw_path, "headers": headers, "body": body})


async def odd(_request: web.Request) -> web.Response:
    response = web.Response(status=418, reason="Short And Stout", body=b"\x1f\x8b-not-gzip", headers={"X-Odd": "yes"})
    response.headers["Content-Encoding"] = "gzip"
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


async def moved(_request: web.Request) -> web.Response:
    raise web.HTTPFound("/v1/echo")


async def strict(request: web.Request) -> web.Response:
    return answer(await read_body(request, dict[str, str]))


async def pieces(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for number in range(3):
        await response.write(b"%d\n" % number)
    return response


async def socket(request: web.Request) -> web.StreamResponse:
    if "refuse" in request.query:
        return answer({"code": "not_today"}, 403)
    opened = web.WebSocketResponse(compress=False, protocols=["darbar.1"], autoping=False)
    await opened.prepare(request)
    async for message in opened:
        match message.type, message.data:
            case WSMsgType.TEXT, "close":
                await opened.close(code=4000, message=b"enough")
            case WSMsgType.TEXT, "die":
                assert request.transport is not None
                request.transport.abort()
            case WSMsgType.TEXT, _:
                await opened.send_str(message.data)
            case WSMsgType.BINARY, _:
                await opened.send_bytes(message.data)
            case WSMsgType.PING, _:
                await opened.pong(message.data + b"!")
    request.app[CLOSED].append(opened.close_code)
    return opened


@pytest.fixture
async def inner() -> AsyncIterator[TestServer]:
    app = web.Application(middlewares=[errors_middleware])
    app[CLOSED] = []
    app.add_routes(
        [
            web.route("*", "/v1/echo", echo),
            web.get("/v1/odd", odd),
            web.get("/v1/moved", moved),
            web.get("/v1/pieces", pieces),
            web.post("/v1/strict", strict),
            web.get("/play/tables/7/socket", socket),
        ]
    )
    server = TestServer(app)
    await server.start_server()
    yield server
    await server.close()


@pytest.fixture
async def client(inner: TestServer) -> AsyncIterator[Client]:
    base_url = str(inner.make_url("")).rstrip("/")
    app = build_gateway({"lobby": [base_url], "table": [base_url], "wallet": ["http://127.0.0.1:1"]}, Restarts())
    async with TestClient(TestServer(app), cookie_jar=aiohttp.DummyCookieJar()) as opened:
        yield opened


async def test_a_request_arrives_as_it_was_sent(client: Client) -> None:
    headers = {"Authorization": "Bearer x", "Content-Type": "text/x", "X-Forwarded-For": "10.1.2.3"}
    url = URL(f"{client.make_url('/v1/echo')}?a=%2F&b=%C3%BC", encoded=True)
    response = await client.session.put(url, data="body", headers=headers)

    seen = await response.json()
    assert (seen["method"], seen["path"], seen["body"]) == ("PUT", "/v1/echo?a=%2F&b=%C3%BC", "body")
    assert seen["headers"]["Authorization"] == "Bearer x"
    assert seen["headers"]["Content-Type"] == "text/x"
    assert seen["headers"]["X-Forwarded-For"] == "10.1.2.3, 127.0.0.1"
    assert seen["headers"]["X-Forwarded-Proto"] == "http"


async def test_an_answer_arrives_as_it_was_sent(client: Client) -> None:
    url = client.make_url("/v1/odd")
    async with aiohttp.ClientSession(auto_decompress=False) as session, session.get(url) as response:
        assert (response.status, response.reason) == (418, "Short And Stout")
        assert await response.read() == b"\x1f\x8b-not-gzip"
        assert response.headers["X-Odd"] == "yes"
        assert len(response.headers.getall("Set-Cookie")) == 2


async def test_a_redirection_is_left_to_the_client(client: Client) -> None:
    response = await client.get("/v1/moved", allow_redirects=False)

    assert (response.status, response.headers["Location"]) == (302, "/v1/echo")


async def test_an_answer_in_pieces_arrives_whole(client: Client) -> None:
    assert await (await client.get("/v1/pieces")).text() == "0\n1\n2\n"


@pytest.mark.parametrize("bytes_sent", [BODY_BYTES_MAX + 1, 2 * 1024 * 1024])
async def test_a_body_that_is_too_large_is_refused(client: Client, bytes_sent: int) -> None:
    response = await client.post("/v1/strict", data=BytesIO(b" " * bytes_sent))

    assert (response.status, (await response.json())["code"]) == (413, "body_too_large")


async def test_a_service_that_is_not_there_is_an_outage(client: Client) -> None:
    response = await client.get("/v1/me/wallet")

    assert (response.status, (await response.json())["code"]) == (503, "service_unreachable")
    assert (await client.get("/readyz")).status == 503


async def test_a_body_reaches_the_second_process_where_the_first_is_not_there(inner: TestServer) -> None:
    """Whichever is drawn first; four that are away stand before it as a rule."""
    places = [f"http://127.0.0.1:{port}" for port in (1, 2, 3, 4)]
    app = build_gateway({"lobby": [*places, str(inner.make_url("")).rstrip("/")]}, Restarts())
    async with TestClient(TestServer(app)) as opened:
        for number in range(4):
            response = await opened.post("/v1/echo", data=f"body {number}")
            assert (await response.json())["body"] == f"body {number}"


async def test_a_path_of_nobody_is_not_found(client: Client) -> None:
    response = await client.get("/elsewhere")

    assert (response.status, (await response.json())["code"]) == (404, "not_found")


async def test_frames_go_both_ways(client: Client) -> None:
    async with client.ws_connect("/play/tables/7/socket", protocols=["x", "darbar.1"], autoping=False) as opened:
        assert opened.protocol == "darbar.1"
        await opened.send_str("grüße")
        assert await opened.receive_str(timeout=10) == "grüße"
        await opened.send_bytes(b"\x00\xff")
        assert await opened.receive_bytes(timeout=10) == b"\x00\xff"
        await opened.ping(b"there?")
        pong = await opened.receive(timeout=10)
        assert (pong.type, bytes(pong.data)) == (WSMsgType.PONG, b"there?!")


async def test_a_close_by_the_service_keeps_its_code(client: Client) -> None:
    async with client.ws_connect("/play/tables/7/socket") as opened:
        await opened.send_str("close")
        message = await opened.receive(timeout=10)

        assert (message.type, opened.close_code) == (WSMsgType.CLOSE, 4000)


async def test_a_close_by_the_client_keeps_its_code(client: Client, inner: TestServer) -> None:
    opened = await client.ws_connect("/play/tables/7/socket")

    await opened.close(code=4002)

    await eventually(lambda: inner.app[CLOSED] == [4002])


async def test_a_client_that_vanishes_is_closed_towards_the_service(client: Client, inner: TestServer) -> None:
    reader, writer = await asyncio.open_connection(client.host, client.port)
    head = [f"GET /play/tables/7/socket HTTP/1.1\r\nHost: {client.host}", *(f"{k}: {v}" for k, v in HANDSHAKE.items())]
    writer.write("\r\n".join([*head, "", ""]).encode())
    assert (await reader.readline()).startswith(b"HTTP/1.1 101")

    writer.transport.abort()

    await eventually(lambda: inner.app[CLOSED] == [1001])


async def test_a_service_that_dies_closes_the_client(client: Client) -> None:
    async with client.ws_connect("/play/tables/7/socket") as opened:
        await opened.send_str("die")
        message = await opened.receive(timeout=10)

        assert (message.type, opened.close_code) == (WSMsgType.CLOSE, 1001)


async def test_a_refused_handshake_tells_why(client: Client) -> None:
    url = client.make_url("/play/tables/7/socket?refuse=1")
    async with aiohttp.ClientSession() as session, session.get(url, headers=HANDSHAKE) as response:
        assert (response.status, await response.json()) == (403, {"code": "not_today"})


async def test_a_slow_reader_holds_its_own_sender_up(client: Client) -> None:
    async with client.ws_connect("/play/tables/7/socket", max_msg_size=0) as opened:
        for _ in range(50):
            await opened.send_str("x" * 100_000)
        received = [await opened.receive_str(timeout=10) for _ in range(50)]

    assert {len(text) for text in received} == {100_000}


async def test_many_sockets_at_once(client: Client) -> None:
    async def talk(number: int) -> str:
        async with client.ws_connect("/play/tables/7/socket") as opened:
            await opened.send_str(str(number))
            return await opened.receive_str(timeout=10)

    assert await asyncio.gather(*(talk(number) for number in range(30))) == [str(number) for number in range(30)]


async def test_the_bytes_of_a_socket_pass_through_as_they_are(client: Client) -> None:
    """A frame in pieces, and a kind of frame that does not exist yet."""
    reader, writer = await asyncio.open_connection(client.host, client.port)
    head = [f"GET /play/tables/7/socket HTTP/1.1\r\nHost: {client.host}", *(f"{k}: {v}" for k, v in HANDSHAKE.items())]
    writer.write("\r\n".join([*head, "", ""]).encode() + b"\x81\x82\x00\x00\x00\x00h")
    assert (await reader.readline()).startswith(b"HTTP/1.1 101")
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"i")

    assert await asyncio.wait_for(reader.readexactly(4), 10) == b"\x81\x02hi"
    writer.write(b"\x83\x80\x00\x00\x00\x00")
    assert await asyncio.wait_for(reader.readexactly(4), 10) == b"\x88\x02\x03\xea", "the service refuses it, not we"
    writer.close()
    await writer.wait_closed()


async def test_a_gateway_that_stops_tells_both_sides(inner: TestServer) -> None:
    app = build_gateway({"table": [str(inner.make_url("")).rstrip("/")]}, Restarts())
    async with TestClient(TestServer(app)) as opened, opened.ws_connect("/play/tables/7/socket") as socket:
        await socket.send_str("here")
        assert await socket.receive_str(timeout=10) == "here"
        await opened.server.close()
        message = await socket.receive(timeout=10)

        assert (message.type, socket.close_code) == (WSMsgType.CLOSE, 1001)
        await eventually(lambda: inner.app[CLOSED] == [1001])
