"""One WebSocket from its opening to its end. Open this about silence, closing frames and lost connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import msgspec

from darbar_contracts.frames import HEARTBEAT_SECONDS, AnyServerFrame

OPEN_SECONDS_MAX = 10.0
CLOSE_SECONDS_MAX = 1.0
SEND_SECONDS_MAX = 10.0
# The table speaks at least every heartbeat: after two and a half of them the connection is lost.
SILENCE_SECONDS_MAX = 2.5 * HEARTBEAT_SECONDS
FRAMES_QUEUED_MAX = 256
MESSAGE_BYTES_MAX = 1024 * 1024

LOST = (aiohttp.ClientError, TimeoutError, OSError)


class ConnectionLost(Exception):
    """This connection is of no more use; `code` says why, in the table's words where it gave one."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


class Connection:
    """Frames both ways; what is posted goes out in its order."""

    def __init__(
        self, web_socket: aiohttp.ClientWebSocketResponse, decoder: msgspec.json.Decoder[AnyServerFrame]
    ) -> None:
        self._web_socket = web_socket
        self._decoder = decoder
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue(FRAMES_QUEUED_MAX)
        self._overflowed = False

    @classmethod
    async def opened(
        cls, session: aiohttp.ClientSession, url: str, decoder: msgspec.json.Decoder[AnyServerFrame]
    ) -> Connection:
        """Raises one of LOST when there is no socket at this URL."""
        async with asyncio.timeout(OPEN_SECONDS_MAX):
            web_socket = await session.ws_connect(
                url, max_msg_size=MESSAGE_BYTES_MAX, timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS_MAX)
            )
        return cls(web_socket, decoder)

    def post(self, content: bytes) -> None:
        """What finds no place is dropped, and the connection with it: all is sent again on the next one."""
        try:
            self._outgoing.put_nowait(content)
        except asyncio.QueueFull:
            self._overflowed = True

    async def write(self) -> None:
        """Sends what is posted, until the connection is lost."""
        while not self._overflowed:
            content = await self._outgoing.get()
            async with asyncio.timeout(SEND_SECONDS_MAX):
                await self._web_socket.send_frame(content, aiohttp.WSMsgType.TEXT)
        raise ConnectionLost("overflowed", "the table reads too slowly")

    async def frames(self) -> AsyncIterator[AnyServerFrame]:
        """What the table sends, until it closes. Raises ConnectionLost when it is silent or not understood."""
        while True:
            try:
                message = await self._web_socket.receive(timeout=SILENCE_SECONDS_MAX)
            except TimeoutError:
                raise ConnectionLost("silent", "no heartbeat came") from None
            if message.type is not aiohttp.WSMsgType.TEXT:
                return
            try:
                yield self._decoder.decode(message.data)
            except msgspec.DecodeError as error:
                raise ConnectionLost("frame_unreadable", str(error)) from error

    async def close(self) -> None:
        await self._web_socket.close()
