"""How many sockets a stranger may open, and for how long without a word."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID, uuid4

import aiohttp
import msgspec
import pytest
import pytest_asyncio
from structlog.testing import capture_logs
from table_doubles import Player
from table_scripts import SETTINGS
from table_stack import Stack, StartTable
from test_socket_messages import TEXT, frame

from darbar_contracts.reading import DecisionFrames, client_frame_type
from darbar_kit.metrics import REGISTRY
from darbar_kit.testing import eventually
from darbar_kit.tokens import Claims
from darbar_table.metrics import Metrics
from darbar_table.socket import session
from darbar_table.socket.limits import SocketLimits
from darbar_table.socket.stages import Stages


@pytest_asyncio.fixture(loop_scope="session")
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as client:
        yield client


async def _closing(player: Player) -> str:
    frame = await player.frame("closing")
    return str(frame["code"])


@pytest.mark.parametrize(
    ("limit", "count", "of"),
    [("sockets_max", 3, "process"), ("sockets_an_address_max", 2, "address")],
)
async def test_a_connection_too_many_gets_no_socket(
    start_table: StartTable, http: aiohttp.ClientSession, limit: str, count: int, of: str
) -> None:
    stack = await start_table(**{limit: count})
    table_id = await stack.open_table()
    players = [await stack.join(table_id, name, hello=False) for name in ("ann", "bob", "cyn")[:count]]
    path = f"{stack.address}/play/tables/{table_id}/socket"
    async with http.get(path, headers=UPGRADE) as answer:
        assert answer.status == 429
        refused = await answer.json()
    assert (refused["code"], refused["details"]) == ("sockets_too_many", {"of": of, "count_max": count})
    await players[0].close()
    await _until_upgraded(http, path)


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


async def _until_upgraded(http: aiohttp.ClientSession, path: str) -> None:
    """The place of a socket that has ended is free again."""
    async with asyncio.timeout(5):
        while True:
            async with http.get(path, headers=UPGRADE) as answer:
                if answer.status == 101:
                    return


async def test_an_account_has_so_many_sockets_and_a_place_is_free_again_when_one_ends(start_table: StartTable) -> None:
    stack = await start_table(sockets_an_account_max=2)
    table_id = await stack.open_table()
    first, _second = [await stack.join(table_id, "ann") for _ in range(2)]
    third = await stack.join(table_id, "ann")
    assert await _closing(third) == "sockets_too_many"
    other = await stack.join(table_id, "bob")
    assert other.frames[0]["type"] == "welcome"
    await first.close()

    async def let_in() -> bool:
        again = await stack.join(table_id, "ann")
        return bool(again.frames[0]["type"] == "welcome")

    async with asyncio.timeout(5):
        while not await let_in():
            pass


async def test_a_table_has_room_for_so_many_spectators_and_always_for_who_sits_there(start_table: StartTable) -> None:
    stack = await start_table(spectators_a_table_max=1)
    table_id = await stack.open_table(visibility="public")
    looks_on = await stack.join(table_id, "bob")
    assert looks_on.frames[0]["type"] == "welcome"
    assert await _closing(await stack.join(table_id, "cyn")) == "sockets_too_many"
    host = await stack.join(table_id, "ann")
    assert host.frames[0]["seat"] == 0
    assert (await looks_on.command("sit"))["type"] == "event"
    another = await stack.join(table_id, "dan")
    assert another.frames[0]["type"] == "welcome"


async def test_who_sends_too_fast_is_read_more_slowly_and_nobody_else(start_table: StartTable) -> None:
    stack = await start_table(frames_a_second_max=4)
    table_id = await stack.open_table()
    fast, other = await stack.join(table_id, "ann"), await stack.join(table_id, "bob")
    for _ in range(60):
        await fast.send(type="ping")
    await fast.frame("heartbeat")
    await other.send(type="ping")
    await other.frame("heartbeat")
    assert len([frame for frame in fast.frames if frame["type"] == "heartbeat"]) < 60
    assert not [frame for frame in fast.frames if frame["type"] in ("refused", "closing")]


def connected(transport: Any, gone: Any = None) -> session.PlayerSocket:
    """A socket that has said nothing yet."""
    return session.PlayerSocket(
        transport,
        "127.0.0.1",
        stages=Stages(lambda work: work()),
        gateway=cast(Any, None),
        metrics=cast(Any, None),
        limits=SocketLimits(SETTINGS),
        tokens=cast(Any, None),
        decoder=cast(Any, None),
        gone=gone,
    )


async def test_a_socket_that_does_not_read_is_cut_off() -> None:
    ours, theirs = socket.socketpair()
    transport, _ = await asyncio.get_running_loop().create_connection(asyncio.Protocol, sock=ours)
    gone = asyncio.Event()
    player = connected(transport, gone=lambda _: gone.set())
    transport.set_protocol(player)
    player.begin(uuid4())
    sent_bytes = 0
    with theirs, capture_logs() as logs:
        while not transport.is_closing():
            player.send(bytes(4096))
            sent_bytes += 4096
            assert sent_bytes < 100 * session.WRITE_BUFFER_BYTES_MAX
        await asyncio.wait_for(gone.wait(), 5)
    assert sent_bytes > session.WRITE_BUFFER_BYTES_MAX
    assert [entry["event"] for entry in logs] == ["socket_too_slow"]


@pytest.mark.ruling("TL-41")
def test_tl_41_who_is_silent_is_pinged_and_who_is_silent_then_is_gone_within_ten_seconds() -> None:
    silent, answering = TransportDouble(), TransportDouble()
    players = [connected(silent), connected(answering)]
    looks = 0
    while not silent.aborted:
        looks += 1
        for player in players:
            player.look()
        if answering.written:
            players[1].data_received(b"\x8a\x80\x00\x00\x00\x00")
    assert silent.written == [b"\x89\x00"]
    assert looks * session.LOOK_SECONDS <= 10
    for _ in range(10):
        players[1].look()
        players[1].data_received(b"\x8a\x80\x00\x00\x00\x00")
    assert not answering.aborted


class SlowGateway:
    """Lets nobody in for a while."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.entered: list[int] = []

    async def enter(self, socket: Any, table_id: UUID, version: int) -> Any:
        await self.open.wait()
        self.entered.append(version)
        return HeartbeatLink()


