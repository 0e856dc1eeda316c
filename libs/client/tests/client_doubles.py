"""A small server that does as a test tells it: accounts, one table, its sockets. Open this to script another fault."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import WSMsgType, web
from documented_frames import Documented

from darbar_contracts.api import Account, Session, SocketPaths, TableRef, TableSeen, TableShown
from darbar_contracts.tables import TableTerms

TABLE_ID = "6513270e-269e-4d37-b2a7-4de452e6b438"
DIRECT = f"/play/at/p1/tables/{TABLE_ID}/socket"
ANY = f"/play/tables/{TABLE_ID}/socket"
PATHS = SocketPaths(direct=DIRECT, any=ANY)

Json = dict[str, Any]
Act = Callable[["ScriptedServer", Json], None]

TERMS: Json = {
    "game": "court_piece",
    "options": {},
    "seats": 4,
    "bet_coins": 25,
    "turn_seconds": 15,
    "visibility": "private",
    "bot_level": "normal",
}


def table_view(phase: str = "waiting", **changes: Any) -> Json:
    """The part of a snapshot that every game has; one player in seat 0, a bot in seat 1."""
    seat = {"avatar": None, "away": False, "bot_plays": False, "ready": False, "committed": False}
    return {
        "table_id": TABLE_ID,
        "terms": TERMS,
        "phase": phase,
        "host": 0,
        "game_number": 1,
        "round": 0,
        "attempt": 0,
        "bag": None,
        "seats": [
            seat | {"kind": "player", "name": "Amina"},
            seat | {"kind": "bot", "name": "Zara"},
            seat | {"kind": "free", "name": None},
            seat | {"kind": "free", "name": None},
        ],
        **changes,
    }


def acknowledge(server: ScriptedServer, command: Json) -> None:
    """What a table does with a command that it likes, and with the repeat of one."""
    if command["id"] in server.done:
        server.tell({"type": "done", "id": command["id"], "version": server.done[command["id"]]})
    else:
        server.event(command["type"] + "_done", {"seat": 0}, id=command["id"])


def stay_silent(server: ScriptedServer, command: Json) -> None:
    """A command that is lost."""


class ScriptedServer:
    """`act` decides about commands; everything that came is kept for the test to look at."""

    def __init__(self) -> None:
        self.url = ""
        self.version = 5
        self.seat: int | None = 0
        self.view = table_view()
        self.game: Json | None = None
        self.legal: Json | None = None
        self.vote_remaining_ms: int | None = None
        self.frames: dict[int, Json] = {}
        self.done: dict[str, int] = {}
        self.act: Act = acknowledge
        self.hellos: list[Json] = []
        self.opened: list[str] = []
        self.commands: list[Json] = []
        self.undocumented: list[str] = []
        self.fresh_tokens: list[str] = []
        self.requests: list[tuple[str, str, Json]] = []
        self.keys: list[str] = []
        self.answers: dict[str, deque[tuple[int, Any]]] = {}
        self.lost_answers: set[str] = set()
        self.closed_paths: set[str] = set()
        self.refused_tokens: set[str] = set()
        self.refused_hellos: deque[str] = deque()
        self.access_seconds = 900
        self.sockets: list[web.WebSocketResponse] = []
        self._requests: list[web.Request] = []
        self._tokens = Counter[str]()
        self._outgoing: asyncio.Queue[tuple[web.WebSocketResponse, str]] = asyncio.Queue()

    # What a test does.

    def event(self, kind: str, public: Json, *, lost: bool = False, **more: Any) -> None:
        """The next version, sent to everybody unless it gets lost on the way."""
        self.version += 1
        frame = {"type": "event", "version": self.version, "kind": kind, "public": public, **more}
        self.frames[self.version] = frame
        if "id" in more:
            self.done[more["id"]] = self.version
        if not lost:
            self.tell(frame)

    def tell(self, frame: Json) -> None:
        for socket in self.sockets:
            self._outgoing.put_nowait((socket, msgspec.json.encode(frame).decode()))

    def heartbeat(self) -> None:
        self.tell({"type": "heartbeat", "version": self.version})

    def closing(self, code: str) -> None:
        self.tell({"type": "closing", "code": code, "message": "because"})

    def drop(self) -> None:
        """Cuts every connection without a word."""
        for request in self._requests:
            if request.transport is not None:
                request.transport.abort()

    def answer_next(self, path: str, *answers: tuple[int, Any]) -> None:
        """The next requests to a path get these answers instead of good ones."""
        self.answers.setdefault(path, deque()).extend(answers)

    def lose_next(self, path: str) -> None:
        """The next request to a path is done, and its answer lost with the connection."""
        self.lost_answers.add(path)

    def count(self, path: str) -> int:
        return sum(asked == path for _, asked, _ in self.requests)

    def sent(self, kind: str) -> list[Json]:
        return [command for command in self.commands if command["type"] == kind]

    # What the server is.

    def app(self) -> web.Application:
        app = web.Application()
        app.add_routes([web.get(DIRECT, self._socket), web.get(ANY, self._socket)])
        app.add_routes([web.route("*", "/{path:.*}", self._request)])
        app.cleanup_ctx.append(self._sender)
        return app

    async def _sender(self, _app: web.Application) -> Any:
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(self._send())
            yield
            sending.cancel()

    async def _send(self) -> None:
        while True:
            socket, text = await self._outgoing.get()
            if not socket.closed:
                try:
                    await socket.send_str(text)
                except ConnectionError:
                    continue

    async def _request(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        body = await request.json() if request.can_read_body else {}
        self.requests.append((request.method, path, body))
        if key := request.headers.get("Idempotency-Key"):
            self.keys.append(key)
        if path in self.lost_answers and request.transport is not None:
            self.lost_answers.remove(path)
            request.transport.abort()
        if self.answers.get(path):
            status, answer = self.answers[path].popleft()
            return web.Response(text=answer, status=status) if isinstance(answer, str) else _json(answer, status)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token in self.refused_tokens:
            return _json({"code": "token_expired", "message": "", "details": {}}, 401)
        match path:
            case "/v1/guests":
                return _json(self._session(body["name"] or "Guest"), 201)
            case "/v1/sessions":
                return _json(self._session("Amina"), 201)
            case "/v1/tables":
                return _json(TableRef(TABLE_ID, PATHS, code="123456"), 201)
            case "/v1/codes/123456" | "/v1/invites/inv" | "/v1/tables/6513270e-269e-4d37-b2a7-4de452e6b438":
                return _json(TableSeen(self._shown(), fresh=True, free_seats=2, socket=PATHS))
        return _json({"code": "not_found", "message": "", "details": {}}, 404)

    def _session(self, name: str) -> Session:
        self._tokens["made"] += 1
        made = self._tokens["made"]
        account = Account(id="a1", name=name, avatar="kite", role="player")
        return Session(account, f"access-{made}", f"refresh-{made}", self.access_seconds)

    def _shown(self) -> TableShown:
        return TableShown(
            table_id=TABLE_ID,
            terms=msgspec.convert(TERMS, TableTerms),
            phase="waiting",
            seats=(None,) * 4,
            bots=(),
            round=0,
            version=self.version,
            process_id="p1",
        )

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        self.opened.append(request.path)
        if request.path in self.closed_paths:
            return web.Response(status=404)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._requests.append(request)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                await self._take(socket, msgspec.json.decode(message.data))
        if socket in self.sockets:
            self.sockets.remove(socket)
        return socket

    async def _take(self, socket: web.WebSocketResponse, frame: Json) -> None:
        try:
            Documented().sent(frame)
        except AssertionError as fault:
            self.undocumented.append(str(fault))
        match frame["type"]:
            case "hello":
                self.hellos.append(frame)
                if frame["token"] in self.refused_tokens:
                    self.refused_hellos.append("token_expired")
                if self.refused_hellos:
                    code = self.refused_hellos.popleft()
                    await socket.send_json({"type": "closing", "code": code, "message": "because"})
                    await socket.close()
                    return
                await self._welcome(socket, frame["version"])
            case "fresh_token":
                self.fresh_tokens.append(frame["token"])
            case _:
                self.commands.append(frame)
                self.act(self, frame)

    async def _welcome(self, socket: web.WebSocketResponse, version: int) -> None:
        await socket.send_json(
            {"type": "welcome", "protocol": 1, "table_id": TABLE_ID, "seat": self.seat, "version": self.version}
        )
        missed = range(version + 1, self.version + 1)
        if version and all(number in self.frames for number in missed):
            for number in missed:
                await socket.send_json(self.frames[number])
        else:
            await socket.send_json(self.snapshot())
        if socket not in self.sockets:
            self.sockets.append(socket)

    def snapshot(self) -> Json:
        return {
            "type": "snapshot",
            "version": self.version,
            "seat": self.seat,
            "table": self.view,
            "game": self.game,
            "legal": self.legal,
            "remaining_ms": 15000,
            "vote_remaining_ms": self.vote_remaining_ms,
        }


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")


def site_url(runner: web.AppRunner) -> str:
    host, port = runner.addresses[0][:2]
    return f"http://{host}:{port}"
