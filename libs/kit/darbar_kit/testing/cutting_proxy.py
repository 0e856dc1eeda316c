"""A proxy before PostgreSQL that cuts connections at a commit, or keeps all back. Open this about lost answers."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

Cut = Literal["before", "after"]
HEADER_BYTES = 5
BIND = ord("B")
QUERY = ord("Q")
READY_FOR_QUERY = ord("Z")
SSL_REQUEST = (8).to_bytes(4, "big") + (80877103).to_bytes(4, "big")


class CuttingProxy:
    """Passes everything on, until it is armed: then the next statement that is executed loses its connection.

    `at_commit`: not the next statement, but the next COMMIT that is sent by itself.
    """

    def __init__(self, database_url: str, *, at_commit: bool = False) -> None:
        self._parts = urlsplit(database_url)
        self._at_commit = at_commit
        self._armed: deque[Cut] = deque()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = asyncio.Event()
        self._open.set()
        self._speaks = asyncio.Event()
        self._speaks.set()
        self.cuts = 0

    async def start(self) -> str:
        """The URL to connect to instead."""
        self._server = await asyncio.start_server(self._client, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        user, _, _ = self._parts.netloc.rpartition("@")
        return urlunsplit(self._parts._replace(netloc=f"{user}@127.0.0.1:{port}"))

    def arm(self, *cuts: Cut) -> None:
        """`before`: the statement never reaches the server. `after`: it is committed, its answer is lost."""
        self._armed.extend(cuts)

    def go_away(self) -> None:
        """The database is unreachable until come_back()."""
        self._open.clear()
        for writer in list(self._writers):
            writer.transport.abort()

    def come_back(self) -> None:
        self._open.set()

    def fall_silent(self) -> None:
        """Connections stay open and new ones are taken, but nothing is passed on until speak_again()."""
        self._speaks.clear()

    def speak_again(self) -> None:
        self._speaks.set()

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        self._speaks.set()
        for writer in list(self._writers):
            writer.transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            if self._open.is_set():
                await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            self._writers.discard(writer)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        self._writers.add(server_writer)
        session = _Session(self, writer, server_writer)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(session.from_client(reader))
                tasks.create_task(session.from_server(server_reader))
        except* (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(server_writer)
            server_writer.transport.abort()

    async def may_pass(self) -> None:
        """Waits while the proxy is silent."""
        await self._speaks.wait()

    def take_arm(self, kind: int, message: bytes) -> Cut | None:
        """How the connection that sends this message is cut, if it is; the next one is not, or as armed after it."""
        is_meant = kind == QUERY and b"COMMIT" in message if self._at_commit else kind == BIND
        if not is_meant or not self._armed:
            return None
        self.cuts += 1
        return self._armed.popleft()


class _Session:
    def __init__(self, proxy: CuttingProxy, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._cutting_after = False

    async def from_client(self, reader: asyncio.StreamReader) -> None:
        startup = await _startup(reader)
        if startup == SSL_REQUEST:
            _send(self._client, b"N")
            startup = await _startup(reader)
        _send(self._server, startup)
        while True:
            kind, message = await _message(reader)
            await self._proxy.may_pass()
            armed = self._proxy.take_arm(kind, message)
            if armed == "before":
                raise ConnectionResetError
            self._cutting_after = self._cutting_after or armed == "after"
            _send(self._server, message)

    async def from_server(self, reader: asyncio.StreamReader) -> None:
        while True:
            kind, message = await _message(reader)
            await self._proxy.may_pass()
            if not self._cutting_after:
                _send(self._client, message)
            elif kind == READY_FOR_QUERY:
                raise ConnectionResetError


def _send(writer: asyncio.StreamWriter, message: bytes) -> None:
    """Raises ConnectionResetError where the other side has gone; a loop may raise something else for that."""
    if writer.is_closing():
        raise ConnectionResetError
    writer.write(message)


async def _startup(reader: asyncio.StreamReader) -> bytes:
    """The messages before the connection is open have no kind."""
    length = await reader.readexactly(4)
    return length + await reader.readexactly(int.from_bytes(length, "big") - 4)


async def _message(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    header = await reader.readexactly(HEADER_BYTES)
    return header[0], header + await reader.readexactly(int.from_bytes(header[1:], "big") - 4)
