"""A table process with thousands of tables where people play is killed, then another is stopped: how long each takes.

What players were told meanwhile is compared with the log, as in a fault run.
"""

from __future__ import annotations

import asyncio
import random
import resource
import signal
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import UUID

import aiohttp
import msgspec
import psutil  # type: ignore[import-untyped,unused-ignore]
from fault_stack import FaultStack, Owner, fault_stack, lasts
from seeded_games import LOG, Compared, Row
from unruly_sockets import Book, NotingSocket, noted_in
from whole_games import BACKOFF, SEATS

from darbar_client import Darbar, DarbarError
from darbar_client.demo.latencies import Latencies
from darbar_client.demo.load import LoadPlayer, LoadResult
from darbar_client.demo.playing import EVENTS_UNREAD_MAX
from darbar_contracts.frames import PROTOCOL, Hello
from darbar_kit.testing import eventually
from darbar_table.shards.placement import shard_of

TAKEOVER_SECONDS_MAX = 8.0
BACK_SECONDS_MAX = 30.0
GAP_SECONDS_MAX = 1.0
WAIT_SECONDS_MAX = 180.0
GAME = "court_piece"
TURN_SECONDS = 30
THINK_SECONDS = 6.0
MIDDLE, NEARLY_ALL = 50, 99
SEATING_AT_ONCE = 24
TABLES_A_CLIENT = 100
LOOK_SECONDS = 0.1
# Whoever was connected to a process that is killed knows it by then.
LOST_SECONDS_MAX = 3.0
SETTLE_SECONDS = 10.0
# A socket has two files at the gateway; everything else needs few.
FILES_BESIDE = 2000
# So that one process has all tables; bots and short count-ins as in all tests.
SETTINGS = {
    "unsafe_storage": "0",
    "table_better_place_seconds": "86400",
    "table_sockets_max": "0",
    "ready_seconds_max": "120",
}
_OWNED = "SELECT shard FROM shard WHERE process_id = $1"
_OWNERS = "SELECT shard, process_id FROM shard"
_OTHERS = "SELECT address FROM table_process WHERE process_id <> $1 ORDER BY address"


class Decisions(Latencies):
    """When each was sent, and how long its acknowledgement took."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[tuple[float, float]] = []

    def note_since(self, began: float) -> None:
        self.all.append((began, time.monotonic() - began))

    def since(self, moment: float) -> list[float]:
        """The seconds of those that were sent from then on."""
        return [seconds for began, seconds in self.all if began >= moment]


class Thinker(LoadPlayer):
    """Plays on, slowly. What ends it is told afterwards: the others go on."""

    failure: DarbarError | None = None

    async def play_on(self) -> None:
        try:
            await self.play()
        except DarbarError as error:
            self.failure = error


class Crowd:
    """Everybody at all tables."""

    def __init__(self, book: Book) -> None:
        self.tables: list[list[Thinker]] = []
        self.book = book
        self.result = LoadResult()
        self.result.decisions = self.decisions = Decisions()

    @property
    def players(self) -> list[Thinker]:
        return [player for table in self.tables for player in table]

    async def back(self, since: float, is_over: Callable[[], bool]) -> list[float]:
        """Waits until no more sockets are lost and all of those have caught up again; the seconds of each."""
        players, lost = self.players, set[Thinker]()
        seconds: list[float] = []
        look_at = since

        def are_back() -> bool:
            nonlocal lost, look_at
            now = time.monotonic()
            if now < look_at:
                return False
            away = {player for player in players if not player.table.caught_up}
            seconds.extend([now - since] * len(lost - away))
            lost, look_at = away, now + LOOK_SECONDS
            return not away and is_over()

        await eventually(are_back, seconds=WAIT_SECONDS_MAX)
        return seconds


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
    people = _people(tables)
    async with fault_stack(folder, "--processes", "--tables", "2", **SETTINGS) as stack:
        owner = await stack.owner()
        async with _crowd(stack, owner, tables=tables, people=people) as crowd:
            is_good = await _killed(stack, owner, crowd)
            await stack.ready()
            await lasts(SETTLE_SECONDS)
            is_good = await _stopped(stack, crowd) and is_good
            failures = [str(player.failure) for player in crowd.players if player.failure is not None]
        is_good = await _compared(stack, crowd, failures) and is_good
    print(f"targets: {TAKEOVER_SECONDS_MAX:g} s, {BACK_SECONDS_MAX:g} s, {GAP_SECONDS_MAX:g} s, nothing lost: ", end="")
    print("met" if is_good else "NOT met", flush=True)
    return 0 if is_good else 1


def _people(tables: int) -> int:
    """How many at each table may have a socket, as files go."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    people = min(SEATS, (most - FILES_BESIDE) // (2 * tables))
    if people < SEATS:
        print(f"a process may have {most} files: {people} people at each table in place of {SEATS}")
    return people


async def _killed(stack: FaultStack, owner: Owner, crowd: Crowd) -> bool:
    place = str((await stack.stored.ask("tables", _OTHERS, owner.process_id))[0]["address"])
    async with _probes(crowd, place) as probes:
        began = time.monotonic()
        owner.process.kill()
        back, answered = await asyncio.gather(
            crowd.back(began, lambda: time.monotonic() > began + LOST_SECONDS_MAX),
            asyncio.gather(*(probe.answered() for probe in probes)),
        )
    taken = [moment - began for moment in answered]
    print(f"kill -9: {len(taken)} tables answered over the relay {_spread(taken)}")
    print(f"         {len(back)} sockets back {_spread(back)}", flush=True)
    return max(taken) <= TAKEOVER_SECONDS_MAX and _share(back, NEARLY_ALL) <= BACK_SECONDS_MAX


