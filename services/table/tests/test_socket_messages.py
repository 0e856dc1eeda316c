"""What a WebSocket's bytes mean (RFC 6455): to the parser alone, and on a real connection until it ends."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import random
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from aiohttp import WSMsgType
from table_stack import Stack, StartTable

from darbar_table.socket.messages import MESSAGE_BYTES_MAX, Broken, Message, MessageReader
from darbar_table.socket.websocket import PING_FRAME, close_frame, pong_frame, text_frame

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
MASK = b"\x11\x22\x33\x44"
LENGTHS = (0, 1, 125, 126, 127, 65_535)
TOO_BIG, PROTOCOL_ERROR, BAD_TEXT = 1009, 1002, 1007
FUZZED = 3_000
NOTHING_ELSE: Mapping[str, str] = {}


def frame(
    opcode: int,
    payload: bytes = b"",
    *,
    last: bool = True,
    reserved: int = 0,
    mask: bytes = MASK,
    length: int | None = None,
) -> bytes:
    """A frame as clients send it; `length` is what it claims, in the fewest bytes that hold it."""
    claimed = len(payload) if length is None else length
    if claimed < 126:
        size = bytes([0x80 | claimed])
    elif claimed < 65_536:
        size = bytes([0x80 | 126]) + claimed.to_bytes(2, "big")
    else:
        size = bytes([0x80 | 127]) + claimed.to_bytes(8, "big")
    masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
    return bytes([last << 7 | reserved << 4 | opcode]) + size + mask + masked


def texts(*payloads: bytes) -> list[Message | Broken]:
    return [Message(WSMsgType.TEXT, payload) for payload in payloads]


@pytest.mark.parametrize("mask", [MASK, bytes(4), b"\xff\x00\xff\x00"])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_text_of_any_length_up_to_the_limit_is_read_as_it_was_sent(length: int, mask: bytes) -> None:
    payload = random.Random(length).randbytes(length)
    assert MessageReader().read(frame(TEXT, payload, mask=mask)) == texts(payload)


@pytest.mark.parametrize("length", [126, 65_535])
def test_a_text_may_arrive_byte_by_byte_and_together_with_others(length: int) -> None:
    payload = random.Random(length).randbytes(length)
    wire, reader = frame(TEXT, payload) + frame(TEXT, b"next"), MessageReader()
    step = max(1, length // 300)
    pieces = [wire[at : at + step] for at in range(0, len(wire), step)]
    assert [message for piece in pieces for message in reader.read(piece)] == texts(payload, b"next")
    assert MessageReader().read(wire + wire) == texts(payload, b"next", payload, b"next")


def test_fragments_are_one_text_and_controls_may_come_between_them() -> None:
    wire = (
        frame(TEXT, b"one ", last=False)
        + frame(PING, b"here?")
        + frame(CONTINUATION, b"two ", last=False)
        + frame(PONG)
        + frame(CONTINUATION, b"three")
        + frame(TEXT, b"four")
    )
    found = MessageReader().read(wire)
    assert found == [
        Message(WSMsgType.PING, b"here?"),
        Message(WSMsgType.PONG, b""),
        *texts(b"one two three", b"four"),
    ]


@pytest.mark.parametrize(
    ("wire", "status"),
    [
        (frame(TEXT, b"x", reserved=4), PROTOCOL_ERROR),
        (frame(TEXT, b"x", reserved=2), PROTOCOL_ERROR),
        (frame(TEXT, b"x", reserved=1), PROTOCOL_ERROR),
        (frame(0x3, b"x"), PROTOCOL_ERROR),
        (frame(0xB, b"x"), PROTOCOL_ERROR),
        (frame(CONTINUATION, b"x"), PROTOCOL_ERROR),
        (frame(TEXT, b"x", last=False) + frame(TEXT, b"y"), PROTOCOL_ERROR),
        (frame(PING, b"x", last=False), PROTOCOL_ERROR),
        (frame(PING, b"x" * 126), PROTOCOL_ERROR),
        (frame(CLOSE, b"x"), PROTOCOL_ERROR),
        (frame(CLOSE, struct.pack("!H", 999)), PROTOCOL_ERROR),
        (frame(CLOSE, struct.pack("!H", 1005)), PROTOCOL_ERROR),
        (frame(CLOSE, struct.pack("!H", 1000) + b"\xff"), BAD_TEXT),
        (frame(TEXT, b"x", length=MESSAGE_BYTES_MAX), TOO_BIG),
        (frame(TEXT, b"x", length=2**63 - 1), TOO_BIG),
        (frame(TEXT, b"x", length=2**64 - 1), TOO_BIG),
        (frame(TEXT, b"x" * 40_000, last=False) + frame(CONTINUATION, b"x", length=40_000), TOO_BIG),
    ],
)
def test_what_is_no_message_breaks_the_connection_at_once_and_for_ever(wire: bytes, status: int) -> None:
    reader = MessageReader()
    assert reader.read(frame(TEXT, b"before") + wire) == [*texts(b"before"), Broken(status)]
    assert reader.read(frame(TEXT, b"after")) == []


@pytest.mark.parametrize("status", [1000, 1001, 1011, 3000, 4999])
def test_a_close_says_why(status: int) -> None:
    found = MessageReader().read(frame(CLOSE, struct.pack("!H", status) + b"bye"))
    assert [message.type for message in found if isinstance(message, Message)] == [WSMsgType.CLOSE]


def test_random_bytes_in_random_pieces_are_read_alike_and_nothing_is_raised() -> None:
    dice, broken = random.Random(20261130), 0
    for _ in range(FUZZED):
        wire = bytearray(
            b"".join(
                frame(dice.choice((CONTINUATION, TEXT, TEXT, BINARY, PING, PONG)), dice.randbytes(dice.randrange(200)))
                for _ in range(dice.randrange(1, 5))
            )
        )
        for _ in range(dice.randrange(4)):
            wire[dice.randrange(len(wire))] = dice.randrange(256)
        whole, reader, start, pieces = MessageReader().read(bytes(wire)), MessageReader(), 0, []
        while start < len(wire):
            end = start + dice.randrange(1, 60)
            pieces += reader.read(bytes(wire[start:end]))
            start = end
        assert pieces == whole
        broken += any(isinstance(message, Broken) for message in whole)
    assert 0 < broken < FUZZED


class RawSocket:
    """A connection on which a test says and hears bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def say(self, *frames: bytes) -> None:
        self._writer.write(b"".join(frames))

    async def hear(self) -> tuple[int, bytes]:
        """The next frame: its first byte and its payload."""
        first, size = await self._reader.readexactly(2)
        assert size < 127, "what a server sends is not masked, and short here"
        length = size if size < 126 else int.from_bytes(await self._reader.readexactly(2), "big")
        return first, await self._reader.readexactly(length)

    async def hear_to_the_end(self) -> list[tuple[int, bytes]]:
        heard = []
        async with asyncio.timeout(5):
            while not self._reader.at_eof():
                with contextlib.suppress(asyncio.IncompleteReadError):
                    heard.append(await self.hear())
        return heard