class HeartbeatLink:
    """At a table where nothing happens."""

    version = 7

    def leave(self) -> None: ...


class AnyToken:
    """Everybody is Ann."""

    def read(self, token: str) -> Claims:
        return Claims(
            account_id="ann", name="Ann", avatar="fox", role="player", expires_at=datetime.max.replace(tzinfo=UTC)
        )


async def test_what_arrives_while_a_hello_is_waited_for_is_held_in_order_and_nobody_is_cut_off_for_silence() -> None:
    transport, gateway, gone = TransportDouble(), SlowGateway(), asyncio.Event()
    player = session.PlayerSocket(
        transport,
        "127.0.0.1",
        stages=Stages(lambda work: work()),
        gateway=cast(Any, gateway),
        metrics=Metrics(),
        limits=SocketLimits(SETTINGS),
        tokens=cast(Any, AnyToken()),
        decoder=msgspec.json.Decoder(client_frame_type(DecisionFrames())),
        gone=lambda _: gone.set(),
    )
    player.begin(uuid4())
    pings = frame(TEXT, b'{"type":"ping"}') * 3
    player.data_received(frame(TEXT, b'{"type":"hello","protocol":1,"token":"t","version":3}') + pings)
    for _ in range(10):
        player.look()
    assert (transport.written, transport.aborted, transport.is_paused) == ([], False, True)
    player.connection_lost(None)
    assert not gone.is_set()
    gateway.open.set()
    await asyncio.wait_for(gone.wait(), 5)
    assert gateway.entered == [3]
    assert transport.written == [b'\x81\x20{"type":"heartbeat","version":7}'] * 3