async def _stopped(stack: FaultStack, crowd: Crowd) -> bool:
    assert stack.run is not None
    owner, tables = await _owner_of_most(stack, crowd)
    heard = len(stack.run.logged_since())
    began = time.monotonic()
    owner.process.send_signal(signal.SIGTERM)
    back = await crowd.back(began, lambda: _has_ended(owner.process))
    stopped = time.monotonic() - began
    await lasts(SETTLE_SECONDS)
    gaps = _gaps(stack.run.logged_since(heard))
    decided = crowd.decisions.since(began)
    print(
        f"SIGTERM: {tables} tables in {len(gaps)} groups went in {stopped:.1f} s; each was served again {_spread(gaps)}"
    )
    print(f"         {len(back)} sockets elsewhere {_spread(back)}")
    print(f"         {len(decided)} decisions from then on were acknowledged {_spread(decided)}", flush=True)
    return bool(gaps) and max(gaps) < GAP_SECONDS_MAX


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


async def _compared(stack: FaultStack, crowd: Crowd, failures: Sequence[str]) -> bool:
    compared = Compared()
    connection = await stack.stored.connect("tables")
    try:
        for table_id, answers in crowd.book.tables.items():
            compared.compare(answers, [Row(*row) for row in await connection.fetch(LOG, table_id)])
    finally:
        await connection.close()
    codes = sorted({code for answers in crowd.book.tables.values() for code in answers.refused.values()})
    wrong = [*compared.wrong, *failures]
    print(f"{compared.acknowledged} acknowledgements and {compared.cards} turns compared: {len(wrong)} wrong")
    print(f"{compared.refused} commands refused{f', with {codes}' if codes else ''}", flush=True)
    for line in wrong[:20]:
        print(f"  {line}")
    return compared.acknowledged > 0 and compared.refused == 0 and not wrong


def _share(seconds: Sequence[float], percent: int) -> float:
    return statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1] if len(seconds) > 1 else max(seconds)


def _spread(seconds: Sequence[float]) -> str:
    if not seconds:
        return "(none)"
    middle, nearly = (_share(seconds, percent) for percent in (MIDDLE, NEARLY_ALL))
    return f"after {middle:.2f} s in the middle, {nearly:.2f} s for 99 %, {max(seconds):.2f} s at the most"


@asynccontextmanager
async def _crowd(stack: FaultStack, owner: Owner, *, tables: int, people: int) -> AsyncIterator[Crowd]:
    """So many tables of this process, with people who play at each."""
    owned = {row["shard"] for row in await stack.stored.ask("tables", _OWNED, owner.process_id)}
    crowd = Crowd(Book(random.Random(1)))
    began = time.monotonic()
    async with AsyncExitStack() as ends:
        seating = asyncio.Semaphore(SEATING_AT_ONCE)
        clients = [
            await ends.enter_async_context(
                Darbar(stack.url, backoff=BACKOFF, web_socket_type=noted_in(crowd.book, NotingSocket))
            )
            for _ in range(0, tables, TABLES_A_CLIENT)
        ]
        playing: list[asyncio.Task[None]] = []

        async def sit(number: int) -> list[Thinker]:
            darbar = clients[number // TABLES_A_CLIENT]
            async with seating:
                return await _seated(darbar, owned, crowd.result, people=people, seed=number)

        async def begin(table: list[Thinker]) -> None:
            async with seating:
                await (table[-1].table.sit() if people == SEATS else table[0].table.start_now())
            playing.extend(asyncio.create_task(player.play_on()) for player in table)

        crowd.tables = await asyncio.gather(*map(sit, range(tables)))
        seconds = time.monotonic() - began
        print(f"{tables} tables of one process, {tables * people} sockets, after {seconds:.0f} s", flush=True)
        await asyncio.gather(*map(begin, crowd.tables))
        now = time.monotonic()
        print(f"everybody plays after {now - began:.0f} s", flush=True)
        await lasts(SETTLE_SECONDS)
        decided = crowd.decisions.since(now)
        print(f"{len(decided) / SETTLE_SECONDS:.0f} decisions a second, acknowledged {_spread(decided)}", flush=True)
        try:
            yield crowd
        finally:
            for task in playing:
                task.cancel()
            await asyncio.wait(playing)


async def _seated(darbar: Darbar, owned: set[int], result: LoadResult, *, people: int, seed: int) -> list[Thinker]:
    """People at a table that lies in one of these shards; what lies elsewhere is left to itself. With the last one the
    game begins, so they do not sit down yet: nobody plays until all tables are there."""
    while True:
        host = await darbar.guest()
        ref = await host.create_table(GAME, turn_seconds=TURN_SECONDS)
        if shard_of(UUID(ref.table_id)) in owned:
            break
    players = [host, *[await darbar.guest() for _ in range(people - 1)]]
    sockets = [await player.join(ref, fair=False, events_unread_max=EVENTS_UNREAD_MAX) for player in players]
    for socket in sockets[1 : min(people, SEATS - 1)]:
        await socket.sit()
    return [
        Thinker(player, socket, random.Random(f"{seed}/{number}"), think_seconds=THINK_SECONDS, result=result)
        for number, (player, socket) in enumerate(zip(players, sockets, strict=True))
    ]


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
