"""Players of boardgame.io's server: 4 sockets a table, whoever is on turn plays at once. Open this about its rows.

    python -m bench.boardgame_players PORT TABLES WARM_SECONDS SECONDS

Says what the compiled load generator says: "window" when the window begins, and one JSON line at its end; it stays
until its input is closed. It speaks Socket.IO as text over WebSockets; a match comes into being when its first player
asks for it. A move is counted when the last of its four sockets has it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

import aiohttp
import msgspec
import uvloop
from bench.load import Figures

SEATS = 4
SUIT_CARDS = 13
NAMESPACE = "/cards,"
EVENT = f"42{NAMESPACE}"
READY_SECONDS_MAX = 60.0


class Counts:
    """What has been seen since the window began."""

    def __init__(self) -> None:
        self.measuring = False
        self.moves = 0
        self.bytes = 0
        self.latencies: list[float] = []

    def whole(self, sent_at: float) -> None:
        """All four have a move."""
        if self.measuring:
            self.moves += 1
            self.latencies.append(1000 * (time.perf_counter() - sent_at))


class Match:
    """One table: how many sockets have each of its newest moves, and when those were sent."""

    def __init__(self, name: str, counts: Counts) -> None:
        self.name = name
        self.counts = counts
        self.seen = dict[int, int]()
        self.sent_at = deque[float]()

    def saw(self, state_id: int) -> None:
        self.seen[state_id] = self.seen.get(state_id, 0) + 1
        if self.seen[state_id] == SEATS:
            del self.seen[state_id]
            self.counts.whole(self.sent_at.popleft())


class Player:
    """One socket."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, match: Match, seat: int) -> None:
        self._socket = socket
        self._match = match
        self._seat = seat

    async def join(self) -> Mapping[str, Any]:
        """Say who this is; the state of the match."""
        await self._socket.receive_str()
        await self._socket.send_str(f"40{NAMESPACE}")
        await self._socket.receive_str()
        await self._say("sync", self._match.name, str(self._seat), None, SEATS)
        while True:
            said, *rest = await self._heard()
            if said == "sync":
                state: Mapping[str, Any] = rest[1]["state"]
                return state

    async def play(self) -> None:
        """For ever."""
        while True:
            said, *rest = await self._heard()
            if said == "update":
                self._match.saw(rest[1]["_stateID"])
                await self.react(rest[1])

    async def react(self, state: Mapping[str, Any]) -> None:
        """The first card that may be played, when this seat is on turn."""
        if int(state["ctx"]["currentPlayer"]) != self._seat:
            return
        game = state["G"]
        hand, trick = game["hands"][self._seat], game["trick"]
        follows = [card for card in hand if trick and card // SUIT_CARDS == trick[0]["card"] // SUIT_CARDS]
        payload = {"type": "play", "args": [(follows or hand)[0]], "playerID": str(self._seat), "credentials": None}
        self._match.sent_at.append(time.perf_counter())
        action = {"type": "MAKE_MOVE", "payload": payload}
        await self._say("update", action, state["_stateID"], self._match.name, str(self._seat))

    async def _say(self, *words: Any) -> None:
        await self._socket.send_str(EVENT + msgspec.json.encode(words).decode())

    async def _heard(self) -> list[Any]:
        while True:
            text = await self._socket.receive_str()
            if text == "2":
                await self._socket.send_str("3")
            elif text.startswith(EVENT):
                if self._match.counts.measuring:
                    self._match.counts.bytes += len(text)
                words: list[Any] = msgspec.json.decode(text[len(EVENT) :])
                return words


async def run(port: int, tables: int, *, warm_seconds: float, seconds: float) -> None:
    """Join all, play, and say the figures."""
    counts = Counts()
    url = f"http://127.0.0.1:{port}/socket.io/?EIO=4&transport=websocket"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session, asyncio.TaskGroup() as tasks:
        async with asyncio.timeout(READY_SECONDS_MAX):
            players = []
            for number in range(tables):
                match = Match(f"match{number}-{time.time_ns()}", counts)
                for seat in range(SEATS):
                    player = Player(await session.ws_connect(url, max_msg_size=0), match, seat)
                    players.append((player, await player.join()))
        running = [tasks.create_task(player.play()) for player, _ in players]
        for player, state in players:
            await player.react(state)
        await asyncio.sleep(warm_seconds)
        print("window", flush=True)
        counts.measuring = True
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.sleep(seconds)
        counts.measuring = False
        passed = time.perf_counter() - began
        print(msgspec.json.encode(figures(counts, passed, time.process_time() - cpu)).decode(), flush=True)
        await asyncio.to_thread(sys.stdin.read)
        for task in running:
            task.cancel()


def figures(counts: Counts, seconds: float, cpu_seconds: float) -> Figures:
    latencies = sorted(counts.latencies) or [0.0]
    return Figures(
        moves=counts.moves,
        seconds=seconds,
        p50_ms=latencies[len(latencies) // 2],
        p99_ms=latencies[int(0.99 * (len(latencies) - 1))],
        bytes_a_move=counts.bytes / max(1, counts.moves),
        client_core=cpu_seconds / seconds,
        acknowledged=counts.moves,
        refused=0,
        closed=0,
    )


if __name__ == "__main__":
    uvloop.run(run(int(sys.argv[1]), int(sys.argv[2]), warm_seconds=float(sys.argv[3]), seconds=float(sys.argv[4])))
