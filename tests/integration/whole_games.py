"""A whole server for tests, and a game played on it. Open this to change how the tests of everything play."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from darbar_client import Backoff, Darbar, TableSocket
from darbar_client.demo.checks import Check, Evidence, checks, gather
from darbar_client.demo.local_server import QUICK, LocalServer
from darbar_client.demo.playing import Commentator as Commentator
from darbar_client.demo.playing import Participant, all_leave, joined, play_game, seated
from darbar_local.exit_codes import ExitCode
from darbar_local.testing import run

GAME_SECONDS_MAX = 300.0
SEATS = 4
SOME_TURNS = 12
# The user of PostgreSQL goes through the folder.
OTHERS_MAY_ENTER = 0o711
# Tests may lose what they stored in a power cut: fsync is what a busy machine is slowest at.
SETTINGS = {**QUICK, "DARBAR_UNSAFE_STORAGE": "1"}
BACKOFF = Backoff(http_seconds=120.0, socket_seconds=120.0, command_seconds=120.0)

Interruption = Callable[[list[Participant]], Awaitable[None]]


def new_folder(parent: Path, name: str) -> Path:
    """For a server of ours."""
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent))
    folder.chmod(OTHERS_MAY_ENTER)
    return folder


@asynccontextmanager
async def local_server(folder: Path, settings: Mapping[str, str] | None = None) -> AsyncIterator[LocalServer]:
    """A server, with settings beside the usual ones. Whatever was done to it, its children are gone afterwards."""
    started = LocalServer(folder, settings={**SETTINGS, **(settings or {})})
    await started.start()
    try:
        yield started
    finally:
        if not started.is_running:
            # Only a new start finds the PostgreSQL and NATS that a killed one left behind.
            await started.start()
        await started.stop()


class Game:
    """Players who have sat down at a table of their own."""

    def __init__(self, participants: list[Participant]) -> None:
        self.participants = participants
        self.commentator = Commentator(participants[0].table, lambda line: None)

    @property
    def table(self) -> TableSocket:
        return self.participants[0].table

    @property
    def has_bots(self) -> bool:
        return len(self.participants) < SEATS

    async def play(self, interruption: Interruption | None = None) -> None:
        """To the end, with something that happens in between."""
        async with asyncio.timeout(GAME_SECONDS_MAX), asyncio.TaskGroup() as tasks:
            tasks.create_task(play_game(self.participants, self.commentator))
            if interruption is not None:
                tasks.create_task(_run(interruption, self.participants))

    async def evidence(self) -> Evidence:
        """Everybody leaves, then the server is asked for all there is."""
        await all_leave(self.participants)
        return await gather(self.participants, has_bots=self.has_bots)


async def game_of(darbar: Darbar, *, people: int = SEATS, seed: int = 1, **options: Any) -> Game:
    """A private table of Court Piece with so many people; the other seats are for bots."""
    players = [await darbar.guest() for _ in range(people)]
    ref = await players[0].create_table("court_piece", options=options)
    participants = await joined(players, ref, random.Random(seed))
    await seated(participants)
    return Game(participants)


def false_checks(evidence: Evidence) -> list[Check]:
    """The checks that do not hold; none are left when all is well."""
    return [check for check in checks(evidence) if not check.holds]


async def in_the_middle_of_round(table: TableSocket, round: int) -> None:
    """Waits until this round of the first game has seen some cards, or one after it: what a test did meanwhile may have
    taken longer than a round. A game that is over has no such moment any more."""

    def reached(now: TableSocket) -> bool:
        assert now.now.game_number <= 1, f"the game was over before round {round}"
        return now.now.phase == "playing" and now.round >= round and now.turn >= SOME_TURNS

    await table.until(reached)


async def _run(interruption: Interruption, participants: list[Participant]) -> None:
    await interruption(participants)


async def coins_add_up(server: LocalServer) -> bool:
    """Whether `darbar audit ledger` finds that all of them do."""
    async with run("audit", "ledger", "--data", str(server.log.parent / "data"), variables={}) as audit:
        code, _ = await audit.end()
    return code == ExitCode.FINE
