"""What may happen to a running Darbar, each with a name. Open this to add something worse."""

from __future__ import annotations

import random
import signal
from collections.abc import Awaitable, Callable, Iterable, Mapping

from fault_stack import FaultStack, lasts
from seeded_games import GUEST_SECONDS_MAX, SeededGame, guest
from whole_games import BACKOFF

from darbar_client import Darbar, DarbarError, Player
from darbar_client.errors import Unreachable
from darbar_contracts.refusals import Reason
from darbar_kit.testing import eventually
from darbar_local.exit_codes import ExitCode
from darbar_local.testing import run

# The lease of a table process runs out after four.
PAST_A_LEASE_SECONDS = 8.0
MOMENT_SECONDS = 2.0
PAUSE_SECONDS = 1.0
CUTS = 20
CUT_SECONDS_MAX = 30.0
LOAD_FAILS_SECONDS_MAX = 30.0
REFUSED_SECONDS_MAX = 30.0


class Faults:
    """Each ends when it is over, and leaves the rest to Darbar."""

    def __init__(self, stack: FaultStack, games: Iterable[SeededGame], dice: random.Random) -> None:
        self._stack = stack
        self._games = games
        self._dice = dice

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

    async def operator_drains(self) -> None:
        """No table is made until the operator ends it, although whoever was told of it is killed."""
        async with Darbar(self._stack.url, backoff=BACKOFF) as darbar:
            host = await eventually(lambda: guest(darbar), seconds=GUEST_SECONDS_MAX)
            await self._operate("drain")
            await _is_refused(host)
            await self.owners_are_killed()
            await self.one_is_killed("lobby")
            await _is_refused(host)
            await self._operate("drain", "--end")

    async def owner_is_stopped_without_postgres(self) -> None:
        """In the middle of handing its tables over."""
        await self.owner_is_stopped()
        await self._stack.crash_postgres()

    async def nats_restarts_without_postgres(self) -> None:
        await self._stack.postgres.stop()
        await self.nats_is_away(PAUSE_SECONDS)
        await lasts(PAST_A_LEASE_SECONDS)
        await self._stack.postgres.start()

    async def sockets_drop(self) -> None:
        """Everybody's, at once: all commands without an answer are sent again."""
        for game in self._games:
            for participant in game.participants:
                participant.table.cut()

    async def sessions_are_ended(self) -> None:
        await self._stack.kill_sessions(PAUSE_SECONDS)

    async def postgres_is_away(self, seconds: float) -> None:
        await self._stack.postgres.stop()
        await lasts(seconds)
        await self._stack.postgres.start()

    async def nats_is_away(self, seconds: float) -> None:
        await self._stack.nats.stop()
        await lasts(seconds)
        await self._stack.nats.start()

    async def stalls(self, seconds: float) -> None:
        process = (await self._stack.owner()).process
        process.suspend()
        await lasts(seconds)
        process.resume()

    async def postgres_crashes(self) -> None:
        await self._stack.crash_postgres()

    async def postgres_is_silent(self, seconds: float) -> None:
        await self._stack.silence_postgres(seconds)

    async def one_is_killed(self, service: str) -> None:
        assert self._stack.run is not None
        copies = [child for name, child in self._stack.run.children().items() if name.startswith(service)]
        self._dice.choice(copies).kill()

    async def _operate(self, *command: str) -> None:
        """As an operator does it: a command of its own."""
        variables = {"DARBAR_ADMIN_NATS_URL": self._stack.nats.url("operator")}
        async with run(*command, variables=variables) as operated:
            code, complaints = await operated.end()
        assert code == ExitCode.FINE, f"darbar {' '.join(command)}: {code}, {complaints}"

    async def _loads_failed(self) -> float:
        return await self._stack.metric("table_load_failures_total")

    async def _have_failed(self, before: float) -> bool:
        return await self._loads_failed() > before


# In this order in the first round.
FAULTS: Mapping[str, Callable[[Faults], Awaitable[None]]] = {
    "owner is killed": Faults.owner_is_killed,
    "both owners are killed": Faults.owners_are_killed,
    "owner is asked to stop": Faults.owner_is_stopped,
    "owner stalls for a moment": lambda faults: faults.stalls(MOMENT_SECONDS),
    "owner stalls past its lease": lambda faults: faults.stalls(PAST_A_LEASE_SECONDS),
    "load of shards fails half-way": Faults.load_fails,
    "wallet is killed": lambda faults: faults.one_is_killed("wallet"),
    "lobby is killed": lambda faults: faults.one_is_killed("lobby"),
    "bot is killed": lambda faults: faults.one_is_killed("bot"),
    "connections are cut before and after commits": Faults.connections_are_cut,
    "sessions are ended all the time": Faults.sessions_are_ended,
    "PostgreSQL restarts": lambda faults: faults.postgres_is_away(PAUSE_SECONDS),
    "PostgreSQL crashes and recovers": Faults.postgres_crashes,
    "PostgreSQL is away past a lease": lambda faults: faults.postgres_is_away(PAST_A_LEASE_SECONDS),
    "PostgreSQL is silent past a lease": lambda faults: faults.postgres_is_silent(PAST_A_LEASE_SECONDS),
    "NATS restarts": lambda faults: faults.nats_is_away(PAUSE_SECONDS),
    "NATS is away past a lease": lambda faults: faults.nats_is_away(PAST_A_LEASE_SECONDS),
    "sockets drop": Faults.sockets_drop,
    "operator lets no tables be made": Faults.operator_drains,
    "owner is asked to stop, PostgreSQL crashes": Faults.owner_is_stopped_without_postgres,
    "NATS restarts while PostgreSQL is away": Faults.nats_restarts_without_postgres,
}


async def _is_refused(host: Player) -> None:
    """A table that would be made; whoever can't be asked just now is asked again."""

    async def draining() -> bool:
        try:
            made = await host.create_table("court_piece")
        except Unreachable:
            return False
        except DarbarError as refused:
            if refused.code == Reason.DRAINING:
                return True
            raise
        raise AssertionError(f"a table was made although no tables are made: {made.table_id}")

    await eventually(draining, seconds=REFUSED_SECONDS_MAX)
