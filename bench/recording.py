"""One round played by hand, frame by frame: what the bare server has to send. Open this when its frames look wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import aiohttp
import msgspec

SEATS = 4
ROUND_SECONDS_MAX = 60.0
MOVES_MIN = 40


class Seat:
    """One socket of the recorded table; it answers every choice with the first card."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, name: str) -> None:
        self.socket = socket
        self._name = name
        self._commands = 0
        self._round = 0
        self.frames: dict[int, str] = {}

    async def play(self) -> None:
        """Until the round is settled."""
        async for message in self.socket:
            frame = msgspec.json.decode(message.data)
            if frame["type"] == "snapshot" and frame["seat"] is None:
                await self.send(type="sit")
            elif frame["type"] == "event":
                self.frames[frame["version"]] = message.data
                if frame["kind"] == "settled":
                    return
                await self.react(frame)

    async def react(self, frame: Mapping[str, Any]) -> None:
        """Ready when asked, and the first card when there is a choice."""
        self._round = frame["public"].get("round", self._round)
        legal = frame.get("legal") or {}
        place = {"round": self._round, "turn": frame["public"].get("turn", 0)}
        if frame["kind"] == "count_in_started":
            await self.send(type="ready")
        elif legal.get("play"):
            await self.send(type="play_card", **place, card=legal["play"][0])
        elif legal.get("name"):
            await self.send(type="choose_trump", **place, card=legal["name"][0])

    async def send(self, **frame: Any) -> None:
        """A command, with an id of its own."""
        self._commands += 1
        command_id = f"{self._name}-{self._commands:09d}"
        await self.socket.send_str(msgspec.json.encode({**frame, "id": command_id}).decode())


async def greeted(session: aiohttp.ClientSession, line: str) -> aiohttp.ClientWebSocketResponse:
    """The socket of one line of a plan, which has said hello."""
    port, path, hello, _ = line.split("\t")
    socket = await session.ws_connect(f"http://127.0.0.1:{port}{path}")
    await socket.send_str(hello)
    return socket


async def record(plan: list[str]) -> list[list[str]]:
    """The frames of a round's moves, four for each: those after which somebody is to move."""
    async with aiohttp.ClientSession() as session, asyncio.timeout(ROUND_SECONDS_MAX):
        seats = []
        for number, line in enumerate(plan):
            seats.append(Seat(await greeted(session, line), f"record{number}"))
        await asyncio.gather(*(seat.play() for seat in seats))
    versions = sorted(set.intersection(*(set(seat.frames) for seat in seats)))
    moves = [[seat.frames[version] for seat in seats] for version in versions]
    moves = [frames for frames in moves if _is_move(frames)]
    if len(moves) < MOVES_MIN:
        raise RuntimeError(f"only {len(moves)} moves were recorded")
    return moves


def _is_move(frames: list[str]) -> bool:
    """A player's card, after which one seat may play one."""
    card = frames[0].startswith('{"type":"event"') and '"kind":"card_played"' in frames[0]
    return card and '"by":' not in frames[0] and sum('"legal":{"play":["' in frame for frame in frames) == 1
