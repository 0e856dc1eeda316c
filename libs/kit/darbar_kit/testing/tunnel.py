"""The way to a server, which can be closed and opened again. Open this to take any server away for a while."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit

CHUNK_BYTES = 64 * 1024


class Tunnel:
    """Passes everything on in both directions; closed, it refuses whoever comes and has dropped who was there. Silent,
    it takes everybody and passes nothing on, as a network does that loses what is sent.

    `listening`: keeps what the server says on each connection, in `heard`.
    """

    def __init__(self, url: str, *, listening: bool = False) -> None:
        self.heard: list[bytearray] = []
        self._listening = listening
        self._parts = urlsplit(url)
        self._port = 0
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._speaks = asyncio.Event()
        self._speaks.set()

    @classmethod
    @asynccontextmanager
    async def to(cls, url: str, *, listening: bool = False) -> AsyncIterator[Tunnel]:
        """Open at first, and closed at the end."""
        tunnel = cls(url, listening=listening)
        await tunnel.open()
        try:
            yield tunnel
        finally:
            await tunnel.close()

    @property
    def url(self) -> str:
        """The URL to connect to instead; the same after it was closed and opened."""
        place = f"{self._parts.netloc.rpartition('@')[0]}@127.0.0.1:{self._port}"
        return urlunsplit(self._parts._replace(netloc=place.removeprefix("@")))

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await self._server.wait_closed()

    def fall_silent(self) -> None:
        self._speaks.clear()

    def speak_again(self) -> None:
        """What was sent meanwhile arrives."""
        self._speaks.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back_reader, back_writer = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        except OSError:
            # The server itself is away: who came meets the same as without us.
            writer.transport.abort()
            return
        if self._server is None or not self._server.is_serving():
            # Closed while this one was on its way.
            writer.transport.abort()
            back_writer.transport.abort()
            return
        self._writers |= {writer, back_writer}
        heard = bytearray() if self._listening else None
        if heard is not None:
            self.heard.append(heard)
        ways = ((reader, back_writer, None), (back_reader, writer, heard))
        await asyncio.gather(*(self._pass_on(*way) for way in ways), return_exceptions=True)
        self._writers -= {writer, back_writer}

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, heard: bytearray | None
    ) -> None:
        # A connection that was reset has ended too: the other half of the way must not stay open.
        with suppress(ConnectionError):
            while chunk := await reader.read(CHUNK_BYTES):
                await self._speaks.wait()
                if heard is not None:
                    heard += chunk
                writer.write(chunk)
                await writer.drain()
        await self._speaks.wait()
        writer.close()
