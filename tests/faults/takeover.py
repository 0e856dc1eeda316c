"""A table process with thousands of tables where people play is killed, then another is stopped: how long each takes.

What players were told meanwhile is compared with the log, as in a fault run.
"""

from __future__ import annotations

import asyncio
import math
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import aiohttp
import msgspec
import psutil  # type: ignore[import-untyped,unused-ignore]
from crowd import (
    NEARLY_ALL,
    SEATING_AT_ONCE,
    SETTINGS,
    SETTLE_SECONDS,
    TURN_SECONDS,
    WAIT_SECONDS_MAX,
    Crowd,
    Thinker,
    crowd_at,
    people_allowed,
    share,
    spread,
)
from fault_stack import FaultStack, Owner, fault_stack, lasts

from darbar_contracts.frames import PROTOCOL, Hello
from darbar_table.shards.placement import SHARDS, shard_of

TAKEOVER_SECONDS_MAX = 8.0
BACK_SECONDS_MAX = 30.0
GAP_SECONDS_MAX = 1.0
# Of the process that plays for everybody. Where it has more to do, moves wait for it and not for Darbar.
PLAYERS_SHARE_MAX = 0.9
# So many that it surely has time.
HANDOVER_TABLES = 600
MEBIBYTE = 1024 * 1024
_OWNED = "SELECT shard FROM shard WHERE process_id = $1"
_OWNERS = "SELECT shard, process_id FROM shard"
_OTHERS = "SELECT process_id FROM table_process WHERE process_id <> $1 ORDER BY address"


class Probe:
    """A socket at a process that does not own its table: what it asks is answered by the owner."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, token: str) -> None:
        self._socket = socket
        self._hello = msgspec.json.encode(Hello(protocol=PROTOCOL, token=token, version=0)).decode()

    async def answered(self) -> float:
        """Asks for a snapshot; the moment when it came."""
        await self._socket.send_str(self._hello)
        while True:
            message = await self._socket.receive(timeout=WAIT_SECONDS_MAX)
            if message.type is not aiohttp.WSMsgType.TEXT:
                raise AssertionError(f"a relayed socket was closed: {message}")
            if '"type":"snapshot"' in message.data:
                return time.monotonic()
            if '"type":"refused"' in message.data:
                await self._socket.send_str(self._hello)


async def takeover(folder: Path, *, tables: int) -> int:
    """Prints what it took; 1 when it was too long, or anything was lost."""
    people = people_allowed(tables)
    async with fault_stack(folder, "--processes", "--tables", "2", **SETTINGS) as stack:
        owner = await stack.owner()
        owned = {row["shard"] for row in await stack.stored.ask("tables", _OWNED, owner.process_id)}
        async with crowd_at(stack, tables=tables, people=people, shards=owned) as crowd:
            is_good = await _killed(stack, owner, crowd)
            await stack.ready()
            # Who came back late thinks on about a turn whose clock has run meanwhile: that is no refusal of the stop.
            await lasts(TURN_SECONDS + SETTLE_SECONDS)
            stop = await _stopped(stack, crowd)
            compared = await crowd.compared(stack)
        is_good = is_good and stop.is_planned and compared.acknowledged > 0 and not compared.wrong
    print(f"targets: {TAKEOVER_SECONDS_MAX:g} s, {BACK_SECONDS_MAX:g} s, {GAP_SECONDS_MAX:g} s, nothing lost: ", end="")
    print("met" if is_good else "NOT met", flush=True)
    return 0 if is_good else 1


async def planned_handover(folder: Path, *, tables: int) -> int:
    """A stop alone, at as many tables as the players' process can follow; 1 when a move was refused or it could not."""
    people = people_allowed(tables)
    async with (
        fault_stack(folder, "--processes", "--tables", "2", **SETTINGS) as stack,
        crowd_at(stack, tables=tables, people=people, shards=range(SHARDS)) as crowd,
    ):
        stop = await _stopped(stack, crowd)
        compared = await crowd.compared(stack)
    is_good = stop.is_planned and stop.players_share < PLAYERS_SHARE_MAX
    is_good = is_good and compared.acknowledged > 0 and not compared.wrong
    print(
        f"targets: {GAP_SECONDS_MAX:g} s, no move refused, nothing lost: {'met' if is_good else 'NOT met'}", flush=True
    )
    return 0 if is_good else 1


