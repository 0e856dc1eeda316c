"""What "the database will be back" looks like, once for every service. Open this when an outage is called a bug.

A syntax error, a missing table or a broken constraint is none of it: trying again would never help.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

from darbar_kit.cancelling import stop_if_cancelled
from darbar_kit.errors import KitReason, Unavailable

# The server has answered that the statement failed: nothing of it is stored. Classes of SQL states, or whole ones.
_NOTHING_DONE_STATES = (
    "25006",  # read-only: a failover is under way
    "25P03",  # idle in a transaction for too long
    "25P04",  # the transaction took too long
    "40001",  # serialization failure
    "40P01",  # deadlock
    "53",  # no memory, disk full, too many connections
    "55006",  # the object is in use
    "55P03",  # the lock was not free in time
    "57014",  # cancelled, by a time limit for instance
    "57P03",  # starting, or recovering from a crash: nobody is let in
    "58030",  # the server can't read or write its files
)
# The connection ended, or is about to: what was under way may have been stored.
_OUTCOME_UNKNOWN_STATES = ("08", "40003", "57P01", "57P02", "57P05")
# The driver says so in a type that it also uses for mistakes of the caller.
_DEAD_CONNECTION_TEXTS = (
    "connection is closed",
    "connection has been released back to the pool",
    "another operation is cancelling",
    "pool is closing",
    "pool is closed",
)


class DatabaseAway(Unavailable):
    """The database does not answer, or can't do it just now: the same will work when it is back.

    `maybe_done`: what was asked may have been stored; look before it is done again or answered.
    """

    def __init__(self, message: str = "", *, maybe_done: bool = True) -> None:
        super().__init__(KitReason.STORAGE_UNAVAILABLE, message)
        self.maybe_done = maybe_done


@contextmanager
def translated(*, maybe_done: bool = True) -> Iterator[None]:
    """The border to the driver: what passes by itself is raised as DatabaseAway, everything else as it is.

    Nothing but calls of the driver belongs inside, as other time-outs and connections end with the same types.
    `maybe_done=False` where nothing can be stored yet, whatever happens.
    """
    try:
        yield
    except Exception as error:
        away = away_of(error)
        if away is None:
            raise
        stop_if_cancelled()
        away.maybe_done = away.maybe_done and maybe_done
        raise away from error


def away_of(error: BaseException) -> DatabaseAway | None:
    """The driver's error as ours; None when trying again would not help."""
    if isinstance(error, DatabaseAway):
        return error
    if isinstance(error, asyncpg.PostgresError):
        message, state = _without_row(error), error.sqlstate or ""
        if state.startswith(_NOTHING_DONE_STATES):
            return DatabaseAway(message, maybe_done=False)
        return DatabaseAway(message) if state.startswith(_OUTCOME_UNKNOWN_STATES) else None
    if isinstance(error, OSError | TimeoutError) or is_dead_connection(error):
        return DatabaseAway(f"{type(error).__name__}: {error}")
    return None


def is_dead_connection(error: BaseException) -> bool:
    """The connection was gone already or went away meanwhile: on another one the same may work at once."""
    if isinstance(error, asyncpg.PostgresError):
        return (error.sqlstate or "").startswith(_OUTCOME_UNKNOWN_STATES)
    if isinstance(error, asyncpg.InternalClientError):
        # The server's goodbye, met in the middle of something. Types of its own say other things.
        return type(error) in (asyncpg.InternalClientError, asyncpg.TargetServerAttributeNotMatched)
    if isinstance(error, asyncpg.InterfaceError):
        return any(text in str(error) for text in _DEAD_CONNECTION_TEXTS)
    return isinstance(error, ConnectionError) and not isinstance(error, ConnectionRefusedError)


def _without_row(error: asyncpg.PostgresError) -> str:
    # The detail of an error holds values of the row: it is never part of a message.
    return f"{type(error).__name__}: {error.args[0] if error.args else ''}"