@asynccontextmanager
async def connected(
    stack: Stack, table_id: str, headers: Mapping[str, str] = NOTHING_ELSE, *, then: bytes = b""
) -> AsyncIterator[tuple[bytes, RawSocket]]:
    """A handshake with these headers, and these bytes right behind it: the answer's head, and what follows."""
    address = urlsplit(stack.address)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    told = {
        "Host": "darbar",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        **headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items() if value)
    writer.write(f"GET /play/tables/{table_id}/socket HTTP/1.1\r\n{lines}\r\n".encode() + then)
    try:
        async with asyncio.timeout(5):
            head = await reader.readuntil(b"\r\n\r\n")
        yield head, RawSocket(reader, writer)
    finally:
        writer.close()


NO_HANDSHAKES = (
    {"Upgrade": ""},
    {"Upgrade": "h2c"},
    {"Connection": "keep-alive"},
    {"Sec-WebSocket-Version": "12"},
    {"Sec-WebSocket-Version": ""},
    {"Sec-WebSocket-Key": ""},
    {"Sec-WebSocket-Key": "too short"},
)


async def test_a_handshake_is_answered_as_the_standard_says_and_anything_else_refused_in_http(
    start_table: StartTable,
) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    async with connected(stack, table_id, {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}) as (head, _):
        lines = head.decode().lower().split("\r\n")
    assert lines[0] == "http/1.1 101 switching protocols"
    assert {"upgrade: websocket", "connection: upgrade"} <= set(lines)
    assert b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" in head
    assert b"content-length" not in head.lower()
    for headers in NO_HANDSHAKES:
        async with connected(stack, table_id, headers) as (head, _):
            assert head.startswith(b"HTTP/1.1 400 "), headers


async def test_what_comes_right_behind_the_handshake_is_not_lost(start_table: StartTable) -> None:
    ping, no_hello = frame(PING, b"early"), frame(TEXT, b'{"type":"ping"}')
    stack = await start_table()
    async with connected(stack, await stack.open_table(), then=ping + no_hello) as (_, wire):
        heard = await wire.hear_to_the_end()
    assert heard[0] == (0x8A, b"early")
    assert b'"code":"hello_expected"' in heard[1][1]
    assert heard[2:] == [(0x88, struct.pack("!H", 1000))]


async def test_a_connection_ends_with_the_status_that_says_why_and_nothing_after_it_is_read(
    start_table: StartTable,
) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    for said, status in (
        (frame(CLOSE, struct.pack("!H", 1001)), 1000),
        (frame(CLOSE), 1000),
        (frame(TEXT, b"x", reserved=4), PROTOCOL_ERROR),
        (frame(TEXT, b"x", length=MESSAGE_BYTES_MAX), TOO_BIG),
    ):
        async with connected(stack, table_id) as (_, wire):
            wire.say(frame(PING, b"1"), said, frame(PING, b"2"))
            assert await wire.hear_to_the_end() == [(0x8A, b"1"), (0x88, struct.pack("!H", status))]
    async with connected(stack, table_id) as (_, wire):
        wire.say(frame(BINARY, b"\x00"), frame(PING, b"2"))
        (_, closing), *rest = await wire.hear_to_the_end()
    assert b'"code":"frame_not_text"' in closing
    assert rest == [(0x88, struct.pack("!H", 1000))]


@pytest.mark.parametrize("length", [0, 125, 126, 65_535, 65_536])
def test_what_we_send_has_the_length_of_the_standard(length: int) -> None:
    payload = b"x" * length
    wire = text_frame(payload)
    assert wire[0] == 0x81
    assert wire.endswith(payload)
    head = wire[1 : len(wire) - length]
    assert head == {0: b"\x00", 125: b"\x7d", 126: b"\x7e\x00\x7e", 65_535: b"\x7e\xff\xff"}.get(
        length, b"\x7f" + length.to_bytes(8, "big")
    )


def test_our_controls_are_those_of_the_standard() -> None:
    assert (PING_FRAME, pong_frame(b"abc"), close_frame(1000)) == (b"\x89\x00", b"\x8a\x03abc", b"\x88\x02\x03\xe8")
