"""PostgreSQL as the driver shows it: connections, their ends, and time. Open this about what a cut connection does.

A statement is carried out as one step, when it arrives; a crash, a cut or a time-out comes before it or after it, never
within. What each statement does is in `tables_statements.py` and `wallet_statements.py`, and
`test_statements_are_postgres.py` compares all of them with PostgreSQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol

import asyncpg
from virtual_loop import Process, VirtualLoop
from virtual_time import START

# As in the limits that the product sets for its sessions.
LOCK_SECONDS_MAX = 5.0
IDLE_IN_TRANSACTION_SECONDS_MAX = 2.0
CONNECT_SECONDS = 0.001
BEGIN, COMMIT, ROLLBACK = "BEGIN", "COMMIT", "ROLLBACK"
_INSERTS_EVENTS = "INSERT INTO event"
_CONTROLS = (BEGIN, COMMIT, ROLLBACK)

Rows = list[Any]


class Tables(Protocol):
    """The content of one database, and its statements by their text."""

    def run(self, statement: str, arguments: Sequence[Any], now: datetime, session: Session) -> Rows | Blocked:
        """Carries it out. Inside a transaction, what it changes goes to `session.later`; raises the driver's errors."""

    def unlock(self, session: Session) -> None:
        """Its transaction is over."""


class Blocked(NamedTuple):
    """Somebody else's transaction holds what the statement needs."""

    holder: Session


class Executed(NamedTuple):
    """What a statement came to; `outcome` is its rows, or its error's SQL state and constraint."""

    statement: str
    arguments: tuple[Any, ...]
    at: datetime
    session: int
    outcome: Rows | tuple[str, str | None]


class Trap:
    """Goes off at a commit of a process, just before it or just after, when so many others have passed."""

    def __init__(self, process: Process, *, commits: int, is_before: bool, spring: Callable[[], None]) -> None:
        self._process = process
        self._commits = commits
        self.is_before = is_before
        self.spring = spring

    def goes_off(self, connection: ConnectionDouble, statement: str) -> bool:
        if connection.process is not self._process or not (statement == COMMIT or _INSERTS_EVENTS in statement):
            return False
        self._commits -= 1
        return self._commits < 0