async def _killed(stack: FaultStack, owner: Owner, crowd: Crowd) -> bool:
    [other] = await stack.stored.ask("tables", _OTHERS, owner.process_id)
    survivor = await stack.process(other["process_id"])
    async with _probes(crowd, survivor.address) as probes:
        before = survivor.process.memory_info().rss
        began = time.monotonic()
        owner.process.kill()
        back, answered = await asyncio.gather(
            crowd.back(began),
            asyncio.gather(*(probe.answered() for probe in probes)),
        )
    taken = [moment - began for moment in answered]
    after = survivor.process.memory_info().rss
    print(f"kill -9: {len(taken)} tables answered over the relay {spread(taken)}")
    print(f"         {len(back)} sockets back {spread(back)}")
    print(f"         the survivor had {before // MEBIBYTE} MiB before and {after // MEBIBYTE} MiB after", flush=True)
    return max(taken) <= TAKEOVER_SECONDS_MAX and share(back, NEARLY_ALL) <= BACK_SECONDS_MAX


class Stop(NamedTuple):
    """What a planned handover took."""

    gap_seconds: float  # the longest for which a table was not served
    refused: int
    players_share: float  # of a core, for the process of all players

    @property
    def is_planned(self) -> bool:
        """Nobody was refused anything, and no table was away for long."""
        return self.gap_seconds < GAP_SECONDS_MAX and not self.refused


async def _stopped(stack: FaultStack, crowd: Crowd) -> Stop:
    assert stack.run is not None
    owner, tables = await _owner_of_most(stack, crowd)
    heard, refused = len(stack.run.logged_since()), crowd.refused
    began, busy = time.monotonic(), time.process_time()
    owner.process.send_signal(signal.SIGTERM)
    back = await crowd.back(began, lambda: _has_ended(owner.process))
    stopped = time.monotonic() - began
    players_share = (time.process_time() - busy) / stopped
    await lasts(SETTLE_SECONDS)
    gaps, refused = _gaps(stack.run.logged_since(heard)), crowd.refused - refused
    decided = crowd.decisions.since(began)
    print(
        f"SIGTERM: {tables} tables in {len(gaps)} groups went in {stopped:.1f} s; each was served again {spread(gaps)}"
    )
    print(f"         {len(back)} sockets elsewhere {spread(back)}")
    print(f"         {len(decided)} decisions from then on were acknowledged {spread(decided)}; {refused} refused")
    is_limited = players_share >= PLAYERS_SHARE_MAX
    print(f"         the players' process used {players_share:.2f} of a core{': client_limited' if is_limited else ''}")
    return Stop(max(gaps, default=math.inf), refused, players_share)


async def _owner_of_most(stack: FaultStack, crowd: Crowd) -> tuple[Owner, int]:
    """The process with most of these tables, and how many."""
    owners = {row["shard"]: row["process_id"] for row in await stack.stored.ask("tables", _OWNERS)}
    counts = Counter(owners[shard_of(UUID(table[0].table.table_id))] for table in crowd.tables)
    [(process_id, tables)] = counts.most_common(1)
    return await stack.process(process_id), tables


def _gaps(log: bytes) -> list[float]:
    """For how long each group of tables that moved was not served."""
    lines = [line for line in log.splitlines() if b'"shards_handed_over"' in line]
    return [msgspec.json.decode(line)["seconds"] for line in lines]


@asynccontextmanager
async def _probes(crowd: Crowd, place: str) -> AsyncIterator[list[Probe]]:
    """Of each table, one socket more at this process."""
    async with AsyncExitStack() as ends:
        session = await ends.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        turn = asyncio.Semaphore(SEATING_AT_ONCE)

        async def one(host: Thinker) -> Probe:
            async with turn:
                socket = await session.ws_connect(f"http://{place}/play/tables/{host.table.table_id}/socket")
                probe = Probe(socket, await host.player.tokens.access())
                await probe.answered()
                return probe

        yield await asyncio.gather(*(one(table[0]) for table in crowd.tables))


def _has_ended(process: psutil.Process) -> bool:
    return not process.is_running() or bool(process.status() == psutil.STATUS_ZOMBIE)
