"""The bare fan-out server that serving is measured against: whatever comes from a table goes out as four frames.

    python bench/bare_server.py PORT FRAMES

FRAMES is a JSON list of moves, each the four frames that Darbar sent for one. No game, no storage, no check: uvloop,
aiohttp, no compression, four sends a move, nothing else.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

import uvloop
from aiohttp import WSMsgType, web

SEATS = 4


class Table:
    """Four sockets, and which of the recorded moves comes next."""

    def __init__(self) -> None:
        self.sockets: list[web.WebSocketResponse | None] = [None] * SEATS
        self.step = 0


def build_app(moves: list[list[bytes]]) -> web.Application:
    tables: dict[str, Table] = {}

    async def play(request: web.Request) -> web.WebSocketResponse:
        web_socket = web.WebSocketResponse(compress=False)
        await web_socket.prepare(request)
        table = tables.setdefault(request.match_info["table"], Table())
        table.sockets[int(request.match_info["seat"])] = web_socket
        with suppress(ConnectionError):  # The load generator has ended.
            async for _ in web_socket:
                frames = moves[table.step]
                table.step = (table.step + 1) % len(moves)
                for socket, frame in zip(table.sockets, frames, strict=True):
                    if socket is not None:
                        await socket.send_frame(frame, WSMsgType.TEXT)
        return web_socket

    app = web.Application()
    app.add_routes([web.get("/bare/{table}/{seat}", play)])
    return app


def main() -> None:
    port, path = int(sys.argv[1]), Path(sys.argv[2])
    moves = [[frame.encode() for frame in move] for move in json.loads(path.read_text())]
    web.run_app(
        build_app(moves), host="127.0.0.1", port=port, access_log=None, print=None, loop=uvloop.new_event_loop()
    )


if __name__ == "__main__":
    main()