class Session:
    """The server's side of a connection."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.in_transaction = False
        self.statements = 0
        self.later: list[Callable[[], None]] = []  # what a commit does
        self.is_over = False
        self.blocked: list[Callable[[], None]] = []


class Server:
    """One database server with databases by their name in the URL."""

    def __init__(self, loop: VirtualLoop, databases: Mapping[str, Tables]) -> None:
        self.loop = loop
        self.databases = databases
        self.is_away = False
        self.slowness = 1.0
        self.held_until: dict[Process, float] = {}  # until when what a process sends does not arrive
        self.trap: Trap | None = None
        self.connections: list[ConnectionDouble] = []
        self.executed: list[Executed] | None = None
        self._sessions = 0

    @property
    def now(self) -> datetime:
        return START + timedelta(seconds=self.loop.now)

    def latency(self) -> float:
        """From one side to the other."""
        return (0.0002 + 0.0012 * self.loop.dice.random()) * self.slowness

    def new_session(self) -> Session:
        self._sessions += 1
        return Session(self._sessions)

    def cut(self, process: Process | None = None) -> None:
        """The connections of one process, or all: what is under way may be done or not, and nobody is told."""
        for connection in list(self.connections):
            if process is None or connection.process is process:
                connection.cut()

    def forget(self, process: Process) -> None:
        """A process is dead; its server sessions notice that a moment later."""
        for connection in [one for one in self.connections if one.process is process]:
            connection.cut()


class ConnectionDouble:
    """What `asyncpg.connect` returns."""

    def __init__(self, server: Server, url: str, command_seconds_max: float | None) -> None:
        self._server = server
        self._loop = server.loop
        self._tables = server.databases[url]
        self._command_seconds_max = command_seconds_max
        self._session = server.new_session()
        self._waiting: asyncio.Future[Rows] | None = None
        self._is_closed = False
        self._speaks_at = 0.0
        self.process = server.loop.current
        server.connections.append(self)

    # What the product calls.

    async def fetch(self, statement: str, *arguments: Any, timeout: float | None = None) -> Rows:
        return await self._ask(statement, arguments, timeout)

    async def fetchrow(self, statement: str, *arguments: Any, timeout: float | None = None) -> Any:
        rows = await self._ask(statement, arguments, timeout)
        return rows[0] if rows else None

    async def fetchval(self, statement: str, *arguments: Any, timeout: float | None = None) -> Any:
        row = await self.fetchrow(statement, *arguments, timeout=timeout)
        return None if row is None else first_value(row)

    async def execute(self, statement: str, *arguments: Any, timeout: float | None = None) -> str:
        await self._ask(statement, arguments, timeout)
        return ""

    async def prepare(self, statement: str) -> PreparedDouble:
        return PreparedDouble(self, statement)

    def transaction(self) -> TransactionDouble:
        return TransactionDouble(self)

    def is_closed(self) -> bool:
        return self._is_closed

    def terminate(self) -> None:
        """Ends it without a word. What was sent before may still arrive."""
        if not self._is_closed:
            self.cut()

    async def close(self) -> None:
        self.terminate()

    # What the simulation does.

    def cut(self) -> None:
        """It breaks: the server ends its session when it notices."""
        if self._is_closed:
            return
        self._is_closed = True
        if self in self._server.connections:
            self._server.connections.remove(self)
        loop = self._loop
        self._when_sent(self._end_session)
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done() and not self.process.is_dead:
            loop.call_in(self.process, loop.now, _fail, waiting, _lost())

    def _end_session(self) -> None:
        session = self._session
        if session.is_over:
            return
        session.is_over = True
        if session.in_transaction:
            self._note(ROLLBACK, (), [])
            self._end_transaction(commit=False)

    async def _ask(self, statement: str, arguments: tuple[Any, ...], timeout: float | None) -> Rows:
        loop = self._loop
        if self._is_closed or loop.is_over:
            raise asyncpg.InterfaceError("connection is closed")
        if self._waiting is not None:
            raise asyncpg.InterfaceError("cannot perform operation: another operation is in progress")
        answered = self._waiting = loop.create_future()
        self._when_sent(self._arrived, statement, arguments, answered)
        seconds = self._command_seconds_max if timeout is None else timeout
        late = None if seconds is None else loop.call_later(seconds, _fail, answered, TimeoutError())
        try:
            rows: Rows = await answered
            return rows
        except (asyncio.CancelledError, TimeoutError):
            self.terminate()
            raise
        finally:
            if late is not None:
                late.cancel()
            if self._waiting is answered:
                self._waiting = None

    def _when_sent(self, arrive: Callable[..., None], *what: Any) -> None:
        """In the order in which it was written, and not before the way is free."""
        server, loop = self._server, self._loop
        arrives_at = max(self._speaks_at, loop.now + server.latency(), server.held_until.get(self.process, 0.0))
        self._speaks_at = arrives_at
        loop.call_in(loop.world, arrives_at, arrive, *what)

    def _arrived(self, statement: str, arguments: tuple[Any, ...], answered: asyncio.Future[Rows]) -> None:
        if self._is_closed and (self._session.is_over or self._loop.dice.random() < 0.5):
            return  # It was still in a buffer when the connection went away.
        if self._session.is_over:
            return
        trap = self._server.trap
        if trap is None or not trap.goes_off(self, statement):
            self._do(statement, arguments, answered, blocked_since=None)
            return
        self._server.trap = None
        if not trap.is_before:
            self._do(statement, arguments, answered, blocked_since=None)
        trap.spring()

    def _do(
        self, statement: str, arguments: tuple[Any, ...], answered: asyncio.Future[Rows], blocked_since: float | None
    ) -> None:
        session, server = self._session, self._server
        if session.is_over:
            return
        session.statements += 1
        if statement in _CONTROLS:
            self._control(statement)
            self._note(statement, arguments, [])
            self._answer(_succeed, answered, [])
            return
        try:
            outcome = self._tables.run(statement, arguments, server.now, session)
        except asyncpg.PostgresError as error:
            self._note(statement, arguments, (error.sqlstate or "", getattr(error, "constraint_name", None)))
            if session.in_transaction:
                self._end_transaction(commit=False, goes_on=True)
            self._answer(_fail, answered, error)
            return
        if isinstance(outcome, Blocked):
            began = self._loop.now if blocked_since is None else blocked_since
            if self._loop.now - began > LOCK_SECONDS_MAX:
                self._answer(_fail, answered, asyncpg.LockNotAvailableError("the lock was not free in time"))
                return
            outcome.holder.blocked.append(lambda: self._do(statement, arguments, answered, began))
            return
        self._note(statement, arguments, outcome)
        self._answer(_succeed, answered, outcome)

    def _answer(self, tell: Callable[..., None], answered: asyncio.Future[Rows], what: object) -> None:
        loop = self._loop
        if not self._is_closed:
            loop.call_in(self.process, loop.now + self._server.latency(), tell, answered, what)
        if self._session.in_transaction:
            until = loop.now + IDLE_IN_TRANSACTION_SECONDS_MAX
            loop.call_in(loop.world, until, self._look_idle, self._session.statements)

    def _look_idle(self, statements: int) -> None:
        """Nothing has come since then inside a transaction: the server ends the session."""
        if self._session.in_transaction and self._session.statements == statements:
            self._end_session()
            self.cut()

    def _note(self, statement: str, arguments: tuple[Any, ...], outcome: Any) -> None:
        server = self._server
        if server.executed is not None:
            server.executed.append(Executed(statement, arguments, server.now, self._session.number, outcome))

    def _control(self, statement: str) -> None:
        if statement == BEGIN:
            self._session.in_transaction = True
        else:
            self._end_transaction(commit=statement == COMMIT)

    def _end_transaction(self, *, commit: bool, goes_on: bool = False) -> None:
        """`goes_on`: after an error nothing of it will be done, but its end has still to be said."""
        session = self._session
        later, session.later = session.later, []
        if commit:
            for change in later:
                change()
        session.in_transaction = goes_on
        self._tables.unlock(session)
        blocked, session.blocked = session.blocked, []
        for go_on in blocked:
            go_on()


class PreparedDouble:
    """What `connection.prepare` returns."""

    def __init__(self, connection: ConnectionDouble, statement: str) -> None:
        self._connection = connection
        self._statement = statement

    async def fetchval(self, *arguments: Any, timeout: float | None = None) -> Any:
        return await self._connection.fetchval(self._statement, *arguments, timeout=timeout)


class TransactionDouble:
    """What `connection.transaction()` returns."""

    def __init__(self, connection: ConnectionDouble) -> None:
        self._connection = connection

    async def start(self) -> None:
        await self._connection.execute(BEGIN)

    async def commit(self) -> None:
        await self._connection.execute(COMMIT)

    async def rollback(self) -> None:
        await self._connection.execute(ROLLBACK)

    async def __aenter__(self) -> TransactionDouble:
        await self.start()
        return self

    async def __aexit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is None:
            await self.commit()
        else:
            await self.rollback()


class PoolDouble:
    """What `asyncpg.create_pool` returns; as many connections as are asked for at the same time."""

    def __init__(self, connect: Callable[[], Awaitable[ConnectionDouble]]) -> None:
        self._connect = connect
        self._free: list[ConnectionDouble] = []
        self._expired: set[ConnectionDouble] = set()
        self._lent: list[ConnectionDouble] = []

    async def acquire(self, *, timeout: float | None = None) -> ConnectionDouble:
        # As the driver does, it lends a connection that has died without being noticed.
        connection = self._free.pop() if self._free else await self._connect()
        self._lent.append(connection)
        return connection

    async def release(self, connection: ConnectionDouble) -> None:
        self._lent.remove(connection)
        if connection in self._expired:
            self._expired.remove(connection)
            connection.terminate()
        elif not connection.is_closed():
            self._free.append(connection)

    async def expire_connections(self) -> None:
        self._expired.update(self._lent)
        for connection in self._free:
            connection.terminate()
        self._free.clear()

    async def close(self) -> None:
        self.terminate()

    def terminate(self) -> None:
        for connection in (*self._free, *self._lent):
            connection.terminate()
        self._free.clear()


async def connect(server: Server, url: str, command_seconds_max: float | None) -> ConnectionDouble:
    """Raises ConnectionRefusedError while the server is away."""
    await server.loop.pass_time(CONNECT_SECONDS * server.slowness)
    if server.is_away or server.loop.is_over:
        raise ConnectionRefusedError("the database does not listen")
    return ConnectionDouble(server, url, command_seconds_max)


def first_value(row: Any) -> Any:
    return next(iter(row.values())) if isinstance(row, dict) else row[0]


def _lost() -> Exception:
    return asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")


def _fail(answered: asyncio.Future[Rows], error: Exception) -> None:
    if not answered.done():
        answered.set_exception(error)


def _succeed(answered: asyncio.Future[Rows], rows: Rows) -> None:
    if not answered.done():
        answered.set_result(rows)
