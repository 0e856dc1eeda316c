"""Twenty thousand mutated frames: no fault of ours is logged, no table stops, and nobody elsewhere notices."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import struct
from collections.abc import Callable

import aiohttp
import msgspec
import pytest
from structlog.testing import capture_logs
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_contracts.frames import PROTOCOL, TABLE_FRAMES
from darbar_contracts.reading import DecisionFrames

FRAMES = 20_000
FRAMES_A_SOCKET = 40
RAW_MESSAGES = 1_000
SOCKETS_AT_ONCE = 8
SEED = 20261130
NAMES = ("ann", "bob", "cyn", "dan", "eve")
VALUES: tuple[object, ...] = (
    None, True, 0, -1, 1, 2**31, 2**63, -(2**70), 1e308, 0.5, "", "AS", "AS#2", "\x00", "\u202e", "x" * 3_000, [], {},
    ["AS"], {"card": "AS"}, "9" * 40,
)  # fmt: skip
Mutation = Callable[[bytes, random.Random], bytes]


def _examples(token: str) -> list[bytes]:
    """A frame of every kind, with plausible fields."""
    plausible = {
        "id": "fuzz-0123456789abcdef", "token": token, "protocol": PROTOCOL, "version": 0, "round": 1, "turn": 1,
        "card": "AS", "seat": 1, "sha256": "0" * 64, "string": "chance", "suit": "S", "points": 150, "trump": "H",
        "contract": "no_tricks", "converts": [], "slots": [],
    }  # fmt: skip
    frames: list[type[msgspec.Struct]] = [*TABLE_FRAMES, *DecisionFrames().by_kind.values()]
    return [
        msgspec.json.encode(
            {
                "type": frame.__struct_config__.tag,
                **{field.name: plausible.get(field.name, 1) for field in msgspec.structs.fields(frame)},
            }
        )
        for frame in frames
    ]


def _flip(text: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(text))
    return text[:place] + bytes([dice.randrange(256)]) + text[place + 1 :]


def _cut(text: bytes, dice: random.Random) -> bytes:
    return text[: dice.randrange(len(text))]


def _doubled(text: bytes, dice: random.Random) -> bytes:
    return text[:-1] + b"," + text[1:]


def _nested(text: bytes, dice: random.Random) -> bytes:
    depth = dice.choice((10, 500, 2_000))
    return text[:-1] + b',"round":' + b"[" * depth + b"]" * depth + b"}"


def _other_value(text: bytes, dice: random.Random) -> bytes:
    frame = msgspec.json.decode(text)
    frame[dice.choice(list(frame))] = dice.choice([value for value in VALUES if value != -(2**70)])
    return msgspec.json.encode(frame)


def _huge_number(text: bytes, dice: random.Random) -> bytes:
    return text[:-1] + b',"turn":' + b"9" * dice.choice((20, 400, 3_000)) + b"}"


def _missing(text: bytes, dice: random.Random) -> bytes:
    frame = msgspec.json.decode(text)
    del frame[dice.choice(list(frame))]
    return msgspec.json.encode(frame)


def _more(text: bytes, dice: random.Random) -> bytes:
    frame = msgspec.json.decode(text)
    frame[dice.choice(("", "__class__", "id", "seat", "account_id", "by"))] = dice.choice(("", 1, None))
    return msgspec.json.encode(frame)


def _same(text: bytes, dice: random.Random) -> bytes:
    return text


MUTATIONS: tuple[Mutation, ...] = (
    _flip, _flip, _cut, _doubled, _nested, _other_value, _other_value, _huge_number, _missing, _more, _same,
)  # fmt: skip


async def _say_all(stack: Stack, table_id: str, dice: random.Random) -> int:
    """One socket that says hello, or not, and then what comes; how many frames it could send."""
    name = dice.choice(NAMES)
    player = await stack.join(table_id, name, hello=False)
    if dice.random() < 0.95:
        await player.send(type="hello", protocol=PROTOCOL, token=player.token, version=dice.choice((0, 1, 5, 10**6)))
    examples = _examples(player.token)
    said = 0
    try:
        for _ in range(FRAMES_A_SOCKET):
            frame = dice.choice(MUTATIONS)(dice.choice(examples), dice)
            assert player.socket is not None
            await player.socket.send_frame(frame, aiohttp.WSMsgType.TEXT)
            said += 1
    except ConnectionError:
        pass
    await player.close()
    stack.players.remove(player)
    return said


async def _frames(stack: Stack, table_id: str, dice: random.Random) -> int:
    said = 0
    while said < FRAMES:
        said += sum(await asyncio.gather(*(_say_all(stack, table_id, dice) for _ in range(SOCKETS_AT_ONCE))))
    return said


async def _raw(stack: Stack, table_id: str, dice: random.Random) -> int:
    """Bytes below the messages: wrong opcodes, lengths, masks, fragments, reserved bits."""
    host, port = stack.runner.addresses[0][:2]
    upgrade = (
        f"GET /play/tables/{table_id}/socket HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    ).encode()
    for _ in range(RAW_MESSAGES):
        _, writer = await asyncio.open_connection(host, port)
        first, second = dice.randrange(256), dice.randrange(256)
        length = struct.pack(">Q", dice.choice((0, 1, 126, 2**16, 2**40, 2**63 - 1)))
        writer.write(upgrade + bytes([first, second]) + length[dice.randrange(9) :] + os.urandom(dice.randrange(64)))
        await writer.drain()
        writer.close()
    return RAW_MESSAGES


async def _bystanders(stack: Stack) -> tuple[Player, int]:
    """Somebody at a table of their own, and the version they have."""
    player = await stack.join(await stack.open_table(host="zoe"), "zoe")
    return player, player.version


async def test_mutated_frames_are_no_fault_of_ours_and_stop_nothing(
    start_table: StartTable, caplog: pytest.LogCaptureFixture
) -> None:
    stack = await start_table(frames_a_second_max=100_000)
    table_id = await stack.open_table(visibility="public")
    bystander, version = await _bystanders(stack)
    dice = random.Random(SEED)
    with capture_logs() as logs:
        said = await _frames(stack, table_id, dice)
        said += await _raw(stack, table_id, dice)
        await bystander.send(type="ping")
        assert (await bystander.frame("heartbeat"))["version"] == version
    assert said >= FRAMES + RAW_MESSAGES
    faults = [entry for entry in logs if entry["log_level"] in ("error", "critical") or entry.get("exc_info")]
    assert faults == []
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
    witness = await stack.join(await stack.open_table(host="yan"), "yan")
    assert witness.frames[0]["type"] == "welcome"
