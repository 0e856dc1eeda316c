"""Faults made on purpose are the real ones, and end when they should. Open this when tests of outages lie."""

from __future__ import annotations

import asyncio
import socket
import struct
from pathlib import Path

import asyncpg
import pytest

from darbar_kit.bus import Bus
from darbar_kit.testing import (
    MakeDatabase,
    ManualClock,
    TestDatabase,
    Tunnel,
    closed_database,
    end_sessions,
    eventually,
    keep_ending_sessions,
)

# The server's goodbye, in whatever state the driver was when it came.
GONE = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


@pytest.fixture
async def database(make_database: MakeDatabase, tmp_path: Path) -> TestDatabase:
    return await make_database("shop", tmp_path)


async def test_ended_sessions_are_those_of_one_database(
    make_database: MakeDatabase, database: TestDatabase, postgres_server: str, tmp_path: Path
) -> None:
    other = await asyncpg.connect(await make_database("shop", tmp_path))
    ours = [await asyncpg.connect(database) for _ in range(3)]

    assert await end_sessions(postgres_server, database) == 3

    for connection in ours:
        with pytest.raises(GONE):
            await connection.fetch("SELECT 1")
        connection.terminate()
    assert await other.fetchval("SELECT 1") == 1
    await other.close()


async def sleep_in_a_session(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.fetch("SELECT pg_sleep(60)")
    finally:
        connection.terminate()


async def test_sessions_are_ended_again_and_again(database: TestDatabase, postgres_server: str) -> None:
    ending = asyncio.create_task(keep_ending_sessions(postgres_server, database, seconds=0.5, every_seconds=0.01))
    ended = 0
    while not ending.done():
        sleeping = asyncio.create_task(sleep_in_a_session(database))
        await asyncio.wait({sleeping, ending}, return_when=asyncio.FIRST_COMPLETED)
        ended += sleeping.done()
        sleeping.cancel()
        await asyncio.gather(sleeping, return_exceptions=True)

    assert ended >= 3
    assert await ending >= 3


async def test_a_closed_database_lets_nobody_in_until_it_is_opened(
    database: TestDatabase, postgres_server: str
) -> None:
    connection = await asyncpg.connect(database)
    async with closed_database(postgres_server, database):
        with pytest.raises(GONE):
            await connection.fetch("SELECT 1")
        connection.terminate()
        with pytest.raises(asyncpg.PostgresError):
            await asyncpg.connect(database)

    again = await asyncpg.connect(database)
    assert await again.fetchval("SELECT 1") == 1
    await again.close()


async def test_a_tunnel_is_as_good_as_the_way_itself(database: TestDatabase) -> None:
    answers = []
    async with Tunnel.to(database) as tunnel:
        for url in (database, tunnel.url):
            connection = await asyncpg.connect(url)
            answers.append(await connection.fetch("SELECT n, repeat('x', n * 1000) FROM generate_series(1, 200) AS n"))
            await connection.close()

    assert answers[0] == answers[1]


async def test_a_closed_tunnel_drops_and_refuses_and_opens_at_the_same_place(nats_server: str) -> None:
    async with Tunnel.to(nats_server) as tunnel:
        url = tunnel.url
        bus = await Bus.connect(url, name="shop")
        await tunnel.close()
        await eventually(lambda: not bus.connected)
        with pytest.raises(OSError, match="Connect"):
            await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))

        await tunnel.open()

        assert tunnel.url == url
        await eventually(lambda: bus.connected)
        await bus.close()


async def test_a_silent_tunnel_keeps_everybody_and_lets_them_wait(nats_server: str) -> None:
    async with Tunnel.to(nats_server) as tunnel:
        bus = await Bus.connect(tunnel.url, name="shop")
        tunnel.fall_silent()
        waiting = asyncio.create_task(bus.client.flush(timeout=10))
        reader, writer = await asyncio.open_connection("127.0.0.1", int(tunnel.url.rpartition(":")[2]))
        newcomer = asyncio.create_task(reader.readline())
        # Another way is quicker than this one: what it passes on would have come long ago.
        other = await Bus.connect(nats_server, name="shop")
        await other.client.flush()
        assert (waiting.done(), newcomer.done(), bus.connected) == (False, False, True)
        tunnel.speak_again()
        await waiting
        assert (await newcomer).startswith(b"INFO")
        writer.close()
        await bus.close()
        await other.close()


async def test_a_connection_that_is_reset_ends_behind_the_tunnel_too() -> None:
    ended: asyncio.Queue[bytes] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended.put_nowait(await reader.readexactly(2))
        ended.put_nowait(await reader.read())
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with Tunnel.to(f"http://127.0.0.1:{port}") as tunnel:
            _, writer = await asyncio.open_connection("127.0.0.1", int(tunnel.url.rpartition(":")[2]))
            writer.write(b"hi")
            assert await asyncio.wait_for(ended.get(), 10) == b"hi"
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            assert await asyncio.wait_for(ended.get(), 10) == b""


def test_a_manual_clock_moves_only_by_hand() -> None:
    clock = ManualClock()
    before = clock()

    clock.now += 2.5

    assert (clock(), clock()) == (before + 2.5, before + 2.5)
