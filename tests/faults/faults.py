"""What may happen to a running Darbar, each with a name. Open this to add something worse."""

from __future__ import annotations

import random
import signal
from collections.abc import Awaitable, Callable, Iterable

from fault_stack import FaultStack, lasts
from seeded_games import SeededGame

from darbar_kit.testing import eventually

# The lease of a table process runs out after four.
PAST_A_LEASE_SECONDS = 8.0
MOMENT_SECONDS = 2.0
PAUSE_SECONDS = 1.0
CUTS = 20
CUT_SECONDS_MAX = 30.0
LOAD_FAILS_SECONDS_MAX = 30.0

Fault = Callable[[], Awaitable[None]]


class Faults:
    """Each ends when it is over, and leaves the rest to Darbar."""

    def __init__(self, stack: FaultStack, games: Iterable[SeededGame], dice: random.Random) -> None:
        self._stack = stack
        self._games = games
        self._dice = dice
        self.all: dict[str, Fault] = {
            "owner is killed": self.owner_is_killed,
            "both owners are killed": self.owners_are_killed,
            "owner is asked to stop": self.owner_is_stopped,
            "owner stalls for a moment": lambda: self._stalls(MOMENT_SECONDS),
            "owner stalls past its lease": lambda: self._stalls(PAST_A_LEASE_SECONDS),
            "load of shards fails half-way": self.load_fails,
            "wallet is killed": lambda: self._one_is_killed("wallet"),
            "lobby is killed": lambda: self._one_is_killed("lobby"),
            "bot is killed": lambda: self._one_is_killed("bot"),
            "connections are cut before and after commits": self.connections_are_cut,
            "sessions are ended all the time": lambda: self._sessions_are_ended(),
            "PostgreSQL restarts": lambda: self._postgres_is_away(PAUSE_SECONDS),
            "PostgreSQL crashes and recovers": self._stack.crash_postgres,
            "PostgreSQL is away past a lease": lambda: self._postgres_is_away(PAST_A_LEASE_SECONDS),
            "PostgreSQL is silent past a lease": lambda: self._stack.silence_postgres(PAST_A_LEASE_SECONDS),
            "NATS restarts": lambda: self._nats_is_away(PAUSE_SECONDS),
            "NATS is away past a lease": lambda: self._nats_is_away(PAST_A_LEASE_SECONDS),
            "sockets drop": self.sockets_drop,
        }

    async def owner_is_killed(self) -> None:
        (await self._stack.owner()).process.kill()

    async def owners_are_killed(self) -> None:
        """The one that would take over dies as well."""
        assert self._stack.run is not None
        for name, child in self._stack.run.children().items():
            if name.startswith("table"):
                child.kill()

    async def owner_is_stopped(self) -> None:
        (await self._stack.owner()).process.send_signal(signal.SIGTERM)

    async def load_fails(self) -> None:
        """Who takes over finds the open tables and can't read their events, again and again."""
        await self._stack.stored.ask("tables", "REVOKE SELECT ON event FROM tables_service")
        try:
            await self.owner_is_killed()
            before = await self._loads_failed()
            await eventually(lambda: self._have_failed(before), seconds=LOAD_FAILS_SECONDS_MAX)
        finally:
            await self._stack.stored.ask("tables", "GRANT SELECT ON event TO tables_service")

    async def connections_are_cut(self) -> None:
        """One after another at its next statement: half of them never reach the server, half are done unheard."""
        proxy = self._stack.proxy
        assert proxy is not None
        wanted = proxy.cuts + 2 * CUTS
        proxy.arm(*("before", "after") * CUTS)
        await eventually(lambda: proxy.cuts >= wanted, seconds=CUT_SECONDS_MAX)

    async def sockets_drop(self) -> None:
        """Everybody's, at once: all commands without an answer are sent again."""
        for game in self._games:
            for participant in game.participants:
                participant.table.cut()

    async def _sessions_are_ended(self) -> None:
        await self._stack.kill_sessions(PAUSE_SECONDS)

    async def _postgres_is_away(self, seconds: float) -> None:
        await self._stack.postgres.stop()
        await lasts(seconds)
        await self._stack.postgres.start()

    async def _nats_is_away(self, seconds: float) -> None:
        await self._stack.nats.stop()
        await lasts(seconds)
        await self._stack.nats.start()

    async def _stalls(self, seconds: float) -> None:
        process = (await self._stack.owner()).process
        process.suspend()
        await lasts(seconds)
        process.resume()

    async def _one_is_killed(self, service: str) -> None:
        assert self._stack.run is not None
        copies = [child for name, child in self._stack.run.children().items() if name.startswith(service)]
        self._dice.choice(copies).kill()

    async def _loads_failed(self) -> float:
        return await self._stack.metric("table_load_failures_total")

    async def _have_failed(self, before: float) -> bool:
        return await self._loads_failed() > before
