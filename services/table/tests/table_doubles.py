"""Doubles of the table's neighbours, and a raw player over a real socket. Open this to write a test with servers."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import Callable
from typing import Any

import aiohttp
import msgspec
from documented_frames import Documented

from darbar_contracts import subjects
from darbar_contracts.frames import PROTOCOL
from darbar_contracts.refusals import Reason
from darbar_contracts.tables import CreateTable, Person, TableLook, TableTerms, WhereAnswer, WhereRequest
from darbar_contracts.wallet import (
    BalancesAnswer,
    BalancesRequest,
    RefundRequest,
    SettleRequest,
    StakeRequest,
    WalletAnswer,
)
from darbar_kit.bus import Bus
from darbar_kit.tokens import Claims, TokenWriter

ANSWER_SECONDS = 10.0
# What a test sends to be refused as no command.
UNREADABLE = (Reason.FRAME_INVALID, Reason.COMMAND_ID_INVALID)
TERMS = TableTerms("court_piece", {}, 4, 100, 10, "public", "normal")


class WalletDouble:
    """Says yes, keeps what it was asked, and can be told to be poor or silent."""

    def __init__(self) -> None:
        self.requests: list[StakeRequest | SettleRequest | RefundRequest] = []
        self.balances: dict[str, int] = {}
        self.short: tuple[str, ...] = ()
        self.heard = asyncio.Event()
        self._open = asyncio.Event()
        self._open.set()

    async def serve(self, bus: Bus) -> None:
        await bus.serve(subjects.WALLET_STAKE, StakeRequest, self._stake)
        await bus.serve(subjects.WALLET_SETTLE, SettleRequest, self._yes)
        await bus.serve(subjects.WALLET_REFUND, RefundRequest, self._yes)
        await bus.serve(subjects.WALLET_BALANCES, BalancesRequest, self._balances)

    def hold(self) -> None:
        """Answer nobody until release()."""
        self._open.clear()

    def release(self) -> None:
        self._open.set()

    async def _stake(self, request: StakeRequest) -> WalletAnswer:
        await self._note(request)
        short = tuple(seat.account_id for seat in request.seats if seat.account_id in self.short)
        return WalletAnswer(done=not short, reason="short_of_coins" if short else None, short=short)

    async def _yes(self, request: SettleRequest | RefundRequest) -> WalletAnswer:
        await self._note(request)
        return WalletAnswer(done=True)

    async def _note(self, request: StakeRequest | SettleRequest | RefundRequest) -> None:
        self.requests.append(request)
        self.heard.set()
        await self._open.wait()

    async def _balances(self, request: BalancesRequest) -> BalancesAnswer:
        return BalancesAnswer(balances={who: self.balances.get(who, 5000) for who in request.account_ids})


class Player:
    """One socket, spoken raw: what it received is in `frames`, in order."""

    def __init__(self, session: aiohttp.ClientSession, url: str, *, token: str) -> None:
        self._session = session
        self._url = url
        self.token = token
        self.frames: list[dict[str, Any]] = []
        self.documented = Documented()
        self.closed = asyncio.Event()
        self._arrived = asyncio.Event()
        self._ids = itertools.count()
        self._reader: asyncio.Task[None] | None = None
        self.socket: aiohttp.ClientWebSocketResponse | None = None

    async def connect(self, *, version: int = 0, hello: bool = True) -> Player:
        self.socket = await self._session.ws_connect(self._url)
        self._reader = asyncio.create_task(self._read(self.socket))
        if hello:
            await self.send(type="hello", protocol=PROTOCOL, token=self.token, version=version)
        return self

    async def send(self, **frame: Any) -> None:
        assert self.socket is not None
        await self.socket.send_str(msgspec.json.encode(frame).decode())

    async def command(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a command and wait for its answer: the event, done or refused that carries its id."""
        command_id = fields.pop("id", None) or f"test-{secrets.token_hex(8)}"
        start = len(self.frames)
        await self.send(type=kind, id=command_id, **fields)
        answer = await self.until(lambda frame: frame.get("id") == command_id, start=start)
        if answer.get("code") not in UNREADABLE:
            self.documented.sent({"type": kind, "id": command_id, **fields})
        return answer

    async def until(self, wanted: Callable[[dict[str, Any]], bool], *, start: int = 0) -> dict[str, Any]:
        """The first frame from `start` on for which this holds."""
        seen = start
        async with asyncio.timeout(ANSWER_SECONDS):
            while True:
                for frame in self.frames[seen:]:
                    if wanted(frame):
                        return frame
                seen = max(len(self.frames), start)
                if self.closed.is_set():
                    raise AssertionError(f"closed before it came; last: {self.frames[-3:]}")
                self._arrived.clear()
                await self._arrived.wait()

    async def event(self, kind: str, *, start: int = 0) -> dict[str, Any]:
        return await self.until(lambda frame: frame.get("kind") == kind, start=start)

    async def frame(self, type: str, *, start: int = 0) -> dict[str, Any]:
        return await self.until(lambda frame: frame["type"] == type, start=start)

    async def play(self, until: Callable[[dict[str, Any]], bool]) -> None:
        """Answer every `legal` with its first choice, in the round and turn it came with, until a frame like this."""
        seen, turn, round_number = 0, 0, 0
        async with asyncio.timeout(2 * ANSWER_SECONDS):
            while True:
                for frame in self.frames[seen:]:
                    public = frame.get("public") or frame.get("game") or {}
                    turn, round_number = public.get("turn", turn), public.get("round", round_number)
                    if until(frame):
                        return
                    legal = frame.get("legal") or {}
                    if legal.get("name"):
                        await self.decide("choose_trump", round_number, turn, card=legal["name"][0])
                    elif legal.get("play"):
                        await self.decide("play_card", round_number, turn, card=legal["play"][0])
                seen = len(self.frames)
                self._arrived.clear()
                if seen == len(self.frames):
                    await self._arrived.wait()

    async def decide(self, kind: str, round: int, turn: int, **fields: Any) -> None:
        """A decision, its answer not waited for."""
        await self.send(type=kind, id=f"test-{secrets.token_hex(8)}", round=round, turn=turn, **fields)

    @property
    def version(self) -> int:
        """The last version this player has."""
        return max((frame.get("version", 0) for frame in self.frames if frame["type"] != "heartbeat"), default=0)

    async def close(self) -> None:
        if self.socket is not None:
            await self.socket.close()
        if self._reader is not None:
            await self._reader

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        try:
            async for message in socket:
                if message.type is not aiohttp.WSMsgType.TEXT:
                    break
                frame = msgspec.json.decode(message.data)
                self.documented.told(frame)
                self.frames.append(frame)
                self._arrived.set()
        finally:
            self.closed.set()
            self._arrived.set()


class Lobby:
    """What the lobby does for players: tokens, and tables on the process that answers for them."""

    def __init__(self, bus: Bus, writer: TokenWriter, session: aiohttp.ClientSession) -> None:
        self._bus = bus
        self.writer = writer
        self._session = session

    def token(self, name: str) -> str:
        return self.writer.write(Claims(account_id=name, name=name.capitalize(), avatar="fox", role="player"))

    async def create(self, table_id: str, **changes: Any) -> TableLook:
        """A table with `ann` as its host."""
        host = changes.pop("host", "ann")
        terms = msgspec.structs.replace(TERMS, **changes)
        command = CreateTable(table_id, terms, Person(host, host.capitalize(), "fox"))
        where = await self._bus.request(
            subjects.TABLE_WHERE, WhereRequest(table_id=table_id), WhereAnswer, timeout_seconds=5
        )
        assert where.process_id is not None
        return await self._bus.request(subjects.table_create(where.process_id), command, TableLook, timeout_seconds=5)

    def player(self, url: str, name: str) -> Player:
        return Player(self._session, url, token=self.token(name))