class TransportDouble:
    """A connection whose other side reads everything at once."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.aborted = self.is_paused = self.has_ended = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def is_closing(self) -> bool:
        return self.aborted

    def set_write_buffer_limits(self, high: int) -> None: ...

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.has_ended = True

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False

    def close(self) -> None: ...

    def abort(self) -> None:
        self.aborted = True


async def test_pings_and_pongs_do_not_put_off_the_time_for_hello(
    start_table: StartTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "HELLO_SECONDS_MAX", 0.5)
    stack = await start_table()
    player = await stack.join(await stack.open_table(), "ann", hello=False)
    socket = player.socket
    assert socket is not None

    async def ping_for_ever() -> None:
        while not player.closed.is_set():
            await socket.ping()
            await asyncio.sleep(0)

    pinging = asyncio.create_task(ping_for_ever())
    try:
        assert await _closing(player) == "hello_expected"
    finally:
        pinging.cancel()


async def test_a_socket_that_hangs_up_early_is_no_fault_of_ours(
    start_table: StartTable, caplog: pytest.LogCaptureFixture
) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    host, port = stack.runner.addresses[0][:2]
    handshake = "".join(f"{name}: {value}\r\n" for name, value in {"Host": f"{host}:{port}", **UPGRADE}.items())
    request = f"GET /play/tables/{table_id}/socket HTTP/1.1\r\n{handshake}\r\n".encode()
    ping = b"\x89\x80\x00\x00\x00\x00"
    with capture_logs() as logs:
        for tail in (b"", ping, ping * 500):
            for _ in range(20):
                with socket.create_connection((host, port)) as connection:
                    # Closing then sends a reset at once, with our answers unread.
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    connection.sendall(request + tail)
        player = await stack.join(table_id, "ann")
        assert player.frames[0]["type"] == "welcome"
        await eventually(lambda: _open_sockets(stack) == 1)
    assert [entry for entry in logs if entry["log_level"] in ("error", "critical")] == []
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_who_still_speaks_when_a_socket_is_closed_gets_to_read_why(start_table: StartTable) -> None:
    """Were the connection closed at once, what is sent to it would be answered by a reset, which may cost the rest."""
    stack = await start_table()
    host, port = stack.runner.addresses[0][:2]
    reader, writer = await asyncio.open_connection(host, port)
    handshake = "".join(f"{name}: {value}\r\n" for name, value in {"Host": f"{host}:{port}", **UPGRADE}.items())
    writer.write(f"GET /play/tables/{uuid4()}/socket HTTP/1.1\r\n{handshake}\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    ping = b"\x89\x80\x00\x00\x00\x00"

    writer.write(b"\x82\x80\x00\x00\x00\x00" + 100 * ping)
    said = await asyncio.wait_for(reader.read(), 5)
    for _ in range(20):
        os.write(writer.get_extra_info("socket").fileno(), ping)
        await asyncio.sleep(0)

    assert b"frame_not_text" in said
    assert said.endswith(b"\x88\x02\x03\xe8")
    writer.close()
    await writer.wait_closed()


async def test_who_does_not_hang_up_when_a_socket_is_closed_is_cut_off_whatever_it_sends() -> None:
    transport = TransportDouble()
    player = connected(transport)
    player.close("frame_not_text", "Only text.")
    written = list(transport.written)
    assert (transport.has_ended, transport.aborted) == (True, False)
    for _ in range(3):
        assert not transport.aborted
        player.data_received(b"\x89\x80\x00\x00\x00\x00")
        player.look()
    assert transport.aborted
    assert transport.written == written


def _open_sockets(stack: Stack) -> float:
    registry = stack.runner.app[REGISTRY]
    return registry.get_sample_value("table_sockets") or 0.0
